"""Asking: every question an agent has, answered as a reply that fits any budget.

Each method gives a ``Reply``: hand it to ``replies.fitted`` for fenced lines or to
``replies.fitted_json`` for JSON, with ``max_tokens`` and a counter. Any string is a
legal question and any id a legal id: what is not there gives an empty reply with a
note that says what to do.

The contents: ``get_toc_root``, ``get_node``, ``browse_toc``, ``search_node``,
``search_children``, ``by_keyword``, ``in_time``. What they rest on: ``expand_grip``,
``get_events``, ``list_sessions``, ``get_session_meta``, ``list_messages``. By words:
``ask_route``, ``teleport``, ``search_memory``, ``search_sessions`` and
``retrieve_memory``.
"""

from collections.abc import Callable
from datetime import datetime, tzinfo

from memtui.recall.accounts import Accounts
from memtui.recall.answers import Answers
from memtui.recall.search import Search
from memtui.recall.talk import Talk
from memtui.recall.teleport import Teleport
from memtui.recall.walks import Walks


class Asking(Walks, Accounts, Answers):
    """Answers an agent's questions."""

    def __init__(
        self,
        teleport: Teleport,
        search: Search,
        talk: Talk,
        zone: tzinfo,
        clock: Callable[[], datetime],
    ) -> None:
        """Remember whom to ask.

        Args:
            teleport: Of nodes and grips.
            search: Over everything.
            talk: Of messages.
            zone: The calendar's.
            clock: Tells the time, by which "last week" is meant.
        """
        Walks.__init__(self, zone, clock)
        Accounts.__init__(self, zone)
        Answers.__init__(self, teleport, search, talk, zone, clock)
