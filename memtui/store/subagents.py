"""Subagents of sessions, as their sources tell of them."""

from collections.abc import Iterable

from memtui.memory.events import clean
from memtui.memory.sessions import Helper
from memtui.store import tombstones
from memtui.store.tables.conversations import HelperRow


def meet(helpers: Iterable[Helper]) -> None:
    """Keep what a source says of subagents; its silence changes nothing."""
    for told in helpers:
        names = clean(told.agent), clean(told.session_id), clean(told.subagent)
        if tombstones.covers_helper(*names):
            continue
        said = [clean(text) for text in (told.kind, told.started_by, told.task)]
        row = HelperRow.get_or_none(
            HelperRow.agent == names[0],
            HelperRow.session_name == names[1],
            HelperRow.subagent == names[2],
        )
        before = (row.kind, row.started_by, row.task) if row else ("", "", "")
        kept = [new or old for new, old in zip(said, before, strict=True)]
        fields = ("agent", "session_name", "subagent", "kind", "started_by", "task")
        HelperRow.insert(
            dict(zip(fields, (*names, *kept), strict=True))
        ).on_conflict_replace().execute()


def of(agent: str, session_id: str) -> list[Helper]:
    """The subagents of a session, by their names."""
    rows = (
        HelperRow.select()
        .where(HelperRow.agent == agent, HelperRow.session_name == session_id)
        .order_by(HelperRow.subagent)
    )
    return [
        Helper(agent, session_id, row.subagent, row.kind, row.started_by, row.task)
        for row in rows
    ]
