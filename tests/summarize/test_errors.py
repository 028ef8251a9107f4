import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.summarize.ollama import errors
from tests.stub import faults as stub


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (stub.MISSING, errors.ModelNotFoundError),
        (stub.BUSY, errors.BusyError),
        (stub.CRASHED, errors.ServerError),
        (stub.NO_MEMORY, errors.OutOfMemoryError),
        (
            stub.refused(500, "cudaMalloc failed: out of memory"),
            errors.OutOfMemoryError,
        ),
        (stub.NO_THINKING, errors.ModelNotFoundError),
        (stub.BAD_FORMAT, errors.ModelNotFoundError),
        (
            stub.refused(400, "invalid format: expected an object"),
            errors.ModelNotFoundError,
        ),
        (stub.PROXY, errors.ServerError),
        (stub.FORBIDDEN, errors.NotAllowedError),
        (stub.redirect("http://example.org/"), errors.NotAllowedError),
        (stub.too_long(9000, 8192), errors.ContextOverflowError),
        (
            stub.refused(400, "the input length exceeds the context length"),
            errors.ContextOverflowError,
        ),
        (stub.refused(500, 'option "num_ctx" must be of type int'), errors.ServerError),
        (stub.refused(500, {"message": "oops"}), errors.ServerError),
    ],
)
def test_kind_of_an_error_response(
    answer: stub.Fault, kind: type[errors.OllamaError]
) -> None:
    error = errors.from_response(answer.status, answer.body or b"")
    assert type(error) is kind
    assert str(error)


def test_kind_of_an_error_in_a_stream() -> None:
    assert isinstance(
        errors.from_stream("CUDA error: out of memory"), errors.OutOfMemoryError
    )
    assert isinstance(errors.from_stream({"code": 500}), errors.ServerError)


@given(st.integers(200, 599), st.binary(max_size=80) | st.text().map(json.dumps))
def test_any_error_response_has_a_kind(status: int, body: bytes | str) -> None:
    raw = body.encode() if isinstance(body, str) else body
    assert isinstance(errors.from_response(status, raw), errors.OllamaError)
