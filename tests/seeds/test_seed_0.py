"""The rows of seed 0, the guide to the table of contents."""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.errors import UsageError
from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, to_ms
from memtui.model.hit import HitKind, ScoreBand, score_band
from memtui.model.nodes import (
    BULLET_COUNTS,
    MAX_KEYWORDS,
    BulletKind,
    DraftBullet,
    Keyword,
    Summary,
    TocNode,
)
from memtui.model.verdicts import Support
from memtui.model.work import Facts
from memtui.paths import in_home
from memtui.pipeline import summarization
from memtui.pipeline.model_worker import MIN_AGES
from memtui.search.query import parse_with_dates
from memtui.services import browse, conversation, versions
from memtui.settings import Settings
from memtui.store import database, queues
from memtui.store import nodes as store_nodes
from memtui.store import work as store_work
from memtui.summarize import keywords, segmenter
from memtui.summarize.facts import read_facts
from memtui.summarize.grounding import checks
from memtui.summarize.grounding.passages import Evidence
from memtui.summarize.ollama import prompts
from memtui.summarize.ollama.record import session_record
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text.tokens import estimate
from memtui.tools import replies, routing, search, sessions, toc
from memtui.tools.table import TOOLS, ToolRunner, available_tools
from memtui.workspace import Workspace
from tests.cli_runner import json_data, run_memtui
from tests.conftest import HISTORY, OWN
from tests.message_factory import make_message, name_session, store_messages
from tests.model_versions import add_model_version, unsupported_bullet
from tests.tables import BulletRow, CheckpointRow, GripRow


def agent_text(workspace: Workspace, tool: str, **arguments: object) -> str:
    """Return what an agent is answered within the default budget."""
    answer = ToolRunner(lambda: workspace).call(
        next(candidate for candidate in TOOLS if candidate.name == tool), arguments
    )
    assert answer.error is None, answer
    return answer.text


def walk_nodes(node_id: str = "") -> Iterator[TocNode]:
    """Yield all nodes below one, or all there are, which must be some."""
    entries = browse.list_children(node_id)
    assert entries or node_id
    for entry in entries:
        node = browse.get_node(entry.node_id)
        assert node is not None
        yield node
        yield from walk_nodes(entry.node_id)


def events_at(*messages: tuple[float, int]) -> list[Event]:
    """Make messages, each at a minute and with so many tokens."""
    return [
        replace(make_message(f"message {n}", 60 * minute), tokens=tokens)
        for n, (minute, tokens) in enumerate(messages)
    ]


WORDS = [
    "login",
    "search",
    "billing",
    "profile",
    "invoice",
    "gallery",
    "calendar",
    "contact",
    "archive",
    "download",
    "settings",
    "pricing",
    "careers",
    "privacy",
    "support",
    "newsletter",
    "checkout",
    "shipping",
    "returns",
    "dashboard",
    "reports",
    "partners",
    "events",
    "glossary",
]


GUIDE = (
    (EventRole.USER, "How do I implement JWT refresh tokens?"),
    (EventRole.ASSISTANT, "You can use a sliding window approach..."),
    (EventRole.USER, "What about the race condition?"),
    (EventRole.ASSISTANT, "We should add mutex protection..."),
)
"""The conversation that the guide summarizes."""


def guide_events() -> list[Event]:
    return [
        make_message(text, 60 * at, role=role) for at, (role, text) in enumerate(GUIDE)
    ]


@pytest.fixture(scope="session")
def busy_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with 16 days of work on 12 projects, from 14 to 29 March 2025."""
    home = tmp_path_factory.mktemp("busy") / "home"
    workspace = Workspace(in_home(home), OWN)
    for number in range(16 * 12):
        day, project = divmod(number, 12)
        at, session = 24 * 3_600 * day + 600 * project, f"s{number}"
        page = WORDS[(day + project) % len(WORDS)]
        store_messages(
            make_message(f"Add the {page} page to site {day}.", at, session=session),
            make_message(
                f"I added the {page} page; its template is {page}.html.",
                at + 60,
                role=EventRole.ASSISTANT,
                session=session,
            ),
        )
        name_session(session, project=f"project{project}")
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture
def busy_workspace(busy_home: Path, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with much more than fits into an answer."""
    shutil.copytree(busy_home, tmp_path / "home")
    workspace = Workspace(in_home(tmp_path / "home"), OWN)
    yield workspace
    workspace.stop()


ARGUMENTS: dict[str, dict[str, Any]] = {
    "route": {"question": "which page did we add?"},
    "search_memory": {"query": "page"},
    "search_file": {"path": "login.html"},
    "search_error": {"error": "template is login.html"},
    "get_node": {"node_id": "toc:month:2025-03"},
    "expand_grip": {"grip_id": ""},
    "list_sessions": {"limit": 200},
    "list_messages": {"session": "s1"},
    "retrieve_memory": {"query": "page template"},
    "teleport": {"query": "page template"},
    "search_sessions": {"query": "page"},
    "get_toc_root": {},
    "browse_toc": {"node_id": "toc:day:2025-03-20", "limit": 200},
    "get_events": {"when": "March 2025", "limit": 200},
    "get_session_meta": {"session": "s1"},
    "scheduler_status": {},
}
"""A call of each reading tool that the guide or a decision names."""


def test_s0_01_every_answer_has_the_budget_of_a_question(
    busy_workspace: Workspace,
) -> None:
    assert ARGUMENTS.keys() <= available_tools(with_writing=False).keys()
    node = agent_text(busy_workspace, "get_node", node_id="toc:week:2025-W12")
    grip_id = re.findall(r"\[(grip:.*?)\]", node)[0]
    for tool, arguments in ARGUMENTS.items():
        given = arguments | ({"grip_id": grip_id} if "grip_id" in arguments else {})
        text = agent_text(busy_workspace, tool, **given)
        assert text.count("\n") >= 2 and estimate(text) <= 1_000, tool
        for budget in (500, 2_000):
            text = agent_text(busy_workspace, tool, **given, max_tokens=budget)
            assert estimate(text) <= budget, tool


def test_s0_02_what_does_not_fit_is_counted_and_read_on_request(
    busy_workspace: Workspace,
) -> None:
    everything = {"when": "March 2025", "limit": 200}
    texts, token, answers = list[str](), "", 0
    while token or not texts:
        text = agent_text(busy_workspace, "get_events", **everything, token=token)
        texts += re.findall(r"^evt:.*", text, re.M)
        more = re.search(r"^\((?:\d+ more: )?token=(\w+)\)$", text, re.M)
        token = more[1] if more else ""
        answers += 1
    # Each of the messages once, over many answers of the usual size.
    assert len(texts) == len(set(texts)) == 2 * 16 * 12
    assert 8 < answers < 40


def test_s0_03_a_question_of_last_week_is_answered_by_that_week(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2024, 1, 24, 12, tzinfo=UTC)
    monkeypatch.setattr(full_workspace, "now", lambda: now)
    text = agent_text(full_workspace, "route", question="what did we do last week?")
    assert text.splitlines()[1].startswith("time: It names a time")
    assert "toc:week:2024-W03" in text and "toc:week:2024-W04" not in text


def test_s0_03_last_week_is_found_for_few_tokens(
    busy_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2025, 3, 26, 12, tzinfo=UTC)
    monkeypatch.setattr(busy_workspace, "now", lambda: now)
    text = agent_text(busy_workspace, "browse_toc", when="last week")
    assert re.findall(r"^(toc:\S+) \((\d+)\)", text, re.M) == [
        ("toc:week:2025-W12", "84")
    ]
    assert estimate(text) <= 100


def test_s0_04_the_summary_of_a_week_is_read_for_few_tokens(
    busy_workspace: Workspace,
) -> None:
    text = agent_text(busy_workspace, "get_node", node_id="toc:week:2025-W12")
    assert "7 sessions on 7 days: Add the" in text
    days = [f"toc:day:2025-03-{day}" for day in range(23, 16, -1)]
    assert re.findall(r"^(toc:\S+)", text, re.M) == days
    assert estimate(text) <= 300


@pytest.mark.parametrize(
    ("level", "most"),
    [
        (TocLevel.YEAR, 200),
        (TocLevel.MONTH, 250),
        (TocLevel.WEEK, 300),
        (TocLevel.DAY, 200),
    ],
)
def test_s0_05_17_and_18_every_step_of_the_walk_has_the_size_of_the_guide(
    full_workspace: Workspace, level: TocLevel, most: int
) -> None:
    nodes = [node for node in walk_nodes() if node.level is level]
    assert nodes
    for node in nodes:
        text = agent_text(full_workspace, "get_node", node_id=node.node_id)
        assert estimate(text) <= most, text
        children = [child.node_id for child in browse.list_children(node.node_id)]
        assert text.count("\ntoc:") == len(children)
        assert "[grip:" in text
        # On request the answer has all of it, unabridged.
        whole = agent_text(
            full_workspace, "get_node", node_id=node.node_id, max_tokens=5_000
        )
        assert whole.count("\ntoc:") == len(children) and " more: " not in whole
        assert all(bullet.labelled in whole for bullet in node.bullets)


def test_s0_06_every_grip_of_the_history_is_expanded_for_300_tokens(
    full_workspace: Workspace,
) -> None:
    grip_ids = {
        grip_id
        for node in walk_nodes()
        for bullet in node.bullets
        for grip_id in bullet.grip_ids
    }
    for grip_id in grip_ids:
        text = agent_text(full_workspace, "expand_grip", grip_id=grip_id)
        assert "EXCERPT" in text and estimate(text) <= 300, grip_id


def test_s0_07_an_answer_with_its_citation_takes_few_tokens(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2024, 1, 24, 12, tzinfo=UTC)
    monkeypatch.setattr(full_workspace, "now", lambda: now)
    texts = [agent_text(full_workspace, "browse_toc", when="last week")]
    week = re.findall(r"^toc:\S+", texts[0], re.M)[0]
    texts.append(agent_text(full_workspace, "get_node", node_id=week))
    citation = re.findall(r"\[(grip:.*?)\]", texts[1])[0]
    texts.append(agent_text(full_workspace, "expand_grip", grip_id=citation))
    assert "mutex per session" in texts[2]
    assert sum(map(estimate, texts)) <= 600


def test_s0_08_the_table_of_contents_has_five_levels(full_workspace: Workspace) -> None:
    levels = [TocLevel.YEAR, TocLevel.MONTH, TocLevel.WEEK, TocLevel.DAY]
    levels.append(TocLevel.SEGMENT)
    assert list(TocLevel) == levels
    for node in walk_nodes():
        below = {entry.level for entry in browse.list_children(node.node_id)}
        child = node.level.child()
        assert below == ({child} if child else set()), node.node_id


@pytest.mark.parametrize(
    ("level", "least", "most"),
    [
        ("year", 3, 5),
        ("month", 5, 8),
        ("week", 5, 10),
        ("day", 3, 8),
        ("segment", 2, 5),
    ],
)
def test_s0_09_10_11_and_13_each_level_has_its_number_of_bullets(
    full_workspace: Workspace, level: str, least: int, most: int
) -> None:
    assert BULLET_COUNTS[TocLevel(level)] == (least, most)
    for node in walk_nodes():
        assert node.level != level or 1 <= len(node.bullets) <= most, node.node_id


def test_s0_09_10_11_and_13_no_node_has_more_bullets_than_its_level(
    busy_workspace: Workspace,
) -> None:
    counts: dict[str, set[int]] = {}
    for node in walk_nodes():
        counts.setdefault(node.level, set()).add(len(node.bullets))
        if node.level is not TocLevel.SEGMENT:
            *projects, more = node.bullets
            unit = "sessions" if node.level is TocLevel.DAY else "projects"
            assert more.text == f"and {12 - len(projects)} more {unit}"
    assert counts == {
        "year": {5},
        "month": {8},
        "week": {10},
        "day": {8},
        "segment": {2},
    }


def test_s0_12_a_day_keeps_the_facts_of_two_segments_with_the_same_request(
    workspace: Workspace,
) -> None:
    changes = "went from 134 ms to 402 ms", "went from 402 ms to 405 ms"
    for number, change in enumerate(changes):
        at = 3_600 * number
        reply = f"The retry timeout {change}."
        store_messages(
            make_message("Raise the timeout.", at, session="s0"),
            make_message(reply, at + 9, role=EventRole.ASSISTANT, session="s0"),
        )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    node = browse.get_node("toc:day:2025-03-14")
    assert node is not None
    (bullet,) = node.bullets
    assert all(change in bullet.text for change in changes)
    assert len(bullet.grip_ids) >= 2


@pytest.mark.parametrize("sessions", [("s0", "s1"), ("s0", "s0")])
def test_s0_12_a_day_keeps_what_differs_only_in_numbers(
    workspace: Workspace, sessions: tuple[str, str]
) -> None:
    for number, (before, after) in enumerate(((134, 402), (135, 405))):
        at, session = 3_600 * number, sessions[number]
        text = f"The retry timeout of service {number} went from {before} ms to {after}"
        store_messages(
            make_message(
                f"Raise the timeout of service {number}.", at, session=session
            ),
            make_message(
                f"{text} ms.", at + 9, role=EventRole.ASSISTANT, session=session
            ),
        )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    node = browse.get_node("toc:day:2025-03-14")
    assert node is not None
    text = " ".join(bullet.text for bullet in node.bullets)
    assert "timeout of service 0" in text and "timeout of service 1" in text
    assert "135 ms to 405 ms" in text
    assert len(node.bullets) == len(set(sessions))
    if len(set(sessions)) > 1:
        assert "service 0" in node.headline and "service 1" in node.headline


def test_s0_13_a_long_segment_has_five_bullets(workspace: Workspace) -> None:
    talk = (
        ("", "Move the sessions to Redis. Postgres stays for the orders.", ""),
        ("Edit", "shop/cache.py", "The file has been updated."),
        ("Bash", "pytest -q", "14 passed in 2.1s"),
        ("Bash", "git commit -m 'Use Redis'", "[main 1a2b3c4] Use Redis"),
        ("Bash", "gh pr create", "https://github.com/ada/shop/pull/42"),
        ("", "Sessions are in Redis now; the staging server has none.", ""),
    )
    for number, (tool, words, result) in enumerate(talk):
        role = EventRole.TOOL if tool else EventRole.ASSISTANT
        said = make_message(
            f"{tool}: {words}\n{result}" if tool else words,
            60 * number,
            role=role if number else EventRole.USER,
            tool=tool,
        )
        key = "file_path" if tool == "Edit" else "command"
        call = {"tool_input": json.dumps({key: words})} if tool else {}
        store_messages(replace(said, metadata={**said.metadata, **call}))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (segment,) = browse.list_children("toc:day:2025-03-14")
    node = browse.get_node(segment.node_id)
    assert node is not None
    kinds = [bullet.kind.value for bullet in node.bullets]
    assert kinds == ["asked", "outcome", "commit", "pull request", "more"]
    assert node.bullets[-1].text == "and 2 more: tests, files"


def test_s0_14_the_headline_of_a_wide_node_names_its_work(
    full_workspace: Workspace,
) -> None:
    for name in ("toc:week:2024-W03", "toc:month:2024-01", "toc:year:2024"):
        node = browse.get_node(name)
        assert node is not None
        assert node.headline and node.headline != node.title
        assert "JWT tokens" in node.headline


def test_s0_15_the_root_lists_the_years_newest_first(full_workspace: Workspace) -> None:
    years = [item["node_id"] for item in toc.get_toc_root(full_workspace).items]
    assert years == ["toc:year:2024", "toc:year:2023"]


def test_s0_16_the_years_take_100_tokens(workspace: Workspace) -> None:
    for number in range(3 * 8):
        year, month = 2022 + number % 3, 1 + number // 3
        words = " ".join(WORDS[number % 12 : number % 12 + 12])
        said = make_message(f"Rewrite {words} of {year}.", session=f"s{number}")
        store_messages(replace(said, timestamp=datetime(year, month, 3, tzinfo=UTC)))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    text = agent_text(workspace, "get_toc_root")
    years = re.findall(r"^(toc:year:\d+) \(8\) Rewrite ", text, re.M)
    assert years == ["toc:year:2024", "toc:year:2023", "toc:year:2022"]
    assert estimate(text) <= 100


def test_s0_17_18_and_19_all_children_of_a_busy_period_are_listed(
    busy_workspace: Workspace,
) -> None:
    for node in walk_nodes():
        if node.level not in (TocLevel.DAY, TocLevel.SEGMENT):
            text = agent_text(busy_workspace, "get_node", node_id=node.node_id)
            children = [child.node_id for child in browse.list_children(node.node_id)]
            assert re.findall(r"^toc:\S+", text, re.M) == children
            assert estimate(text) <= 300


def test_s0_19_children_are_shown_beside_bullets_in_the_default_budget(
    full_workspace: Workspace,
) -> None:
    for node_id, child in (
        ("toc:year:2024", "toc:month:2024-02"),
        ("toc:month:2024-01", "toc:week:2024-W03"),
        ("toc:week:2024-W03", "toc:day:2024-01-15"),
        ("toc:day:2024-01-15", "toc:segment:2024-01-15:"),
    ):
        text = agent_text(full_workspace, "get_node", node_id=node_id)
        assert child in text and "[grip:" in text, text


def test_s0_20_the_grip_of_a_day_is_expanded_from_its_json(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "--set", "store.time_zone=UTC", "import", str(HISTORY))
    output = run_memtui(home, "show", "toc:day:2024-01-18", "--json").stdout
    day = json_data(output)
    (grip_id, *_) = day["bullets"][0]["grip_ids"]
    expanded = json_data(run_memtui(home, "expand", grip_id, "--json").stdout)
    assert {"before", "excerpt", "after"} <= expanded.keys()
    assert expanded["grip"]["excerpt"] in expanded["excerpt"][0]["text"]
    roles = [event["role"] for event in expanded["before"]]
    assert roles == ["tool", "tool", "tool"] and expanded["after"] == []


def test_s0_20_an_expanded_excerpt_verifies_what_the_bullet_says(
    full_workspace: Workspace,
) -> None:
    for node in walk_nodes():
        for bullet in node.bullets:
            text = agent_text(full_workspace, "expand_grip", grip_id=bullet.grip_ids[0])
            excerpt = text.partition("EXCERPT\n")[2].partition("\nAFTER")[0]
            grip = conversation.expand(bullet.grip_ids[0]).grip
            assert grip is not None
            beginning = re.sub(r"\W+", " ", grip.excerpt)[:40]
            assert beginning in re.sub(r"\W+", " ", excerpt), node.node_id


def test_s0_21_five_calls_lead_from_the_years_to_the_excerpt(
    full_workspace: Workspace,
) -> None:
    texts = [agent_text(full_workspace, "get_toc_root")]
    for level in ("year:2024", "month:2024-01", "week:2024-W03"):
        assert f"\ntoc:{level} " in texts[-1]
        texts.append(agent_text(full_workspace, "get_node", node_id=f"toc:{level}"))
    citation = re.findall(r"\[(grip:.*?)\]", texts[-1])[0]
    texts.append(agent_text(full_workspace, "expand_grip", grip_id=citation))
    assert len(texts) == 5 and "sliding window of five minutes" in texts[-1]
    assert sum(map(estimate, texts)) <= 1_000


def test_s0_22_the_walk_from_the_years_to_the_words_takes_few_tokens(
    full_workspace: Workspace,
) -> None:
    texts = [agent_text(full_workspace, "get_toc_root")]
    for node_id in (
        "toc:year:2024",
        "toc:month:2024-01",
        "toc:week:2024-W03",
        "toc:day:2024-01-15",
    ):
        assert f"\n{node_id} " in texts[-1], "the agent cannot go on from here"
        texts.append(agent_text(full_workspace, "get_node", node_id=node_id))
    assert "\ntoc:segment:2024-01-15:" in texts[-1]
    grip = texts[-1].partition("[grip:")[2].partition("]")[0]
    texts.append(agent_text(full_workspace, "expand_grip", grip_id=f"grip:{grip}"))
    assert "EXCERPT" in texts[-1]
    assert sum(map(estimate, texts)) <= 1_500


def test_s0_22_every_day_of_a_busy_month_is_reached(busy_workspace: Workspace) -> None:
    for day in range(14, 30):
        path = calendar.path(f"toc:day:2025-03-{day}")
        texts = [agent_text(busy_workspace, "get_toc_root")]
        for node_id in path:
            assert f"\n{node_id} " in texts[-1], (day, node_id)
            texts.append(agent_text(busy_workspace, "get_node", node_id=node_id))
        segment = re.findall(r"^(toc:segment:\S+)", texts[-1], re.M)[0]
        texts.append(agent_text(busy_workspace, "get_node", node_id=segment))
        citation = re.findall(r"\[(grip:.*?)\]", texts[-1])[0]
        texts.append(agent_text(busy_workspace, "expand_grip", grip_id=citation))
        assert f"page to site {day - 14}." in texts[-1]
        assert sum(map(estimate, texts)) <= 1_500


def test_s0_23_every_node_is_opened_by_its_own_id(full_workspace: Workspace) -> None:
    nodes = list(walk_nodes())
    assert len({node.node_id for node in nodes}) == len(nodes)
    for node in nodes:
        assert node.node_id.startswith(f"toc:{node.level}:")
        reply = replies.write_data(toc.get_node(full_workspace, node.node_id))
        assert (reply["node_id"], reply["level"]) == (node.node_id, node.level)


def test_s0_24_the_periods_of_the_guide_have_their_titles() -> None:
    assert calendar.title("toc:year:2024") == "2024"
    assert calendar.title("toc:month:2024-01") == "January 2024"
    assert calendar.title("toc:week:2024-W03") == "Week of January 15–21, 2024"
    assert calendar.title("toc:day:2024-01-18") == "Thursday, January 18, 2024"


def test_s0_25_and_31_a_node_has_exact_times(full_workspace: Workspace) -> None:
    node = replies.write_data(toc.get_node(full_workspace, "toc:day:2024-01-15"))
    assert node["start_time"] == "2024-01-15T00:00:00.000Z"
    assert node["end_time"] == "2024-01-15T23:59:59.999Z"


def test_s0_26_and_28_bullets_and_children_are_lists(full_workspace: Workspace) -> None:
    node = replies.write_data(toc.get_node(full_workspace, "toc:day:2024-01-15"))
    assert {"text", "grip_ids", "verdict"} <= node["bullets"][0].keys()
    assert node["bullets"][0]["verdict"] in {"supported", "weak", "unsupported"}
    assert node["child_node_ids"] == [child["node_id"] for child in node["children"]]
    assert len(node["child_node_ids"]) == 1


def test_s0_27_a_node_is_searched_and_filtered_by_its_keywords(
    full_workspace: Workspace,
) -> None:
    for node in walk_nodes():
        if node.level is TocLevel.SEGMENT and node.keyword_texts:
            word = node.keyword_texts[0]
            items = toc.browse_toc(full_workspace, keyword=word, limit=50).items
            citations = {item["node_id"] for item in items}
            assert any(node.node_id.startswith(cited) for cited in citations)
            hits = full_workspace.teleport.find(f'"{word}" level:segment').hits
            assert node.node_id in {hit.node_id for hit in hits}


def test_s0_29_new_versions_are_appended_and_old_ones_kept(
    full_workspace: Workspace,
) -> None:
    day = "toc:day:2024-01-18"
    with database.connection():
        before = store_nodes.get(day)
        assert before is not None
    session = [
        make_message("Rename the review page to feedback.", 0, session="late"),
        make_message("The page is renamed.", 60, role=EventRole.ASSISTANT),
    ]
    at = datetime(2024, 1, 18, 20, tzinfo=UTC)
    late = [
        replace(event, timestamp=at + timedelta(minutes=n), session_id="late")
        for n, event in enumerate(session)
    ]
    store_messages(*late)
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    with database.connection():
        after = store_nodes.get(day)
        assert after is not None and after.version == before.version + 1
        kept = store_nodes.get_version(day, before.version)
        assert kept is not None and kept.bullets == before.bullets
        assert [version.version for version in store_nodes.list_versions(day)][:2] == [
            after.version,
            before.version,
        ]
    assert any("review page" in bullet.text for bullet in after.bullets)


def test_s0_30_the_week_of_the_example_has_the_fields_of_the_seed(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    run_memtui(home, "--set", "store.time_zone=UTC", "import", str(HISTORY))
    output = run_memtui(home, "show", "toc:week:2024-W03", "--json").stdout
    node = json_data(output)
    assert node["node_id"] == "toc:week:2024-W03"
    assert (node["level"], node["title"]) == ("week", "Week of January 15–21, 2024")
    assert node["start_time"] == "2024-01-15T00:00:00.000Z"
    assert node["end_time"] == "2024-01-21T23:59:59.999Z"
    assert node["version"] >= 1 and node["keywords"] and node["bullets"]
    assert sorted(node["child_node_ids"]) == [
        "toc:day:2024-01-15",
        "toc:day:2024-01-18",
    ]


def test_s0_31_a_day_ends_with_its_last_moment(full_workspace: Workspace) -> None:
    node = browse.get_node("toc:day:2024-01-15")
    assert node is not None
    assert (node.last_time - node.start_time) == timedelta(days=1, milliseconds=-1)
    assert f"{node.last_time:%H:%M:%S}" == "23:59:59"
    (entry, *_) = browse.list_children("toc:day:2024-01-15")
    segment = browse.get_node(entry.node_id)
    assert segment is not None and segment.level is TocLevel.SEGMENT
    assert segment.last_time == segment.end_time


def test_s0_32_a_bullet_without_a_grip_is_withheld(full_workspace: Workspace) -> None:
    # The guide shows a bullet with no grips; a decision has it unsupported.
    week, text = "toc:week:2024-W03", "Added session timeout configuration options"
    add_model_version(week, "Tokens", held=(unsupported_bullet(text),))
    node = browse.get_node(week)
    assert node is not None and node.headline == "Tokens"
    assert all(bullet.grip_ids for bullet in node.bullets)
    assert text not in agent_text(full_workspace, "get_node", node_id=week)
    displayed = versions.find_history(week).displayed
    assert displayed is not None
    (withheld,) = versions.find_version(week, displayed.version).withheld
    assert (withheld.text, withheld.grip_ids) == (text, ())
    assert withheld.support is Support.UNSUPPORTED


def test_s0_33_and_35_a_grip_holds_words_of_the_conversation(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        rows = list(GripRow.select())
    assert rows
    for row in rows:
        data = replies.write_data(sessions.expand_grip(full_workspace, row.id))
        grip, excerpt = data["grip"], data["excerpt"]
        assert row.id.startswith(grip["id"])
        assert any(grip["excerpt"] in event["text"] for event in excerpt)
        assert grip["source"] == "segment_summarizer"
        assert grip["at"] == excerpt[0]["at"]


def test_s0_34_and_37_a_grip_names_its_events_in_reading_order(
    full_workspace: Workspace,
) -> None:
    node = toc.get_node(full_workspace, "toc:day:2024-01-15").items
    grip_ids = [name for item in node for name in item.get("grip_ids", ())]
    assert len(grip_ids) >= 2
    for grip_id in grip_ids:
        reply = sessions.expand_grip(full_workspace, grip_id)
        data = replies.write_data(reply)
        first, last = data["excerpt"][0], data["excerpt"][-1]
        assert data["grip"]["event_id_start"].startswith(first["id"][4:])
        assert data["grip"]["event_id_end"].startswith(last["id"][4:])
        output = [*data["before"], *data["excerpt"], *data["after"]]
        assert [event["at"] for event in output] == sorted(
            message["at"] for message in output
        )
        text = replies.fit_text(reply, 2_000, full_workspace.counter).text
        headings = [line for line in text.splitlines() if line.isupper()]
        assert headings == [
            name.upper() for name in ("before", "excerpt", "after") if data[name]
        ]


def test_s0_36_three_events_are_shown_on_each_side_of_an_excerpt(
    workspace: Workspace,
) -> None:
    talk = [make_message(f"Polish crane {n}.", 60 * n) for n in range(12)]
    store_messages(*talk)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    cited = sessions.expand_grip(workspace, f"evt:{talk[5].event_id}").lists
    texts = {name: [event["text"] for event in group] for name, group in cited.items()}
    assert texts == {
        "before": [f"Polish crane {n}." for n in (2, 3, 4)],
        "excerpt": ["Polish crane 5."],
        "after": [f"Polish crane {n}." for n in (6, 7, 8)],
    }
    fewer = sessions.expand_grip(
        workspace, f"evt:{talk[5].event_id}", before=1, after=0
    )
    assert [event["text"] for event in fewer.lists["before"]] == ["Polish crane 4."]
    assert not fewer.lists["after"]


def test_s0_38_every_bullet_of_the_history_can_be_verified(
    full_workspace: Workspace,
) -> None:
    grips = 0
    for node in walk_nodes():
        for bullet in node.bullets:
            assert bullet.grip_ids, (node.node_id, bullet.text)
            for grip_id in bullet.grip_ids:
                expansion = conversation.expand(grip_id)
                assert expansion.grip is not None and expansion.excerpt_events
                said = "\n".join(event.text for event in expansion.excerpt_events)
                assert (
                    expansion.grip.excerpt in said
                    and len(expansion.grip.excerpt) <= 200
                )
                grips += 1
    assert grips > 30


def test_s0_39_every_citation_of_an_answer_can_be_opened(
    full_workspace: Workspace,
) -> None:
    citations = set()
    for tool, arguments in (
        ("route", {"question": "JWT refresh"}),
        ("search_memory", {"query": "session timeout"}),
        ("retrieve_memory", {"query": "migration of orders"}),
        ("teleport", {"query": "sliding window"}),
        ("get_node", {"node_id": "toc:day:2024-01-15"}),
    ):
        text = agent_text(full_workspace, tool, **arguments)
        cited = re.findall(r"\b(?:evt|grip|toc):[\w:-]+", text)
        assert cited, tool
        citations |= set(cited)
    for citation in citations:
        tool = "get_node" if citation.startswith("toc:") else "expand_grip"
        name = "node_id" if tool == "get_node" else "grip_id"
        text = agent_text(full_workspace, tool, **{name: citation})
        assert "EXCERPT" in text or f"[{citation}" in text, citation


def test_s0_40_and_a3_verdicts_are_in_the_text_that_agents_read(
    full_workspace: Workspace,
) -> None:
    said = BulletRow.text.contains("sliding window")
    for support, kind, mark in (
        ("weak", "", "~ "),
        ("supported", "", "✓ "),
        ("supported", "outcome", "“ "),
    ):
        with database.transaction():
            database.db.execute_sql("DROP TRIGGER IF EXISTS bullets_no_update")
            BulletRow.update(support=support, kind=kind).where(said).execute()
        for tool in ("teleport", "retrieve_memory"):
            text = agent_text(full_workspace, tool, query="sliding window refresh")
            assert f"{mark}Token refresh now uses a sliding window" in text, text


def test_s0_40_and_c15_an_audit_lists_what_to_check_and_why(
    full_workspace: Workspace,
) -> None:
    day, doubtful = "toc:day:2024-01-18", "The payments worker retries 42 times."
    invented = unsupported_bullet("A second browser tab was added.")
    add_model_version(day, "Token refresh", with_weak=doubtful, held=(invented,))
    with database.transaction():
        queues.add_nodes([day], to_ms(datetime.now(UTC)))
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    # The list of what to check.
    for query in ("level:day has:weak", "payments level:day has:weak"):
        hits = full_workspace.teleport.find(query).hits
        assert [hit.node_id for hit in hits] == [day], query
    (hit,) = full_workspace.teleport.find("level:day has:unsupported").hits
    assert (hit.node_id, hit.snippet.text) == (day, invented.text)
    # The verdict with its reason, and the way to the source.
    node = browse.get_node(day)
    assert node is not None
    first = node.bullets[0]
    assert (first.text, first.support) == (doubtful, Support.WEAK)
    assert "payments.py" in versions.explain_verdict(first)
    assert f"~ {doubtful}" in agent_text(full_workspace, "get_node", node_id=day)
    text = agent_text(full_workspace, "expand_grip", grip_id=first.grip_ids[0])
    assert "EXCERPT" in text
    # What was withheld stays with the version.
    displayed = versions.find_history(day).displayed
    assert displayed is not None
    (withheld,) = versions.find_version(day, displayed.version).withheld
    assert withheld.text == invented.text


def test_s0_41_an_answer_of_a_week_takes_400_tokens(full_workspace: Workspace) -> None:
    texts = [
        agent_text(full_workspace, "browse_toc", when="2024-W03"),
        agent_text(full_workspace, "get_node", node_id="toc:week:2024-W03"),
    ]
    assert "JWT tokens expiring" in texts[1]
    assert sum(map(estimate, texts)) <= 400


def test_s0_41_another_branch_is_taken_where_one_has_no_answer(
    full_workspace: Workspace,
) -> None:
    # A wrong week leads back to the month, and from there to the right one.
    wrong = agent_text(full_workspace, "get_node", node_id="toc:week:2024-W04")
    assert "JWT" not in wrong
    month = calendar.parent_id("toc:week:2024-W04")
    assert month is not None
    above = agent_text(full_workspace, "get_node", node_id=month)
    assert re.search(r"^toc:week:2024-W03 .*JWT", above, re.M)


def test_s0_42_months_are_searched_by_their_calendar_days(
    full_workspace: Workspace,
) -> None:
    # The weeks of January 2024 are those from 1 to 28 January.
    def find(query: str) -> set[str]:
        hits = full_workspace.teleport.find(query, limit=500).hits
        return {hit.node_id for hit in hits if hit.level is TocLevel.MONTH}

    assert find("token level:month") == {"toc:month:2024-01"}
    # January reaches beyond the 29th, but says nothing of tokens after it.
    assert find("token after:2024-01-29 level:month") == set()
    assert find("token after:2024-02 level:month") == set()
    assert find("token after:2024-01-15 level:month") == {"toc:month:2024-01"}
    assert find("token before:2024-01-02 level:month") == set()
    assert find("token before:2024 level:month") == set()


def test_s0_42_a_wide_node_is_found_by_what_it_says_within_the_dates(
    workspace: Workspace,
) -> None:
    day = 24 * 3_600
    store_messages(
        make_message("Move the kafka consumer to its own process.", 0, session="a"),
        make_message("Make the login page faster.", 12 * day, session="b"),
        make_message("Rename the kafka topic of orders.", 20 * day, session="c"),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []

    def find(query: str) -> set[str]:
        return {hit.node_id for hit in workspace.teleport.find(query).hits}

    assert find("kafka level:year") == {"toc:year:2025"}
    assert find("kafka level:year after:2025-03-20") == {"toc:year:2025"}
    assert find("kafka level:year after:2025-04-10") == set()
    assert find("kafka level:month after:2025-03-20") == {"toc:month:2025-04"}
    assert find("kafka level:month before:2025-03-20") == {"toc:month:2025-03"}
    between = "after:2025-03-20 before:2025-04-01"
    assert find(f"kafka {between}") == set()
    assert find(f"login level:month {between}") == {"toc:month:2025-03"}


def test_s0_42_browsing_a_time_range_gives_the_days_that_it_covers(
    full_workspace: Workspace,
) -> None:
    def covering(when: str) -> set[str]:
        items = toc.browse_toc(full_workspace, when=when).items
        return {item["node_id"] for item in items}

    assert covering("January 15-18, 2024") == {
        "toc:day:2024-01-15",
        "toc:day:2024-01-18",
    }
    assert covering("2024-01-15") == {"toc:day:2024-01-15"}
    assert covering("2024-W03") == {"toc:week:2024-W03"}
    assert covering("2024-01-16") == set()


def test_s0_43_the_3pm_meeting_is_a_time() -> None:
    now = datetime(2024, 1, 18, 20, tzinfo=UTC)
    dated = parse_with_dates("what did we decide in the 3pm meeting", now, UTC)
    (period,) = dated.periods
    assert period.start == datetime(2024, 1, 18, 14, 30, tzinfo=UTC)
    assert period.end == datetime(2024, 1, 18, 15, 30, tzinfo=UTC)
    assert dated.text == "what did we decide meeting"
    assert not parse_with_dates("the job that runs at 3pm", now, UTC).periods


@pytest.mark.parametrize(
    ("question", "day", "words"),
    [
        ("the 3pm meeting yesterday", 17, "meeting"),
        ("the 15:00 meeting on January 12", 12, "meeting"),
        ("on Monday, what did we say in the 3pm call?", 15, "what did we say call?"),
        ("good morning, the 3pm meeting on Tuesday", 16, "good morning, meeting"),
    ],
)
def test_s0_43_the_3pm_meeting_takes_the_day_of_its_sentence(
    question: str, day: int, words: str
) -> None:
    now = datetime(2024, 1, 18, 20, tzinfo=UTC)
    dated = parse_with_dates(question, now, UTC)
    (period,) = dated.periods
    assert period.start == datetime(2024, 1, day, 14, 30, tzinfo=UTC)
    assert period.end == datetime(2024, 1, day, 15, 30, tzinfo=UTC)
    assert dated.text == words


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("the 3pm meeting last week", 8, 15),
        ("the 3pm meeting before January 12", None, 12),
        ("January 15-18", 15, 19),
    ],
)
def test_s0_43_hours_beside_a_longer_period_do_not_restrict_it(
    question: str, first: int | None, after: int
) -> None:
    now = datetime(2024, 1, 18, 20, tzinfo=UTC)
    (period,) = parse_with_dates(question, now, UTC).periods
    assert period.start == (first and datetime(2024, 1, first, tzinfo=UTC))
    assert period.end == datetime(2024, 1, after, tzinfo=UTC)


@pytest.mark.parametrize(
    ("level", "most"),
    [("year", 7), ("month", 7), ("week", 10), ("day", 10), ("segment", 10)],
)
def test_s0_44_each_level_has_its_number_of_keywords(level: str, most: int) -> None:
    assert MAX_KEYWORDS[TocLevel(level)] == most
    many = [Keyword(f"word{n}", 1.0 + n) for n in range(30)]
    if level != "segment":
        assert len(keywords.parent_keywords(TocLevel(level), [many])) == most


def test_s0_44_every_node_has_keywords_of_its_level(full_workspace: Workspace) -> None:
    by_level: dict[TocLevel, list[int]] = {}
    for node in walk_nodes():
        assert 1 <= len(node.keyword_texts) <= MAX_KEYWORDS[node.level], node.node_id
        by_level.setdefault(node.level, []).append(len(node.keyword_texts))
    assert max(by_level[TocLevel.SEGMENT]) == max(by_level[TocLevel.DAY]) == 10
    assert max(by_level[TocLevel.YEAR]) == 7


def test_s0_45_a_keyword_s_nodes_say_what_they_are(full_workspace: Workspace) -> None:
    text = agent_text(full_workspace, "browse_toc", keyword="basket")
    assert "Sessions time out after ten minutes" in text
    assert "keywords: " in text


def test_s0_46_filtering_by_a_keyword_never_dead_ends(
    full_workspace: Workspace,
) -> None:
    years = browse.list_children()
    assert len(years) == 2
    for year in years:
        node = browse.get_node(year.node_id)
        assert node is not None and node.keyword_texts
        for word in node.keyword_texts:
            items = toc.browse_toc(full_workspace, year.node_id, keyword=word).items
            assert items, (year.node_id, word)
            assert all(item["level"] == "segment" for item in items)


def test_s0_47_the_example_of_an_expansion_shows_what_was_before_and_after(
    full_workspace: Workspace,
) -> None:
    (hit,) = full_workspace.message_search.find('"sliding window approach"').hits
    assert hit.event is not None
    cited = f"evt:{hit.event.event_id}"
    lists = sessions.expand_grip(full_workspace, cited, before=2, after=3).lists
    roles = {name: [event["role"] for event in group] for name, group in lists.items()}
    assert roles == {
        "before": ["user", "tool"],
        "excerpt": ["assistant"],
        "after": ["user", "assistant", "tool"],
    }
    assert lists["before"][0]["text"].startswith("I'm having issues with JWT tokens")
    assert "race condition" in lists["after"][0]["text"]


COSTS = [
    ("week summary", "get_node", {"node_id": "toc:week:2024-W03"}, 300),
    ("grip expansion", "expand_grip", {"grip_id": "grip:1705572650000:a080"}, 300),
    ("time range", "browse_toc", {"when": "January 2024"}, 800),
    ("keyword filtering", "browse_toc", {"keyword": "refresh"}, 1_200),
    ("teleport", "teleport", {"query": "sliding window token refresh"}, 400),
    ("teleport", "teleport", {"query": "session"}, 400),
]


@pytest.mark.parametrize(("strategy", "tool", "arguments", "most"), COSTS)
def test_s0_48_each_strategy_costs_what_the_guide_says(
    full_workspace: Workspace,
    strategy: str,
    tool: str,
    arguments: dict[str, Any],
    most: int,
) -> None:
    text = agent_text(full_workspace, tool, **arguments)
    assert text.count("\n") >= 2, strategy
    assert estimate(text) <= most, strategy


def test_s0_49_five_events_become_a_segment_with_all_its_parents(
    workspace: Workspace,
) -> None:
    said = [
        ("user", "The ferry importer drops every crossing after 23:50, fix it."),
        ("assistant", "I look at the importer."),
        ("tool", "Edit: timetable.py\nThe file timetable.py has been updated."),
        ("user", "Does it keep the old format?"),
        ("assistant", "Fixed in timetable.py: full dates are compared."),
    ]
    store_messages(
        *(
            make_message(
                text, 60 * n, role=EventRole(role), tool="Edit" * (role == "tool")
            )
            for n, (role, text) in enumerate(said)
        )
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    year, month, week, day, segment = walk_nodes()
    assert calendar.path(segment.node_id) == [
        node.node_id for node in (year, month, week, day, segment)
    ]
    assert segment.counts.events == 5
    for node in (segment, day, week, month, year):
        assert "ferry importer" in node.headline or "ferry importer" in node.title
        assert "timetable.py" in node.keyword_texts
        assert all(bullet.grip_ids for bullet in node.bullets) and node.bullets


def test_s0_50_an_event_after_a_pause_of_45_minutes_begins_a_segment() -> None:
    events = events_at(*((minute, 10) for minute in (0, 15, 30, 75, 80, 105)))
    runs = segmenter.split_events(events, SegmentRules())
    assert [len(run) for run in runs] == [3, 3]
    assert runs[1][0] is events[3]


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # The pause must be longer than 30 minutes, the tokens more than 4,000.
        (((0, 10), (30, 10)), [2]),
        (((0, 10), (30.02, 10)), [1, 1]),
        (((0, 2_000), (1, 2_000)), [2]),
        (((0, 2_000), (1, 2_001)), [1, 1]),
        (((0, 10), (1, 9_000), (2, 10)), [1, 1, 1]),
    ],
)
def test_s0_50_and_51_the_limits_of_a_segment_are_exact(
    messages: Sequence[tuple[float, int]], expected: list[int]
) -> None:
    runs = segmenter.split_events(events_at(*messages), SegmentRules())
    assert [len(run) for run in runs] == expected


def test_s0_51_an_event_that_would_exceed_4000_tokens_begins_a_segment() -> None:
    sizes = 500, 800, 1_200, 2_000, 1_500
    events = events_at(*((n, size) for n, size in enumerate(sizes)))
    runs = segmenter.split_events(events, SegmentRules())
    totals = [sum(event.tokens for event in run) for run in runs]
    assert totals == [2_500, 3_500]


def test_s0_53_events_are_summarized_to_title_and_bullets() -> None:
    events = guide_events()
    summary = ExtractiveSummarizer().summarize_events(events, read_facts(events))
    assert isinstance(summary, Summary)
    assert summary.title == "How do I implement JWT refresh tokens?"
    assert [bullet.text for bullet in summary.bullets] == [GUIDE[0][1], GUIDE[3][1]]
    assert [bullet.event_ids for bullet in summary.bullets] == [
        (events[0].event_id,),
        (events[3].event_id,),
    ]


def test_s0_54_a_node_is_summarized_from_the_work_of_its_sessions(
    full_workspace: Workspace,
) -> None:
    with database.connection():
        days = calendar.day_range("toc:day:2024-01-18")
        works = store_work.list_period_works(days)
    summary = ExtractiveSummarizer().summarize_children(TocLevel.DAY, works)
    assert isinstance(summary, Summary) and "JWT tokens" in summary.title
    ids = [bullet.session_id for bullet in summary.bullets]
    assert len(works) == len(ids) == 2 and "shop-2" in str(ids) and "shop-3" in str(ids)
    # What the sessions did, and nothing else.
    only = ExtractiveSummarizer().summarize_children(TocLevel.DAY, works[1:])
    assert len(only.bullets) == 1 and "OAuth" in only.bullets[0].text
    assert "JWT" not in only.title + only.bullets[0].text


def test_s0_55_a_model_is_given_the_events_with_their_speakers() -> None:
    record = session_record(guide_events(), Facts())
    text = prompts.messages(record)[-1]["content"]
    lines = [line for line in text.splitlines() if re.match(r"\d\|", line)]
    who = {EventRole.USER: "user", EventRole.ASSISTANT: "agent"}
    assert lines == [
        f"{number}|{who[role]}| {said}" for number, (role, said) in enumerate(GUIDE, 1)
    ]


def test_s0_56_and_58_a_model_is_asked_for_title_statements_and_keywords() -> None:
    schema = prompts.reply_schema(session_record(guide_events(), Facts()))
    assert schema["required"] == ["goals", "title", "keywords"]
    fields = schema["properties"]
    # Of each piece of work; the bullets of a node are chosen among them.
    assert fields["goals"]["maxItems"] == 5
    assert {"title", "outcome"} <= fields["goals"]["items"]["properties"].keys()
    assert 5 <= fields["keywords"]["maxItems"] <= 10


def test_s0_57_the_summary_of_the_guide_is_kept() -> None:
    said = (
        (EventRole.USER, "How do I implement JWT refresh tokens?"),
        (EventRole.ASSISTANT, "You can use a sliding window approach..."),
        (EventRole.USER, "What about the race condition?"),
        (EventRole.ASSISTANT, "We should add mutex protection..."),
    )
    events = [make_message(text, at, role=role) for at, (role, text) in enumerate(said)]
    bullets = (
        "Discussed sliding window approach for token refresh",
        "Identified race condition with multiple browser tabs",
        "Solution: Add mutex protection for refresh operations",
        "JWT Token Refresh Implementation",
    )
    evidence = Evidence(events)
    verdicts = [checks.check_text(bullet, evidence) for bullet in bullets]
    assert [verdict.support for verdict in verdicts] == [
        Support.SUPPORTED,
        Support.WEAK,  # Nobody mentioned browser tabs.
        Support.WEAK,
        Support.SUPPORTED,
    ]


def test_s0_59_keywords_are_names_and_words_that_are_said_often(
    workspace: Workspace,
) -> None:
    store_messages(
        make_message("Why does the walrus feeder jam? The walrus is hungry."),
        make_message(
            "The walrus feeder jams in FeederPool.dispense(), see pump_control.py.",
            9,
            role=EventRole.ASSISTANT,
        ),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    *_, segment = walk_nodes()
    words = segment.keyword_texts
    assert words[0] == "walrus" and {"FeederPool.dispense", "pump_control.py"} <= set(
        words
    )


def test_s0_60_a_month_is_described_by_the_words_that_set_its_days_apart(
    workspace: Workspace,
) -> None:
    topics = ("redis", "kafka", "jwt", "grafana", "webpack", "terraform")
    for number, topic in enumerate(topics):
        at, session = 2 * 24 * 3_600 * number, f"s{number}"
        asked = f"Raise the timeout of {topic}, and make its interval shorter."
        done = f"I raised the timeout of {topic}; the interval on its port is shorter."
        store_messages(
            make_message(asked, at, session=session),
            make_message(done, at + 9, role=EventRole.ASSISTANT, session=session),
        )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    node = browse.get_node("toc:month:2025-03")
    assert node is not None
    assert set(topics) <= set(node.keyword_texts)
    assert len(set(topics) & set(node.keyword_texts[:6])) >= 5


def test_s0_60_keywords_are_words_that_occur_in_the_talk(
    full_workspace: Workspace,
) -> None:
    said = HISTORY.read_text("utf-8").lower()
    keywords = {word for node in walk_nodes() for word in node.keyword_texts}
    assert {"JWT", "memchr", "SESSION_TTL"} <= keywords
    assert not [word for word in keywords if word.lower() not in said]


def test_s0_61_a_parents_keywords_are_chosen_among_its_childrens(
    full_workspace: Workspace,
) -> None:
    checked = 0
    for node in walk_nodes():
        assert len(node.keyword_texts) <= MAX_KEYWORDS[node.level]
        children = list(browse.list_children(node.node_id))
        if children:
            below = {
                word
                for entry in children
                if (child := browse.get_node(entry.node_id))
                for word in child.keyword_texts
            }
            assert set(node.keyword_texts) <= below, node.node_id
            checked += 1
    assert checked >= 9


def test_s0_62_and_63_the_example_bullet_rests_on_the_question_and_its_answer() -> None:
    said = [
        "How do I implement JWT refresh tokens?",
        "You can use a sliding window approach to refresh the token on each request.",
        "What about the race condition?",
    ]
    events = [make_message(text, 60 * n) for n, text in enumerate(said)]
    drafts = [
        DraftBullet("Discussed sliding window approach for token refresh"),
        DraftBullet("Migrated the payroll cluster to Kubernetes"),
    ]
    linked, unlinked = checks.ground_bullets(drafts, Evidence(events))
    assert unlinked.best is None and unlinked.verdict.objection
    assert linked.last == events[1] and linked.first in events[:2]
    assert linked.excerpt in said[1] and "sliding window approach" in linked.excerpt


def test_s0_64_a_year_has_a_line_with_counts_and_names_for_each_project(
    workspace: Workspace,
) -> None:
    hour = 3_600
    for number in range(24):
        session, project = f"s{number}", f"project{number % 3}"
        text = f"Add the {WORDS[number]} page to the {project} site."
        store_messages(make_message(text, 30 * hour * number, session=session))
        name_session(session, project=project)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    node = browse.get_node("toc:year:2025")
    assert node is not None
    assert {bullet.kind for bullet in node.bullets} == {BulletKind.PROJECT}
    assert sorted(bullet.project for bullet in node.bullets) == [
        f"project{number}" for number in range(3)
    ]
    for bullet in node.bullets:
        assert bullet.text.startswith("8 sessions on 8 days: ")
        assert bullet.text.count(f"page to the {bullet.project} site.") >= 2
        assert bullet.grip_ids


def test_s0_64_a_bullet_of_a_parent_inherits_the_grips_of_its_children(
    full_workspace: Workspace,
) -> None:
    for node in walk_nodes():
        below = {
            grip_id
            for entry in browse.list_children(node.node_id)
            if (child := browse.get_node(entry.node_id))
            for bullet in child.bullets
            for grip_id in bullet.grip_ids
        }
        own = {grip_id for bullet in node.bullets for grip_id in bullet.grip_ids}
        assert own
        if node.level is not TocLevel.SEGMENT:
            assert own <= below, node.node_id


def test_s0_65_a_provisional_summary_is_there_before_the_period_ends(
    workspace: Workspace,
) -> None:
    # The minimum ages are those of a model's summary: the tree is never empty.
    now = datetime.now(UTC) - timedelta(minutes=1)
    said = replace(make_message("Polish the harbour crane."), timestamp=now)
    store_messages(said)
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    nodes = list(walk_nodes())
    assert len(nodes) == 5 and all(node.bullets for node in nodes)
    assert {node.status.value for node in nodes} == {"provisional"}
    assert [MIN_AGES[node.level] for node in nodes[:4]] == [
        timedelta(days=7),
        timedelta(days=1),
        timedelta(days=1),
        timedelta(hours=1),
    ]


def test_s0_66_and_67_a_roll_up_reads_the_children_and_stores_version_and_checkpoint(
    full_workspace: Workspace,
) -> None:
    def counts() -> dict[str, int]:
        with database.connection():
            return {row.job_name: row.processed_count for row in CheckpointRow.select()}

    before = counts()
    assert len(before) == 4
    late = replace(
        make_message("Rename the walrus page to feedback.", session="late"),
        timestamp=datetime(2024, 1, 15, 20, tzinfo=UTC),
    )
    store_messages(late)
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert counts() == {job: count + 1 for job, count in before.items()}
    for name in ("toc:day:2024-01-15", "toc:week:2024-W03", "toc:month:2024-01"):
        node = browse.get_node(name)
        assert node is not None and node.version == 2
        assert any("walrus page" in bullet.text for bullet in node.bullets)


def test_s0_68_jobs_show_their_checkpoints(tmp_path: Path) -> None:
    home = tmp_path / "home"
    run_memtui(home, "import", str(HISTORY))
    jobs = json_data(run_memtui(home, "jobs", "--json").stdout)["jobs"]
    checkpoints = {job["job"]: job["rolled_up"] for job in jobs}
    assert checkpoints["segments"] is None
    day = checkpoints["rollup_day"]
    assert (day["level"], day["processed_count"]) == ("day", 5)
    assert day["last_processed_time"].startswith("2024-02-0")
    assert "5 roll-ups" in run_memtui(home, "jobs").stdout


def test_s0_69_after_a_crash_only_what_is_left_is_rolled_up(
    workspace: Workspace, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    roll_up = summarization.RollupStage._roll_up
    done: list[str] = []

    def record(stage: summarization.RollupStage, name: str, now_ms: int) -> None:
        if len(done) == 3:
            raise KeyboardInterrupt
        roll_up(stage, name, now_ms)
        done.append(name)

    monkeypatch.setattr(summarization.RollupStage, "_roll_up", record)
    list(workspace.pipeline.importer().run([HISTORY]))
    with pytest.raises(KeyboardInterrupt):
        workspace.pipeline.run_until_idle(lambda _: None)
    with database.connection():
        (checkpoint,) = CheckpointRow.select()
    assert (checkpoint.job_name, checkpoint.processed_count) == ("rollup_day", 3)
    workspace.stop()
    first, done[:] = set(done), ["already", "three", "rolled", "up"]
    again = Workspace(workspace.paths, settings)
    assert again.pipeline.run_until_idle(lambda _: None) == []
    again.stop()
    days = {name for name in done if name.startswith("toc:day:")}
    assert len(first) == 3 and len(days) == 2 and not days & first
    with database.connection():
        counts = {row.job_name: row.processed_count for row in CheckpointRow.select()}
    assert counts["rollup_day"] == 5


def test_s0_70_rolling_up_the_same_input_again_makes_no_version(
    full_workspace: Workspace,
) -> None:
    def versions() -> dict[str, int]:
        return {node.node_id: node.version for node in walk_nodes()}

    before = versions()
    with database.transaction():
        database.db.execute_sql("UPDATE nodes SET is_dirty = 1")
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    assert versions() == before


def test_s0_70_rare_words_and_short_texts_score_higher(workspace: Workspace) -> None:
    for number in range(12):
        store_messages(
            make_message(
                f"Polish the crane {number}.", 9 * number, session=f"c{number}"
            )
        )
    store_messages(
        make_message("Polish the walrus.", 500, session="rare"),
        make_message(
            "Polish the walrus statue " + "and the old quay wall " * 8,
            600,
            session="long",
        ),
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    hits = workspace.teleport.find("walrus crane level:segment").hits
    titles = [hit.node.title for hit in hits if hit.node]
    assert titles[0] == "Polish the walrus."
    assert titles.index("Polish the walrus.") < titles.index("Polish the crane 3.")


def test_s0_71_teleport_offers_segment_quote_and_day(full_workspace: Workspace) -> None:
    query = "sliding window token refresh"
    first = full_workspace.teleport.find(query, limit=3).hits
    assert {(hit.kind, hit.node.level) for hit in first if hit.node} == {
        (HitKind.NODE, TocLevel.SEGMENT),
        (HitKind.GRIP, TocLevel.SEGMENT),
        (HitKind.NODE, TocLevel.DAY),
    }
    assert all(hit.score > 0.5 for hit in first)


def test_s0_71_hits_are_of_nodes_and_grips_best_first(
    full_workspace: Workspace,
) -> None:
    hits = full_workspace.teleport.find("sliding window refresh", limit=50).hits
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    assert {hit.kind.value for hit in hits} == {"node", "grip"}


def test_s0_72_teleport_jumps_to_the_sliding_window(full_workspace: Workspace) -> None:
    query = "sliding window token refresh"
    first = full_workspace.teleport.find(query, limit=5).hits[0]
    assert first.band in (ScoreBand.EXCELLENT, ScoreBand.GOOD)
    segment = first.opens
    assert segment.startswith("toc:segment:2024-01-18:")
    node = browse.get_node(segment)
    assert node is not None
    grip_ids = [
        grip_id
        for bullet in node.bullets
        if "sliding window" in bullet.text
        for grip_id in bullet.grip_ids
    ]
    expansion = conversation.expand(grip_ids[0])
    assert any("sliding window" in event.text for event in expansion.excerpt_events)
    # Two calls instead of a walk down from the years.
    said = agent_text(full_workspace, "teleport", query=query, limit=3)
    said += agent_text(full_workspace, "expand_grip", grip_id=grip_ids[0])
    assert estimate(said) <= 600


@pytest.mark.parametrize(
    ("question", "way"),
    [
        ("What did we do last week?", "time"),
        ("yesterday", "time"),
        ("JWT refresh mutex", "words"),
        ("That thing about mutexes", "words"),
        ("JWT refresh from last week", "time and words"),
        ("what did we discuss", "years"),
    ],
)
def test_s0_73_a_question_is_answered_by_browsing_or_by_teleport(
    question: str, way: str
) -> None:
    now = datetime(2024, 1, 24, 12, tzinfo=UTC)
    parsed = parse_with_dates(question, now, UTC)
    assert routing.choose_strategy(parsed)[0].value == way


def test_s0_73_other_weeks_are_not_searched_for_a_topic_of_last_week(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = datetime(2024, 1, 24, 12, tzinfo=UTC)
    monkeypatch.setattr(full_workspace, "now", lambda: now)
    reply = routing.route(full_workspace, "token refresh from last week")
    assert reply.head["way"] == "time and words"
    hits = [item for item in reply.items if item.get("score")]
    assert hits
    assert all("2024-01-15" <= hit["at"][:10] <= "2024-01-21" for hit in hits)


BAND_VECTORS = [
    (1.0, "excellent", "Jump there."),
    (0.8, "excellent", "Jump there."),
    (0.79, "good", "Jump there, and check it against what is around it."),
    (0.5, "good", "Jump there, and check it against what is around it."),
    (0.49, "partial", "Look at several hits."),
    (0.3, "partial", "Look at several hits."),
    (0.29, "weak", "Browse the contents instead."),
    (0.0, "weak", "Browse the contents instead."),
]


@pytest.mark.parametrize(("score", "band", "advice"), BAND_VECTORS)
def test_s0_74_a_score_says_what_to_do(score: float, band: str, advice: str) -> None:
    assert score_band(score) is ScoreBand(band)
    assert score_band(score).advice == advice


def test_s0_74_teleport_scores_a_lone_bad_hit_as_bad(full_workspace: Workspace) -> None:
    hits = full_workspace.teleport.find("parquet zeppelin cellar memchr").hits
    assert hits and hits[0].score < 0.3


def test_s0_75_another_form_of_a_word_is_found_and_another_word_is_not(
    workspace: Workspace,
) -> None:
    store_messages(make_message("The authentication of the ferry office is broken."))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    # The guide has teleport miss the short form.
    for query in ("auth", "auth*", "authentication"):
        assert workspace.teleport.find(query).hits, query
    assert not workspace.teleport.find("signin").hits
    # What words miss is reached from the years.
    assert "authentication" in agent_text(workspace, "route", question="signin")


def test_s0_76_a_question_without_terms_is_answered_by_the_years(
    full_workspace: Workspace,
) -> None:
    reply = routing.route(full_workspace, "that bug we fixed")
    assert reply.head["way"] == "years"
    assert [item["node_id"] for item in reply.items] == [
        "toc:year:2024",
        "toc:year:2023",
    ]


def test_s0_77_what_is_not_indexed_yet_is_found(workspace: Workspace) -> None:
    store_messages(make_message("Feed the walrus."))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    store_messages(make_message("Polish the harbour crane.", session="s2"))
    (hit,) = workspace.message_search.find("harbour crane").hits
    assert hit.session_id == "s2"
    assert "harbour crane" in agent_text(
        workspace, "search_memory", query="harbour crane"
    )


def test_s0_78_teleport_gives_pointers_and_no_conversations(
    full_workspace: Workspace,
) -> None:
    items = replies.write_data(search.teleport(full_workspace, "sliding window"))[
        "hits"
    ]
    assert items
    for item in items:
        assert item["id"].startswith(("toc:", "grip:"))
        assert "events" not in item and "window" not in item
        assert len(item["snippet"]) <= 400
    ids = {item["id"] for item in items if item["id"].startswith("toc:")}
    assert all(browse.get_node(node_id) for node_id in ids)


def test_s0_79_events_are_read_of_a_time_or_a_session_alone(
    full_workspace: Workspace,
) -> None:
    with pytest.raises(UsageError, match="when is missing"):
        sessions.get_events(full_workspace, "", limit=50)
    assert len(sessions.get_events(full_workspace, "2024-01-15", limit=50).items) == 11


def test_s0_80_the_table_of_contents_works_without_an_index(
    full_workspace: Workspace,
) -> None:
    shutil.rmtree(full_workspace.paths.index)
    assert agent_text(full_workspace, "get_node", node_id="toc:day:2024-01-18")
    answer = full_workspace.teleport.find("sliding window refresh", limit=5)
    assert answer.hits and answer.notes
    assert any("2024-01-18" in hit.node_id for hit in answer.hits)
