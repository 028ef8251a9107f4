"""Asking: every question an agent has, answered as a reply that fits any budget.

Each method gives a ``Reply``: hand it to ``replies.fitted`` for fenced lines or to
``replies.fitted_json`` for JSON, with ``max_tokens`` and a counter. Any string is a
legal question and any id a legal id: what is not there gives an empty reply with a
note that says what to do.

The contents: ``get_toc_root``, ``get_node``, ``browse_toc``, ``search_node``,
``search_children``, ``by_keyword``, ``in_time``, ``list_versions``. What they rest on:
``expand_grip``, ``get_events``, ``list_sessions``, ``get_session_meta``,
``list_messages``. By words:
``ask_route``, ``teleport``, ``search_memory``, ``search_sessions`` and
``retrieve_memory``.
"""

from memtui.agents.answers import Answers
from memtui.agents.navigation import Editions
from memtui.agents.sessions import Accounts
from memtui.search.engines import Finders


class AgentQuestions(Editions, Accounts, Answers):
    """Answers an agent's questions."""

    def __init__(self, by: Finders) -> None:
        """Remember whom to ask."""
        Editions.__init__(self, by.zone, by.clock)
        Accounts.__init__(self, by.zone)
        Answers.__init__(self, by)
