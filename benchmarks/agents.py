"""Measure the tokens an agent reads until it has the evidence for a question.

The labelled questions of ``benchmarks.search_quality`` are asked in every way an agent
can ask, each answer within the default budget. The answers, including fences, are
counted until one contains the evidence. Further figures: how many single answers of a
given size contain it, the cost of reading the matching sessions, and of searching all
messages for the longest word of the question. Run it from the checkout:

    python -m benchmarks.agents [--coding | --locomo] [--some N]
"""

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks import search_quality
from benchmarks.transcripts import DATA
from memtui.model.filters import Filters, Scope
from memtui.store import database
from memtui.tools import replies, routing, search, sessions, toc
from memtui.tools.replies import Reply
from memtui.workspace import Workspace

BUDGETS = (500, 1_000, 2_000)

QUOTED_CHARS = 80
"""How much of a turn must be read to count as its evidence."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the texts any of which answers it."""

    text: str
    project: str
    evidence: tuple[str, ...]
    sessions: frozenset[str]

    @property
    def filters(self) -> Filters:
        """Its project, if it has one."""
        return Filters(scope=Scope("", self.project))

    def is_answered_by(self, text: str) -> bool:
        """Return True if a text contains the evidence."""
        folded = fold(text)
        return any(evidence in folded for evidence in self.evidence)


def fold(text: str) -> str:
    """Return a text in the form in which quotes are compared."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


def read_coding() -> list[Question]:
    """Return the questions about coding sessions."""
    rows = map(json.loads, search_quality.CODING.read_text("utf-8").splitlines())
    return [
        Question(
            row["query"],
            "",
            tuple(map(fold, row["evidence"])),
            frozenset(row["sessions"]),
        )
        for row in rows
    ]


def read_locomo() -> list[Question]:
    """Return LoCoMo's questions that have an answer."""
    turns = {}
    for line in (
        (search_quality.LOCOMO / "sessions.jsonl").read_text("utf-8").splitlines()
    ):
        for turn in json.loads(line)["turns"]:
            turns[turn["turn_id"]] = fold(turn["text"])[:QUOTED_CHARS]
    return [
        Question(
            question.text,
            question.project,
            tuple(turns[turn] for turn in question.turns if turn in turns),
            question.sessions,
        )
        for question in search_quality.locomo()
    ]


Answer = Callable[[Workspace, Question], Reply]

ANSWERS: dict[str, Answer] = {
    "search_memory": lambda workspace, question: search.search_memory(
        workspace, question.text, limit=50, filters=question.filters
    ),
    "route": lambda workspace, question: routing.route(
        workspace, question.text, limit=20, scope=question.filters.scope
    ),
    "retrieve_memory": lambda workspace, question: search.retrieve_memory(
        workspace, question.text, filters=question.filters
    ),
    "retrieve_memory, all details": lambda workspace, question: search.retrieve_memory(
        workspace, question.text, detail_limit=5, filters=question.filters
    ),
    "search_sessions": lambda workspace, question: search.search_sessions(
        workspace, question.text, limit=10, filters=question.filters
    ),
    "teleport": lambda workspace, question: search.teleport(
        workspace, question.text, limit=6, scope=question.filters.scope
    ),
}
"""The ways to ask, each with one answer."""


def ask_and_open(
    answer: Answer, workspace: Workspace, question: Question
) -> Iterator[Reply]:
    """Yield an answer, then what it cites, hit after hit."""
    first = answer(workspace, question)
    yield first
    ids = [
        str(
            item.get("leads_to")
            or item.get("cite")
            or item.get("id")
            or item["node_id"]
        )
        for item in first.items
    ]
    yield from open_all(workspace, ids)


def open_all(workspace: Workspace, ids: Sequence[str]) -> Iterator[Reply]:
    """Yield the nodes and events of some ids."""
    for name in dict.fromkeys(ids):
        open_one = toc.get_node if name.startswith("toc:") else sessions.expand_grip
        yield open_one(workspace, name)


def count_tokens(
    answers: Iterator[Reply], workspace: Workspace, question: Question
) -> int | None:
    """Return what is read until the evidence is among it; None if it never is."""
    tokens = 0
    for reply in answers:
        fitted = replies.fit_text(reply, replies.DEFAULT_TOKENS, workspace.counter)
        tokens += fitted.tokens
        if question.is_answered_by(fitted.text):
            return tokens
        if tokens > max(BUDGETS):
            break
    return None


def smallest_budget(
    answer: Answer, workspace: Workspace, question: Question
) -> int | None:
    """Return the smallest budget whose answer has the evidence; None if none has."""
    reply = answer(workspace, question)
    for budget in BUDGETS:
        fitted = replies.fit_text(reply, budget, workspace.counter)
        if question.is_answered_by(fitted.text):
            return budget
    return None


def print_row(name: str, costs: Sequence[int | None]) -> None:
    """Print the share of the questions that are answered within each budget."""
    answered = [cost for cost in costs if cost is not None]
    shares = "  ".join(
        f"≤ {budget:,}: {sum(cost <= budget for cost in answered) / len(costs):.0%}"
        for budget in BUDGETS
    )
    print(f"  {name:45} median {median(answered or [0]):7,.0f}  {shares}")


def print_baselines(workspace: Workspace, questions: Sequence[Question]) -> None:
    """Print the cost of reading the sessions, and of searching for one word."""
    with database.connection():
        rows = database.fetch(
            "SELECT e.type, s.name, s.project, e.text, e.tokens"
            " FROM events e JOIN sessions s ON s.id = e.session_id ORDER BY e.id"
        )
    messages = [row for kind, *row in rows if kind.endswith("_message")]
    everything = Counter[str]()
    for _, name, _, _, tokens in rows:
        everything[name] += tokens
    whole, with_tools, grepped = [], [], []
    for question in questions:
        whole.append(sum(n for name, _, _, n in messages if name in question.sessions))
        with_tools.append(sum(everything[name] for name in question.sessions))
        word = max(re.findall(r"\w+", question.text) or [""], key=len).lower()
        read = 0
        for _, project, text, tokens in messages:
            if question.project in ("", project) and word in text.lower():
                read += tokens
                if question.is_answered_by(text):
                    grepped.append(read)
                    break
    share = len(grepped) / len(questions)
    print(f"  {'reading the sessions':45} median {median(whole):7,.0f}")
    print(f"  {'the same with tools':45} median {median(with_tools):7,.0f}")
    longest = (
        f"  {'grep for the longest word':45} median {median(grepped or [0]):7,.0f}"
    )
    print(f"{longest}  finds {share:.0%}")


def report(title: str, workspace: Workspace, questions: Sequence[Question]) -> None:
    """Print the tokens that each way takes."""
    print(f"\n{title}: {len(questions)} questions, in tokens")
    for name, answer in ANSWERS.items():
        least = [smallest_budget(answer, workspace, question) for question in questions]
        print_row(f"one answer of {name}", least)
        opened = [
            count_tokens(ask_and_open(answer, workspace, question), workspace, question)
            for question in questions
        ]
        print_row(f"{name}, then its sources", opened)
    print_baselines(workspace, questions)


def main() -> None:
    """Ask both sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coding", action="store_true", help="only these questions")
    parser.add_argument("--locomo", action="store_true", help="only these questions")
    parser.add_argument("--some", type=int, default=1, help="only each N-th question")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if not args.locomo:
            files = [DATA / name for name in search_quality.FOLDERS]
            with search_quality.open_workspace(folder / "coding", files) as workspace:
                report("Coding sessions", workspace, read_coding()[:: args.some])
        if not args.coding:
            search_quality.write_locomo(folder)
            file = folder / "locomo.jsonl"
            with search_quality.open_workspace(folder / "home", [file]) as workspace:
                report("LoCoMo", workspace, read_locomo()[:: args.some])


if __name__ == "__main__":
    main()
