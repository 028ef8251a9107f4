"""Strategies that damage bytes, lines and JSON values."""

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

from tests.capture.corpora import clock

DEEP: list[Any] = []
for _ in range(300):
    DEEP = [DEEP]

ODD: list[Any] = [
    *(None, True, False, 0, -1, 7, 1.5, 10**30, -(10**400), 1e308),
    *(float("nan"), float("inf"), 1773482405000, 253402300799000),
    *("", " ", "\0", "\ud800", "😀\ufeff", "x" * 300, "\x1b[31m", "</s>", "t1", "c1"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1999-12-31", "now"),
    *(clock(5), "2026-03-14T10:00:05", "2026-03-14T12:00:05.5+02:00"),
    *("user", "assistant", "message", "tool_use", "tool_result", "text", "session"),
    *([], {}, [None], [[]], [{}], [""], {"": ""}, {"text": 1}, {"type": "text"}),
    *({"type": ["x"]}, {"id": {}}, [{"type": "tool_use"}, "x", 1], DEEP),
    [{"type": "text", "text": "said"}, {"type": "thinking", "thinking": "hm"}],
]
"""Values of types and texts that no reader expects.

Times are bad, near those of the other records, or too late for anybody: how long a
message is waited for depends on them.
"""

Lines = list[bytes]
Stretches = Callable[[], list[Lines]]

odd = st.sampled_from(ODD).map(deepcopy)

DAMAGE = (b"\0", b"\xff", b"{", b"}", b'"', b"\\", b",", b"\r", b"\xed\xa0\x80", b"1")
"""Bytes that come into a file by accident."""


anything = st.recursive(
    st.sampled_from([value for value in ODD if not isinstance(value, list | dict)]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "id", "message", "content", "text", "data", "role"]
            )
            | st.sampled_from(
                ["timestamp", "sessionId", "session_id", "payload", "$set"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
"""JSON values with names that readers look for."""


@st.composite
def spoilt(draw: st.DrawFn, line: bytes) -> bytes:
    """A record in which some values were replaced, dropped or moved; still JSON."""
    try:
        fields = json.loads(line)
    except ValueError:
        return line
    for _ in range(draw(st.integers(0, 2))):
        holder, name = _place(fields, draw)
        if holder is None:
            break
        match draw(st.sampled_from(("replace", "drop", "lift"))):
            case "replace":
                holder[name] = draw(odd)
            case "drop":
                del holder[name]
            case "lift" if isinstance(fields, dict):
                fields[str(name)] = deepcopy(holder[name])
    return json.dumps(fields, ensure_ascii=draw(st.booleans())).encode(
        "utf-8", "surrogatepass"
    )


def _place(fields: Any, draw: st.DrawFn) -> tuple[Any, Any]:
    """A container within a JSON value, and the key of one of its values."""
    holder: Any = None
    name: Any = None
    for _ in range(draw(st.integers(1, 5))):
        if isinstance(fields, dict) and fields:
            holder, name = fields, draw(st.sampled_from(sorted(fields)))
        elif isinstance(fields, list) and fields:
            holder, name = fields, draw(st.integers(0, len(fields) - 1))
        else:
            break
        fields = holder[name]
    return holder, name


@st.composite
def records(draw: st.DrawFn, stretches: Stretches) -> Lines:
    """Consecutive records: damaged, repeated, moved or missing."""
    lines = draw(st.sampled_from(stretches()))
    start = draw(st.integers(0, max(0, len(lines) - 1)))
    chosen = lines[start : start + draw(st.integers(1, 10))]
    drawn = [draw(spoilt(line)) if draw(st.booleans()) else line for line in chosen]
    for _ in range(draw(st.integers(0, 2))):
        number = draw(st.integers(0, len(drawn) - 1))
        other = draw(st.integers(0, len(drawn)))
        drawn.insert(other, drawn[number])
    if draw(st.integers(0, 9)) == 0:
        drawn.append(json.dumps(draw(anything)).encode())
    return drawn


@st.composite
def damaged(draw: st.DrawFn, stretches: Stretches) -> bytes:
    """The bytes of a file of such records: cut, overwritten or joined."""
    raw = draw(st.sampled_from((b"\n", b"\r\n", b"\n\n"))).join(
        draw(records(stretches))
    )
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(raw)))
        kinds = ("insert", "replace", "cut", "join", "tear", "break", "whole")
        match draw(st.sampled_from(kinds)):
            case "insert":
                raw = raw[:at] + draw(st.sampled_from(DAMAGE)) + raw[at:]
            case "replace":
                raw = raw[:at] + draw(st.binary(max_size=3)) + raw[at + 3 :]
            case "cut":
                raw = raw[:at] + raw[at + draw(st.integers(1, 60)) :]
            case "tear":
                # A record is cut off, and the next one follows on its line.
                end = raw.find(b"\n", at)
                raw = raw[:at] + raw[end + 1 :] if end >= 0 else raw
            case "break":
                raw = raw[:at] + b"\n" + raw[at:]
            case "join":
                raw = raw.replace(b"\n", draw(st.sampled_from((b"", b",", b" "))), 1)
    return raw + draw(st.sampled_from((b"\n", b"")))


def tears(line: bytes) -> Iterator[bytes]:
    """Yield a record cut off at every byte."""
    for end in range(1, len(line)):
        yield line[:end]
