"""OpenCode's sessions: whose a message is, what is told of it, and what was given."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from memtui.memory.sessions import Helper, SessionFacts
from memtui.sources.lines import TOO_DEEP
from memtui.sources.opencode import messages
from memtui.sources.opencode.messages import AGENT, Owner
from memtui.sources.opencode.parts import Message
from memtui.sources.records import Awaited, Reading, Refused, text_of, time_of

REMEMBERED = 1000
"""How many given messages are remembered, the latest: one that changes much later is
given again, which changes nothing since its events keep their ids."""

_UNTITLED = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT.*")
"""The title of a session that has none yet."""

_HELPERS_TITLE = re.compile(r"(.*) \(@(\S+) subagent\)")


@dataclass(frozen=True, slots=True)
class Row:
    """One session, as OpenCode tells it."""

    name: str
    parent: str = ""
    directory: str = ""
    title: str = ""
    agent: str = ""
    model: str = ""
    worktree: str = ""
    created: object = None
    changed_ms: int = 0


class Sessions:
    """The sessions of one database or folder, and what was given of them."""

    def __init__(
        self,
        now: datetime,
        state: Mapping[str, object],
        *,
        remembered: int | None = REMEMBERED,
    ) -> None:
        """Go on with what an earlier reading gave and held back.

        Args:
            now: The time.
            state: What the earlier reading said of itself.
            remembered: How many given messages are remembered; None for all.
        """
        self._now, self._remembered = now, remembered
        given, held = state.get("given"), state.get("held")
        self._given = dict.fromkeys(map(str, given if isinstance(given, list) else ()))
        self._held = dict.fromkeys(map(str, held if isinstance(held, list) else ()))
        self._prompts: set[str] = set()
        self._rows: dict[str, Row] = {}
        self._models: dict[str, str] = {}
        self._met: set[str] = set()

    @property
    def held(self) -> list[str]:
        """The messages that were not finished when they were read."""
        return list(self._held)

    @property
    def is_held(self) -> bool:
        """Whether a message will be finished soon, though nothing should change."""
        return bool(self._prompts & self._held.keys())

    def state(self) -> dict[str, object]:
        """What another reading must know of them."""
        given = (
            list(self._given)[-self._remembered :]
            if self._remembered
            else [*self._given]
        )
        return {"given": given, "held": self.held}

    def know(self, rows: Iterable[Row]) -> None:
        """Learn which sessions there are now."""
        self._rows = {row.name: row for row in rows}

    def take(self, message: Message) -> Iterator[Reading]:
        """Read a message, unless it was given before or is not finished."""
        if message.name in self._given:
            return
        if not message.is_finished(self._now):
            self._held[message.name] = None
            if message.is_prompt:
                self._prompts.add(message.name)
            return
        self._held.pop(message.name, None)
        self._given[message.name] = None
        self._learn(message)
        yield from self._introduced(message.session_id)
        try:
            yield from messages.read(message, self._owner(message), self._now)
        except RecursionError:
            yield Refused(TOO_DEEP)

    def gone(self, names: Iterable[str]) -> None:
        """Forget messages that were held back and are not there any more."""
        for name in names:
            self._held.pop(name, None)

    def rest(self, since_ms: int) -> Iterator[Reading]:
        """Say what is still being written, and what is known of each session.

        Args:
            since_ms: Sessions that changed since then are told of, and those met.
        """
        for _ in self._held:
            yield Awaited("a message that is still being written")
        for row in self._rows.values():
            if row.changed_ms >= since_ms or row.name in self._met:
                yield from self._told(row)

    def _learn(self, message: Message) -> None:
        fields = message.fields or {}
        held = fields.get("model")
        within = held.get("modelID") if isinstance(held, dict) else None
        model = text_of(fields.get("modelID") or within)
        if model:
            self._models[message.session_id] = model

    def _owner(self, message: Message) -> Owner:
        """The session a message is kept in: that of the person, not a helper's own."""
        top = self._top(message.session_id)
        return Owner(top, message.session_id if top != message.session_id else "")

    def _top(self, name: str) -> str:
        seen = {name}
        while row := self._rows.get(name):
            if not row.parent or row.parent in seen:
                break
            name = row.parent
            seen.add(name)
        return name

    def _introduced(self, name: str) -> Iterator[Reading]:
        """Tell of a session once: its folder must be known with its first event."""
        row = self._rows.get(name)
        if row and name not in self._met:
            self._met.add(name)
            yield from self._told(row)

    def _told(self, row: Row) -> Iterator[Reading]:
        top = self._top(row.name)
        title = "" if _UNTITLED.fullmatch(row.title) else " ".join(row.title.split())
        if top == row.name or top not in self._rows:
            is_own = top == row.name
            yield SessionFacts(
                agent=AGENT,
                session_id=top,
                cwd=row.directory,
                root="" if row.worktree == "/" else row.worktree,
                title=title if is_own else "",
                model=(self._models.get(top) or row.model) if is_own else "",
                at=time_of(row.created),
            )
        if top != row.name:
            named = _HELPERS_TITLE.fullmatch(title)
            yield Helper(
                agent=AGENT,
                session_id=top,
                subagent=row.name,
                kind=row.agent or (named.group(2) if named else ""),
                task=named.group(1) if named else title,
            )


def object_of(raw: object) -> dict[str, object] | None:
    """The JSON object of a text; None if it is none."""
    try:
        found = json.loads(raw, strict=False) if isinstance(raw, str | bytes) else None
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
