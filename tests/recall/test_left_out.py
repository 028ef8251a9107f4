"""What is left out of an answer is counted, with the call that gets it."""

import re

from memtui.agents import replies, sessions, toc
from memtui.services import browse
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace


def test_a_budget_is_not_told_as_a_limit(full_house: Workspace) -> None:
    years = [line.node_id for line in browse.list_children()]
    for reply in (
        toc.get_node(full_house, years[0]),
        toc.search_children(full_house, "token"),
        toc.browse_keyword(full_house, "token"),
        sessions.list_sessions(full_house),
        toc.browse_toc(full_house),
    ):
        assert reply.items
        told = replies.fit_text(reply, 50, ESTIMATING_COUNTER)
        if told.parts < len(reply.items):
            assert "left out: " in told.text and "more tokens" in told.text
        left = len(reply.items) - told.parts
        of = rf"\({left}( of {len(reply.items)})? left out: "
        assert not left or re.search(of, told.text)
