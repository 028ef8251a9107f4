import json

import pytest

from memtui.llm import faults
from memtui.llm.faults import BadReply, CutOff, Fault, Refused, ServerFault
from memtui.llm.streams import Stream, Written, is_endless
from tests.stub import wire

AT = "2026-08-01T12:00:01Z"


def lines(*texts: str, **last: object) -> bytes:
    """A stream that says these texts."""
    said = [
        wire.line(
            {"created_at": AT, "message": {"content": text}, "done": False},
        )
        for text in texts
    ]
    done = {"done": True, "done_reason": "stop", "prompt_eval_count": 9, **last}
    return b"".join([*said, wire.line({"message": {"content": ""}, **done})])


def read(*pieces: bytes) -> Written:
    stream = Stream()
    for piece in pieces:
        stream.feed(piece)
    return stream.end()


WHOLE = lines('{"a": "<é 日本 & \u0085 \u2028 x>"}', "\n🎉", "}")


def test_a_reply_is_whatever_the_lines_say() -> None:
    written = read(WHOLE)
    assert written.text == '{"a": "<é 日本 & \u0085 \u2028 x>"}\n🎉}'
    assert (written.prompt_tokens, written.reply_tokens) == (9, 0)


def test_it_does_not_matter_where_the_bytes_are_parted() -> None:
    for at in range(len(WHOLE)):
        assert read(WHOLE[:at], WHOLE[at:]) == read(WHOLE)
    assert read(*(WHOLE[n : n + 1] for n in range(len(WHOLE)))) == read(WHOLE)


def test_a_stream_cut_at_any_byte_is_no_reply() -> None:
    for end in range(len(WHOLE) - 1):
        with pytest.raises(CutOff):
            read(WHOLE[:end])
    assert read(WHOLE[:-1]) == read(WHOLE)


def test_what_follows_a_reply_is_not_read() -> None:
    assert read(WHOLE, b'{"error":"late"}\n\xff\n') == read(WHOLE)


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (lines("x", done_reason="load"), ServerFault),
        (lines("x", done_reason=None), ServerFault),
        (lines("x", remote_host="https://ollama.com"), Refused),
        (lines("x", done=False), CutOff),
        (lines("x", done="true"), CutOff),
        (b'{"error":"CUDA error: out of memory"}\n', faults.OutOfMemory),
        (b'{"error":{"code":500,"message":"oops"}}\n', ServerFault),
        (b'{"message":{"content":"\xff\xfe"}}\n', ServerFault),
        (b"<html>\n", ServerFault),
        (b"[1]\n", ServerFault),
        (b"[" * 5000 + b"\n", ServerFault),
        (b'{"message": 3}\n', CutOff),
        (b"x" * 1_000_001, ServerFault),
        (b"", CutOff),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_reply_is_known_for_what_it_is(
    raw: bytes, kind: type[Fault]
) -> None:
    with pytest.raises(Fault) as caught:
        read(raw)
    assert type(caught.value) is kind


def test_a_reply_that_is_too_long_brings_what_there_is() -> None:
    assert read(WHOLE).is_whole
    written = read(lines('{"bullets"', ": [", done_reason="length"))
    assert (written.text, written.is_whole) == ('{"bullets": [', False)


@pytest.mark.parametrize("piece", [" ", "\n\t", "and so on ", "的", '{"refs":[1]},'])
def test_a_model_that_has_lost_its_way_is_stopped(piece: str) -> None:
    stream = Stream()
    with pytest.raises(BadReply):
        for _ in range(2000):
            stream.feed(wire.line({"message": {"content": piece}, "done": False}))
    assert stream.tokens * len(piece) < 1000


def test_ordinary_text_is_not_taken_for_endless() -> None:
    talk = json.dumps(
        [{"refs": [n, n + 1], "text": f"Fixed issue {n * 7919}"} for n in range(60)],
        indent=8,
    )
    assert not any(is_endless(talk[:end]) for end in range(0, len(talk), 7))
