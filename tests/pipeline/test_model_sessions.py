"""A model summarizes a whole session in one request."""

import pytest

from memtui.model.events import from_ms
from memtui.model.jobs import Job
from memtui.model.nodes import BulletKind, TocNode
from memtui.model.verdicts import Objection
from memtui.services import browse, jobs, sessions, versions
from tests.pipeline.model_bench import DAY, HOUR, MONDAY, WEEK, Bench, make_records
from tests.stub import personas
from tests.stub.personas import Prompt

PARTS = (
    (
        ("user", "Draw the northern quay on the harbour map."),
        ("assistant", "The northern quay is on the map, 12 berths are numbered."),
    ),
    (
        ("user", "Translate the tickets of the ferry into Danish."),
        ("assistant", "All 48 tickets are in Danish. Shall I print them?"),
    ),
    (
        ("user", "Yes, print them."),
        ("tool", "Bash: pytest\n=== 9 passed in 0.10s ==="),
        ("assistant", "The printer of the harbour office has no paper."),
    ),
)
OUTCOMES = (
    "The northern quay is on the harbour map with 12 numbered berths.",
    "All 48 tickets of the ferry are in Danish.",
    "The printer of the harbour office has no paper.",
)
PLANTED = "The printer of the harbour office took 4711 pages."
TITLE = "Harbour map and Danish tickets"


def write_report(prompt: Prompt) -> str:
    """Report on the session in another order, with a number that nobody said."""
    texts = dict(prompt.events)

    def refer(words: str) -> list[int]:
        return [number for number, text in texts.items() if words in text][:1]

    lines = [
        (refer("printer"), OUTCOMES[2]),
        (refer("printer"), PLANTED),
        (refer("48 tickets"), OUTCOMES[1]),
        (refer("12 berths"), OUTCOMES[0]),
    ]
    return prompt.reply(lines, TITLE)


@pytest.fixture
def nodes(bench: Bench) -> list[TocNode]:
    """The segments of the session as a model wrote them, the oldest first."""
    for number, talk in enumerate(PARTS):
        is_last = number == len(PARTS) - 1
        records = make_records(
            MONDAY + number * HOUR, *talk, session="s1", ends=is_last
        )
        for record in records:
            if record["event_type"] == "tool_result":
                record |= {"tool_name": "Bash", "tool_input": {"command": "pytest"}}
        bench.import_records(records)
    bench.stub.models[0].persona = write_report
    assert bench.step() == 1
    bench.run_model()
    return [bench.node(name) for name in reversed(bench.segments())]


def test_three_segments_of_a_session_are_one_request(
    bench: Bench, nodes: list[TocNode]
) -> None:
    (request,) = bench.stub.chats()
    prompt = str(request.body["messages"][-1]["content"])
    assert all(talk[0][1] in prompt for talk in PARTS)
    assert len(nodes) == 3 and not any(map(bench.needs_version, bench.segments()))


def test_each_line_is_shown_in_the_segment_with_its_evidence(
    nodes: list[TocNode],
) -> None:
    for node, outcome in zip(nodes, OUTCOMES, strict=True):
        written = [bullet for bullet in node.bullets if bullet.verdict.is_by_model]
        assert [bullet.text for bullet in written] == [outcome]
        (bullet,) = written
        assert bullet.kind is BulletKind.OUTCOME and bullet.grip_ids
        assert from_ms(int(bullet.grip_ids[0].split(":")[1])) >= node.start_time
        assert bullet.grip_ids[0].split(":")[1] <= f"{node.end_time.timestamp():.0f}000"
        assert node.session_title == TITLE


def test_facts_stay_beside_the_lines_of_a_model(nodes: list[TocNode]) -> None:
    facts = [b for b in nodes[2].bullets if b.kind is BulletKind.TESTS]
    assert [bullet.text for bullet in facts] == ["9 passed (pytest)"]
    card = sessions.read_card("claude-code", "s1")
    assert [b.text for b in card.bullets if b.kind is BulletKind.TESTS] == [
        "9 passed (pytest)"
    ]
    assert all(bullet.grip_ids for bullet in card.bullets)


def test_a_planted_number_is_withheld_with_its_reason(
    bench: Bench, nodes: list[TocNode], capsys: pytest.CaptureFixture[str]
) -> None:
    (bullet,) = nodes[2].withheld
    assert (bullet.text, bullet.verdict.objection) == (PLANTED, Objection.NUMBER)
    reason = "a number that is nowhere in the session"
    assert versions.explain_verdict(bullet).startswith(f"withheld: {reason}: 4711")
    assert bench.history(nodes[2].node_id).versions[0].withheld == 1
    (run,) = bench.runs(Job.SEGMENTS)
    assert jobs.describe_withheld(run.withheld) == f"1 line withheld: {reason}"
    assert jobs.describe_counts(run).endswith(f"1 line withheld: {reason}")
    card = sessions.read_card("claude-code", "s1")
    assert [bullet.text for bullet in card.withheld] == [PLANTED]


def test_a_session_is_called_what_the_model_calls_it(
    bench: Bench, nodes: list[TocNode]
) -> None:
    (row,) = browse.list_day_sessions(DAY)
    assert row.session.work.name == bench.node(DAY).headline == TITLE
    page = browse.get_day_session_node(row)
    assert page is not None and page.headline == TITLE and page.is_by_model
    assert {*OUTCOMES} <= {bullet.text for bullet in page.bullets}
    assert nodes[0].node_id in page.child_node_ids


def test_a_session_that_goes_on_waits_for_its_end(bench: Bench) -> None:
    bench.clock.now = MONDAY + HOUR / 2
    bench.import_records(make_records(MONDAY, *PARTS[0], session="s1", ends=False))
    bench.run_model()
    assert bench.stub.chats() == []
    bench.clock.now = MONDAY + 2 * HOUR
    bench.run_stages()
    bench.run_model()
    assert len(bench.stub.chats()) == 1


def test_a_session_that_has_grown_is_asked_about_once_more(bench: Bench) -> None:
    bench.stub.models[0].persona = personas.honest
    bench.import_records(make_records(MONDAY, *PARTS[0], session="s1"))
    bench.run_model()
    bench.import_records(make_records(MONDAY + HOUR, *PARTS[1], session="s1"))
    bench.run_model()
    assert len(bench.stub.chats()) == 2
    assert PARTS[0][0][1] in bench.last_prompt(bench.segments()[0])
    assert all(bench.node(name).is_by_model for name in bench.segments())


def test_a_message_after_a_models_lines_is_on_the_page_at_once(
    bench: Bench, nodes: list[TocNode]
) -> None:
    at = MONDAY + 4 * HOUR
    bench.clock.now = at
    text = "There is paper in the printer now."
    bench.import_records(
        make_records(at, ("assistant", text), session="s1", ends=False)
    )
    card = sessions.read_card("claude-code", "s1")
    assert card.work.name == TITLE and card.work.outcome == text
    written = [bullet.text for bullet in card.bullets if bullet.verdict.is_by_model]
    quoted = [b.text for b in card.bullets if b.is_quote]
    assert (written, quoted) == ([*OUTCOMES], [text])


@pytest.mark.parametrize("node_id", [DAY, WEEK])
def test_a_request_for_a_period_of_one_session_is_for_that_session(
    bench: Bench, node_id: str
) -> None:
    bench.import_records(make_records(MONDAY, *PARTS[0], session="s1"))
    (segment,) = bench.segments()
    bench.request_version(node_id)
    assert bench.step() == 1
    assert bench.node(segment).is_by_model
    assert bench.history(node_id).requested_at is None
    bench.request_version(node_id)
    assert bench.step() == 1
    assert [version.is_by_model for version in bench.history(segment).versions] == [
        1,
        1,
        0,
    ]
