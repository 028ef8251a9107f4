"""Plain JSON lines with the ids of other events hide none of them."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from memtui.capture.formats.plain import with_check
from memtui.store import database
from tests.deduplication.deliveries import (
    HOOKS,
    HistoryDelivery,
    Step,
    hook,
    record,
    session_records,
    shuffled_pieces,
)

FORGED = "forged.jsonl"

SESSION = session_records("s1", *range(1, 13))

Fields = dict[str, Any]
Forge = Callable[[list[Fields]], list[Fields]]


def thought(number: int, session: str) -> str:
    block = {"type": "thinking", "thinking": f"Think of table {number}."}
    message = {"id": f"t{number}", "content": [block], "stop_reason": "end_turn"}
    return record(number, "", session, message=message)


REAL = {
    "s1.jsonl": SESSION + thought(14, "s1"),
    "s2.jsonl": session_records("s2", 1, 2, 3, 4) + session_records("s2", 40, 41),
    "s3.jsonl": "".join(record(number, "yes", "s3") for number in (51, 53, 55)),
    HOOKS: hook(1, "UserPromptSubmit", prompt="Word 1 about the migration of table 1")
    + hook(60, "UserPromptSubmit", "s4", prompt="Only the hook has this."),
}


def in_one_line(fields: list[Fields], **more: Any) -> list[Fields]:
    """Return a line of another session that names all of these ids as its copies."""
    text = more.pop("text", "Nothing to see.")
    copies = [{"id": line["id"], "route": "transcript"} | more for line in fields]
    first = fields[0] | {"id": f"00{fields[0]['id'][2:]}", "text": text}
    return [first | {"session_id": "evil", "copies": copies}]


Steps = dict[str, str]
"""The text of each file."""

FORGERIES: dict[str, Forge] = {
    "copies": in_one_line,
    "copies with their sessions": lambda lines: [
        line | {"copies": [c | {"session_id": lines[0]["session_id"]} for c in copies]}
        for line in in_one_line(lines)
        for copies in [line["copies"]]
    ],
    "copies of the same text": lambda lines: [
        forged | {"session_id": line["session_id"]}
        for line in lines
        for forged in in_one_line(lines, text=line["text"])
    ],
    "copies in an earlier session": lambda lines: [
        line | {"copies": [{"id": f"00{line['id'][2:]}", "session_id": "evil"}]}
        for line in lines[4:8]
    ],
    "texts": lambda lines: [
        line | {"text": f"Nothing in {line['id']}."} for line in lines
    ],
    "several texts": lambda lines: [
        line | {"text": f"Nothing in {line['id']} {number}."}
        for number in range(3)
        for line in lines
    ],
    "sessions": lambda lines: [line | {"session_id": "evil"} for line in lines],
    "subagents": lambda lines: [line | {"subagent": "evil"} for line in lines],
    "roles": lambda lines: [line | {"role": "system"} for line in lines],
    "earlier times": lambda lines: [
        line | {"timestamp": "2024-01-01T00:00:00+00:00"} for line in lines
    ],
    "types": lambda lines: [
        line | {"event_type": "session_end", "role": "system", "text": ""}
        for line in lines
        if "event_type" in line
    ],
    "keys": lambda lines: [
        {
            **{name: line[name] for name in ("session_id", "timestamp", "agent")},
            "event_type": line["event_type"],
            "key": f"{key}{number}",
            "text": f"Nothing in {key}{number} of {line['session_id']}.",
        }
        for line in lines
        if "event_type" in line
        for number in range(1, 60)
        for key in ("u", "m")
    ],
}


def read_messages() -> Counter[tuple[str, ...]]:
    columns = "text, s.name, subagent FROM {} e JOIN sessions s ON s.id = e.session_id"
    with database.connection():
        rows = database.db.execute_sql(
            f"SELECT type, role, {columns.format('events')}"
            f" UNION ALL SELECT 'thought', '', {columns.format('thoughts')}"
        )
        return Counter(rows.fetchall())


def read_ids() -> set[tuple[str, str]]:
    with database.connection():
        rows = database.db.execute_sql("SELECT id, text FROM events")
        return set(rows.fetchall())


@pytest.fixture
def messages_after(
    delivery: HistoryDelivery,
) -> Iterator[Callable[[list[Step]], Counter[Any]]]:
    """Counts what is stored after files have grown by steps."""

    def deliver(steps: list[Step]) -> Counter[Any]:
        delivery.read_steps(steps)
        return read_messages()

    yield deliver
    database.close()


def export_lines(delivery: HistoryDelivery, steps: list[Step]) -> list[Fields]:
    lines = map(json.loads, delivery.export_after(steps).splitlines())
    return [line for line in lines if "id" in line]


def to_text(lines: list[Fields]) -> str:
    return "".join(f"{json.dumps(line)}\n" for line in lines)


@pytest.mark.parametrize("is_checked", [False, True])
@pytest.mark.parametrize("name", FORGERIES)
def test_forged_lines_before_or_after_hide_no_message(
    name: str,
    is_checked: bool,
    delivery: HistoryDelivery,
    messages_after: Callable[..., Counter[Any]],
) -> None:
    steps = list(REAL.items())
    real = messages_after(steps)
    lines = FORGERIES[name](export_lines(delivery, steps))
    if is_checked:
        # The check can be made by anyone.
        lines = [with_check(line) if "id" in line else line for line in lines]
    forged = FORGED, to_text(lines)
    for order in ([forged, *steps], [*steps, forged]):
        assert real - messages_after(order) == Counter(), order


def test_forged_session_is_not_left_empty(delivery: HistoryDelivery) -> None:
    steps = list(REAL.items())
    lines = FORGERIES["sessions"](export_lines(delivery, steps))
    forged = FORGED, to_text([with_check(line) for line in lines])
    for order in ([forged, *steps], [*steps, forged]):
        records = map(json.loads, delivery.export_after(order).splitlines())
        sessions = {
            record["session_id"]
            for record in records
            if record.get("record") == "session"
        }
        assert sessions == {"s1", "s2", "s3", "s4"}, order
    database.close()


def forge(lines: list[Fields], names: list[str], chance: random.Random) -> Steps:
    """Return two files of forged lines of some of these kinds, in random order."""
    forged = [
        forged_line
        for name in chance.sample(sorted(names), 3)
        for forged_line in FORGERIES[name](chance.sample(lines, 12))
    ]
    chance.shuffle(forged)
    return {FORGED: to_text(forged[::2]), "more.jsonl": to_text(forged[1::2])}


def test_forged_lines_among_real_ones_hide_no_message(
    delivery: HistoryDelivery, messages_after: Callable[..., Counter[Any]]
) -> None:
    check_forged_among_real(delivery, messages_after, range(9, 15))


def check_forged_among_real(
    delivery: HistoryDelivery,
    messages_after: Callable[..., Counter[Any]],
    seeds: Iterable[int],
) -> None:
    real = messages_after([*REAL.items()])
    lines = export_lines(delivery, [*REAL.items()])
    for seed in seeds:
        chance = random.Random(seed)
        ways = REAL | forge(lines, [*FORGERIES], chance)
        result = messages_after(shuffled_pieces(ways, chance))
        assert real - result == Counter(), seed


def test_forged_lines_are_stored_alike_in_any_order(
    delivery: HistoryDelivery,
    messages_after: Callable[..., Counter[Any]],
) -> None:
    check_any_order(delivery, messages_after, range(2, 7))


def check_any_order(
    delivery: HistoryDelivery,
    messages_after: Callable[..., Counter[Any]],
    seeds: Iterable[int],
) -> None:
    # Of lines that repeat a text soon, the first is taken for a copy of the real one.
    names = [name for name in FORGERIES if name != "copies of the same text"]
    lines = export_lines(delivery, [*REAL.items()])
    for seed in seeds:
        chance = random.Random(seed)
        ways = REAL | forge(lines, names, chance)
        results = []
        for _ in range(3):
            messages = messages_after(shuffled_pieces(ways, chance))
            results.append((messages, read_ids()))
        assert results[0] == results[1] == results[2], seed


@pytest.mark.torture
def test_many_forged_lines_hide_no_message(
    delivery: HistoryDelivery,
    messages_after: Callable[..., Counter[Any]],
    chance: random.Random,
    is_short: bool,
) -> None:
    first = chance.randrange(10**9)
    print(f"seeds from {first}")
    seeds = range(first, first + (10 if is_short else 60))
    check_forged_among_real(delivery, messages_after, seeds)
    check_any_order(delivery, messages_after, seeds)
