"""Resolves names as they were typed: sessions, agents and projects."""

from dataclasses import replace

from memtui.errors import AmbiguousError, MemtuiError
from memtui.model.events import clean
from memtui.model.filters import Scope
from memtui.search.query import Query
from memtui.store import database, scopes, sessions
from memtui.text.fencing import neutralize_line

MAX_NAMED = 5


class SessionNameError(MemtuiError):
    """A name is not that of exactly one session."""


class UnknownSessionError(SessionNameError):
    """No session has this name."""


class AmbiguousSessionError(SessionNameError, AmbiguousError):
    """Several sessions have this name."""


def find_session(name: str) -> tuple[str, str]:
    """Return the agent and the id of the session ``[agent:]id``.

    The beginning is enough that no other session has.

    Raises:
        UnknownSessionError: There is no such session.
        AmbiguousSessionError: There are several.
    """
    with database.connection():
        agent, start = _split(name)
        found = sessions.find_by_name(start, agent, is_prefix=False) if start else []
        if not found and start:
            found = sessions.find_by_name(start, agent, is_prefix=True)
    if not found:
        raise UnknownSessionError(
            f"there is no session {name!r}; see them: memtui sessions"
        )
    if len(found) > 1:
        names = [f"{agent}:{session}" for agent, session in found[:MAX_NAMED]]
        raise AmbiguousSessionError(name, "sessions", names, len(found))
    return found[0]


def _split(name: str) -> tuple[str, str]:
    """Split ``[agent:]id``; without a known agent, all of it is the id."""
    name = clean(name).strip()
    agent, colon, start = name.partition(":")
    is_known = bool(agent and colon) and sessions.count((), Scope(agent)) > 0
    return (agent, start) if is_known else ("", name)


def resolve(query: Query) -> tuple[Query, list[str]]:
    """Return a query whose filters have the names in the store, and notes.

    A session may be given as ``[agent:]id``, or by its beginning: then all sessions
    that begin so are searched. The notes name what is unknown or ambiguous.
    """
    scope, notes = scopes.resolve_names(query.filters.scope)
    query = replace(query, filters=replace(query.filters, scope=scope))
    name = query.filters.session
    if not name:
        return query, notes
    agent, session = _split(name)
    is_without_agent = bool(scope.agent) and not agent
    try:
        agent, session = find_session(
            f"{scope.agent}:{name}" if is_without_agent else name
        )
    except SessionNameError as error:
        notes += map(neutralize_line, str(error).splitlines())
    scope = replace(scope, agent=scope.agent or agent)
    filters = replace(query.filters, scope=scope, session=session)
    return replace(query, filters=filters), notes
