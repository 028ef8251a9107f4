"""Tools that change something: they add events through the spool, and control the jobs.

Every reply says what was done and when it takes effect.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import ulid

from memtui.capture import spool
from memtui.capture.formats import hooks
from memtui.capture.formats.base import parse_time
from memtui.capture.spool import Spool
from memtui.errors import MemtuiError, UsageError
from memtui.model import jobs as model_jobs
from memtui.model.events import (
    EARLIEST,
    Event,
    EventType,
    is_event_id,
    is_in_future,
)
from memtui.search.query import SessionNameError, UnknownSessionError, find_session
from memtui.services import jobs as services_jobs
from memtui.services.jobs import JobStatus
from memtui.store import database
from memtui.store import events as store_events
from memtui.text import date_format
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

DEFAULT_AGENT: Final = "mcp"

MAX_WAITING: Final = 500
"""The number of newest files in the spool that are searched for an event."""

_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,99}")
"""The names that agents and sessions created here may have."""

_NAME_RULE: Final = (
    "has up to 100 letters, digits, '_', '.' and '-', begins with a letter or digit,"
    " and follows its agent's name and a colon unless that is mcp; see them: memtui"
    " sessions"
)

ALL_JOBS: Final = (model_jobs.ALL_JOBS,)

ROLES: Final = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
}


def new_session(
    workspace: "Workspace",
    *,
    title: str = "",
    agent: str = "",
    sender: str = "",
    cwd: str = "",
    timestamp: str = "",
) -> Reply:
    agent = agent or DEFAULT_AGENT
    if not _NAME.fullmatch(agent):
        raise UsageError("agent must be a plain word")
    at = _read_time(workspace, timestamp)
    name = str(ulid.ULID.from_datetime(workspace.now())).lower()
    start = {"cwd": cwd, "source": "mcp", "sender": sender}
    spool.write_event(
        workspace.paths.spool, spool.SESSION_START, agent, name, at, start
    )
    if title:
        info = {"title": title}
        spool.write_event(
            workspace.paths.spool, spool.SESSION_INFO, agent, name, at, info
        )
    return _added(workspace, agent, name, at, "Created")


def append_message(
    workspace: "Workspace",
    session: str,
    role: str,
    text: str,
    *,
    timestamp: str = "",
    message_id: str = "",
) -> Reply:
    fields = {"text": text, "source_key": message_id}
    return _add(workspace, session, ROLES[role], text, timestamp, fields)


def ingest_event(
    workspace: "Workspace",
    session: str,
    event_type: str,
    *,
    text: str = "",
    timestamp: str = "",
    message_id: str = "",
    tool_name: str = "",
    tool_use_id: str = "",
    cwd: str = "",
    metadata: Mapping[str, str] | None = None,
) -> Reply:
    fields = {
        "metadata": metadata,
        "content": text,
        "tool_name": tool_name,
        "tool_use_id": tool_use_id,
        "cwd": cwd,
        "source_key": message_id or tool_use_id,
    }
    return _add(workspace, session, EventType(event_type), text, timestamp, fields)


def set_session_title(workspace: "Workspace", session: str, title: str) -> Reply:
    return _set_info(workspace, session, {"title": title})


def set_session_summary(workspace: "Workspace", session: str, summary: str) -> Reply:
    return _set_info(workspace, session, {"summary": summary})


def _set_info(
    workspace: "Workspace", session: str, info: Mapping[str, object]
) -> Reply:
    agent, name, is_known = _resolve(session)
    if not (is_known or _may_be_new(name)):
        known = "see them: list_sessions()"
        raise MemtuiError(f"there is no session {session!r} yet; {known}")
    at = workspace.now()
    spool.write_event(workspace.paths.spool, spool.SESSION_INFO, agent, name, at, info)
    return _added(workspace, agent, name, at, "Saved; searches use it")


def _add(
    workspace: "Workspace",
    session: str,
    event_type: EventType,
    text: str,
    timestamp: str,
    fields: Mapping[str, object],
) -> Reply:
    needs_text = event_type in (*ROLES.values(), EventType.TOOL_RESULT)
    if needs_text and not text.strip():
        raise UsageError("text is empty")
    agent, name, is_known = _resolve(session)
    at = _read_time(workspace, timestamp)
    folder = workspace.paths.spool
    payload = spool.make_payload(event_type.value, agent, name, at, fields)
    items = hooks.read(payload, received_at=at, now=workspace.now())
    event = next((item for item in items if isinstance(item, Event)), None)
    if event is None:
        raise UsageError("the event cannot be stored")
    with database.connection():
        known = store_events.find_stored(event)
    waiting = [] if known else _list_waiting(folder, event, at)
    known = known or next((one for one in waiting if _is_same(event, one)), None)
    if known is None:
        spool.write_event(folder, event_type.value, agent, name, at, fields)
    is_expected = is_known or waiting or _may_be_new(name)
    done = "Added" if is_expected else "Added to a new session of that name"
    done = "Known already: nothing was added" if known else done
    added = {"event_id": (known or event).event_id, "created": known is None}
    at = known.timestamp if known else at
    return _added(workspace, agent, name, at, done, added)


def _list_waiting(folder: Path, event: Event, now: datetime) -> list[Event]:
    """Return the events of an event's session that wait in the spool, newest first."""
    waiting, found = Spool(folder), list[Event]()
    for name in reversed(waiting.names()[-MAX_WAITING:]):
        file = waiting.read(name)
        if file is None or event.session_id.encode() not in file.raw:
            continue
        found += [
            item
            for item in hooks.read(file.raw, received_at=file.received_at, now=now)
            if isinstance(item, Event)
            and (item.agent, item.session_id) == (event.agent, event.session_id)
        ]
    return found


def _is_same(event: Event, waiting: Event) -> bool:
    """Return whether an event that waits is this one, sent before."""
    return waiting.event_id == event.event_id or (
        (event.source_id, event.text) == (waiting.source_id or " ", waiting.text)
    )


def _resolve(session: str) -> tuple[str, str, bool]:
    """Return the agent and name of a session by its whole id, and whether it is stored.

    The beginning of an id is refused: it could match a session by mistake.
    """
    try:
        agent, name = find_session(session)
    except UnknownSessionError:
        agent, _, name = session.rpartition(":")
        agent = agent or DEFAULT_AGENT
        if not (_NAME.fullmatch(agent) and _NAME.fullmatch(name)):
            what = f"{session[:80]!r} names no session: the name of a new one"
            raise UsageError(f"{what} {_NAME_RULE}") from None
        return agent, name, False
    except SessionNameError as error:
        raise UsageError(f"{error}; give one of these in full") from None
    whole = f"{agent}:{name}"
    if session not in (name, whole):
        raise UsageError(f"{session!r} is incomplete; give {whole}")
    return agent, name, True


def _may_be_new(name: str) -> bool:
    """Return whether ``new_session`` may have created the session, not stored yet."""
    return is_event_id(name.upper())


def _read_time(workspace: "Workspace", timestamp: str) -> datetime:
    now = workspace.now()
    if not timestamp:
        return now
    at = parse_time(timestamp)
    if at is None:
        raise UsageError("timestamp must be ISO 8601, such as 2025-03-14T10:05:00Z")
    if is_in_future(at, now):
        raise UsageError("timestamp is in the future")
    if at < EARLIEST:
        raise UsageError(f"timestamp is before {EARLIEST:%Y}")
    return at


def _added(
    workspace: "Workspace",
    agent: str,
    name: str,
    at: datetime,
    done: str,
    event: Mapping[str, object] | None = None,
) -> Reply:
    when = "in a moment" if workspace.has_worker else "when memtui next runs"
    head: Item = {
        "session": f"{agent}:{name}",
        "timestamp": date_format.iso_utc(at),
        **(event or {}),
    }
    head_lines = [
        f"{key}: {value if isinstance(value, str) else str(value).lower()}"
        for key, value in head.items()
    ]
    notes = (f"{done}. It shows {when}.",)
    return Reply("done", (), str, head, head_lines, notes, is_stored=False)


# Jobs


def scheduler_status(workspace: "Workspace") -> Reply:
    return _job_statuses(workspace, ())


def scheduler_pause(workspace: "Workspace", *, jobs: Sequence[str] = ()) -> Reply:
    services_jobs.pause(model_jobs.find_jobs(jobs or ALL_JOBS))
    return _job_statuses(workspace, jobs, "Paused.")


def scheduler_resume(workspace: "Workspace", *, jobs: Sequence[str] = ()) -> Reply:
    services_jobs.resume(model_jobs.find_jobs(jobs or ALL_JOBS))
    return _job_statuses(workspace, jobs, "Resumed.")


def scheduler_run_now(workspace: "Workspace", *, jobs: Sequence[str] = ()) -> Reply:
    found = model_jobs.find_jobs(jobs or ALL_JOBS)
    services_jobs.request_run(found, workspace.now())
    return _job_statuses(workspace, jobs, f"Requested. {workspace.describe_when_due()}")


def _job_statuses(
    workspace: "Workspace", names: Sequence[str], done: str = ""
) -> Reply:
    is_worked = bool(workspace.has_worker)
    works = (
        "memtui is running." if is_worked else "memtui is not running, so no job runs."
    )
    now, chosen = workspace.now(), model_jobs.find_jobs(names or ALL_JOBS)
    found = services_jobs.statuses(workspace.schedules, now, has_worker=is_worked)
    items = [_job(status) for status in found if status.job in chosen]
    return Reply(
        "jobs",
        items,
        partial(_job_line, LineWriter(workspace.zone)),
        {"is_worked": is_worked},
        notes=[*([done] if done else []), works],
        is_stored=any("error" in item for item in items),
    )


def _job(status: JobStatus) -> Item:
    last = status.last
    item: Item = {
        "job": status.job.value,
        "schedule": status.schedule,
        "is_paused": status.is_paused,
        "is_running": status.is_running,
        "is_requested": status.requested_at is not None,
    }
    if status.next_at:
        item["next"] = date_format.iso_utc(status.next_at)
    if last and last.result:
        item["last"] = date_format.iso_utc(last.started_at)
        item |= {"result": last.result.value, "made": last.created}
        item |= {"error": last.error} if last.error else {}
    return item


def _job_line(lines: LineWriter, item: Item) -> str:
    state = "runs now" if item["is_running"] else item["schedule"]
    parts = [f"{item['job']}: {'paused' if item['is_paused'] else state}"]
    if "last" in item:
        error = f" ({item['error']})" if "error" in item else ""
        at = lines.minute(item["last"])
        parts.append(f"last {at} {item['result']}, {item['made']} made{error}")
    parts += ["requested"] * item["is_requested"]
    if "next" in item:
        parts.append(f"next {lines.minute(item['next'])}")
    return "; ".join(parts)
