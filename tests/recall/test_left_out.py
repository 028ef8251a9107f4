"""What is left out of an answer is counted, with the call that gets it."""

import re

from memtui.agents import replies
from memtui.services import browse
from memtui.text.tokens import ESTIMATED
from memtui.workspace import Workspace


def test_a_budget_is_not_told_as_a_limit(full_house: Workspace) -> None:
    ask = full_house.asking
    years = [line.node_id for line in browse.years()]
    for reply in (
        ask.get_node(years[0]),
        ask.search_children(None, "token"),
        ask.by_keyword("token"),
        ask.list_sessions(),
        ask.browse_toc(None),
    ):
        assert reply.items
        told = replies.fitted(reply, 50, ESTIMATED)
        if told.kept < len(reply.items):
            assert "left out: " in told.text and "more tokens" in told.text
        left = len(reply.items) - told.kept
        of = rf"\({left}( of {len(reply.items)})? left out: "
        assert not left or re.search(of, told.text)
