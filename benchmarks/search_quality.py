"""Measure how well search finds the sessions that answer labelled questions.

LoCoMo (Maharana et al., 2024) has questions about long conversations, with the sessions
and turns that answer them. Each conversation is imported as a project and searched
alone; adversarial questions are left out. The questions about real coding sessions
(``coding_queries.md``) search all of them. Summaries are extractive. Run it from the
checkout:

    python -m benchmarks.search_quality [--misses]
"""

import argparse
import json
import platform
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import memtui
from benchmarks.transcripts import DATA
from memtui import settings
from memtui.model.filters import Filters, Scope
from memtui.model.hit import MAX_HITS
from memtui.paths import in_home
from memtui.store import database, segments
from memtui.store import sessions as store_sessions
from memtui.workspace import Workspace

LOCOMO = DATA / "retrieval" / "locomo"
CODING = Path(__file__).with_name("coding_queries.jsonl")
FOLDERS = ("claude_code", "codex", "copilot_cli")
ASK_NOBODY = "summaries.provider=extractive"
APART = timedelta(seconds=30)
"""How far apart the turns of a LoCoMo session are set: it tells only when it began."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what answers it."""

    text: str
    kind: str
    sessions: frozenset[str]
    turns: frozenset[str] = frozenset()
    project: str = ""


CUTOFFS = (1, 5, 20)
"""Hits are counted among so many first sessions."""


@dataclass(slots=True)
class Score:
    """How well the questions of a set were answered."""

    ranks: list[int] = field(default_factory=list)
    """For each question the rank of the first right session, from 1; 0 if there is
    none."""
    took_ms: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """The questions with none among the first five."""

    def add(self, question: Question, sessions: Sequence[str], took_ms: float) -> None:
        """Add an answer: the sessions it names, the best first."""
        names = enumerate(dict.fromkeys(sessions), 1)
        rank = next((rank for rank, name in names if name in question.sessions), 0)
        self.ranks.append(rank)
        self.took_ms.append(took_ms)
        if not 0 < rank <= 5:
            self.missed.append(question.text)

    def __str__(self) -> str:
        hits = "  ".join(f"hit@{most} {self.share(most):.3f}" for most in CUTOFFS)
        reciprocal = sum(1 / rank for rank in self.ranks if rank) / len(self.ranks)
        took = sorted(self.took_ms)
        return (
            f"{hits}  MRR {reciprocal:.3f}  {median(took):4.0f} ms"
            f"  p95 {took[int(len(took) * 0.95)]:4.0f} ms"
        )

    def share(self, most: int) -> float:
        """Return the share of questions with a right session among the first ones."""
        return sum(0 < rank <= most for rank in self.ranks) / len(self.ranks)


def locomo() -> list[Question]:
    """LoCoMo's questions that have an answer."""
    rows = map(json.loads, (LOCOMO / "queries.jsonl").read_text("utf-8").splitlines())
    return [
        Question(
            row["query"],
            row["category"],
            frozenset(row["relevant_session_ids"]),
            frozenset(row["relevant_turn_ids"]),
            row["conversation_id"],
        )
        for row in rows
        if row["category"] != "adversarial" and row["relevant_session_ids"]
    ]


def coding() -> list[Question]:
    """The questions over coding sessions."""
    rows = map(json.loads, CODING.read_text("utf-8").splitlines())
    return [Question(r["query"], r["kind"], frozenset(r["sessions"])) for r in rows]


def write_locomo(folder: Path) -> dict[tuple[str, int], str]:
    """Write LoCoMo's conversations as plain JSON lines.

    Returns:
        The turns, by their session and their place in it.
    """
    turns = {}
    lines = []
    for line in (LOCOMO / "sessions.jsonl").read_text("utf-8").splitlines():
        session = json.loads(line)
        began = datetime.fromisoformat(session["started_at"]).replace(tzinfo=UTC)
        for place, turn in enumerate(session["turns"]):
            text = f"{turn['speaker']}: {turn['text']}"
            if caption := turn.get("image_caption"):
                text += f" [image: {caption}]"
            is_first = turn["speaker"] == session["speakers"][0]
            output = {
                "session_id": session["session_id"],
                "timestamp": (began + place * APART).isoformat(),
                "role": "user" if is_first else "assistant",
                "text": text,
                "project": session["conversation_id"],
                "key": turn["turn_id"],
            }
            turns[session["session_id"], place] = turn["turn_id"]
            lines.append(json.dumps(output))
    (folder / "locomo.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return turns


@contextmanager
def open_workspace(home: Path, files: Sequence[Path]) -> Iterator[Workspace]:
    """Open a workspace that has read these files and done all its work."""
    place = in_home(home)
    workspace = Workspace(place, settings.load(place.config, assignments=[ASK_NOBODY]))
    try:
        for _ in workspace.pipeline.importer().run(files):
            pass
        if errors := workspace.pipeline.run_until_idle(lambda _: None):
            raise errors[0]
        yield workspace
    finally:
        workspace.stop()


Ask = Callable[[Question], Sequence[str]]


def ask_all(questions: Sequence[Question], ask: Ask) -> Score:
    """Ask all questions."""
    score = Score()
    for question in questions:
        began_s = time.perf_counter()
        sessions = ask(question)
        score.add(question, sessions, (time.perf_counter() - began_s) * 1000)
    return score


def everything(workspace: Workspace) -> Ask:
    """Return the search over everything."""

    def ask(question: Question) -> list[str]:
        filters = Filters(scope=Scope("", question.project))
        result = workspace.search.find(question.text, limit=MAX_HITS, filters=filters)
        return [hit.session_id for hit in result.hits]

    return ask


def messages(workspace: Workspace) -> Ask:
    """Return the search in messages, one message a session."""

    def ask(question: Question) -> list[str]:
        filters = Filters(scope=Scope("", question.project))
        result = workspace.message_search.find(
            question.text, one_per_session=True, filters=filters, before=0, after=0
        )
        return [hit.session_id for hit in result.hits]

    return ask


def summaries(workspace: Workspace) -> Ask:
    """Return teleport alone, by the sessions that its hits open."""

    def ask(question: Question) -> list[str]:
        filters = Filters(scope=Scope("", question.project))
        result = workspace.teleport.find(question.text, filters=filters)
        with database.connection():
            owners = segments.get_sessions(hit.opens for hit in result.hits)
            sessions = store_sessions.get_many(set(owners.values()))
        numbers = (owners.get(hit.opens) for hit in result.hits)
        return [sessions[number].session_id for number in numbers if number in sessions]

    return ask


def recall(
    workspace: Workspace,
    questions: Sequence[Question],
    turns: Mapping[tuple[str, int], str],
) -> str:
    """Return the share of answering turns among the first twenty messages."""
    matched, visible = [], []
    for question in questions:
        filters = Filters(scope=Scope("", question.project))
        hits = workspace.message_search.find(question.text, filters=filters).hits
        own = {turns.get((hit.session_id, hit.msg_idx), "") for hit in hits}
        around = {
            turns.get((hit.session_id, message.msg_idx), "")
            for hit in hits
            for message in hit.window
        }
        matched.append(len(own & question.turns) / len(question.turns))
        visible.append(len(around & question.turns) / len(question.turns))
    count = len(questions)
    return (
        f"turn recall@{MAX_HITS} {sum(matched) / count:.3f};"
        f" windows included {sum(visible) / count:.3f}"
    )


def report(
    title: str, workspace: Workspace, questions: Sequence[Question], *, has_misses: bool
) -> None:
    """Print how well each search answers a set, and each kind of question."""
    print(f"\n{title}: {len(questions)} questions")
    score = ask_all(questions, everything(workspace))
    print(f"  {'everything':16} {score}")
    print(f"  {'messages alone':16} {ask_all(questions, messages(workspace))}")
    print(f"  {'summaries alone':16} {ask_all(questions, summaries(workspace))}")
    for kind in sorted({question.kind for question in questions}):
        pairs = zip(score.ranks, questions, strict=True)
        of_kind = Score([rank for rank, question in pairs if question.kind == kind])
        hits = "  ".join(f"hit@{most} {of_kind.share(most):.3f}" for most in CUTOFFS)
        print(f"    {kind:16} {hits}  of {len(of_kind.ranks)}")
    if has_misses:
        print(*(f"    missed: {text}" for text in score.missed), sep="\n")


def main() -> None:
    """Ask both sets, and print how they were answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--misses", action="store_true", help="name what was missed")
    given = parser.parse_args()
    print(
        f"{datetime.now(UTC):%Y-%m-%d}, memtui {memtui.__version__},"
        f" Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    )
    with tempfile.TemporaryDirectory() as folder:
        talk = Path(folder)
        turns = write_locomo(talk)
        with open_workspace(talk / "home", [talk / "locomo.jsonl"]) as workspace:
            questions = locomo()
            report("LoCoMo", workspace, questions, has_misses=given.misses)
            print(f"  {recall(workspace, questions, turns)}")
        files = [DATA / name for name in FOLDERS]
        with open_workspace(talk / "coding", files) as workspace:
            report("Coding sessions", workspace, coding(), has_misses=given.misses)


if __name__ == "__main__":
    main()
