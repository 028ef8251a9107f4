"""How much lines cite: the same as counted from the pages themselves, and changed by
what people add, reject and forget."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC
from itertools import chain, count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import MemtuiError, UsageError
from memtui.model.audit import AuditQuery
from memtui.model.events import SPEAKERS, Event, EventRole, EventType
from memtui.model.filters import ALL, Scope
from memtui.model.judgements import Ruling
from memtui.model.nodes import BulletKind, DaySession, TocNode
from memtui.services import audit, browse, coverage, judging, report
from memtui.services.conversation import ConversationKey
from memtui.services.forget import Forget
from memtui.services.outline import read_outline
from memtui.services.sessions import SessionCard, read_card
from memtui.store import (
    conversations,
    database,
    events,
    judgements,
    segments,
    sessions,
    versions,
    work,
)
from memtui.store import coverage as store_coverage
from memtui.store.coverage import KINDS, Counts
from memtui.store.tombstones import TombstoneKind
from memtui.summarize.facts import read_facts
from memtui.tools import handover
from memtui.workspace import Workspace
from tests import model_versions
from tests.cli_runner import json_data, run_memtui
from tests.conftest import NOW, often
from tests.message_factory import make_message, store_messages

ASSISTANT, TOOL = EventRole.ASSISTANT, EventRole.TOOL
QUERY = AuditQuery(session="claude-code:s1")
SLOTHS = "Which sloths sleep at noon?"


def call(
    command: str, output: str, at_s: float, end: str = "ok", *, session: str = "s1"
) -> Event:
    text = f"Bash: {command}\n{output}"
    event = make_message(text, at_s, role=TOOL, tool="Bash", session=session)
    metadata = {"tool_input": json.dumps({"command": command}), "call_end": end}
    return replace(event, metadata={**event.metadata, **metadata})


def commit(number: int, at_s: float, session: str = "s1") -> Event:
    output = f"[main 1a2b3c{number % 10}] Count {number}"
    command = f"git commit -m 'Count {number}'"
    return call(command, output, at_s, session=session)


def run_pipeline(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def count_cited(query: AuditQuery = QUERY) -> Counts:
    with database.connection():
        return store_coverage.count(query)


def find_cited(card: SessionCard, number: int) -> set[str]:
    """Return the events of the grips of all lines on the pages of a session."""
    parts = ((*part.bullets, *part.further) for part in card.segments)
    bullets = [b for b in chain(card.bullets, *parts) if b.kind is not BulletKind.MORE]
    assert not any(bullet.is_withheld for bullet in bullets)
    cited = set()
    for name in {name for bullet in bullets for name in bullet.grip_ids}:
        (grip,) = versions.get_grips([name]).values()
        ends = grip.event_id_start, grip.event_id_end
        (subagent,) = {event.subagent for event in events.get(ends).values()}
        every = events.between(number, 0, 2**60, subagent=subagent)
        first, last = ([e.event_id for e in every].index(name) for name in ends)
        cited |= {event.event_id for event in every[first : last + 1]}
    return cited


def count_by_hand(
    is_counted: Callable[[TocNode], bool] = lambda _: True, *, session_id: str = ""
) -> Counts:
    """Count what is cited without the SQL of it."""
    counts = {kind: [0, 0] for kind in KINDS}
    with database.connection():
        numbers = events.list_session_numbers()
        for number, session in sessions.get_many(numbers).items():
            if session_id not in ("", session.session_id):
                continue
            card = read_card(session.agent, session.session_id)
            cited = find_cited(card, number)
            for part in filter(is_counted, card.segments):
                bounds = segments.get(part.node_id)
                assert bounds is not None
                own = conversations.read_segment(bounds)
                facts = judgements.judge_facts(
                    read_facts(own), work.read_judgements(number)
                )
                commits = {row.event_id for row in facts.commits}
                for event in own:
                    is_speech = event.is_message and event.role in SPEAKERS
                    is_prompt = event.event_type is EventType.USER_MESSAGE
                    kinds = (
                        is_speech and is_prompt and event.role is EventRole.USER,
                        event.is_failed,
                        event.event_id in commits,
                        is_speech,
                    )
                    for kind, is_of_kind in zip(KINDS, kinds, strict=True):
                        counts[kind][0] += is_of_kind and event.event_id in cited
                        counts[kind][1] += is_of_kind
    return {kind: (cited, total) for kind, (cited, total) in counts.items()}


def add_up(parts: Sequence[Counts]) -> Counts:
    return {
        kind: (sum(c[kind][0] for c in parts), sum(c[kind][1] for c in parts))
        for kind in KINDS
    }


def read_shares(node_id: str, scope: Scope = ALL) -> str:
    (row,) = browse.get_entries([node_id])
    return coverage.describe_page(row, scope, UTC)


@pytest.fixture
def zoo(workspace: Workspace) -> Workspace:
    """A session with more commits and failed calls than its page names."""
    store_messages(
        make_message("Count the quokkas.", 0),
        make_message("Of the whole island.", 1),
        *(commit(number, 10 + number) for number in range(9)),
        *(call(f"make zoo{n}", "error", 30 + n, "failed") for n in range(7)),
        make_message("Some zoos are closed.", 40, role=ASSISTANT),
        make_message("A keeper spoke.", 41, role=EventRole.SYSTEM),
        make_message("Never mind.", 45, subagent="helper"),
        make_message(SLOTHS, 50),
        make_message("Two of them.", 60, role=ASSISTANT),
    )
    run_pipeline(workspace)
    return workspace


def test_parts_behind_lines_are_counted(zoo: Workspace) -> None:
    counts = count_cited()
    assert counts == count_by_hand()
    # The page names six commits and five commands; it quotes what was asked first.
    assert counts == {
        "prompt": (1, 3),
        "error": (5, 7),
        "commit": (6, 9),
        "message": (2, 5),
    }
    text = "cited: 1 of 3 prompts, 5 of 7 errors, 6 of 9 commits, 40 % of messages"
    assert coverage.describe(coverage.count(QUERY)) == text
    card = read_card("claude-code", "s1")
    assert card.session is not None
    (segment,) = card.segments
    day = DaySession("toc:day:2025-03-14", card.session, ())
    assert coverage.describe_page(day, Scope(project="other"), UTC) == text
    for name in (segment.node_id, "toc:day:2025-03-14", "toc:week:2025-W11"):
        assert read_shares(name) == text
    assert read_shares("toc:year:2025", Scope(agent="codex")) == ""


def test_history_is_counted_as_by_hand(full_workspace: Workspace) -> None:
    (year,) = [row for row in browse.list_children() if row.node_id == "toc:year:2024"]
    names = [row.node_id for row in browse.list_children("toc:day:2024-01-18")]
    with_model = browse.get_node(names[0])
    assert with_model is not None
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(names[0], "One", held=held)
    whole = count_cited(AuditQuery())
    assert whole == count_by_hand()
    assert 0 < whole["message"][0] < whole["message"][1]
    by_year = [count_cited(audit_of(row.node_id)) for row in browse.list_children()]
    assert add_up(by_year) == whole and len(by_year) > 1
    of_year = count_cited(audit_of(year.node_id))
    assert of_year == count_by_hand(lambda part: part.start_time.year == 2024)
    of_shop = count_cited(AuditQuery(Scope(project="shop")))
    assert of_shop == count_by_hand(lambda part: "shop" in part.projects)
    assert read_shares("toc:year:2024", Scope(project="shop")).startswith("cited: ")


def audit_of(node_id: str) -> AuditQuery:
    return audit.narrow(AuditQuery(), node_id, UTC)


@pytest.mark.parametrize("folder", ["field", "codex", "copilot_cli"])
def test_real_transcripts_are_counted_as_by_hand(
    workspace: Workspace, shared: Path, folder: str
) -> None:
    for _ in workspace.pipeline.importer().run([shared / folder]):
        pass
    run_pipeline(workspace)
    counts = count_cited(AuditQuery())
    assert counts == count_by_hand()
    assert counts["prompt"][0] and counts["prompt"][0] < counts["message"][1]


def test_subagent_without_its_session_counts(workspace: Workspace) -> None:
    store_messages(
        make_message("Look for walruses.", 0, subagent="helper"),
        make_message("None.", 10, role=ASSISTANT, subagent="helper"),
    )
    run_pipeline(workspace)
    assert count_cited() == count_by_hand()
    assert count_cited()["prompt"] == (1, 1)


def test_command_audit_prints_shares(zoo: Workspace) -> None:
    home = zoo.paths.store.parent
    zoo.stop()
    printed = run_memtui(home, "audit").stdout
    assert printed.rstrip().endswith("6 of 9 commits, 40 % of messages")
    cited = json_data(run_memtui(home, "audit", "--json").stdout)["cited"]
    assert cited == {
        "prompt": [1, 3],
        "error": [5, 7],
        "commit": [6, 9],
        "message": [2, 5],
    }


# Adding lines


def test_uncited_parts_come_in_order(zoo: Workspace) -> None:
    outline = read_outline(ConversationKey("claude-code", "s1"))
    with database.connection():
        by_id = events.get(position[-1] for _, position in outline.uncited)
    texts = [by_id[p[-1]].text.partition("\n")[0] for _, p in outline.uncited]
    assert texts == [
        "Of the whole island.",
        *(f"Bash: git commit -m 'Count {n}'" for n in (6, 7, 8)),
        *(f"Bash: make zoo{n}" for n in (5, 6)),
        SLOTHS,
        "Some zoos are closed.",
    ]
    helper = read_outline(ConversationKey("claude-code", "s1", "helper"))
    assert len(helper.uncited) == 1 and not helper.cited


def find_event(text: str) -> Event:
    with database.connection():
        every = events.between(1, 0, 2**60, subagent=None)
    return next(event for event in every if text in event.text)


def test_added_line_shows_everywhere_and_lasts(zoo: Workspace) -> None:
    event = find_event(SLOTHS)
    words = coverage.propose_line(f"## {event.text}\nMore.")
    assert words == SLOTHS
    coverage.add_line(event.event_id, words, NOW)
    # At once, before anything is made again.
    assert count_cited()["prompt"] == (2, 3)
    assert SLOTHS in [b.text for b in read_card("claude-code", "s1").bullets]
    (segment,) = read_card("claude-code", "s1").segments
    assert SLOTHS in [bullet.text for bullet in segment.bullets]
    assert SLOTHS in handover.make_pack(zoo, ["claude-code:s1"], 4_000, ALL).text
    for _ in range(2):
        run_pipeline(zoo)
        assert count_cited() == count_by_hand()
        assert count_cited()["prompt"][0] >= 2
        assert f"- {SLOTHS}" in report.make_report("toc:day:2025-03-14", UTC)
        hits = zoo.teleport.find("sloths noon").hits
        assert segment.node_id in [hit.node_id for hit in hits]
        # A later message makes the segment again.
        store_messages(make_message("Thanks.", 70))


def test_same_words_get_a_further_source(zoo: Workspace) -> None:
    for text in (SLOTHS, "Some zoos", "Two of them"):
        coverage.add_line(find_event(text).event_id, "Zoos", NOW)
    run_pipeline(zoo)
    (line,) = [b for b in read_card("claude-code", "s1").bullets if b.text == "Zoos"]
    assert len(line.grip_ids) == 3
    assert count_cited() == count_by_hand()
    assert count_cited()["message"] == (4, 5)
    page, line = judging.find_line("claude-code:s1", "Zoos")
    judging.judge(page, line, Ruling.REJECTED, NOW)
    assert count_cited()["message"] == (2, 5)
    coverage.add_line(find_event(SLOTHS).event_id, "Zoos", NOW)
    assert count_cited()["message"] == (3, 5)


def test_rejected_facts_cite_nothing(zoo: Workspace) -> None:
    for wording, kind in (("Count 0", "commit"), ("7 commands", "error")):
        before = count_cited()[kind]
        page, line = judging.find_line("claude-code:s1", wording)
        judging.judge(page, line, Ruling.REJECTED, NOW)
        run_pipeline(zoo)
        assert count_cited()[kind] < before
        assert count_cited() == count_by_hand()


def test_line_without_words_or_message_is_refused(zoo: Workspace) -> None:
    event = find_event(SLOTHS)
    with pytest.raises(UsageError, match="needs words"):
        coverage.add_line(event.event_id, " \n", NOW)
    with pytest.raises(MemtuiError, match="not stored any more"):
        coverage.add_line("01ARZ3NDEKTSV4RRFFQ69G5FAV", "Words", NOW)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    line = coverage.add_line(event.event_id, f"The token is {secret}", NOW)
    assert secret not in line.text


_session_numbers = count()

KINDS_MADE = ("prompt", "reply", "commit", "failure", "call")


def make_part(kind: str, at: int, session: str) -> Event:
    if kind in ("prompt", "reply"):
        role = EventRole.USER if kind == "prompt" else ASSISTANT
        return make_message(f"The owl {at}.", at, role=role, session=session)
    if kind == "commit":
        return commit(at, at, session)
    end = "failed" if kind == "failure" else "ok"
    return call(f"make owl{at}", "owl", at, end, session=session)


@often(100)
@given(
    kinds=st.lists(st.sampled_from(KINDS_MADE), min_size=1, max_size=24),
    place=st.integers(0, 1_000),
)
def test_shares_follow_what_is_added_rejected_and_forgotten(
    workspace: Workspace, kinds: list[str], place: int
) -> None:
    name = f"owls-{next(_session_numbers)}"
    random.seed(name)  # Otherwise each example makes an index with the same names.
    kinds = ["prompt", *kinds]
    store_messages(*(make_part(kind, at, name) for at, kind in enumerate(kinds)))
    run_pipeline(workspace)
    key = ConversationKey("claude-code", name)
    query = AuditQuery(session=f"claude-code:{name}")

    def read() -> Counts:
        counts = count_cited(query)
        assert counts == count_by_hand(session_id=name)
        outline = read_outline(key)
        is_part = {position for _, position in outline.uncited}
        assert is_part.isdisjoint(outline.cited)
        return counts

    before = read()
    uncited = read_outline(key).uncited
    if not uncited:
        return
    _, (*_, event_id) = uncited[place % len(uncited)]
    coverage.add_line(event_id, "Owls", NOW)
    added = read()
    assert sum(cited for cited, _ in added.values()) > sum(
        cited for cited, _ in before.values()
    )
    assert all(added[kind] >= before[kind] for kind in KINDS)
    judging.judge(*judging.find_line(query.session, "Owls"), Ruling.REJECTED, NOW)
    assert read() == before
    coverage.add_line(event_id, "Owls", NOW)
    run_pipeline(workspace)
    assert read() == added
    forget = Forget(workspace.paths, workspace.zone, lambda: NOW)
    forget.run(TombstoneKind.EVENT, [event_id])
    run_pipeline(workspace)
    read()
    with database.connection():
        assert not any(
            "Owls" in judgement.text and name in judgement.claim.subject
            for judgement in judgements.list_current("1")
        )
