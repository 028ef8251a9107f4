"""Landing: which node of the contents a moment of a session is opened at."""

from datetime import datetime

from memtui.memory import calendar
from memtui.memory.events import to_ms
from memtui.store import database, segments, sessions, toc


def node_at(agent: str, session_id: str, at: datetime) -> str:
    """The segment a moment lies in, else its session's nearest one.

    Args:
        agent: Whose session.
        session_id: Which.
        at: When something was said in it, aware.

    Returns:
        The id of a node that the contents hold: the segment's own, or that of its
        day while the segment is not there; "" where the session has none of them.
    """
    with database.connected():
        number = sessions.number(agent, session_id)
        nearest = segments.nearest(number, to_ms(at)) if number is not None else None
        if nearest is None:
            return ""
        way = calendar.path(nearest)
        kept = {line.node_id for line in toc.lines(way)}
        return next((node_id for node_id in reversed(way) if node_id in kept), "")
