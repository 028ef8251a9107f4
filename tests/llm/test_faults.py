import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.llm import faults
from tests.stub import faults as stub


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (stub.MISSING, faults.ModelMissing),
        (stub.BUSY, faults.Busy),
        (stub.CRASHED, faults.ServerFault),
        (stub.NO_MEMORY, faults.OutOfMemory),
        (stub.refused(500, "cudaMalloc failed: out of memory"), faults.OutOfMemory),
        (stub.NO_THINKING, faults.ModeRefused),
        (stub.BAD_FORMAT, faults.ModeRefused),
        (stub.refused(400, "invalid format: expected an object"), faults.ModeRefused),
        (stub.PROXY, faults.ServerFault),
        (stub.FORBIDDEN, faults.Refused),
        (stub.redirect("http://example.org/"), faults.Refused),
        (stub.too_long(9000, 8192), faults.Overflow),
        (
            stub.refused(400, "the input length exceeds the context length"),
            faults.Overflow,
        ),
        (stub.refused(500, 'option "num_ctx" must be of type int'), faults.ServerFault),
        (stub.refused(500, {"message": "oops"}), faults.ServerFault),
    ],
)
def test_each_answer_is_known_for_what_it_is(
    answer: stub.Fault, kind: type[faults.Fault]
) -> None:
    found = faults.of_reply(answer.status, answer.body or b"")
    assert type(found) is kind
    assert str(found)


def test_an_overflow_tells_how_long_the_prompt_was() -> None:
    answer = stub.too_long(9000, 8192)
    found = faults.of_reply(answer.status, answer.body or b"")
    assert isinstance(found, faults.Overflow)
    assert (found.tokens, found.window) == (9000, 8192)


def test_an_error_in_a_stream_is_known_as_the_same_in_an_answer_is() -> None:
    assert isinstance(faults.of_error("CUDA error: out of memory"), faults.OutOfMemory)
    assert isinstance(faults.of_error({"code": 500}), faults.ServerFault)


@given(st.integers(200, 599), st.binary(max_size=80) | st.text().map(json.dumps))
def test_no_answer_is_too_strange_to_be_a_fault(status: int, body: bytes | str) -> None:
    raw = body.encode() if isinstance(body, str) else body
    assert isinstance(faults.of_reply(status, raw), faults.Fault)
