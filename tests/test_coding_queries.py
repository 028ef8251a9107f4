"""The labelled queries about coding sessions, which search is measured with."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from memtui.store import database
from memtui.workspace import Workspace
from tests.tables import EventRow

QUERIES = Path(__file__).parent.parent / "benchmarks" / "coding_queries.jsonl"

FIELDS = {"id", "kind", "query", "agent", "sessions", "evidence", "file"}
KINDS = {"identifier", "error", "decision", "vague", "question", "phrase", "path"}
AGENTS = {"claude-code": "claude_code", "codex": "codex", "copilot-cli": "copilot_cli"}
"""The agents, each with the folder of its transcripts."""

QUOTED_WORDS = 15
"""What a quote from another's transcript has at most."""


@pytest.fixture(scope="module")
def queries() -> list[dict[str, Any]]:
    return [json.loads(line) for line in QUERIES.read_text("utf-8").splitlines()]


def folded(text: str) -> str:
    return " ".join(text.split())


def test_queries_are_well_formed(queries: list[dict[str, Any]]) -> None:
    for query in queries:
        assert set(query) == FIELDS
        assert query["kind"] in KINDS
        assert query["agent"] in AGENTS
        assert query["query"] == query["query"].strip() != ""
        assert query["file"].startswith(AGENTS[query["agent"]] + "/")
        for names in (query["sessions"], query["evidence"]):
            assert names
            assert len(names) == len(set(names))
        for quote in query["evidence"]:
            assert 0 < len(quote.split()) <= QUOTED_WORDS


def test_queries_are_unique_and_each_kind_is_frequent(
    queries: list[dict[str, Any]],
) -> None:
    assert len(queries) >= 60
    assert len({query["id"] for query in queries}) == len(queries)
    assert len({query["query"] for query in queries}) == len(queries)
    kinds = Counter(query["kind"] for query in queries)
    assert set(kinds) == KINDS
    assert min(kinds.values()) >= 8


def test_evidence_is_in_the_sessions_of_the_query(
    queries: list[dict[str, Any]], workspace: Workspace, shared: Path
) -> None:
    for _ in workspace.pipeline.importer().run(
        [shared / name for name in AGENTS.values()]
    ):
        pass
    texts_by_session = defaultdict(list)
    with database.connection():
        for row in EventRow.select().where(EventRow.type.endswith("_message")):
            key = row.session.agent, row.session.name
            texts_by_session[key].append(folded(row.text))
    for query in queries:
        assert (shared / query["file"]).is_file()
        quotes = [folded(quote) for quote in query["evidence"]]
        by_session = [
            texts_by_session[query["agent"], name] for name in query["sessions"]
        ]
        for texts in by_session:
            assert any(quote in text for text in texts for quote in quotes), query["id"]
        for quote in quotes:
            texts = [text for texts in by_session for text in texts]
            assert any(quote in text for text in texts), query["id"]
