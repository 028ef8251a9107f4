"""Meaning: the names in a query's filters as they are kept."""

from dataclasses import replace

from memtui.memory.queries import Query
from memtui.memory.replies.fencing import line as neutral
from memtui.recall import sessions
from memtui.store import scopes


def meant(query: Query) -> tuple[Query, list[str]]:
    """A query with its filters as they are kept, however they were typed.

    A session is named by ``[agent:]id``, or by how that begins; those it could be any
    of are all looked through.

    Returns:
        The query; and of each name that is that of nothing, or of several sessions, a
        sentence or more.
    """
    query, unknown = scopes.meant(query)
    said = query.filters.session
    if not said:
        return query, unknown
    of = query.filters.of
    agent, name = sessions.parted(said)
    try:
        agent, name = sessions.find(
            f"{of.agent}:{said}" if of.agent and not agent else said
        )
    except sessions.NotOne as error:
        unknown += map(neutral, str(error).splitlines())
    of = replace(of, agent=of.agent or agent)
    filters = replace(query.filters, of=of, session=name)
    return replace(query, filters=filters), unknown
