import pytest

from memtui.model.work import Facts
from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.prompts import INITIAL_SCALE
from memtui.summarize.ollama.record import PromptRecord, session_record
from tests.stub import wire
from tests.summarize.conftest import make_events

TALKS = {
    "english": "The login page fails with error 500, so the cookie is read later. ",
    "chinese": "登录页面出现错误五百，所以稍后读取会话标识。",
    "german": "Die Anmeldeseite schlägt fehl, daher wird das Cookie später gelesen. ",
    "code": "\tif (x != null) { return foo[bar].baz(); } // é\n",
    "emoji": "🎉👩‍💻 ",
}


def counted(record: PromptRecord) -> int:
    """Return the length of a prompt for the stub's tokenizer."""
    said = prompts.messages(record)
    return wire.tokens("\n".join(message["content"] for message in said)) + 12


def parts_of(record: PromptRecord, budget: int) -> list[PromptRecord]:
    return prompts.divide(record, budget, INITIAL_SCALE)


def record_of(requests: int, sentence: str = TALKS["english"]) -> PromptRecord:
    talk = [("user", sentence * 4), ("assistant", sentence * 9)] * requests
    return session_record(make_events(talk), Facts())


@pytest.mark.parametrize("kind", TALKS)
def test_every_part_of_a_long_session_fits(kind: str) -> None:
    record = record_of(60, TALKS[kind])
    parts = parts_of(record, 2000)
    assert len(parts) > 1
    assert max(map(counted, parts)) <= 2000


def test_a_record_is_divided_at_requests_only() -> None:
    record = record_of(12)
    parts = parts_of(record, 2000)
    assert [turn for part in parts for turn in part.turns] == list(record.turns)
    assert all(part.lines[0].who == "user" for part in parts)
    sizes = [len(part.turns) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_a_record_that_fits_is_one_part() -> None:
    record = record_of(5)
    assert parts_of(record, 6000) == [record]


def test_a_request_that_is_too_long_alone_is_shortened() -> None:
    record = session_record(
        make_events([("user", "Fix it."), ("assistant", TALKS["chinese"] * 90)]),
        Facts(),
    )
    (part,) = parts_of(record, 1200)
    assert counted(part) <= 1200
    assert part.lines[0] == record.lines[0]
    assert 100 < len(part.lines[1].text) < len(record.lines[1].text)


def test_prompt_and_reply_never_fill_the_window() -> None:
    for window in (2048, 4096, 8192, 131_072):
        for can_think in (False, True):
            reply = prompts.reply_budget(window, can_think=can_think)
            assert prompts.prompt_budget(window, reply) + reply <= 0.9 * window
