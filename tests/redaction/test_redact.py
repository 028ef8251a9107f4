"""Secrets that are removed from text before it is stored, and text that stays.

The labelled set ``data/secrets.jsonl`` contains made-up secrets in two parts, so that
no scanner mistakes them for real ones; lines with ``text`` contain none.
"""

import base64
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import secret_samples
from benchmarks.secrets import HOSTILE
from memtui.redaction import redact as secrets
from memtui.redaction.redact import redact, redact_json, redaction_mark

LABELLED = Path(__file__).parents[1] / "data" / "secrets.jsonl"


@dataclass(frozen=True)
class Label:
    """One line of the labelled set."""

    before: str
    secret: str
    after: str
    kind: str

    @property
    def text(self) -> str:
        return self.before + self.secret + self.after


def labels() -> Iterator[Label]:
    for line in LABELLED.read_text("utf-8").splitlines():
        shown = json.loads(line)
        if "kind" in shown:
            secret = "".join(shown["secret"])
            yield Label(shown["before"], secret, shown["after"], shown["kind"])
        else:
            yield Label("".join(shown["text"]), "", "", "")


SECRET = [label for label in labels() if label.kind]
HARMLESS = [label for label in labels() if not label.kind]


def test_the_labelled_set_is_large_enough_to_mean_something() -> None:
    assert len(SECRET) >= 150
    assert len(HARMLESS) >= 150
    assert len({label.kind for label in SECRET}) >= 50


@pytest.mark.parametrize(
    "label", SECRET, ids=[f"{label.kind}-{at}" for at, label in enumerate(SECRET)]
)
def test_a_secret_is_replaced_by_its_kind_and_nothing_else_changes(
    label: Label,
) -> None:
    redacted = redact(label.text)
    assert redacted.text == label.before + redaction_mark(label.kind) + label.after
    assert redacted.kinds == (label.kind,)


@pytest.mark.parametrize("label", HARMLESS, ids=[label.text[:40] for label in HARMLESS])
def test_harmless_text_is_unchanged(label: Label) -> None:
    for text in (label.text, f"\n{label.text}\n", json.dumps(label.text)):
        assert redact(text) == secrets.RedactedText(text, ())


def test_redacting_again_changes_nothing() -> None:
    for label in SECRET:
        once = redact(label.text).text
        assert redact(once) == secrets.RedactedText(once, ())


def test_a_text_of_many_secrets_loses_each_of_them_in_order() -> None:
    some = SECRET[::7]
    redacted = redact(
        "\n\n".join(label.text for label in some if "<" not in label.text)
    )
    for label in some:
        if "<" not in label.text:
            assert label.secret not in redacted.text


def test_every_secret_is_found_inside_json_that_stays_json() -> None:
    for label in SECRET:
        whole = json.dumps({"command": label.text, "timeout": 5})
        redacted = redact(whole)
        assert json.loads(redacted.text)["timeout"] == 5
        assert redacted.kinds == (label.kind,), whole


def test_every_secret_is_found_inside_json_inside_json() -> None:
    for label in SECRET:
        if label.kind == "private":
            continue
        whole = json.dumps({"output": json.dumps({"command": label.text, "a": 1})})
        redacted = redact(whole)
        assert json.loads(json.loads(redacted.text)["output"])["a"] == 1
        assert redacted.kinds, whole


@pytest.mark.parametrize(
    ("before", "secret"),
    [
        ("Veritabanı şifresi: ", "IvP7diZnuyaJphj1S6"),
        ("数据库密码改成了 ", "doyxet-fugnoy-Ni5dun"),
        ("密码：", "Bedolorat2a9"),
        ("הסיסמה היא ", "zephyr-oyster-raven27"),
        ("รหัสผ่าน: ", "Fedumodar8o9"),
        ("A jelszó: ", "Pelican#301"),
    ],
)
def test_passwords_named_in_other_languages_are_removed(
    before: str, secret: str
) -> None:
    assert redact(before + secret).text == before + redaction_mark("password")


ENCODED = [
    one.secret
    for one in labels()
    if re.fullmatch(r"[\w.-]{20,}", one.secret, re.ASCII) and redact(one.secret).kinds
]
"""Secrets by their own format, made of the characters of names."""


@pytest.mark.parametrize("secret", ENCODED[::5])
def test_an_encoded_secret_is_found(secret: str) -> None:
    plain = secret.encode()
    encoded = base64.b64encode(plain).decode()
    for form in (encoded, encoded.rstrip("="), plain.hex(), plain.hex().upper()):
        found = redact(f'{{"value": "{form}"}}')
        assert found.kinds, form
        assert json.loads(found.text).keys() == {"value"}


@pytest.mark.parametrize(
    "text",
    ["The quick brown fox jumps over it", '{"name": "ferry", "id": 4}', "a" * 40],
)
def test_encoded_text_without_a_secret_stays(text: str) -> None:
    for form in (base64.b64encode(text.encode()).decode(), text.encode().hex()):
        assert redact(f"value {form}").text == f"value {form}"


def test_text_without_secrets_is_returned_itself() -> None:
    text = "The tests pass now: 14 of 14."
    assert redact(text).text is text


def test_private_tags_nest_and_hide_everything_between() -> None:
    text = "a <private>b <Private>c</PRIVATE> d</private> e <private>f</private> g"
    assert redact(text).text == "a [redacted: private] e [redacted: private] g"


@pytest.mark.parametrize("before", ["", "  ", "a\n", "a\r\n\t", "a\n\n"])
def test_an_unclosed_private_tag_starting_a_line_extends_to_the_end(
    before: str,
) -> None:
    assert (
        redact(f"{before}<private> b\n\nc").text
        == f"{before}{redaction_mark('private')}"
    )
    torn = json.dumps({"prompt": f"{before}<private> b\n\nc"})[:-4]
    said = json.dumps({"prompt": f"{before}{redaction_mark('private')}"})[:-2]
    assert redact(torn).text == said


@pytest.mark.parametrize(
    "text",
    [
        "List<private> x; and more",
        "#include <private> // header",
        "The tag `<private>` marks what is private. More text follows.",
        'Ask for "<private>" and all of it is left out.',
        "Put it in <private> tags\nand go on.",
        "the private key < 3 > 2 private > public",
    ],
)
def test_an_unclosed_private_tag_within_a_line_is_ignored(text: str) -> None:
    for shown in (text, json.dumps({"a": text}), json.dumps(json.dumps({"a": text}))):
        assert redact(shown) == secrets.RedactedText(shown, ())


def test_an_ignored_private_tag_does_not_hide_a_real_one() -> None:
    spoken = "The tag `<private>` hides.\nMy"
    text = f"{spoken} <private>a <private>b</private> c</private> d"
    assert redact(text).text == f"{spoken} {redaction_mark('private')} d"


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ('<private reason="x">', "</private>"),
        ("<private\n>", "</ private >"),
        ("< private >", "< / private >"),
        ("<PRIVATE why='it is mine' >", "</Private>"),
        ("\\u003cprivate\\u003e", "\\u003c/private\\u003e"),
        ("\\u003Cprivate a='b'\\u003E", "</private>"),
    ],
)
def test_all_spellings_of_private_tags_are_recognized(
    opening: str, closing: str
) -> None:
    text = f"a {opening}my diary{closing} b"
    for shown in (text, f'{{"a":"{text}"}}' if '"' not in text else json.dumps(text)):
        assert redact(shown).kinds == ("private",)
        assert redact(shown).text == shown.replace(
            f"{opening}my diary{closing}".replace('"', '"' if shown == text else '\\"'),
            redaction_mark("private"),
        )


def test_an_unclosed_private_tag_in_json_ends_with_its_string() -> None:
    text = json.dumps({"a": 'b\n<private> "c"', "d": "e"})
    assert json.loads(redact(text).text) == {
        "a": f"b\n{redaction_mark('private')}",
        "d": "e",
    }


def test_a_closing_tag_alone_is_ignored() -> None:
    assert redact("a </private> b").kinds == ()


def test_private_text_has_one_kind() -> None:
    assert redact("<private>password=hunter2!</private>").kinds == ("private",)


def test_a_cut_key_block_is_redacted_without_the_prose_after_it() -> None:
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    text = f"{begin}\nMIIEowIBAAKCAQEA75dF3g\nMIIEowIBAAKCAQEA\n\n(cut off)"
    assert redact(text).text == "[redacted: private key]\n\n(cut off)"


def test_the_name_of_a_field_makes_its_value_a_secret() -> None:
    value = {
        "user": "ada",
        "password": "swordfish",
        "nested": [{"api_key": "a1B2c3D4e5F6g7H8i9"}, {"max_tokens": 4096}],
        "env": [{"name": "DB_PASSWORD", "value": "hunter2"}],
        "is_admin": True,
        "nothing": None,
    }
    redacted, kinds = redact_json(value)
    assert redacted == {
        "user": "ada",
        "password": redaction_mark("password"),
        "nested": [{"api_key": redaction_mark("api key")}, {"max_tokens": 4096}],
        "env": [{"name": "DB_PASSWORD", "value": redaction_mark("password")}],
        "is_admin": True,
        "nothing": None,
    }
    assert kinds == ("password", "api key", "password")


@pytest.mark.parametrize("name", ["secret_key = ", "api_key: ", "client_secret="])
@pytest.mark.parametrize("value", ["k#9Lm!2Qz&7Wp^4R", "p@ssX!92&mm(q", "aB3$xY9!kL2@"])
def test_an_unquoted_key_may_contain_signs(name: str, value: str) -> None:
    assert value not in redact(f"{name}{value}\n").text


def test_a_request_of_as_many_words_as_a_seed_phrase_is_unchanged() -> None:
    request = "fix login page layout mobile view button color header footer spacing bug"
    assert redact(request).kinds == ()


def test_strings_and_keys_of_any_depth_are_redacted() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    redacted, kinds = redact_json([{token: [f"use {token}"]}, 1, 2.5])
    assert redacted == [
        {redaction_mark("github token"): [f"use {redaction_mark('github token')}"]},
        1,
        2.5,
    ]
    assert kinds == ("github token", "github token")


def test_fields_without_secrets_are_unchanged() -> None:
    value = {"password": None, "token": "", "key": "Enter", "secret": "<secret>"}
    assert redact_json(value) == (value, ())


def test_random_secrets_of_many_kinds_are_removed() -> None:
    samples = secret_samples.make_secrets(1)
    assert len(samples) >= 1000
    assert len({sample.kind for sample in samples}) >= 140
    assert len({sample.place.partition(",")[0] for sample in samples}) >= 19
    for is_held_out in (False, True):
        half = [s for s in samples if secret_samples.is_held_out(s) is is_held_out]
        left = [
            sample
            for sample in half
            if not secret_samples.is_removed(sample, redact(sample.text).text)
        ]
        assert len(left) <= 0.05 * len(half), left


def test_texts_that_only_look_like_secrets_are_unchanged() -> None:
    samples = secret_samples.make_harmless(1)
    assert len(samples) >= 500
    changed = [sample.text for sample in samples if redact(sample.text).kinds]
    assert len(changed) <= 3, changed


@pytest.mark.full
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_redaction_takes_linear_time(piece: str) -> None:
    redact(piece * (200_000 // len(piece)))


def test_a_key_glued_to_a_letter_or_split_by_an_invisible_one_is_found() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert redact(f"x{token}").text == f"x{redaction_mark('github token')}"
    split = f"{token[:20]}\u200b{token[20:]}"
    assert redact(f"use {split}.").text == f"use {redaction_mark('github token')}."
    shown = json.dumps({"a": split})
    assert json.loads(redact(shown).text) == {"a": redaction_mark("github token")}


ANY_TEXT = st.text(max_size=400)
KNOWN = [label.text for label in (*SECRET, *HARMLESS)]


def known(at: int) -> str:
    return KNOWN[at]


SIGNS = [
    '"',
    "'",
    "\\",
    "\\\\",
    '\\"',
    "{",
    "}",
    "=",
    ":",
    " ",
    "\n",
    "password",
    "token",
]
STARTS = ["api_key=", "://", "@", "-----BEGIN ", "PRIVATE KEY-----", "<private>", " -p"]
PIECES = st.integers(0, len(KNOWN) - 1).map(known) | st.sampled_from(SIGNS + STARTS)
MADE = st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=12).map("".join)


@given(st.one_of(ANY_TEXT, MADE))
def test_any_text_can_be_redacted_and_a_second_time_changes_nothing(text: str) -> None:
    once = redact(text).text
    assert redact(once).text == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | MADE,
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.one_of(MADE, st.sampled_from(["password", "token", "api_key"])),
                inner,
                max_size=4,
            )
        ),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_serialized_json_can_still_be_read(value: object, is_ascii: bool) -> None:
    for separators in ((",", ":"), (", ", ": ")):
        text = json.dumps(value, ensure_ascii=is_ascii, separators=separators)
        json.loads(redact(text).text)
        json.loads(redact(json.dumps(text)).text)


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)))
def test_plain_words_are_unchanged(words: list[str]) -> None:
    for joint in (" ", ", ", "\n", ". "):
        text = joint.join(words)
        assert redact(text).text == text


HASH = re.compile(r"(?<![\w/+=-])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![\w/+=-])")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
ID = re.compile(r"\b(?:toolu|msg|req|call)_[A-Za-z0-9]{16,}\b")


def test_hashes_and_ids_in_real_transcripts_are_unchanged(shared: Path) -> None:
    met = 0
    for folder in ("claude_code", "codex", "copilot_cli", "hooks"):
        for path in sorted((shared / folder).rglob("*.jsonl")):
            text = path.read_text("utf-8")
            redacted = redact(text).text
            for shape in (HASH, UUID, ID):
                before = shape.findall(text)
                met += len(before)
                assert shape.findall(redacted) == before
    assert met > 10_000


@pytest.mark.full
@pytest.mark.timeout(100)
@pytest.mark.parametrize("piece", ["PWD=", "PASS=", "TOKEN=", "PASS=" * 50 + " "])
def test_a_run_of_names_takes_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert redact(f"{text}\nDB_PASSWORD=Xk3#vQ9pLm").kinds
