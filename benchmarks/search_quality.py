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


@dataclass(slots=True)
class Score:
    """How well the questions of a set were answered."""

    places: list[int] = field(default_factory=list)
    """Of each question the place of the first right session; -1 if there is none."""
    took_ms: list[float] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    """The questions with none among the first three."""

    def note(self, question: Question, sessions: Sequence[str], took_ms: float) -> None:
        """Note an answer: the sessions it names, the best first."""
        named = dict.fromkeys(sessions)
        right = (at for at, one in enumerate(named) if one in question.sessions)
        place = next(right, -1)
        self.places.append(place)
        self.took_ms.append(took_ms)
        if not 0 <= place < 3:
            self.missed.append(question.text)

    def __str__(self) -> str:
        count = len(self.places)
        right = [place for place in self.places if place >= 0]
        hits = [sum(place < most for place in right) / count for most in (1, 3, 10)]
        rank = sum(1 / (place + 1) for place in right) / count
        took = sorted(self.took_ms)
        return (
            f"hit@1 {hits[0]:.3f}  hit@3 {hits[1]:.3f}  hit@10 {hits[2]:.3f}"
            f"  MRR {rank:.3f}  {median(took):4.0f} ms  p95"
            f" {took[int(count * 0.95)]:4.0f} ms"
        )


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
def house_of(home: Path, files: Sequence[Path]) -> Iterator[Workspace]:
    """A workspace that has read these files and done all its work."""
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


def asked(questions: Sequence[Question], ask: Ask) -> Score:
    """Ask all questions."""
    score = Score()
    for question in questions:
        began_s = time.perf_counter()
        sessions = ask(question)
        score.note(question, sessions, (time.perf_counter() - began_s) * 1000)
    return score


def everything(workspace: Workspace) -> Ask:
    """The search over everything."""

    def ask(question: Question) -> list[str]:
        filters = Filters(scope=Scope("", question.project))
        result = workspace.search.find(question.text, limit=MAX_HITS, filters=filters)
        return [hit.session_id for hit in result.hits]

    return ask


def messages(workspace: Workspace) -> Ask:
    """The search of sessions, one message of each."""

    def ask(question: Question) -> list[str]:
        filters = Filters(scope=Scope("", question.project))
        result = workspace.message_search.find(
            question.text, one_per_session=True, filters=filters, before=0, after=0
        )
        return [hit.session_id for hit in result.hits]

    return ask


def summaries(workspace: Workspace) -> Ask:
    """The teleport alone, by the sessions its hits lead to."""

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
    """How many of the turns that answer are among the first twenty messages."""
    found, shown = [], []
    for question in questions:
        filters = Filters(scope=Scope("", question.project))
        hits = workspace.message_search.find(question.text, filters=filters).hits
        own = {turns.get((h.session_id, h.msg_idx), "") for h in hits}
        around = {
            turns.get((hit.session_id, said.msg_idx), "")
            for hit in hits
            for said in hit.window
        }
        found.append(len(own & question.turns) / len(question.turns))
        shown.append(len(around & question.turns) / len(question.turns))
    count = len(questions)
    return (
        f"turn recall@{MAX_HITS} {sum(found) / count:.3f};"
        f" windows included {sum(shown) / count:.3f}"
    )


def report(
    title: str, workspace: Workspace, questions: Sequence[Question], *, has_misses: bool
) -> None:
    """Print how well each search answers a set, and each kind of question."""
    print(f"\n{title}: {len(questions)} questions")
    fused = asked(questions, everything(workspace))
    for name, score in (
        ("everything", fused),
        ("messages alone", asked(questions, messages(workspace))),
        ("summaries alone", asked(questions, summaries(workspace))),
    ):
        print(f"  {name:16} {score}")
    for kind in sorted({question.kind for question in questions}):
        some = [question for question in questions if question.kind == kind]
        places = [
            place
            for place, question in zip(fused.places, questions, strict=True)
            if question.kind == kind
        ]
        first = sum(place == 0 for place in places) / len(some)
        three = sum(0 <= place < 3 for place in places) / len(some)
        print(f"    {kind:16} hit@1 {first:.3f}  hit@3 {three:.3f}  of {len(some)}")
    if has_misses:
        print(*(f"    missed: {text}" for text in fused.missed), sep="\n")


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
        with house_of(talk / "home", [talk / "locomo.jsonl"]) as workspace:
            questions = locomo()
            report("LoCoMo", workspace, questions, has_misses=given.misses)
            print(f"  {recall(workspace, questions, turns)}")
        files = [DATA / name for name in FOLDERS]
        with house_of(talk / "coding", files) as workspace:
            report("Coding sessions", workspace, coding(), has_misses=given.misses)


if __name__ == "__main__":
    main()
