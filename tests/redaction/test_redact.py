"""Secrets are removed from text before it is stored; other text stays.

The labelled set ``data/secrets.jsonl`` contains made-up secrets in two parts, so that
no scanner mistakes them for real ones; lines with ``text`` contain none.
"""

import json
import random
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import secret_samples
from benchmarks.secrets import HOSTILE
from memtui.redaction import (
    RedactedText,
    redact,
    redact_json,
    redaction_mark,
    shapes,
)

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


def read_labels() -> Iterator[Label]:
    for line in LABELLED.read_text("utf-8").splitlines():
        fields = json.loads(line)
        if "kind" in fields:
            secret = "".join(fields["secret"])
            yield Label(fields["before"], secret, fields["after"], fields["kind"])
        else:
            yield Label("".join(fields["text"]), "", "", "")


SECRET = [label for label in read_labels() if label.kind]
HARMLESS = [label for label in read_labels() if not label.kind]


def test_labelled_set_is_large() -> None:
    assert len(SECRET) >= 350
    assert len(HARMLESS) >= 400
    assert len({label.kind for label in SECRET}) >= 50


@pytest.mark.parametrize(
    "label", SECRET, ids=[f"{label.kind}-{at}" for at, label in enumerate(SECRET)]
)
def test_mark_replaces_only_the_secret(
    label: Label,
) -> None:
    redacted = redact(label.text)
    assert redacted.text == label.before + redaction_mark(label.kind) + label.after
    assert redacted.kinds == (label.kind,)


@pytest.mark.parametrize("label", HARMLESS, ids=[label.text[:40] for label in HARMLESS])
def test_harmless_text_is_unchanged(label: Label) -> None:
    for text in (label.text, f"\n{label.text}\n", json.dumps(label.text)):
        assert redact(text) == RedactedText(text, ())


def test_redacting_again_changes_nothing() -> None:
    for label in SECRET:
        once = redact(label.text).text
        assert redact(once) == RedactedText(once, ())


def test_each_secret_of_a_text_is_removed() -> None:
    labels = [label for label in SECRET[::7] if "<" not in label.text]
    redacted = redact("\n\n".join(label.text for label in labels))
    for label in labels:
        assert label.secret not in redacted.text


def test_secrets_in_json_are_found_and_json_stays_valid() -> None:
    for label in SECRET:
        whole = json.dumps({"command": label.text, "timeout": 5})
        redacted = redact(whole)
        assert json.loads(redacted.text)["timeout"] == 5
        assert redacted.kinds == (label.kind,), whole


def test_secrets_in_json_in_json_are_found() -> None:
    for label in SECRET:
        if label.kind == "private":
            continue
        whole = json.dumps({"output": json.dumps({"command": label.text, "a": 1})})
        redacted = redact(whole)
        assert json.loads(json.loads(redacted.text)["output"])["a"] == 1
        assert redacted.kinds, whole


def test_text_without_secrets_is_returned_itself() -> None:
    text = "The tests pass now: 14 of 14."
    assert redact(text).text is text


def test_private_tags_may_be_nested() -> None:
    text = "a <private>b <Private>c</PRIVATE> d</private> e <private>f</private> g"
    assert redact(text).text == "a [redacted: private] e [redacted: private] g"


@pytest.mark.parametrize("before", ["", "  ", "a\n", "a\r\n\t", "a\n\n"])
def test_unclosed_private_tag_at_line_start_extends_to_the_end(
    before: str,
) -> None:
    assert (
        redact(f"{before}<private> b\n\nc").text
        == f"{before}{redaction_mark('private')}"
    )
    torn = json.dumps({"prompt": f"{before}<private> b\n\nc"})[:-4]
    expected = json.dumps({"prompt": f"{before}{redaction_mark('private')}"})[:-2]
    assert redact(torn).text == expected


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
def test_unclosed_private_tag_within_a_line_is_ignored(text: str) -> None:
    for form in (text, json.dumps({"a": text}), json.dumps(json.dumps({"a": text}))):
        assert redact(form) == RedactedText(form, ())


def test_private_text_after_a_mention_of_the_tag_is_found() -> None:
    mention = "The tag `<private>` hides.\nMy"
    text = f"{mention} <private>a <private>b</private> c</private> d"
    assert redact(text).text == f"{mention} {redaction_mark('private')} d"


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
def test_spellings_of_private_tags(opening: str, closing: str) -> None:
    text = f"a {opening}my diary{closing} b"
    mark = redaction_mark("private")
    assert redact(text) == RedactedText(f"a {mark} b", ("private",))
    quoted = json.dumps(text) if '"' in text else f'"{text}"'
    assert redact(quoted) == RedactedText(f'"a {mark} b"', ("private",))


def test_unclosed_private_tag_in_json_ends_with_its_string() -> None:
    text = json.dumps({"a": 'b\n<private> "c"', "d": "e"})
    assert json.loads(redact(text).text) == {
        "a": f"b\n{redaction_mark('private')}",
        "d": "e",
    }


def test_closing_tag_alone_is_ignored() -> None:
    assert redact("a </private> b").kinds == ()


def test_private_text_with_a_secret_has_one_kind() -> None:
    assert redact("<private>password=hunter2!</private>").kinds == ("private",)


def test_cut_key_block_ends_before_prose() -> None:
    begin = "-----BEGIN RSA " + "PRIVATE KEY-----"
    text = f"{begin}\nMIIEowIBAAKCAQEA75dF3g\nMIIEowIBAAKCAQEA\n\n(cut off)"
    assert redact(text).text == "[redacted: private key]\n\n(cut off)"


def test_field_name_makes_its_value_a_secret() -> None:
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
@pytest.mark.parametrize("value", ["k#9Lm!2Qz&7Wp^4R", "p@ssX!92&mm^q", "aB3$xY9!kL2@"])
def test_unquoted_key_may_contain_signs(name: str, value: str) -> None:
    assert value not in redact(f"{name}{value}\n").text


def test_request_of_twelve_words_is_no_seed_phrase() -> None:
    request = "fix login page layout mobile view button color header footer spacing bug"
    assert redact(request).kinds == ()


def test_json_keys_and_values_are_redacted_at_any_depth() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    redacted, kinds = redact_json([{token: [f"use {token}"]}, 1, 2.5])
    assert redacted == [
        {redaction_mark("github token"): [f"use {redaction_mark('github token')}"]},
        1,
        2.5,
    ]
    assert kinds == ("github token", "github token")


def test_key_in_a_field_of_a_secret_keeps_its_own_kind() -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    redacted = {"password": redaction_mark("github token")}
    assert redact_json({"password": key}) == (redacted, ("github token",))


def test_fields_without_secrets_are_unchanged() -> None:
    value = {"password": None, "token": "", "key": "Enter", "secret": "<secret>"}
    assert redact_json(value) == (value, ())


def test_random_secrets_of_many_kinds_are_removed() -> None:
    samples = secret_samples.make_secrets(1)
    assert len(samples) >= 1000
    assert len({sample.kind for sample in samples}) >= 130
    assert len({sample.place.partition(",")[0] for sample in samples}) >= 19
    for is_held_out in (False, True):
        half = [s for s in samples if secret_samples.is_held_out(s) is is_held_out]
        missed = [
            sample
            for sample in half
            if not secret_samples.is_removed(sample, redact(sample.text).text)
        ]
        assert len(missed) <= 0.04 * len(half), missed


def test_generated_harmless_texts_are_unchanged() -> None:
    samples = secret_samples.make_harmless(1)
    assert len(samples) >= 500
    changed = [sample.text for sample in samples if redact(sample.text).kinds]
    assert changed == []


@pytest.mark.full
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_redaction_takes_linear_time(piece: str) -> None:
    redact(piece * (200_000 // len(piece)))


def test_key_after_a_letter_is_found() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert redact(f"x{token}").text == f"x{redaction_mark('github token')}"


ANY_TEXT = st.text(max_size=400)
LABELLED_TEXTS = [label.text for label in (*SECRET, *HARMLESS)]

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


def labelled_text(number: int) -> str:
    return LABELLED_TEXTS[number]


PIECES = st.integers(0, len(LABELLED_TEXTS) - 1).map(labelled_text) | st.sampled_from(
    SIGNS + STARTS
)
MADE = st.lists(st.one_of(PIECES, st.text(max_size=6)), max_size=12).map("".join)


@given(st.one_of(ANY_TEXT, MADE))
def test_any_text_can_be_redacted_once(text: str) -> None:
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
def test_redacted_json_is_valid(value: object, is_ascii: bool) -> None:
    for separators in ((",", ":"), (", ", ": ")):
        text = json.dumps(value, ensure_ascii=is_ascii, separators=separators)
        json.loads(redact(text).text)
        json.loads(redact(json.dumps(text)).text)


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=12)))
def test_plain_words_are_unchanged(words: list[str]) -> None:
    for joint in (" ", ", ", "\n", ". "):
        text = joint.join(words)
        assert redact(text).text == text


REAL_FOLDERS = (
    "claude_code",
    "codex",
    "copilot_cli",
    "hooks",
    "hook_sessions",
    "field",
)


@pytest.mark.full
@pytest.mark.timeout(100)
@pytest.mark.parametrize("folder", REAL_FOLDERS)
def test_real_transcripts_are_unchanged(shared: Path, folder: str) -> None:
    """No secret was left in the transcripts of this folder by who published them."""
    for path in sorted((shared / folder).rglob("*.jsonl")):
        for line in path.read_text("utf-8", "replace").splitlines():
            assert redact(line) == RedactedText(line, ()), path


HASH = re.compile(r"(?<![\w/+=-])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![\w/+=-])")
UUID = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
ID = re.compile(r"\b(?:toolu|msg|req|call)_[A-Za-z0-9]{16,}\b")


def test_hashes_and_ids_in_real_transcripts_are_unchanged(shared: Path) -> None:
    count = 0
    for folder in ("claude_code", "codex", "copilot_cli", "hooks"):
        for path in sorted((shared / folder).rglob("*.jsonl")):
            text = path.read_text("utf-8")
            redacted = redact(text).text
            for shape in (HASH, UUID, ID):
                before = shape.findall(text)
                count += len(before)
                assert shape.findall(redacted) == before
    assert count > 10_000


@pytest.mark.full
@pytest.mark.timeout(100)
@pytest.mark.parametrize("piece", ["PWD=", "PASS=", "TOKEN=", "PASS=" * 50 + " "])
def test_repeated_names_take_linear_time(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert redact(f"{text}\nDB_PASSWORD=Xk3#vQ9pLm").kinds


def test_every_format_is_long_enough_to_be_looked_for() -> None:
    formats = {
        shape.pattern: kind
        for of_start in shapes._FORMATS_BY_START.values()
        for kind, shape in of_start
    }
    parser: Any = import_module("re._parser")
    for pattern, kind in formats.items():
        shortest, _ = parser.parse(pattern).getwidth()
        assert shortest >= shapes.MIN_KEY_CHARS, kind


@pytest.mark.parametrize(("start", "chars"), [("npg_", 12), ("LTAI", 12)])
def test_short_keys_of_a_format_are_found(start: str, chars: int) -> None:
    dice = random.Random(5)
    alphabet = string.ascii_letters + string.digits
    for _ in range(100):
        key = start + "".join(dice.choices(alphabet, k=chars))
        assert key not in redact(f"PASSWORD_OF_SHOP {key} is new").text


@pytest.mark.parametrize("name", ["key", "cacheKey", "partition-key", "id", "token"])
def test_uuid_of_a_name_that_is_no_secret_stays(name: str) -> None:
    line = f"{name}: 3f2a6c1e-9d4b-4c8a-8e21-0b7d5f9c1a2e"
    assert redact(line).text == line
