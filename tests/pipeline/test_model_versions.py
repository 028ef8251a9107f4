"""A model's summaries are shown, withheld, rejected, or tried again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from memtui.model.jobs import Job, RunResult
from memtui.model.nodes import Bullet, BulletKind, NodeStatus, TocNode
from memtui.model.verdicts import Objection, Support
from memtui.services import jobs
from memtui.services import versions as services_versions
from memtui.store import database
from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.summarizer import ExtractiveSummarizer
from tests.pipeline.model_bench import (
    CONVERSATION,
    DAY,
    MONDAY,
    MONTH,
    WEEK,
    Bench,
    make_conversation,
    make_records,
)
from tests.stub import faults, personas
from tests.stub.models import Model
from tests.stub.personas import Prompt
from tests.stub.server import Stub
from tests.tables import VersionRow

MOON = "The moon landing was watched by penguins eating marzipan"
"""A text that is in no conversation."""

HOUR = timedelta(hours=1)
Persona = Callable[[Prompt], str]


def _named(output: object) -> str:
    """Return the name of a case, which is the same in every process."""
    return getattr(output, "__name__", "") or repr(output)[:40]


def import_segment(bench: Bench, number: int = 0) -> str:
    """Import a conversation; return its segment, which needs a version by a model."""
    bench.import_records(
        make_records(MONDAY + number * HOUR, *make_conversation(number))
    )
    return bench.segments()[0]


def writes(persona: Persona, bench: Bench) -> None:
    bench.stub.models[0].persona = persona


def list_seeds(stub: Stub) -> list[tuple[float, int]]:
    options = [request.body["options"] for request in stub.chats()]
    return [(values["temperature"], values["seed"]) for values in options]


def written_bullets(node: TocNode) -> list[Bullet]:
    """Return the bullets that the model wrote, without the facts beside them."""
    return [bullet for bullet in node.bullets if bullet.verdict.is_by_model]


# What stands is shown


def test_supported_version_is_displayed_with_its_measurements(
    bench: Bench,
) -> None:
    name = import_segment(bench)
    at_once = bench.node(name)
    assert (at_once.version, at_once.is_by_model) == (1, False)
    bench.clock.advance(hours=2)
    assert bench.step() == 1
    node = bench.node(name)
    assert (node.version, node.status, node.rejection) == (2, NodeStatus.CURRENT, "")
    asked, *written = node.bullets
    texts = [text for _, text in make_conversation(0)]
    assert (asked.kind, asked.text) == (BulletKind.ASKED, texts[0])
    assert [bullet.text for bullet in written] == texts
    assert {bullet.kind for bullet in written} == {BulletKind.OUTCOME}
    assert {bullet.support for bullet in node.bullets} == {Support.SUPPORTED}
    assert all(bullet.grip_ids and bullet.verdict.spans for bullet in written)
    assert node.created_at == bench.clock()
    model, facts = bench.stub.models[0], node.generation
    assert (
        node.summarizer == f"ollama-{prompts.VERSION} {model.name} {model.digest[:12]}"
    )
    assert (facts.model, facts.digest) == (model.name, model.digest)
    assert (facts.server, facts.prompt) == (bench.stub.version, prompts.VERSION)
    assert json.loads(facts.options)["seed"] == 1
    assert (facts.requests, facts.parts, facts.prompt_ms) == (1, 1, 2000)
    assert facts.prompt_tokens == bench.stub.chats()[0].tokens
    (edition, before) = bench.history(name).versions
    assert (edition.supported, edition.weak, edition.withheld) == (2, 0, 0)
    assert edition.is_shown and not before.is_shown
    assert not bench.needs_version(name)


def test_displayed_version_is_found(bench: Bench) -> None:
    name = import_segment(bench)
    writes(
        lambda _: personas.reply([([1], make_conversation(0)[0][1])], "timetable.py"),
        bench,
    )
    bench.step()
    bench.run_stages()
    assert bench.node(name).headline == "timetable.py"
    hits = bench.workspace.teleport.find("timetable").hits
    assert name in {hit.node_id for hit in hits}


def test_bullet_that_another_event_supports_is_repaired(bench: Bench) -> None:
    name = import_segment(bench)
    writes(personas.wrong_refs, bench)
    bench.step()
    (edition, _) = bench.history(name).versions
    assert edition.is_by_model and edition.is_shown
    bullets = written_bullets(bench.node(name))
    assert all(bullet.verdict.is_repaired for bullet in bullets)
    quoted = [bullet.verdict.spans[0].event_id for bullet in bullets]
    assert len(set(quoted)) == 2


CAREER = (
    ("user", "I've been doing Python for 5 years but my new team is all Rust"),
    ("assistant", "That's a big shift. What prompted it?"),
    ("user", "The trading system needs microsecond latency, Python can't cut it"),
    ("user", "Also I need to learn it within 3 months or I'm screwed"),
)


def test_s4_16_summary_of_the_seed_survives_the_audit(bench: Bench) -> None:
    summary = (
        "User switching careers from Python to Rust due to performance requirements"
        " at new job."
    )
    bench.import_records(make_records(MONDAY, *CAREER))
    (name,) = bench.segments()
    writes(lambda _: personas.reply([([1], summary)], summary), bench)
    assert bench.step() == 1
    node = bench.node(name)
    assert (node.is_by_model, node.rejection, node.withheld) == (True, "", ())
    assert [bullet.text for bullet in written_bullets(node)] == [summary]
    assert node.headline.startswith("User switching careers from Python to Rust")


def test_bullet_said_only_in_part_is_weak(bench: Bench) -> None:
    name = import_segment(bench)
    sentence = make_conversation(0)[0][1]
    texts = (
        sentence,
        "Boats of the northern quay are late, and travellers complain loudly.",
    )
    writes(lambda _: personas.reply([([1], text) for text in texts]), bench)
    bench.step()
    supports = [bullet.support for bullet in written_bullets(bench.node(name))]
    assert supports == [Support.SUPPORTED, Support.WEAK]


@pytest.mark.parametrize(
    ("title", "objection"),
    [
        ("Full dates are compared, 99 tests pass", Objection.NUMBER),
        ("Fixed in payments.py: full dates are compared", Objection.NAME),
        ("Boats of the northern quay, pushed", Objection.AGAINST_FACTS),
        (MOON, Objection.NO_SOURCE),
    ],
)
def test_title_without_support_is_withheld(
    bench: Bench, title: str, objection: Objection
) -> None:
    name = import_segment(bench)
    writes(lambda p: personas.reply([([n], t) for n, t in p.sample], title), bench)
    assert bench.step() == 1
    node = bench.node(name)
    assert node.is_by_model and not node.session_title and title not in node.headline
    (bullet,) = node.withheld
    assert (bullet.kind, bullet.text) == (BulletKind.TITLE, title)
    assert bullet.verdict.objection is objection
    (run,) = bench.runs(Job.SEGMENTS)
    assert run.withheld == {objection.value: 1}


TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"


def test_secret_that_a_model_puts_together_is_redacted(bench: Bench) -> None:
    hidden = f"{TOKEN[:9]}\u200b{TOKEN[9:]}"
    bench.import_records(
        make_records(
            MONDAY, *CONVERSATION, ("user", f"The token is {hidden}, keep it safe.")
        )
    )
    (name,) = bench.segments()

    def telling(prompt: Prompt) -> str:
        output = [([n], t) for n, t in prompt.sample]
        return personas.reply([*output, ([3], f"The token is {TOKEN}")], f"Use {TOKEN}")

    writes(telling, bench)
    assert bench.step() == 1
    assert TOKEN not in json.dumps(bench.stub.chats()[0].body)
    assert bench.node(name).is_by_model
    assert TOKEN not in repr(bench.dump())


def test_title_that_nobody_said_is_replaced(bench: Bench) -> None:
    name = import_segment(bench)
    import_segment(bench, 3)

    def titled(prompt: Prompt) -> str:
        return prompt.reply([([n], t) for n, t in prompt.sample], MOON)

    writes(titled, bench)
    bench.run_model()
    assert all(bench.node(node_id).is_by_model for node_id in (name, WEEK, MONTH))
    for node in map(bench.node, (name, DAY, WEEK, MONTH)):
        assert "moon" not in (node.headline + node.title).lower()
    assert bench.history(DAY).versions[0].rejection == "nothing of it can be shown"


# What does not stand is kept and not shown


def lying(prompt: Prompt) -> str:
    """Quote the prompt, with a claim of its own in between."""
    (first, text), *others = [([n], t) for n, t in prompt.sample]
    return prompt.reply([(first, text), (first, MOON), *others])


def test_bullet_without_source_is_withheld_everywhere(bench: Bench) -> None:
    name = import_segment(bench)
    import_segment(bench, 3)
    writes(lying, bench)
    bench.run_model()
    for node in map(bench.node, (name, DAY, WEEK, MONTH)):
        assert node.is_by_model
        assert MOON in [bullet.text for bullet in node.withheld]
        assert MOON not in [bullet.text for bullet in node.bullets]
        assert bench.history(node.node_id).versions[0].withheld == len(node.withheld)
    assert len(bench.stub.chats()) == 5
    for asked in bench.stub.chats():
        assert "penguins" not in json.dumps(asked.body)


def test_withheld_bullets_are_not_rolled_up(bench: Bench) -> None:
    import_segment(bench)
    import_segment(bench, 3)
    writes(lying, bench)
    bench.step()
    bench.clock.advance(minutes=10)
    before = bench.node(DAY).version
    bench.run_stages()
    assert bench.node(DAY).version == before + 1
    said_there = [bullet.text for bullet in bench.node(DAY).bullets]
    assert said_there and MOON not in said_there


def test_each_line_is_withheld_alone(bench: Bench) -> None:
    name = import_segment(bench)
    texts = (make_conversation(0)[0][1], MOON, "Elephants painted the Vatican purple")
    writes(lambda _: personas.reply([([1], text) for text in texts]), bench)
    assert bench.step() == 1
    node = bench.node(name)
    assert [bullet.text for bullet in written_bullets(node)] == [texts[0]]
    assert {*texts[1:]} <= {bullet.text for bullet in node.withheld}
    assert all(bullet.verdict.objection for bullet in node.withheld)
    bench.check_invariants()


def test_version_without_supported_bullets_is_rejected(bench: Bench) -> None:
    name = import_segment(bench)
    writes(lambda _: personas.reply([([1], MOON)], MOON), bench)
    assert bench.step() == 1
    edition = bench.history(name).versions[0]
    assert edition.rejection == "no source"
    assert not bench.node(name).is_by_model and not bench.needs_version(name)
    bench.check_invariants()


BAD: Sequence[tuple[Persona, str]] = (
    (personas.empty, "an empty reply"),
    (personas.without_bullets, "the reply says nothing"),
    (personas.foreign, "no source"),
    (personas.germanic, "no source"),
    (personas.blank, "the reply is no JSON"),
    (personas.repeating, "the reply is no JSON"),
    (lambda _: "I am sorry.", "the reply is no JSON"),
)


@pytest.mark.parametrize(("persona", "why"), BAD, ids=_named)
def test_unusable_reply_is_rejected_with_its_reason(
    bench: Bench, persona: Persona, why: str
) -> None:
    name = import_segment(bench)
    writes(persona, bench)
    before = bench.node(name)
    assert bench.step() == 1
    assert bench.node(name) == before
    rejected, extract = bench.history(name).versions
    assert (rejected.rejection, rejected.is_shown, extract.is_shown) == (
        why,
        False,
        True,
    )
    assert list_seeds(bench.stub) == [(0.0, 1)]
    (run,) = bench.runs()
    assert (run.created, run.rejected, run.failed, run.error) == (0, 1, 0, "")
    assert not bench.needs_version(name)


def test_model_without_usable_replies_changes_nothing(bench: Bench) -> None:
    name = import_segment(bench)
    import_segment(bench, 3)
    writes(personas.empty, bench)
    bench.run_model()
    assert list_seeds(bench.stub) == [(0.0, 1)] * 5
    assert not any(bench.node(n).is_by_model for n in (name, DAY, WEEK, MONTH))
    assert bench.count_pending()["segment"] == 0
    bench.check_invariants()


def test_json_is_found_within_prose(bench: Bench) -> None:
    for number, persona in enumerate((personas.chatty, personas.thinking_aloud)):
        writes(persona, bench)
        name = import_segment(bench, number)
        bench.step()
        assert bench.node(name).is_by_model


# Versions are only ever added


def test_equal_input_makes_no_new_version(bench: Bench) -> None:
    name = import_segment(bench)
    bench.run_model()
    versions = bench.dump()["node_versions"]
    asked = len(bench.stub.chats())
    bench.import_records(make_records(MONDAY, *make_conversation(0)))
    bench.start()
    bench.run_model()
    assert bench.dump()["node_versions"] == versions
    assert len(bench.stub.chats()) == asked
    assert bench.node(name).version == 2


def test_earlier_version_from_the_same_input_is_displayed_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = import_segment(bench)
    import_segment(bench, 3)
    bench.run_model()
    asked = len(bench.stub.chats())
    monkeypatch.setattr(ExtractiveSummarizer, "identity", "extractive-77")
    bench.open()
    bench.run_stages()
    assert not bench.node(name).is_by_model and bench.needs_version(name)
    bench.run_model()
    assert len(bench.stub.chats()) == asked
    for node in map(bench.node, (name, DAY, WEEK, MONTH)):
        assert node.is_by_model
        assert bench.history(node.node_id).versions[0].summarizer == "extractive-77"


def test_rejected_input_is_not_asked_about_again(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = import_segment(bench)
    writes(personas.empty, bench)
    bench.step()
    asked = len(bench.stub.chats())
    monkeypatch.setattr(ExtractiveSummarizer, "identity", "extractive-77")
    bench.open()
    bench.run_stages()
    assert bench.needs_version(name)
    bench.step()
    assert not bench.needs_version(name)
    assert len(bench.stub.chats()) == asked


def test_request_gets_another_seed_and_another_version(
    bench: Bench,
) -> None:
    name = import_segment(bench)
    bench.step()
    for _ in range(2):
        bench.request_version(name)
        assert bench.step() == 1
    assert list_seeds(bench.stub) == [(0.0, 1), (0.3, 2), (0.3, 3)]
    editions = bench.history(name).versions
    assert [edition.version for edition in editions] == [4, 3, 2, 1]
    assert len({bench.version(name, n).input_hash for n in (1, 2, 3, 4)}) == 4
    assert editions[0].is_shown
    assert bench.history(name).requested_at is None


def test_rejected_attempt_is_counted_and_hides_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = import_segment(bench)
    bench.step()
    writes(personas.empty, bench)
    bench.request_version(name)
    bench.step()
    assert [bool(version.rejection) for version in bench.history(name).versions] == [
        1,
        0,
        0,
    ]
    assert bench.node(name).version == 2
    bench.request_version(name)
    bench.step()
    assert list_seeds(bench.stub)[1:] == [(0.3, 2), (0.3, 3)]
    asked = len(bench.stub.chats())
    monkeypatch.setattr(ExtractiveSummarizer, "identity", "extractive-77")
    bench.open()
    bench.run_stages()
    bench.step()
    assert bench.node(name).version == 2
    assert len(bench.stub.chats()) == asked


def test_another_model_makes_new_versions(bench: Bench) -> None:
    name = import_segment(bench)
    bench.step()
    bench.stub.models[:] = [Model("gemma3:4b", family="gemma3")]
    bench.import_records(
        make_records(MONDAY, ("user", "Now the ferries are early."), session="other")
    )
    bench.start()
    bench.run_model()
    assert bench.node(bench.segments()[0]).generation.model == "gemma3:4b"
    assert bench.node(name).generation.model == "qwen3:4b"
    bench.request_version(name)
    bench.step()
    assert bench.node(name).generation.model == "gemma3:4b"


def test_a_pinned_version_stays(bench: Bench) -> None:
    name = import_segment(bench)
    services_versions.pin(name, 1, bench.workspace.zone, bench.clock())
    bench.run_model()
    assert (bench.node(name).version, bench.node(name).is_pinned) == (1, True)
    edition = bench.history(name).versions[0]
    assert edition.is_by_model and not edition.is_shown
    services_versions.unpin(name, bench.workspace.zone, bench.clock())
    assert bench.node(name).is_by_model


# What changes while a model writes


def test_events_that_arrive_while_a_model_writes_are_summarized(bench: Bench) -> None:
    first = make_records(MONDAY, *make_conversation(0), session="s1", ends=False)
    late = make_records(
        MONDAY + timedelta(minutes=5),
        ("assistant", "The walrus tests are green as well."),
        session="s1",
    )
    bench.import_records(first)
    (name,) = bench.segments()

    def meanwhile(prompt: Prompt) -> str:
        writes(personas.honest, bench)
        bench.import_records(late)
        return personas.honest(prompt)

    writes(meanwhile, bench)
    assert bench.step() == 1
    assert bench.segments() == [name]
    assert not any(version.is_by_model for version in bench.history(name).versions)
    assert bench.needs_version(name)
    assert bench.step() == 1
    assert "walrus" in written_bullets(bench.node(name))[-1].text
    assert bench.node(name).is_by_model
    bench.check_invariants()


def test_nothing_is_stored_for_a_segment_deleted_meanwhile(
    bench: Bench,
) -> None:
    bench.import_records(
        make_records(MONDAY, *make_conversation(0), session="s1", ends=False)
    )
    (gone,) = bench.segments()
    earlier = make_records(
        MONDAY - timedelta(minutes=5), make_conversation(1)[0], session="s1"
    )[:1]

    def meanwhile(prompt: Prompt) -> str:
        writes(personas.honest, bench)
        bench.import_records(earlier)
        return personas.honest(prompt)

    writes(meanwhile, bench)
    assert bench.step() == 1
    (name,) = bench.segments()
    assert name != gone
    with database.connection():
        versions_of_gone = VersionRow.select().where(VersionRow.node_id == gone)
        assert not versions_of_gone.where(VersionRow.is_by_model).count()
    assert bench.step() == 1
    assert bench.node(name).is_by_model
    bench.check_invariants()


def test_a_day_whose_segments_change_while_it_is_written_is_written_again(
    bench: Bench,
) -> None:
    import_segment(bench)
    name = import_segment(bench, 1)
    assert bench.step() and bench.step()

    def meanwhile(prompt: Prompt) -> str:
        writes(personas.honest, bench)
        bench.import_records(make_records(MONDAY + 2 * HOUR, *make_conversation(2)))
        return personas.honest(prompt)

    writes(meanwhile, bench)
    order = bench.run_model()
    newer = bench.segments()[0]
    assert newer != name
    assert order == [DAY, newer, DAY, WEEK, MONTH]
    assert bench.node(DAY).is_by_model
    assert len(bench.node(DAY).child_node_ids) == 3


# What goes wrong


WORSE = [
    (faults.CRASHED, "model runner has unexpectedly stopped"),
    (faults.PROXY, "502 Bad Gateway"),
    (faults.reset(1), "the connection broke off"),
    (faults.ended(1), "the reply ended before it was done"),
    (faults.NOT_DONE, "the server's answer cannot be read"),
    (faults.garbled(1), "the server's answer cannot be read"),
    (faults.broken_off("an unknown error was encountered", 2), "an unknown error"),
    (faults.stalled(1), "the server fell silent"),
    (faults.NO_MEMORY, "more system memory"),
]


@pytest.mark.parametrize(("fault", "why"), WORSE, ids=_named)
@pytest.mark.full
def test_error_that_the_text_may_cause_is_retried_after_other_nodes(
    bench: Bench, fault: faults.Fault, why: str
) -> None:
    bench.options = ModelOptions(bench.stub.url, timeout_s=1.0)
    bench.start()
    name = import_segment(bench)
    before = bench.dump("jobs", "job_runs", "nodes", "meta")
    bench.stub.always(fault)
    assert bench.step() == 1
    assert bench.dump("jobs", "job_runs", "nodes", "meta") == before
    assert bench.needs_version(name) and not bench.node(name).is_by_model
    assert bench.retry_in_s(name) == 120
    (run,) = bench.runs()
    assert (run.created, run.rejected, run.failed, run.waiting) == (0, 0, 1, 1)
    bench.clock.advance(seconds=31)  # the server is left alone for half a minute
    bench.step()
    (run,) = bench.runs(Job.SEGMENTS)
    assert run.result is RunResult.FAILED
    assert why in run.error or "is asked again later" in run.error
    bench.stub.always(faults.GOOD)
    bench.clock.advance(seconds=121)
    bench.run_model()
    assert bench.node(name).is_by_model
    assert bench.runs(Job.SEGMENTS)[0].result is RunResult.DONE
    bench.check_invariants()


@pytest.mark.parametrize(
    ("fault", "why", "rest_s"),
    [
        (faults.BUSY, "server busy", 30),
        (faults.MISSING, "try: ollama pull qwen3:4b", 30),
        (faults.FORBIDDEN, "the server answered 403", 1800.0),
        (
            faults.redirect("http://10.0.0.9/"),
            "the server answered 307",
            1800.0,
        ),
        (
            replace(faults.GOOD, remote_host="https://ollama.com:443"),
            "it does not run on this machine",
            1800.0,
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
@pytest.mark.full
def test_error_of_the_server_leaves_the_node_queued(
    bench: Bench, fault: faults.Fault, why: str, rest_s: float
) -> None:
    name = import_segment(bench)
    before = bench.dump("jobs", "job_runs")
    bench.stub.always(fault)
    assert bench.step() == 1
    assert bench.dump("jobs", "job_runs") == before
    (run,) = bench.runs()
    assert (run.created, run.rejected, run.failed, run.result) == (0, 0, 0, None)
    asked = len(bench.stub.received)
    bench.clock.advance(seconds=rest_s - 1)
    assert bench.step() == 0
    assert len(bench.stub.received) == asked
    bench.clock.advance(seconds=1)
    jobs.pause([Job.SEGMENTS])
    assert bench.step() == 0
    (run,) = bench.runs()
    assert run.result is RunResult.STOPPED and why in run.error
    jobs.resume([Job.SEGMENTS])
    bench.stub.always(faults.GOOD)
    bench.clock.advance(minutes=2)
    bench.run_model()
    assert bench.node(name).is_by_model


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (faults.too_long(9000, 8192), "exceeds the available context size"),
        (faults.shortened(10), "the reply is no JSON"),
    ],
    ids=["too long a prompt", "too long a reply"],
)
def test_error_that_would_repeat_rejects_the_version(
    bench: Bench, fault: faults.Fault, why: str
) -> None:
    name = import_segment(bench)
    bench.stub.always(fault)
    assert bench.step() == 1
    edition = bench.history(name).versions[0]
    assert why in edition.rejection and not edition.is_shown
    assert not bench.needs_version(name) and not bench.node(name).is_by_model
    bodies = [
        json.dumps(request.body, sort_keys=True) for request in bench.stub.chats()
    ]
    assert len(set(bodies)) == len(bodies)
    bench.check_invariants()


def test_a_reply_cut_for_its_length_keeps_its_whole_bullets(bench: Bench) -> None:
    name = import_segment(bench)
    bench.stub.script(faults.shortened(260))
    bench.step()
    node = bench.node(name)
    assert node.is_by_model and node.generation.was_truncated
    assert [bullet.text for bullet in written_bullets(node)] == [
        make_conversation(0)[0][1]
    ]


def test_missing_model_is_named_with_the_command_to_pull_it(bench: Bench) -> None:
    import_segment(bench)
    bench.stub.models[:] = [Model("nomic-embed-text", size="137M")]
    before = bench.dump("jobs")
    assert bench.step() == 0
    health = bench.improve.model.health
    assert health is not None and health.remedy == "ollama pull qwen3:4b-instruct"
    assert bench.dump("jobs") == before
    bench.stub.models.append(Model())
    bench.clock.advance(seconds=30)
    assert bench.step() == 1


def test_error_of_memtui_is_retried_later(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_segment(bench, 0)
    import_segment(bench, 1)
    poison, good = bench.segments()

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a mistake")

    with monkeypatch.context() as patched:
        patched.setattr(bench.ollama, "summarize_events", broken)
        assert bench.step() == 1
    assert bench.needs_version(poison) and bench.retry_in_s(poison) == 120
    assert bench.step() == 1
    assert bench.node(good).is_by_model
    (run,) = bench.runs()
    assert (run.created, run.failed) == (1, 1)
    bench.clock.advance(minutes=2)
    bench.run_model()
    assert bench.node(poison).is_by_model
