"""Naming: what a session is called and summed up by, where that answers a query."""

from collections.abc import Iterable

from memtui.memory.hits import Snippet
from memtui.memory.queries import Query
from memtui.memory.queries.snippets import best_line, marks_in, wanted_in
from memtui.memory.sessions import Session
from memtui.store import sessions


def shares(numbers: Iterable[int], query: Query) -> dict[int, float]:
    """How much of a query the title and summary of each session hold, 0 to 1.

    Args:
        numbers: The sessions', in the store.
        query: What is asked.
    """
    known = sessions.of_numbers(numbers)
    return {number: share(one, query) for number, one in known.items()}


def share(session: Session, query: Query) -> float:
    """How much of a query the title and summary of a session hold, 0 to 1."""
    held = wanted_in(f"{session.title}\n{session.summary}", query)
    begun = {word.terms[-1]: word.begun for word in query.words if word.is_begun}
    answered = [
        term in held
        or (term in begun and any(one.startswith(begun[term]) for one in held))
        for term in query.terms
    ]
    return sum(answered) / len(answered) if answered else 0.0


def snippet(session: Session, query: Query) -> Snippet:
    """What of its title and summary answers best, a line of it."""
    told = [session.title, *session.summary.splitlines()]
    line = best_line([line for line in told if line.strip()] or [""], query)
    return Snippet(line, tuple(marks_in(line, query)))
