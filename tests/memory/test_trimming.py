"""What memtui answers of itself keeps within a budget, and says what it left out."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memtui.agents import replies, trimming
from memtui.text.tokens import ESTIMATING_COUNTER

ITEM = st.fixed_dictionaries(
    {"name": st.text(max_size=90)}, optional={"diff": st.lists(st.text(), max_size=9)}
)


def wrap(data: Any, left: str) -> dict[str, Any]:
    return {"data": data, "left": left}


@given(
    st.dictionaries(st.sampled_from("abc"), st.lists(ITEM, max_size=20)),
    st.integers(100, 900),
)
def test_whole_items_go_from_the_end_and_are_counted(
    lists: dict[str, list[dict[str, Any]]], limit: int
) -> None:
    told, _ = trimming.fitted(lists, limit, ESTIMATING_COUNTER, wrap)
    assert replies.cost(replies.dumped(wrap(told, "")), ESTIMATING_COUNTER) <= limit
    gone = {name: len(one) - len(told[name]) for name, one in lists.items()}
    for name, count in gone.items():
        assert not count or f"{count} {name}" in told["left_out"]
    if "left_out" in told:
        most = int(told["left_out"].split("--max-tokens ")[1].split()[0])
        assert trimming.fitted(lists, most, ESTIMATING_COUNTER, wrap) == (lists, "")
    else:
        assert told == lists


def test_of_a_list_it_is_told_beside_it() -> None:
    told, left = trimming.fitted(
        [{"n": n} for n in range(400)], 99, ESTIMATING_COUNTER, wrap
    )
    assert told[0] == {"n": 0} and left.startswith(f"{400 - len(told)} left out: ")


def test_of_a_table_whole_rows_are_left_out() -> None:
    table = {f"store.{n}": {"value": "", "origin": "built in"} for n in range(99)}
    told, left = trimming.fitted(table, 300, ESTIMATING_COUNTER, wrap)
    assert replies.cost(replies.dumped(wrap(told, left)), ESTIMATING_COUNTER) <= 300
    assert 0 < len(told) < 99 and told.items() <= table.items()
    assert left.startswith(f"{99 - len(told)} left out: --max-tokens ")


def test_lines_are_left_out_from_the_end() -> None:
    told = trimming.lines([f"line {n}" for n in range(400)], 100, ESTIMATING_COUNTER)
    assert told[0] == "line 0"
    assert told[-1].startswith(f"({401 - len(told)} lines left out: --max-tokens ")
    assert replies.cost("\n".join(told), ESTIMATING_COUNTER) <= 100
    assert json.dumps(trimming.lines(["one"], 50, ESTIMATING_COUNTER)) == '["one"]'
