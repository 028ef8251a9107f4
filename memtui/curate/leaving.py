"""Leaving events in the spool, as a hook does: the one door by which they come in.

What is left there goes the way of everything that is captured: secrets are taken out,
what is excluded stays out, what cannot be taken is put aside with its reason. It is
kept as soon as a memtui works.
"""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from memtui import hook
from memtui.errors import SpoolError

SESSION_INFO = "SessionInfo"
"""The event that says what a session is called, and what it was about."""

SESSION_START = "SessionStart"


def leave(
    spool: Path,
    event: str,
    agent: str,
    session_id: str,
    at: datetime,
    said: Mapping[str, object],
) -> None:
    """Leave one event.

    The same event left twice with the same time is kept once; so is one that has a
    ``source_key``, whenever it is left again under it.

    Args:
        spool: Where.
        event: What happened: an event type, or the name of a hook's event.
        agent: Whose session it is of.
        session_id: Which session.
        at: When, aware.
        said: What it says besides.

    Raises:
        SpoolError: It cannot be written.
    """
    told = {
        "hook_event_name": event,
        "agent": agent,
        "session_id": session_id,
        "timestamp": at.isoformat(),
        **{name: value for name, value in said.items() if value},
    }
    content = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
    mask = os.umask(0o077)
    try:
        hook.keep([content], str(spool), "")
    except OSError as error:
        raise SpoolError(f"{spool}: {error.strerror or error}") from error
    finally:
        os.umask(mask)
