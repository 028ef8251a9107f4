"""Sessions that arrive from hooks and from a transcript, in any order."""

import random
from itertools import permutations

import pytest

from tests.deduplication.deliveries import (
    HOOKS,
    HistoryDelivery,
    hook,
    record,
    session_records,
    shuffled_pieces,
)

CALL = {
    "type": "tool_use",
    "id": "toolu_01",
    "name": "Bash",
    "input": {"command": "ls"},
}
ANSWER = {"type": "tool_result", "tool_use_id": "toolu_01", "content": "cart.py"}
TRANSCRIPT = "".join(
    [
        record(1, "Go on"),
        record(2, "", message={"id": "m2", "content": [CALL]}),
        record(3, "", message={"content": [ANSWER]}),
        record(4, "The cart holds the table of prices."),
        record(5, "Go on"),
        record(6, "The migration of prices fails at the second table."),
        record(7, "Go on"),
        record(8, "Done.", sessionId="s1"),
    ]
)
TOLD_BY_HOOKS = "".join(
    [
        hook(0, "SessionStart", source="startup"),
        hook(1, "UserPromptSubmit", prompt="Go on"),
        hook(
            3,
            "PostToolUse",
            tool_name="Bash",
            tool_input={"command": "ls"},
            tool_response={"stdout": "cart.py", "stderr": ""},
        ),
        hook(4, "Stop", last_assistant_message="The cart holds the table of prices."),
        hook(5, "UserPromptSubmit", prompt="Go on"),
        hook(7, "UserPromptSubmit", prompt="Go on"),
        hook(8, "Stop", last_assistant_message="Done."),
        hook(9, "SessionEnd", reason="logout"),
    ]
)


@pytest.mark.full
def test_a_session_is_the_same_in_any_order_of_sources(
    delivery: HistoryDelivery,
) -> None:
    ways = {"s1": TRANSCRIPT, HOOKS: TOLD_BY_HOOKS}
    whole = delivery.after_steps(list(ways.items()))
    said = [text for _, text, _ in whole["events"] if text]
    assert len(said) == 7
    assert said.count("Go on") == 3
    assert delivery.after_steps(list(ways.items())[::-1]) == whole
    for seed in range(8):
        assert delivery.after_steps(shuffled_pieces(ways, random.Random(seed))) == whole


@pytest.mark.full
def test_fork_with_hooks_is_the_same_in_any_order(
    delivery: HistoryDelivery,
) -> None:
    ways = {
        "a": session_records("s1", 1, 2, 3, 4, 9),
        "b": session_records("s2", 1, 2, 3, 4, 11),
        HOOKS: "".join(
            hook(n, "UserPromptSubmit", whose, prompt=text)
            for n, whose in ((1, "s1"), (3, "s1"), (9, "s1"), (11, "s2"))
            for text in [f"Word {n} about the migration of table {n}"]
        ),
    }
    trees = [
        delivery.after_steps([(n, ways[n]) for n in order])
        for order in permutations(ways)
    ]
    assert len(trees[0]["events"]) == 6
    for seed in range(6):
        trees.append(delivery.after_steps(shuffled_pieces(ways, random.Random(seed))))
    for other in trees[1:]:
        assert other == trees[0]
