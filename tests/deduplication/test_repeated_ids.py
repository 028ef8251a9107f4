"""Records with one id and several texts: all are stored, alike in any order."""

import json
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


def reply(number: int, text: str) -> str:
    content = [{"type": "text", "text": text}]
    message = {"id": text, "content": content, "stop_reason": "end_turn"}
    return record(number, "", message=message)


def call(number: int, output: str) -> str:
    """Return the records of a call and its output."""
    tool = {"type": "tool_use", "id": "toolu_1", "name": "Bash"}
    use = {"id": f"m{number}", "content": [tool | {"input": {"command": "ls"}}]}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": output}
    return record(number, "", message=use) + record(
        number + 1, "", message={"content": [result]}
    )


def hook_call(output: str) -> str:
    return hook(
        3,
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "ls"},
        tool_use_id="toolu_1",
        tool_response={"stdout": output},
    )


FIRST, LAST = session_records("s1", 1, 2), session_records("s1", 9)
WAYS = {
    "prompts": {
        f"{text}.jsonl": FIRST + record(3, f"a table of {text}") + LAST
        for text in ("ferns", "mosses", "lichens")
    },
    "prompts in one file": {
        "a.jsonl": FIRST + "".join(record(3, text) for text in ("ferns", "mosses")),
        "b.jsonl": record(3, "mosses") + LAST,
    },
    "replies": {f"{text}.jsonl": reply(4, text) for text in ("ferns", "mosses")},
    "outputs": {f"{text}.jsonl": FIRST + call(4, text) for text in ("ferns", "mosses")},
    "outputs told by hooks": {
        HOOKS: "".join(map(hook_call, ("ferns", "mosses", "lichens", "ferns"))),
        "a.jsonl": FIRST,
    },
    "the copy in a fork": {
        "a.jsonl": FIRST + record(3, "ferns") + LAST,
        "b.jsonl": session_records("s2", 1, 2)
        + record(3, "ferns", "s2")
        + session_records("s2", 10),
        "c.jsonl": session_records("s2", 1, 2) + record(3, "mosses", "s2"),
    },
    "the copy in a fork, which says more": {
        "a.jsonl": FIRST + record(3, "ferns") + LAST,
        "b.jsonl": session_records("s2", 1, 2) + record(3, "ferns", "s2"),
        "c.jsonl": session_records("s2", 1, 2) + record(3, "ferns\nmosses", "s2"),
    },
}


@pytest.mark.parametrize("name", WAYS)
def test_texts_under_one_id_are_all_stored_in_any_order(
    name: str, delivery: HistoryDelivery
) -> None:
    ways = WAYS[name]
    whole = delivery.after_steps([*ways.items()])
    texts = " ".join(text for _, text, _ in whole["events"])
    for word in ("ferns", "mosses", "lichens"):
        assert (word in texts) == (word in json.dumps(ways)), word
    for order in permutations(ways.items()):
        assert delivery.after_steps(order) == whole
    for seed in range(4):
        chance = random.Random(seed)
        repeated = chance.choice([file for file in ways if file != HOOKS])
        twice = ways | {f"again-{repeated}": ways[repeated]}
        assert delivery.after_steps(shuffled_pieces(twice, chance)) == whole, seed
