"""Put a session of any number of events into the store."""

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta

from memtui.model.events import event_id, to_ms
from memtui.store import database
from memtui.store.digests import digest
from tests.tables import SessionRow

START = datetime(2024, 1, 2, 8, tzinfo=UTC)
STEP = timedelta(seconds=20)

CODE = (
    "Like so:\n\n```python\ndef grind(grain: str) -> str:\n    return grain  # [b]\n```"
)
EDIT = {
    "tool_name": "Edit",
    "tool_use_id": "call-{at}",
    "tool_input": json.dumps({"old_string": "a\nb", "new_string": "a\nc\nd"}),
}

ROUND = 5
"""After so many events comes the next question."""


def store_session(
    count: int,
    *,
    name: str = "mill",
    since: int = 0,
    but: Collection[int] = (),
    texts: Mapping[int, str] | None = None,
) -> None:
    """Keep a session of so many events, or those of it that come after some.

    Args:
        count: How many.
        name: The session's.
        since: How many were kept before.
        but: Which of them are not kept.
        texts: Other texts of some events, by their numbers.
    """
    rows, last = [], START + STEP * (count - 1)
    with database.transaction():
        session, _ = SessionRow.get_or_create(
            agent="codex",
            name=name,
            defaults={"project": "mill", "title": "Grinding [b]grain[/b]"}
            | {"created_ms": to_ms(START), "updated_ms": 0},
        )
        SessionRow.update(
            updated_ms=to_ms(last), message_count=count * 3 // 5, event_count=count
        ).where(SessionRow.id == session.id).execute()
        for at in range(since, count):
            if at in but:
                continue
            when = START + STEP * at
            kind, role, text, metadata = _event(at)
            text = (texts or {}).get(at, text)
            named = event_id("codex", name, kind, str(at), when)
            payload = json.dumps(metadata) if metadata else ""
            shared = (session.id, to_ms(when), at, kind, role, "", text, payload)
            row = (named, *shared, 5, "words", "jsonl", named.encode(), None)
            rows.append((*row, digest(row)))
        database.insert("events", rows)


def _event(at: int) -> tuple[str, str, str, dict[str, str]]:
    match at % ROUND:
        case 0:
            text = f"Question {at}: how is the grain ground?"
            return "user_message", "user", text, {}
        case 1 | 2:
            text = f"Answer {at}. " + (CODE if at % 2 else "It is ground slowly. " * 9)
            return "assistant_message", "assistant", text, {}
        case _:
            text = f"Edit: mill_{at}.py\nThe file was written.\nwheel {at}"
            payload = EDIT | {"tool_use_id": f"call-{at}"}
            return "tool_result", "tool", text, payload
