"""Tools that find by words: in summaries, in messages, in everything."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memtui.agents import formatting
from memtui.agents.replies import Reply
from memtui.model.filters import EVERYTHING, Filters
from memtui.model.scope import ALL, Scope

if TYPE_CHECKING:
    from memtui.workspace import Workspace


def teleport(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 10,
    agent: str = "",
    project: str = "",
) -> Reply:
    """List nodes and grips by words, each with its score and a snippet."""
    scope = Scope(agent, project)
    found = workspace.teleport.find(query, limit=limit, scope=scope)
    return Reply(
        "hits",
        [
            formatting.hit(hit, workspace.zone, is_recent=found.is_recent)
            for hit in found.hits
        ],
        formatting.hit_line,
        notes=notes(
            (found.note, *found.hints),
            suggestion=found.suggestion,
            none="" if found.hits else nothing_found(scope),
        ),
    )


def search_memory(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 10,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List short quotes that match, from everything; several of one session."""
    quoted = workspace.quotes.find(query, limit=limit, filters=filters)
    found, zone = quoted.found, workspace.zone
    return Reply(
        "hits",
        formatting.quotes(quoted.quotes, zone, is_recent=found.is_recent),
        formatting.quote_line,
        notes=notes(
            found.notes,
            found.times,
            found.suggestion,
            "" if quoted.quotes else nothing_found(filters.scope),
        ),
    )


def search_sessions(
    workspace: "Workspace",
    query: str,
    *,
    limit: int = 20,
    before: int = 4,
    after: int = 4,
    filters: Filters = EVERYTHING,
) -> Reply:
    """List messages that match, each with those around it."""
    found = workspace.session_search.find(
        query, limit=limit, before=before, after=after, filters=filters
    )
    return Reply(
        "hits",
        formatting.message_hits(found.hits, workspace.zone, is_recent=found.is_recent),
        formatting.message_hit_line,
        {"query": query},
        notes=notes(
            found.notes,
            found.times,
            none="" if found.hits else nothing_found(filters.scope),
        ),
        shorten=formatting.shorten_message_hit,
    )


def nothing_found(scope: Scope = ALL) -> str:
    """Return the note of an empty result."""
    where = f"Nothing of {scope}" if scope.is_narrow else "Nothing"
    return f"{where} matches. Fewer or other words find more; so does browsing."


def notes(
    remarks: Iterable[str],
    times: Sequence[object] = (),
    suggestion: str = "",
    none: str = "",
) -> list[str]:
    """Put together the notes of a search.

    Args:
        remarks: On the query and the index.
        times: The dates that were read in the query.
        suggestion: A query with the words corrected.
        none: The note where nothing was found and nothing else explains it.
    """
    found = [*filter(None, remarks), *map(str, times)]
    if suggestion:
        found.append(f"Did you mean: {suggestion}")
    return found or ([none] if none else [])
