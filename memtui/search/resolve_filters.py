"""Meaning: the names in a query's filters as they are kept."""

from dataclasses import replace

from memtui.errors import AmbiguousError, MemtuiError
from memtui.model.events import clean
from memtui.search.query import Query
from memtui.store import database, scopes, sessions
from memtui.text.fencing import neutralize_line as neutral

CANDIDATES = 5
"""How many sessions are named when an id could be any of them."""


class SessionNameError(MemtuiError):
    """A name is that of no session, or of more than one."""


class UnknownSessionError(SessionNameError):
    """No session is called so."""


class AmbiguousSessionError(SessionNameError, AmbiguousError):
    """Several sessions are called so."""


def find_session(asked: str) -> tuple[str, str]:
    """The agent and the id of a session that is named by ``[agent:]id``.

    As much of the id is enough as no other session begins with.

    Raises:
        UnknownSessionError: There is no such session.
        AmbiguousSessionError: There is more than one.
    """
    with database.connection():
        agent, name = split_name(asked)
        found = sessions.find_by_name(name, agent, is_prefix=False) if name else []
        if not found and name:
            found = sessions.find_by_name(name, agent, is_prefix=True)
    if not found:
        raise UnknownSessionError(
            f"there is no session {asked!r}; see them: memtui sessions"
        )
    if len(found) > 1:
        named = [f"{agent}:{name}" for agent, name in found[:CANDIDATES]]
        raise AmbiguousSessionError(asked, "sessions", named, len(found))
    return found[0]


def split_name(asked: str) -> tuple[str, str]:
    """The agent and what an id begins with in ``[agent:]id``; inside ``connected()``.

    Where no agent is named that is known, there is none, and all of it is of the id.
    """
    asked = clean(asked).strip()
    agent, colon, name = asked.partition(":")
    return (agent, name) if colon and agent in sessions.list_agents() else ("", asked)


def resolve(query: Query) -> tuple[Query, list[str]]:
    """A query with its filters as they are kept, however they were typed.

    A session is named by ``[agent:]id``, or by how that begins; those it could be any
    of are all looked through.

    Returns:
        The query; and of each name that is that of nothing, or of several sessions, a
        sentence or more.
    """
    scope, unknown = scopes.resolve_names(query.filters.scope)
    query = replace(query, filters=replace(query.filters, scope=scope))
    said = query.filters.session
    if not said:
        return query, unknown
    of = query.filters.scope
    agent, name = split_name(said)
    try:
        agent, name = find_session(
            f"{of.agent}:{said}" if of.agent and not agent else said
        )
    except SessionNameError as error:
        unknown += map(neutral, str(error).splitlines())
    of = replace(of, agent=of.agent or agent)
    filters = replace(query.filters, scope=of, session=name)
    return replace(query, filters=filters), unknown
