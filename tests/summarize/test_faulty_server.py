"""The reaction to each error of a server."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import ModelError
from memtui.model.jobs import ModelCondition, ModelPhase
from memtui.model.sessions import Segment
from memtui.summarize.ollama import errors
from memtui.summarize.ollama.errors import OllamaError
from memtui.summarize.ollama.models import Capability, ModelOptions, OutputMode
from tests.conftest import often
from tests.stub import faults, personas
from tests.stub.models import Model
from tests.stub.server import ReceivedRequest, Stub, run_stub
from tests.summarize.conftest import HASTY_S, PATIENT_S, TALK, Asker, segment_of

EVENTS = [("user", f"Please fix page {n} of the shop.") for n in range(16)]


@pytest.fixture
def known(stub: Stub) -> list[Capability]:
    """What spares the stub the probe, so that each request is about a segment."""
    return [Capability(stub.version, stub.models[0].digest, OutputMode.SCHEMA)]


def bodies(stub: Stub) -> list[dict[str, Any]]:
    return [one.body for one in stub.chats()]


def none_sent_twice(asked: Sequence[ReceivedRequest]) -> bool:
    said = [json.dumps(one.body, sort_keys=True) for one in asked]
    return len(set(said)) == len(said)


def test_a_server_that_is_offline_is_not_asked_again_for_a_minute(
    stub: Stub, asker: Asker, segment: Segment
) -> None:
    stub.stop()
    ollama = asker.ollama()
    with pytest.raises(errors.OfflineError):
        ollama.summarize_segment(segment)
    with pytest.raises(errors.CircuitOpenError) as caught:
        ollama.summarize_segment(segment)
    assert caught.value.retry_s == 60
    assert asker.slept == []


def test_a_busy_server_is_waited_for(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability]
) -> None:
    stub.script(*[faults.BUSY] * 5)
    ollama = asker.ollama(known=known)
    assert ollama.summarize_segment(segment).bullets
    assert asker.slept == [1, 2, 4, 8, 16]
    assert [d.phase for d in asker.told].count(ModelPhase.WAITING) == 5
    stub.script(*[faults.BUSY] * 6)
    with pytest.raises(errors.BusyError):
        ollama.summarize_segment(segment)
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
def test_a_server_that_is_unwell_gets_two_more_tries_then_a_rest(
    stub: Stub,
    asker: Asker,
    segment: Segment,
    known: list[Capability],
    fault: faults.Fault,
) -> None:
    stub.script(fault, fault)
    ollama = asker.ollama(known=known)
    assert ollama.summarize_segment(segment).generation.requests == 3
    assert asker.slept == [1, 5]
    stub.always(fault)
    with pytest.raises(errors.TransientError):
        ollama.summarize_segment(segment)
    assert none_sent_twice(stub.chats()[:3])
    with pytest.raises(errors.CircuitOpenError):
        ollama.summarize_segment(segment)
    assert ollama.health().condition is ModelCondition.RESTING
    asker.now += 60
    stub.always(faults.GOOD)
    assert ollama.summarize_segment(segment).bullets


@pytest.mark.parametrize("after", [-1, 2])
def test_a_server_that_falls_silent_is_asked_again(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability], after: int
) -> None:
    stub.script(faults.stalled(after))
    ollama = asker.ollama(ModelOptions(stub.url, timeout_s=HASTY_S), known=known)
    assert ollama.summarize_segment(segment).generation.requests == 2
    assert asker.slept == [1]
    assert stub.chats()[0].is_abandoned.wait(5)


def test_too_little_memory_means_half_the_text_then_a_smaller_model(
    segment: Segment,
) -> None:
    big = Model("qwen3:8b", size="8.2B")
    with run_stub(big, Model("qwen3:4b")) as stub:
        asker = Asker(stub.url)
        known = [
            Capability(stub.version, m.digest, OutputMode.SCHEMA) for m in stub.models
        ]
        stub.script(faults.NO_MEMORY, faults.NO_MEMORY)
        summary = asker.ollama(known=known).summarize_segment(segment)
        assert [body["model"] for body in bodies(stub)] == [
            "qwen3:8b",
            "qwen3:8b",
            "qwen3:4b",
            "qwen3:4b",
        ]
        assert summary.generation.model == "qwen3:4b" and summary.generation.parts == 2
        assert {claim.refs for claim in summary.bullets} == {(n,) for n in range(5)}
        assert none_sent_twice(stub.chats())


def test_a_model_that_cannot_even_be_loaded_makes_room_for_a_smaller_one(
    segment: Segment,
) -> None:
    with run_stub(Model("qwen3:8b", size="8.2B"), Model("qwen3:4b")) as stub:
        stub.script(faults.NO_MEMORY, path="/api/generate")
        summary = Asker(stub.url).ollama().summarize_segment(segment)
        assert summary.generation.model == "qwen3:4b"


def test_without_a_smaller_model_memory_is_what_is_missing(
    stub: Stub, asker: Asker, segment: Segment
) -> None:
    stub.always(faults.NO_MEMORY)
    with pytest.raises(errors.OutOfMemoryError):
        asker.ollama().summarize_segment(segment)


def test_a_prompt_that_is_too_long_is_cut_anew_and_never_sent_again(
    stub: Stub, asker: Asker, known: list[Capability]
) -> None:
    stub.script(faults.too_long(9000, 8192))
    ollama = asker.ollama(known=known)
    summary = ollama.summarize_segment(segment_of(*EVENTS))
    assert summary.generation.parts >= 2
    assert none_sent_twice(stub.chats())
    refs = {place for claim in summary.bullets for place in claim.refs}
    assert min(refs) < 8 <= max(refs)


def numbers(seed: int) -> str:
    """Numbers of which no part is in those of another seed."""
    return " ".join(f"{seed:x}{(n + 1) * (n + seed) % 9973:x}" for n in range(250))


@pytest.mark.parametrize("truncates", [False, True])
def test_a_model_that_counts_otherwise_is_given_less(truncates: bool) -> None:
    with run_stub(Model(window=4096, token_bytes=1)) as stub:
        stub.truncates = truncates
        known = [Capability(stub.version, stub.models[0].digest, OutputMode.SCHEMA)]
        ollama = Asker(stub.url).ollama(known=known)
        talk = [("user", f"Fix page {n}: {numbers(n)}") for n in range(8)]
        for _ in range(2):
            first = len(stub.chats())
            summary = ollama.summarize_segment(segment_of(*talk))
            refs = {ref for claim in summary.bullets for ref in claim.refs}
            assert refs <= {*range(8)}
            assert none_sent_twice(stub.chats()[first:])
        over = [one.tokens > one.window for one in stub.chats()]
        assert not any(over)


@pytest.mark.full
@pytest.mark.parametrize("token_bytes", [1, 2, 4])
def test_no_first_prompt_leaves_too_little_room_for_its_reply(token_bytes: int) -> None:
    with run_stub(Model(token_bytes=token_bytes)) as stub:
        known = [Capability(stub.version, stub.models[0].digest, OutputMode.SCHEMA)]
        ollama = Asker(stub.url).ollama(known=known)
        talk = [("user", f"Fix page {n}: {numbers(n)}") for n in range(12)]
        summary = ollama.summarize_segment(segment_of(*talk))
        asked = stub.chats()
        assert max(one.tokens for one in asked) <= 0.9 * 8192 - 700
        assert len(asked) == summary.generation.requests


@pytest.mark.usefixtures("any_draft")
def test_once_the_model_has_counted_the_rest_is_read_in_larger_parts(
    stub: Stub, asker: Asker, known: list[Capability]
) -> None:
    talk = [("user", f"Fix page {n} of the shop, please. " * 20) for n in range(30)]
    ollama = asker.ollama(known=known)
    first = ollama.summarize_segment(segment_of(*talk))
    asked = stub.chats()
    assert asked[1].tokens > 1.3 * asked[0].tokens
    again = ollama.summarize_segment(segment_of(*talk))
    assert (
        again.generation.parts <= first.generation.parts <= again.generation.parts + 1
    )


def test_a_model_that_has_gone_is_replaced_by_another(segment: Segment) -> None:
    with run_stub(Model("qwen3:8b", size="8.2B"), Model("qwen3:4b")) as stub:
        stub.script(faults.MISSING)
        summary = Asker(stub.url).ollama().summarize_segment(segment)
        assert summary.generation.model == "qwen3:4b"


def test_without_another_the_model_to_pull_is_named(segment: Segment) -> None:
    with run_stub(Model("nomic-embed-text", size="137M")) as stub:
        with pytest.raises(errors.ModelNotFoundError, match="ollama pull qwen3:4b"):
            Asker(stub.url).ollama().summarize_segment(segment)
        wishes = ModelOptions(stub.url, model="mine:8b", timeout_s=PATIENT_S)
        with pytest.raises(errors.ModelNotFoundError, match="ollama pull mine:8b"):
            Asker(stub.url).ollama(wishes).summarize_segment(segment)


def test_a_reply_cut_for_its_length_keeps_its_whole_bullets(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability]
) -> None:
    stub.script(faults.shortened(220))
    summary = asker.ollama(known=known).summarize_segment(segment)
    assert [claim.text for claim in summary.bullets] == [
        TALK[0][1],
        TALK[1][1].replace("\n", " "),
    ]
    assert summary.generation.was_truncated and summary.generation.requests == 1


def test_one_without_a_whole_bullet_is_asked_for_in_halves(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability]
) -> None:
    stub.script(faults.shortened(40))
    summary = asker.ollama(known=known).summarize_segment(segment)
    assert summary.generation.parts == 2 and len(summary.bullets) == 5
    assert none_sent_twice(stub.chats())


def test_one_that_is_too_long_however_little_is_asked_is_given_up(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability]
) -> None:
    stub.always(faults.shortened(10))
    with pytest.raises(errors.ReplyTooLongError):
        asker.ollama(known=known).summarize_segment(segment)
    assert none_sent_twice(stub.chats())


@pytest.mark.parametrize("cut", range(0, 640, 11))
def test_a_reply_cut_at_any_byte_gives_what_was_said_or_a_fault(
    cut: int, cuts: tuple[Stub, Asker]
) -> None:
    stub, asker = cuts
    known = [Capability(stub.version, stub.models[0].digest, OutputMode.SCHEMA)]
    stub.always(faults.shortened(cut))
    try:
        summary = asker.ollama(known=known).summarize_segment(segment_of())
    except errors.ReplyTooLongError:
        return
    said = [" ".join(text.split()) for _, text in TALK]
    for claim in summary.bullets:
        assert [said[place] for place in claim.refs] == [claim.text]


@pytest.fixture(scope="module")
def cuts() -> Any:
    """One server for many cuts."""
    with run_stub() as stub:
        yield stub, Asker(stub.url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I am sorry, I cannot do that.",
        '{"bullets": []}',
        '{"bullets": [{"refs": [1], "text": "' + "and again " * 200,
        '{"bullets": [' + "\n" * 500,
        json.dumps({"bullets": [{"refs": [0, 77], "text": "a claim"}]}),
        personas.reply(
            [([1], "登录页面的错误已经修复，所有测试都通过了，可以发布新版本。")]
        ),
    ],
    ids=lambda text: repr(text)[:40],
)
def test_a_bad_reply_gets_one_other_try(
    stub: Stub, asker: Asker, segment: Segment, known: list[Capability], text: str
) -> None:
    stub.script(faults.saying(text))
    ollama = asker.ollama(known=known)
    assert len(ollama.summarize_segment(segment).bullets) == 5
    first, second = (body["options"] for body in bodies(stub))
    assert (first["temperature"], first["seed"]) == (0.0, 1)
    assert (second["temperature"], second["seed"]) == (0.3, 2)
    stub.script(*[faults.saying(text)] * 2)
    with pytest.raises(errors.InvalidReplyError):
        ollama.summarize_segment(segment)
    assert asker.slept == []
    assert ollama.health().is_ready


@pytest.mark.parametrize(
    "persona",
    [
        personas.empty,
        personas.without_bullets,
        personas.refs_beyond,
        personas.foreign,
        personas.blank,
        personas.repeating,
    ],
)
def test_a_model_that_writes_no_summary_is_asked_twice(
    stub: Stub,
    asker: Asker,
    segment: Segment,
    known: list[Capability],
    persona: personas.Persona,
) -> None:
    stub.models[0].persona = persona
    with pytest.raises(errors.InvalidReplyError):
        asker.ollama(known=known).summarize_segment(segment)
    assert len(stub.chats()) == 2
    written = [doing.written for doing in asker.told]
    assert max(written) * 12 < 1200


def test_a_model_that_no_longer_thinks_is_probed_anew(segment: Segment) -> None:
    with run_stub(Model(capabilities=("completion", "thinking"))) as stub:
        digest = stub.models[0].digest
        asker = Asker(stub.url)
        ollama = asker.ollama(
            known=[Capability("0.33.0", digest, OutputMode.SCHEMA_THINKING)]
        )
        stub.script(faults.NO_THINKING)
        summary = ollama.summarize_segment(segment)
        assert (summary.generation.mode, len(summary.bullets)) == ("schema", 5)


def test_a_server_that_refuses_us_is_not_asked_again(
    stub: Stub, asker: Asker, segment: Segment
) -> None:
    stub.always(faults.FORBIDDEN, path="/api/version")
    ollama = asker.ollama()
    with pytest.raises(errors.NotAllowedError):
        ollama.summarize_segment(segment)
    assert ollama.health().condition is ModelCondition.REFUSED
    assert asker.slept == []


def test_plain_answers_go_wrong_too(stub: Stub, asker: Asker, segment: Segment) -> None:
    for path in ("/api/version", "/api/tags", "/api/ps", "/api/show"):
        for fault in (faults.PROXY, faults.reset(-1)):
            stub.script(fault, path=path)
            with pytest.raises(errors.TransientError):
                asker.ollama().summarize_segment(segment)
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
def test_whatever_goes_wrong_it_answers_or_raises_a_fault(
    cuts: tuple[Stub, Asker], script: list[faults.Fault]
) -> None:
    with run_stub() as stub:
        stub.script(*script)
        ollama = Asker(stub.url).ollama()
        try:
            summary = ollama.summarize_segment(segment_of())
        except OllamaError as fault:
            assert isinstance(fault, ModelError) and str(fault)
        else:
            assert summary.bullets and all(claim.refs for claim in summary.bullets)
        assert len(stub.chats()) < 60
        assert all(one.body["truncate"] is False for one in stub.chats())
