"""``search``: finds moments in everything."""

import argparse

from memtui.agents import search
from memtui.cli import ask
from memtui.model.events import EventRole
from memtui.model.filters import Filters
from memtui.model.scope import Scope
from memtui.workspace import Workspace


def run(workspace: Workspace, given: argparse.Namespace) -> int:
    """Print the quotes that match a query."""
    filters = Filters(
        scope=Scope(given.agent, given.project),
        session=given.session,
        role=EventRole(given.role) if given.role else None,
        with_subagents=not given.no_subagents,
    )
    query = " ".join(given.query)
    reply = search.search_memory(workspace, query, limit=given.limit, filters=filters)
    return ask.answer(workspace, given, reply)
