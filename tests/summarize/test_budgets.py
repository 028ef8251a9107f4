import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.prompts import PromptInput, PromptTurn, TokenScale
from tests.stub import wire
from tests.summarize.conftest import segment_of

TALKS = {
    "english": "The login page fails with error 500, so the cookie is read later. ",
    "chinese": "登录页面出现错误五百，所以稍后读取会话标识。",
    "german": "Die Anmeldeseite schlägt fehl, daher wird das Cookie später gelesen. ",
    "code": "\tif (x != null) { return foo[bar].baz(); } // é\n",
    "emoji": "🎉👩‍💻 ",
}


def counted(log: PromptInput) -> int:
    """How long a prompt is by the stub's tokeniser."""
    said = prompts.messages(log)
    return wire.tokens("\n".join(one["content"] for one in said)) + 12


@pytest.mark.parametrize("kind", TALKS)
def test_every_part_of_a_long_segment_fits(kind: str) -> None:
    talk = [("user", TALKS[kind] * 40), ("assistant", TALKS[kind] * 90)] * 6
    log = prompts.segment_log(segment_of(*talk, before=[("user", TALKS[kind] * 20)]))
    parts = prompts.split_log(log, 1500, TokenScale())
    assert len(parts) > 1
    assert max(map(counted, parts)) <= 1500
    whole = "".join(turn.text for turn in log.turns)
    read = "".join(turn.text for part in parts for turn in part.turns)
    assert "".join(read.split()) == "".join(whole.split())
    assert [part.overlap for part in parts[1:]] == [()] * (len(parts) - 1)


def test_a_log_that_fits_is_one_part() -> None:
    log = prompts.segment_log(segment_of())
    assert prompts.split_log(log, 3000, TokenScale()) == [log]


def test_a_part_has_no_more_turns_than_it_may() -> None:
    log = prompts.segment_log(segment_of(*[("user", "ok")] * 41))
    parts = prompts.split_log(log, 3000, TokenScale())
    assert len(parts) == 2
    assert 18 <= min(len(part.turns) for part in parts) <= 20


def test_context_that_would_fill_the_prompt_is_left_out() -> None:
    log = PromptInput(
        (PromptTurn((0,), "user", "hi"),), overlap=(PromptTurn((), "user", "x " * 900),)
    )
    (part,) = prompts.split_log(log, 1000, TokenScale())
    assert part.overlap == ()


def test_a_count_above_the_estimate_is_believed_at_once() -> None:
    scale = TokenScale(1.0).corrected(1000, 1500)
    assert scale.factor == pytest.approx(1.5 * prompts.COUNT_MARGIN)


def test_a_count_below_the_estimate_is_believed_slowly() -> None:
    scale = TokenScale(1.5)
    lower = scale.corrected(1000, 900)
    assert 1.4 < lower.factor < 1.5
    for _ in range(60):
        lower = lower.corrected(1000, 700)
    assert lower.factor == prompts.MIN_FACTOR


@pytest.mark.parametrize("counted", [0, 3, 100_000])
def test_a_count_that_cannot_be_is_not_believed(counted: int) -> None:
    assert TokenScale().corrected(1000, counted) == TokenScale()


def test_half_a_window_is_the_sign_of_a_cut() -> None:
    assert prompts.was_truncated(6000, 4098, 8192)
    assert prompts.was_truncated(9000, 8192, 8192)
    assert not prompts.was_truncated(4100, 4098, 8192)
    assert not prompts.was_truncated(3000, 2500, 8192)


def test_prompt_and_reply_never_fill_the_window() -> None:
    for window in (2048, 4096, 8192, 131_072):
        for thinks in (False, True):
            reply = prompts.reply_budget(window, thinks=thinks)
            assert prompts.prompt_budget(window, reply) + reply <= 0.9 * window
    assert prompts.prompt_budget(131_072, 700) == 3000


def test_a_window_too_small_for_a_prompt_is_known() -> None:
    assert not prompts.is_window_usable(1024)
    assert prompts.is_window_usable(4096)


@given(st.lists(st.text(min_size=1, max_size=50), min_size=1, max_size=9))
def test_halves_hold_the_whole(texts: list[str]) -> None:
    log = PromptInput(
        tuple(PromptTurn((n,), "user", text) for n, text in enumerate(texts))
    )
    halves = prompts.halve_log(log)
    assert 1 <= len(halves) <= 2
    if len(texts) > 1:
        assert [turn for half in halves for turn in half.turns] == list(log.turns)
        assert all(len(half.turns) < len(texts) for half in halves)


def test_the_task_is_given_once_where_there_is_little_room() -> None:
    log = prompts.segment_log(segment_of(("user", "Fix the parser.")))
    (wide,) = prompts.split_log(log, 3000, TokenScale())
    (narrow,) = prompts.split_log(log, 1000, TokenScale())
    asked = [
        sum("- outcome:" in one["content"] for one in prompts.messages(part))
        for part in (wide, narrow)
    ]
    assert asked == [2, 1]
