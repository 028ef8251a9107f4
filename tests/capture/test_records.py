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


def make_spool_file(raw: bytes) -> SpoolFile:
    return SpoolFile("1.2.a.json", raw, AT)


def reasons_of(part: spool.InvalidPart) -> list[str]:
    return list(map(spool.reason_line, part.invalid))


def quarantine_payload(raw: bytes) -> spool.InvalidPart:
    return spool.extract_invalid(make_spool_file(raw), AT)


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
def test_quarantined_payload_contains_no_secret(raw: bytes) -> None:
    remnant = quarantine_payload(raw)
    for form in in_any_form(remnant.raw):
        for secret in (KEY, PRIVATE, "MIIEpAIB", "correct-horse"):
            assert secret.encode() not in form
    assert "anthropic key" in remnant.redacted_kinds
    assert reasons_of(remnant)


@pytest.mark.parametrize("ending", ["", "\n", "\n\n", '\n{"prompt": "and', "\n{}\n"])
@pytest.mark.parametrize(
    "text",
    [
        '{"hook_event_name":"UserPromptSubmit","password":"Qw9lzDbwlhPk',
        '{"tool_input":"{\\"password\\":\\"Qw9lzDbwlhPk',
        '{"prompt":"it is <private>Qw9lzDbwlhPk and the rest</pri',
        '{"prompt":"'
        + "".join(f"\\u{ord(char):04x}" for char in KEY)
        + ' Qw9lzDbwlhP"',
    ],
)
def test_payload_cut_within_a_secret_does_not_contain_it(
    text: str, ending: str
) -> None:
    kept = quarantine_payload((text + ending).encode())
    assert b"Qw9lzDbwlhPk" not in kept.raw
    assert KEY[3:].encode() not in kept.raw.replace(b"\\u00", b"")
    assert f"{ord(KEY[9]):04x}".encode() not in kept.raw
    assert kept.redacted_kinds


def test_escaped_letters_stay_escaped() -> None:
    raw = b'{"prompt":"\\u0068ello\\u0020there'
    assert quarantine_payload(raw).raw == raw


def test_payload_without_secret_is_unchanged() -> None:
    for raw in (
        b'{ "hook_event_name" : "Novelty",\n  "n": 1.50 }\n',
        b"\xff\xfe\x00" * 10,
        b'{"session_id": "s", "hook_event_na',
        '{"prompt": "für später'.encode("utf-16"),
        b"",
    ):
        remnant = quarantine_payload(raw)
        assert remnant.raw == raw
        assert remnant.redacted_kinds == ()


def test_only_invalid_records_are_quarantined() -> None:
    payloads = [prompt("taken"), prompt("later", **NOVEL), {"hook_event_name": "Setup"}]
    remnant = quarantine_payload(
        "\n".join(json.dumps(payload) for payload in payloads).encode()
    )
    assert [json.loads(line) for line in remnant.raw.splitlines()] == [payloads[1]]
    assert reasons_of(remnant) == ["line 1: unknown hook event 'Novelty'"]


def test_excluded_records_are_not_quarantined() -> None:
    payloads = [
        prompt("mine", cwd="/diary", **NOVEL),
        prompt("ours", cwd="/shop", **NOVEL),
    ]
    raw = "\n".join(json.dumps(payload) for payload in payloads).encode()

    def why_not(fields: dict[str, object]) -> str:
        return "excluded" if fields["cwd"] == "/diary" else ""

    remnant = spool.extract_invalid(make_spool_file(raw), AT, why_not)
    assert b"mine" not in remnant.raw and b"ours" in remnant.raw
    assert (len(remnant.invalid), remnant.skipped) == (1, (SkippedRecord("excluded"),))
    remnant = spool.extract_invalid(make_spool_file(raw), AT, lambda _: "excluded")
    assert (remnant.raw, remnant.invalid, len(remnant.skipped)) == (b"", (), 2)


@pytest.mark.parametrize(
    "text", ['{"cwd": "/diary", "prompt": "mi', '{"prompt": "mine", "cwd":"\\/diary"']
)
def test_torn_record_that_names_an_excluded_folder_is_not_quarantined(
    text: str,
) -> None:
    named = []

    def why_not(fields: dict[str, object]) -> str:
        named.append(fields.get("cwd"))
        return "excluded"

    remnant = spool.extract_invalid(make_spool_file(text.encode()), AT, why_not)
    assert (remnant.raw, remnant.skipped) == (b"", (SkippedRecord("excluded"),))
    assert named == ["/diary"]


def test_only_invalid_records_of_a_list_are_quarantined() -> None:
    remnant = quarantine_payload(json.dumps([prompt("taken"), "stray", 7]).encode())
    assert remnant.raw == b'"stray"\n7\n'
    said = "not a JSON object"
    assert reasons_of(remnant) == [f"line 1: {said}", f"line 2: {said}"]


def test_secret_in_a_reason_is_removed() -> None:
    remnant = quarantine_payload(json.dumps(prompt("x", hook_event_name=KEY)).encode())
    (reason,) = reasons_of(remnant)
    assert KEY not in reason and "unknown hook event" in reason


def test_deeply_nested_payload_is_quarantined() -> None:
    for depth in (900, 5_000, 200_000):
        raw = b'{"prompt": ' + b"[" * depth + KEY.encode() + b"]" * depth + b"}"
        assert KEY.encode() not in quarantine_payload(raw).raw


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_any_invalid_payload_is_quarantined_with_its_reason(raw: bytes) -> None:
    if any(isinstance(reading, InvalidRecord) for reading in read(raw)):
        remnant = quarantine_payload(raw)
        assert reasons_of(remnant)
        again = quarantine_payload(remnant.raw)
        assert again.raw.strip() == remnant.raw.strip()


def test_redacted_real_payloads_give_the_same_events(shared: Path) -> None:
    seen = 0
    for file in sorted((shared / "hooks").rglob("*.jsonl")):
        for line in file.read_bytes().splitlines():
            fields = json.loads(line)
            raw = json.dumps(fields.get("payload", fields)).encode()
            cleaned, _ = spool.redact_file(raw)
            before, after = read(raw), read(cleaned)
            assert list(map(type, after)) == list(map(type, before))
            for payload, other in zip(before, after, strict=True):
                said = getattr(payload, "text", ""), getattr(other, "text", "")
                assert redaction.redact(said[0]).text == redaction.redact(said[1]).text
                for name in ("session_id", "timestamp", "cwd", "reason"):
                    assert getattr(payload, name, 0) == getattr(other, name, 0)
            seen += 1
    assert seen > 20
