"""The same events in any order, in pieces and twice give the same tree."""

import json
import random

import pytest

from tests.deduplication.deliveries import (
    HOOKS,
    HistoryDelivery,
    hook,
    record,
    session_records,
    shuffled_pieces,
)

DAY = 24 * 60
"""Minutes."""


def call(number: int, session: str, command: str, output: str) -> str:
    """Return the records of a command that an agent ran, and its output."""
    tool = {"type": "tool_use", "id": f"toolu_{number}", "name": "Bash"}
    result = {"type": "tool_result", "tool_use_id": tool["id"], "content": output}
    uses = {"id": f"m{number}", "content": [tool | {"input": {"command": command}}]}
    return record(number, "", session, message=uses) + record(
        number + 1, "", session, message={"content": [result]}
    )


def title(text: str, number: int) -> str:
    fields = {"type": "summary", "summary": text, "leafUuid": f"u{number}"}
    return json.dumps(fields) + "\n"


TRANSCRIPTS = {
    "s1.jsonl": session_records("s1", 1, 2, 3, 4, 101, 102)
    + call(104, "s1", "git commit -m 'Round prices'", "[main 1a2b3c4] Round prices")
    + session_records("s1", 109, 110),
    # A fork of it, which goes on elsewhere.
    "s2.jsonl": session_records("s2", 1, 2, 3, 4)
    + session_records("s2", DAY + 1, DAY + 2),
    "s3.jsonl": session_records("s3", *range(2 * DAY + 1, 2 * DAY + 9))
    + call(2 * DAY + 10, "s3", "pytest", "2 failed, 3 passed in 1.2s")
    + title("Prices are rounded", 2 * DAY + 8),
    "s4.jsonl": record(
        5 * DAY + 1, "Repaint the harbour crane and grease its bearings", "s4"
    )
    + record(5 * DAY + 2, "The crane is painted, its bearings are greased.", "s4")
    + record(9 * DAY + 1, "Why does the migration of table 3 fail?", "s4")
    + record(9 * DAY + 2, "Table 3 has no column for prices.", "s4"),
}
TOLD_BY_HOOKS = "".join(
    hook(number, "UserPromptSubmit", session, prompt=text)
    for number, session, text in (
        (1, "s1", "Word 1 about the migration of table 1"),
        (101, "s1", "Word 101 about the migration of table 101"),
        (5 * DAY + 1, "s4", "Repaint the harbour crane and grease its bearings"),
    )
)


@pytest.mark.full
def test_arrival_changes_nothing(delivery: HistoryDelivery) -> None:
    everything = [*TRANSCRIPTS.items(), (HOOKS, TOLD_BY_HOOKS)]
    whole = delivery.after_steps(everything)
    assert set(whole["sessions"]) == {"s1", "s2", "s3", "s4"}
    assert len(set(whole["surprise"].values())) > 2
    exports = {
        "mine.jsonl": delivery.export_after(everything),
        "theirs.jsonl": delivery.export_after(everything[1:3]),
    }
    assert delivery.after_steps(list(exports.items())) == whole
    ways = TRANSCRIPTS | {HOOKS: TOLD_BY_HOOKS} | exports
    for seed in range(12):
        chance = random.Random(seed)
        copies = {f"copy of {name}": TRANSCRIPTS[name] for name in TRANSCRIPTS}
        twice = dict(chance.sample(sorted(copies.items()), 2))
        steps = shuffled_pieces(ways | twice, chance)
        tree = delivery.after_steps(steps)
        for name in whole:
            assert tree[name] == whole[name], (seed, name)
