"""The reaction to each error of a server."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import ModelError
from memtui.model.jobs import ModelCondition, ModelPhase
from memtui.summarize.ollama import errors
from memtui.summarize.ollama.errors import OllamaError
from memtui.summarize.ollama.models import ModelOptions
from tests.conftest import often
from tests.stub import faults, personas
from tests.stub.models import Model
from tests.stub.server import Stub, run_stub
from tests.summarize.conftest import HASTY_S, PATIENT_S, TALK, Asker, summarize

PAGES = [
    (who, f"{who} on page {n} of the shop. " * 12)
    for n in range(20)
    for who in ("user", "assistant")
]

TWO_MODELS = (Model("qwen3:8b", size="8.2B"), Model("qwen3:4b"))


def asked_models(stub: Stub) -> list[str]:
    return [chat.body["model"] for chat in stub.chats()]


def test_offline_server_is_an_error_at_once(stub: Stub, asker: Asker) -> None:
    stub.stop()
    with pytest.raises(errors.OfflineError):
        summarize(asker.ollama())
    assert asker.slept == []


def test_busy_server_is_asked_five_more_times(stub: Stub, asker: Asker) -> None:
    stub.script(*[faults.BUSY] * 5)
    ollama = asker.ollama()
    assert summarize(ollama).bullets
    assert asker.slept == [1, 2, 4, 8, 16]
    assert [p.phase for p in asker.reported].count(ModelPhase.WAITING) == 5
    stub.script(*[faults.BUSY] * 6)
    with pytest.raises(errors.BusyError):
        summarize(ollama)
    assert ollama.health().is_ready


@pytest.mark.parametrize(
    "fault",
    [
        faults.reset(2),
        faults.ended(2),
        faults.cut(200),
        faults.NOT_DONE,
        faults.garbled(1),
        faults.CRASHED,
        faults.PROXY,
        faults.broken_off("an unknown error was encountered", 2),
    ],
    ids=lambda fault: repr(fault)[:60],
)
def test_failing_server_gets_two_retries(
    stub: Stub, asker: Asker, fault: faults.Fault
) -> None:
    stub.script(fault, fault)
    ollama = asker.ollama()
    assert summarize(ollama).generation.requests == 3
    assert asker.slept == [1, 5]
    stub.always(fault)
    with pytest.raises(errors.TransientError):
        summarize(ollama)
    stub.always(faults.GOOD)
    assert summarize(ollama).bullets


@pytest.mark.parametrize("after", [-1, 2])
def test_silent_server_is_asked_again(stub: Stub, asker: Asker, after: int) -> None:
    stub.script(faults.stalled(after))
    ollama = asker.ollama(ModelOptions(stub.url, timeout_s=HASTY_S))
    assert summarize(ollama).generation.requests == 2
    assert asker.slept == [1]
    assert stub.chats()[0].is_abandoned.wait(5)


def test_lack_of_memory_means_a_smaller_model() -> None:
    with run_stub(*TWO_MODELS) as stub:
        stub.script(faults.NO_MEMORY)
        summary = Asker(stub.url).summarize()
        assert asked_models(stub) == ["qwen3:8b", "qwen3:4b"]
        assert summary.generation.model == "qwen3:4b" and summary.bullets


def test_without_a_smaller_model_the_error_is_memory(stub: Stub, asker: Asker) -> None:
    stub.always(faults.NO_MEMORY)
    with pytest.raises(errors.OutOfMemoryError):
        asker.summarize()


def test_prompt_that_is_too_long_is_divided_again(stub: Stub, asker: Asker) -> None:
    stub.script(faults.too_long(9000, 8192))
    summary = asker.summarize(*PAGES)
    assert summary.generation.parts >= 2
    sent = [json.dumps(chat.body) for chat in stub.chats()]
    assert len(set(sent)) == len(sent)
    assert len(sent) == summary.generation.parts + 1


def test_prompt_is_divided_again_three_times_at_most(stub: Stub, asker: Asker) -> None:
    stub.always(faults.too_long(9000, 8192))
    ollama = asker.ollama()
    with pytest.raises(errors.ContextOverflowError):
        summarize(ollama, *PAGES)
    assert len(stub.chats()) == 4
    assert asker.slept == []
    assert ollama.health().is_ready


def test_model_with_more_tokens_gets_shorter_prompts() -> None:
    with run_stub(Model(window=8192, token_bytes=2)) as stub:
        ollama = Asker(stub.url).ollama()
        summary = summarize(ollama, *PAGES)
        assert summary.generation.parts > 1
        count = len(stub.chats())
        summarize(ollama, *PAGES)
        assert all(chat.tokens <= chat.window for chat in stub.chats()[count:])


def test_removed_model_is_replaced_by_another() -> None:
    with run_stub(*TWO_MODELS) as stub:
        stub.script(faults.MISSING)
        assert Asker(stub.url).summarize().generation.model == "qwen3:4b"


@pytest.mark.parametrize("fault", [faults.NO_THINKING, faults.BAD_FORMAT])
def test_model_without_schemas_or_thinking_is_replaced(
    fault: faults.Fault,
) -> None:
    with run_stub(*TWO_MODELS) as stub:
        stub.script(fault)
        assert Asker(stub.url).summarize().generation.model == "qwen3:4b"


def test_missing_model_names_the_command_to_pull_it() -> None:
    with run_stub(Model("nomic-embed-text", size="137M")) as stub:
        with pytest.raises(errors.ModelNotFoundError, match="pull qwen3:4b-instruct"):
            Asker(stub.url).summarize()
        options = ModelOptions(stub.url, model="mine:8b", timeout_s=PATIENT_S)
        with pytest.raises(errors.ModelNotFoundError, match="ollama pull mine:8b"):
            summarize(Asker(stub.url).ollama(options))


def test_a_reply_cut_for_its_length_keeps_its_whole_objects(
    stub: Stub, asker: Asker
) -> None:
    stub.script(faults.shortened(260))
    summary = asker.summarize()
    assert [bullet.text for bullet in summary.bullets] == [TALK[0][1]]
    assert summary.generation.was_truncated and summary.generation.requests == 1


@pytest.mark.parametrize("cut", range(0, 440, 11))
def test_a_reply_cut_at_any_byte_gives_what_was_said_or_an_error(
    cut: int, cuts: tuple[Stub, Asker]
) -> None:
    stub, asker = cuts
    stub.always(faults.shortened(cut))
    try:
        summary = asker.summarize()
    except errors.InvalidReplyError:
        return
    assert {bullet.text for bullet in summary.bullets} <= {TALK[0][1], TALK[4][1]}


@pytest.fixture(scope="module")
def cuts() -> Iterator[tuple[Stub, Asker]]:
    """One server for many cuts."""
    with run_stub() as stub:
        yield stub, Asker(stub.url)


@pytest.mark.parametrize(
    "persona",
    [
        personas.empty,
        personas.without_bullets,
        personas.blank,
        personas.repeating,
        lambda _: "I am sorry, I cannot do that.",
    ],
)
def test_a_model_that_writes_no_summary_is_asked_once(
    stub: Stub, asker: Asker, persona: personas.Persona
) -> None:
    stub.models[0].persona = persona
    ollama = asker.ollama()
    with pytest.raises(errors.InvalidReplyError):
        summarize(ollama)
    assert len(stub.chats()) == 1
    assert asker.slept == []
    assert ollama.health().is_ready


def test_forbidding_server_is_not_asked_again(stub: Stub, asker: Asker) -> None:
    stub.always(faults.FORBIDDEN, path="/api/version")
    ollama = asker.ollama()
    with pytest.raises(errors.NotAllowedError):
        summarize(ollama)
    assert ollama.health().condition is ModelCondition.REFUSED
    assert asker.slept == []


def test_faulty_plain_answers_are_errors(stub: Stub, asker: Asker) -> None:
    for path in ("/api/version", "/api/tags", "/api/ps", "/api/show"):
        for fault in (faults.PROXY, faults.reset(-1)):
            stub.script(fault, path=path)
            with pytest.raises(errors.TransientError):
                asker.summarize()
            stub.script(fault, path=path)
            assert asker.ollama().health().condition is ModelCondition.FAULTY


FAULTS = st.sampled_from(
    [
        faults.GOOD,
        faults.BUSY,
        faults.CRASHED,
        faults.NO_MEMORY,
        faults.PROXY,
        faults.FORBIDDEN,
        faults.NOT_DONE,
        faults.MISSING,
        faults.NO_THINKING,
        faults.BAD_FORMAT,
        faults.too_long(9000, 8192),
        faults.ended(2),
        faults.reset(1),
        faults.garbled(1),
        faults.broken_off("CUDA error: out of memory", 1),
        faults.shortened(150),
        faults.shortened(5),
        faults.saying(""),
        faults.saying("\u0085\u2028"),
        faults.Fault(done_reason="unload"),
        faults.Fault(remote_host="https://ollama.com"),
    ]
)


@often(40)
@given(st.lists(FAULTS, max_size=12))
def test_any_faults_end_with_a_summary_or_an_error(
    script: list[faults.Fault],
) -> None:
    with run_stub() as stub:
        stub.script(*script)
        try:
            summary = Asker(stub.url).summarize()
        except OllamaError as error:
            assert isinstance(error, ModelError) and str(error)
        else:
            assert summary.title
        assert len(stub.chats()) < 30
        assert all(chat.body["truncate"] is False for chat in stub.chats())
