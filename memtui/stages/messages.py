"""events → index of messages: what was said can be found by its words.

What was added lately is announced in the outbox; an index that is made anew is filled
from the store besides, the newest messages first. Indexing again is harmless.
"""

import secrets
from collections.abc import Iterable, Sequence

from memtui.errors import SearchError
from memtui.memory import words
from memtui.store import database, facts, outbox, said, sayings
from memtui.store.messages import Filling, Messages, full_name
from memtui.store.said import Kind, Said, Title
from memtui.store.sayings import Spoken

EVENTS_AT_ONCE = 1_000
"""About how many events one step looks at."""

SESSIONS_AT_ONCE = 200
"""How many sessions one step indexes by their titles."""

RUNS_AT_ONCE = 200
"""How many announcements one step follows at most."""


class Listen:
    """Keeps the index of messages in step with what was said."""

    def __init__(self, index: Messages, *, with_tools: bool = False) -> None:
        """Remember the index.

        Args:
            index: Where what is said is found again.
            with_tools: Whether the arguments and answers of tools are found too.
        """
        self._index, self._with_tools = index, with_tools
        self._is_checked = False
        self._filling: Filling | None = None

    def step(self) -> int:
        """Index a batch of events; how many were looked at."""
        if not (self._is_checked and self._index.exists()) or self._index.is_suspect:
            self.check()
        try:
            return self._follow() or self._fill() or self._name()
        except SearchError:
            self._is_checked = False
            raise

    def check(self) -> None:
        """Make the index anew unless it is the one this store has fed."""
        with database.connected():
            fed = facts.messages_name()
        is_ours = bool(fed) and self._index.name() == self._named(fed)
        if not is_ours or self._index.is_suspect:
            self.rebuild()
        self._filling = self._index.filling()
        self._is_checked = True

    def rebuild(self) -> None:
        """Make an empty index, to be filled from the store."""
        name = secrets.token_hex(8)
        self._index.make(self._named(name))
        with database.writing():
            outbox.clear(outbox.INDEX_EVENT)
            outbox.clear(outbox.INDEX_SESSION)
            outbox.say_renamed(sayings.sessions())
            facts.set_messages_name(name)
        self._is_checked = False

    def _named(self, name: str) -> str:
        return full_name(name, with_tools=self._with_tools)

    def _follow(self) -> int:
        with database.connected():
            runs = _some(outbox.added(RUNS_AT_ONCE))
            if not runs:
                return 0
            spoken = sayings.of_runs(runs)
        said.put(self._index, self._said(spoken), ())
        with database.writing():
            outbox.delete([run.row for run in runs])
        return sum(run.count for run in runs)

    def _fill(self) -> int:
        """Index older events than those that are indexed, if there are any."""
        if self._filling is None or self._filling.is_done:
            return 0
        before = self._filling
        with database.connected():
            spoken = sayings.before(before.oldest, EVENTS_AT_ONCE)
        oldest = spoken[-1].event_id if spoken else before.oldest
        filling = Filling(not spoken, oldest, before.done + len(spoken))
        said.put(self._index, self._said(spoken), filling.facts)
        self._filling = filling
        return len(spoken)

    def _name(self) -> int:
        """Index sessions by what they are called and summed up by now."""
        with database.connected():
            rows = outbox.renamed(SESSIONS_AT_ONCE)
            if not rows:
                return 0
            named = sayings.titles({session for _, session in rows})
        said.put_titles(
            self._index,
            [
                Title(number, words.terms(title), words.terms(summary))
                for number, title, summary in named
            ],
        )
        with database.writing():
            outbox.delete([row for row, _ in rows])
        return len(rows)

    def _said(self, spoken: Iterable[Spoken]) -> list[Said]:
        return [one for event in spoken if (one := of(event, self._with_tools))]


def of(event: Spoken, with_tools: bool = False) -> Said | None:
    """What of an event is indexed; None of one that says nothing."""
    kind = event.kind
    if kind is None:
        return None
    text = event.text
    if kind is Kind.TOOL and not with_tools:
        text = event.tool
    terms = words.terms(text)
    if kind is Kind.TOOL and not terms:
        return None
    return Said(
        event_id=sayings.to_bytes(event.event_id),
        session=event.session,
        subagent=event.subagent,
        at_ms=event.at_ms,
        kind=kind,
        terms=terms,
        tool=event.tool,
        is_once=not with_tools,
        ordinal=event.ordinal,
        told_ids=tuple(map(sayings.to_bytes, event.told_ids)),
    )


def _some(runs: Sequence[outbox.Run]) -> list[outbox.Run]:
    """The first of them that are a step's worth together; at least one."""
    some: list[outbox.Run] = []
    count = 0
    for run in runs:
        if some and count + run.count > EVENTS_AT_ONCE:
            break
        some.append(run)
        count += run.count
    return some
