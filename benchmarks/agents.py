"""Measure the tokens an agent reads until it has the evidence for a question.

The labelled questions of ``benchmarks.finding`` are asked in every way an agent can
ask. The answers, including fences, are counted until one contains the evidence. Further
figures: how many single answers of a given size contain it, and the cost of reading the
matching sessions, or of searching all messages for the longest word of the question.
Run it from the checkout:

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

from benchmarks import finding
from benchmarks.transcripts import DATA
from memtui.agents import memories, replies, routing, search, sessions, toc
from memtui.agents.replies import Reply
from memtui.model.filters import Filters
from memtui.model.scope import Scope
from memtui.store import database
from memtui.store.schema import EventRow
from memtui.workspace import Workspace

BUDGETS = (500, 1_000, 2_000)
"""Within how many tokens the share of the questions is told."""

STEP = replies.DEFAULT_TOKENS
"""What one answer may cost, in tokens."""

QUOTED_CHARS = 80
"""How much of a turn must be read to count as its evidence."""


@dataclass(frozen=True, slots=True)
class Sought:
    """A question, and the words any of which answer it."""

    text: str
    project: str
    evidence: tuple[str, ...]
    sessions: frozenset[str]

    @property
    def of(self) -> Scope:
        """Whose work is asked."""
        return Scope("", self.project)

    def is_in(self, text: str) -> bool:
        """Whether a text holds it."""
        said = folded(text)
        return any(one in said for one in self.evidence)


def folded(text: str) -> str:
    """A text by which quotes are compared."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


def coding() -> list[Sought]:
    """The questions over coding sessions."""
    rows = map(json.loads, finding.CODING.read_text("utf-8").splitlines())
    return [
        Sought(
            row["query"],
            "",
            tuple(map(folded, row["evidence"])),
            frozenset(row["sessions"]),
        )
        for row in rows
    ]


def locomo() -> list[Sought]:
    """LoCoMo's questions that have an answer."""
    told = {}
    for line in (finding.LOCOMO / "sessions.jsonl").read_text("utf-8").splitlines():
        for turn in json.loads(line)["turns"]:
            told[turn["turn_id"]] = folded(turn["text"])[:QUOTED_CHARS]
    return [
        Sought(
            one.text,
            one.project,
            tuple(told[turn] for turn in one.turns if turn in told),
            one.sessions,
        )
        for one in finding.locomo()
    ]


Way = Callable[[Workspace, Sought], Iterator[Reply]]


def _opened(house: Workspace, first: Reply, ids: Sequence[str]) -> Iterator[Reply]:
    """An answer, then what it cites, one after the other."""
    yield first
    for name in dict.fromkeys(filter(None, ids)):
        is_node = name.startswith("toc:")
        yield (toc.get_node if is_node else sessions.expand_grip)(house, name)


def teleporting(house: Workspace, asked: Sought) -> Iterator[Reply]:
    """Teleport, then open hit after hit."""
    first = search.teleport(house, asked.text, limit=6, project=asked.project)
    ids = [str(one.get("leads_to") or one["id"]) for one in first.items]
    return _opened(house, first, ids)


def searching(house: Workspace, asked: Sought) -> Iterator[Reply]:
    """Search everything, then expand hit after hit."""
    filters = Filters(scope=asked.of)
    first = search.search_memory(house, asked.text, limit=8, filters=filters)
    return _opened(house, first, [one["id"] for one in first.items])


def retrieving(house: Workspace, asked: Sought) -> Iterator[Reply]:
    """Retrieve memories, then expand what they cite."""
    filters = Filters(scope=asked.of)
    first = memories.retrieve_memory(house, asked.text, filters=filters)
    return _opened(house, first, [one["cite"] for one in first.items])


def talking(house: Workspace, asked: Sought) -> Iterator[Reply]:
    """Search sessions, then expand message after message."""
    filters = Filters(scope=asked.of)
    first = search.search_sessions(house, asked.text, limit=10, filters=filters)
    return _opened(house, first, [one["id"] for one in first.items])


def browsing(house: Workspace, asked: Sought) -> Iterator[Reply]:
    """From the years down, at each level the child that answers best."""
    node = ""
    while True:
        reply = toc.search_children(
            house, asked.text, node, limit=4, project=asked.project
        )
        yield reply
        if not reply.items:
            return
        node = reply.items[0]["node_id"]
        if node.startswith("toc:segment:"):
            break
    last = toc.get_node(house, node)
    cited = [g for one in last.items for g in one.get("grip_ids", ())]
    yield from _opened(house, last, cited)


WAYS: dict[str, Way] = {
    "fused search + expand": searching,
    "retrieve_memory + expand": retrieving,
    "session search + expand": talking,
    "teleport + expand": teleporting,
    "browsing by words": browsing,
}


def cost(house: Workspace, way: Way, asked: Sought) -> int | None:
    """What is paid until the evidence is read; None if it never is."""
    paid = 0
    for reply in way(house, asked):
        told = replies.fit_text(reply, STEP, house.counter)
        paid += told.tokens
        if asked.is_in(told.text):
            return paid
        if paid > max(BUDGETS):
            break
    return None


Answer = Callable[[Workspace, Sought], Reply]

ONCE: dict[str, Answer] = {
    "search": lambda house, asked: search.search_memory(
        house, asked.text, limit=50, filters=Filters(scope=asked.of)
    ),
    "route": lambda house, asked: routing.route(
        house, asked.text, limit=20, project=asked.project
    ),
    "retrieve_memory": lambda house, asked: memories.retrieve_memory(
        house, asked.text, filters=Filters(scope=asked.of)
    ),
    "retrieve_memory, all details": lambda house, asked: memories.retrieve_memory(
        house, asked.text, detail_limit=5, filters=Filters(scope=asked.of)
    ),
}
"""What is answered in one go, with nothing opened afterwards."""


def in_one(house: Workspace, answer: Answer, asked: Sought) -> int:
    """The least of the budgets in whose answer the evidence is; 0 if in none."""
    reply = answer(house, asked)
    for most in BUDGETS:
        if asked.is_in(replies.fit_text(reply, most, house.counter).text):
            return most
    return 0


def baselines(house: Workspace, questions: Sequence[Sought]) -> None:
    """What reading the sessions costs, and looking for one word."""
    with database.connection():
        rows = EventRow.select().order_by(EventRow.id)
        said = [
            (row.session.name, row.session.project, row.text, row.tokens)
            for row in rows
            if row.type.endswith("_message")
        ]
        everything = Counter[str]()
        for row in rows:
            everything[row.session.name] += row.tokens
    whole, with_tools, grepped = [], [], []
    for asked in questions:
        whole.append(sum(n for name, _, _, n in said if name in asked.sessions))
        with_tools.append(sum(everything[name] for name in asked.sessions))
        word = max(re.findall(r"\w+", asked.text) or [""], key=len).lower()
        paid = 0
        for _, project, text, tokens in said:
            if (asked.project in ("", project)) and word in text.lower():
                paid += tokens
                if asked.is_in(text):
                    grepped.append(paid)
                    break
    print(f"  {'reading the sessions':26} median {median(whole):7,.0f} tokens")
    print(f"  {'the same with tools':26} median {median(with_tools):7,.0f} tokens")
    share = len(grepped) / len(questions)
    print(
        f"  {'grep for its longest word':26} median"
        f" {median(grepped or [0]):7,.0f} tokens, finds {share:.0%}"
    )


def report(title: str, house: Workspace, questions: Sequence[Sought]) -> None:
    """Print what each way costs."""
    print(f"\n{title}: {len(questions)} questions")
    for name, way in WAYS.items():
        paid = [cost(house, way, asked) for asked in questions]
        found = [one for one in paid if one is not None]
        shares = "  ".join(
            f"≤ {most:,}: {sum(one <= most for one in found) / len(paid):.0%}"
            for most in BUDGETS
        )
        print(f"  {name:26} median {median(found or [0]):7,.0f} tokens  {shares}")
    for name, answer in ONCE.items():
        least = [in_one(house, answer, asked) for asked in questions]
        shares = "  ".join(
            f"≤ {most:,}: {sum(0 < one <= most for one in least) / len(least):.0%}"
            for most in BUDGETS
        )
        print(f"  {f'one answer of {name}':33} {'':14}{shares}")
    baselines(house, questions)


def main() -> None:
    """Ask both sets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coding", action="store_true", help="these alone")
    parser.add_argument("--locomo", action="store_true", help="these alone")
    parser.add_argument("--some", type=int, default=1, help="only each N-th question")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        talk = Path(folder)
        if not given.locomo:
            files = [DATA / name for name in finding.FOLDERS]
            with finding.house_of(talk / "coding", files) as house:
                report("Coding sessions", house, coding()[:: given.some])
        if not given.coding:
            finding.write_locomo(talk)
            with finding.house_of(talk / "home", [talk / "locomo.jsonl"]) as house:
                report("LoCoMo", house, locomo()[:: given.some])


if __name__ == "__main__":
    main()
