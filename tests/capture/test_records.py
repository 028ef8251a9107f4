"""Rejected hook files are quarantined without their secrets."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui import redaction
from memtui.capture import spool
from memtui.capture.formats import hooks
from memtui.capture.formats.base import InvalidRecord, ParsedItem, SkippedRecord
from memtui.capture.spool import SpoolFile

AT = datetime(2025, 3, 14, 10, 0, tzinfo=UTC)
KEY = "sk-ant-api03-" + "a1B2c3D4e5" * 9 + "AA"
PRIVATE = "the spare key lies under the fern"
PEM_LINE = "MIIEpAIBAAKCAQEA" + "x9Zk" * 12
PEM = "\n".join(
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        *[PEM_LINE] * 4,
        "-----END RSA PRIVATE KEY-----",
    ]
)
SAID = f"My key is {KEY}, <private>{PRIVATE}</private> and\n{PEM}\nthat is all."


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    named = {"session_id": "s1", "hook_event_name": "UserPromptSubmit"}
    return {**named, "prompt": text, **fields}


def letter(raw: bytes) -> SpoolFile:
    return SpoolFile("1.2.a.json", raw, AT)


def reasons_of(part: spool.InvalidPart) -> list[str]:
    return list(map(spool.reason_line, part.invalid))


def put_aside(raw: bytes) -> spool.InvalidPart:
    return spool.extract_invalid(letter(raw), AT)


def read(raw: bytes) -> list[ParsedItem]:
    return list(hooks.read(raw, received_at=AT, now=AT))


def in_any_form(raw: bytes) -> Iterator[bytes]:
    yield raw
    yield raw.replace(b"\0", b"")


NOVEL = {"hook_event_name": "Novelty"}
WHOLE = json.dumps(prompt(SAID, **NOVEL)).encode()


@pytest.mark.parametrize(
    "raw",
    [
        WHOLE,
        json.dumps(prompt(SAID, **NOVEL), ensure_ascii=False, indent=2).encode(),
        WHOLE[:-2],
        b'{"prompt": "\xff\xfe ' + WHOLE[1:],
        b"\xff\xfe" + WHOLE[:-2],
        SAID.encode("latin-1") + b"\xe4\xf6\xfc",
        SAID.encode("utf-16"),
        SAID.encode("utf-16-be"),
        WHOLE.replace(b"<", b"\\u003c"),
        json.dumps([prompt("Hi"), prompt(SAID, **NOVEL)]).encode(),
        json.dumps(prompt("Hi")).encode() + b"\n" + SAID.encode(),
        b'{"prompt": ' + json.dumps(SAID).encode() + b", " + WHOLE[1:],
        b'{"a": {"password": "correct-horse-8-battery"}, "n": ' + WHOLE + b"}",
    ],
    ids=[
        "whole", "pretty", "cut", "not UTF-8 within", "not UTF-8 before", "Latin-1",
        "UTF-16", "UTF-16 without a mark", "escaped", "beside what was taken",
        "over lines", "a name said twice", "nested",
    ],
)  # fmt: skip
def test_no_secret_is_put_aside(raw: bytes) -> None:
    remnant = put_aside(raw)
    for form in in_any_form(remnant.raw):
        for secret in (KEY, PRIVATE, "MIIEpAIB", "correct-horse"):
            assert secret.encode() not in form
    assert "anthropic key" in remnant.redacted_kinds
    assert reasons_of(remnant)


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", '\n{"prompt": "and', "\n{}\n"])
@pytest.mark.parametrize(
    "shown",
    [
        '{"hook_event_name":"UserPromptSubmit","password":"Qw9lzDbwlhPk',
        '{"tool_input":"{\\"password\\":\\"Qw9lzDbwlhPk',
        '{"prompt":"it is <private>Qw9lzDbwlhPk and the rest</pri',
        '{"prompt":"'
        + "".join(f"\\u{ord(char):04x}" for char in KEY)
        + ' Qw9lzDbwlhP"',
    ],
)
def test_what_is_torn_within_a_secret_does_not_keep_it(shown: str, ending: str) -> None:
    kept = put_aside((shown + ending).encode())
    assert b"Qw9lzDbwlhPk" not in kept.raw
    assert KEY[3:].encode() not in kept.raw.replace(b"\\u00", b"")
    assert f"{ord(KEY[9]):04x}".encode() not in kept.raw
    assert kept.redacted_kinds


def test_letters_written_as_escapes_stay_so_where_they_are_no_secret() -> None:
    raw = b'{"prompt":"\\u0068ello\\u0020there'
    assert put_aside(raw).raw == raw


def test_what_has_no_secret_stays_byte_for_byte() -> None:
    for raw in (
        b'{ "hook_event_name" : "Novelty",\n  "n": 1.50 }\n',
        b"\xff\xfe\x00" * 10,
        b'{"session_id": "s", "hook_event_na',
        '{"prompt": "für später'.encode("utf-16"),
        b"",
    ):
        remnant = put_aside(raw)
        assert remnant.raw == raw
        assert remnant.redacted_kinds == ()


def test_only_what_was_refused_is_put_aside() -> None:
    shown = [prompt("taken"), prompt("later", **NOVEL), {"hook_event_name": "Setup"}]
    remnant = put_aside("\n".join(json.dumps(one) for one in shown).encode())
    assert [json.loads(line) for line in remnant.raw.splitlines()] == [shown[1]]
    assert reasons_of(remnant) == ["line 1: unknown hook event 'Novelty'"]


def test_what_nothing_may_be_kept_of_is_not_put_aside_either() -> None:
    shown = [
        prompt("mine", cwd="/diary", **NOVEL),
        prompt("ours", cwd="/shop", **NOVEL),
    ]
    raw = "\n".join(json.dumps(one) for one in shown).encode()

    def why_not(fields: dict[str, object]) -> str:
        return "excluded" if fields["cwd"] == "/diary" else ""

    remnant = spool.extract_invalid(letter(raw), AT, why_not)
    assert b"mine" not in remnant.raw and b"ours" in remnant.raw
    assert (len(remnant.invalid), remnant.skipped) == (1, (SkippedRecord("excluded"),))
    remnant = spool.extract_invalid(letter(raw), AT, lambda _: "excluded")
    assert (remnant.raw, remnant.invalid, len(remnant.skipped)) == (b"", (), 2)


def test_only_invalid_records_of_a_list_are_quarantined() -> None:
    remnant = put_aside(json.dumps([prompt("taken"), "stray", 7]).encode())
    assert remnant.raw == b'"stray"\n7\n'
    said = "not a JSON object"
    assert reasons_of(remnant) == [f"line 1: {said}", f"line 2: {said}"]


def test_a_reason_that_quotes_a_secret_does_not_tell_it() -> None:
    remnant = put_aside(json.dumps(prompt("x", hook_event_name=KEY)).encode())
    (reason,) = reasons_of(remnant)
    assert KEY not in reason and "unknown hook event" in reason


def test_nesting_too_deep_for_anything_is_put_aside_all_the_same() -> None:
    for depth in (900, 5_000, 200_000):
        raw = b'{"prompt": ' + b"[" * depth + KEY.encode() + b"]" * depth + b"}"
        assert KEY.encode() not in put_aside(raw).raw


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_whatever_comes_is_put_aside_with_its_reason(raw: bytes) -> None:
    if any(isinstance(reading, InvalidRecord) for reading in read(raw)):
        remnant = put_aside(raw)
        assert reasons_of(remnant)
        again = put_aside(remnant.raw)
        assert again.raw.strip() == remnant.raw.strip()


def test_real_payloads_mean_the_same_without_their_secrets(shared: Path) -> None:
    seen = 0
    for file in sorted((shared / "hooks").rglob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            fields = json.loads(line)
            raw = json.dumps(fields.get("payload", fields)).encode()
            cleaned, _ = spool.redact_file(raw)
            before, after = read(raw), read(cleaned)
            assert list(map(type, after)) == list(map(type, before))
            for one, other in zip(before, after, strict=True):
                said = getattr(one, "text", ""), getattr(other, "text", "")
                assert redaction.redact(said[0]).text == redaction.redact(said[1]).text
                for name in ("session_id", "timestamp", "cwd", "reason"):
                    assert getattr(one, name, 0) == getattr(other, name, 0)
            seen += 1
    assert seen > 20
