"""Tools that change something: they add events through the spool, and control the jobs.

Every reply says what was done and when it takes effect.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from memtui.model import jobs as model_jobs
from memtui.model.events import EventType
from memtui.model.judgements import Ruling
from memtui.services import additions, judging
from memtui.services import jobs as services_jobs
from memtui.services.additions import Addition
from memtui.services.jobs import JobStatus
from memtui.text import date_format
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply

if TYPE_CHECKING:
    from memtui.workspace import Workspace

ALL_JOBS: Final = (model_jobs.ALL_JOBS,)

ROLES: Final = {
    "user": EventType.USER_MESSAGE,
    "assistant": EventType.ASSISTANT_MESSAGE,
}


AGENT: Final = "agent"
"""The author of judgements that come through a tool."""


def new_session(
    workspace: "Workspace",
    *,
    title: str = "",
    agent: str = "",
    sender: str = "",
    cwd: str = "",
    timestamp: str = "",
) -> Reply:
    addition = additions.create_session(
        workspace.paths.spool,
        workspace.now(),
        title=title,
        agent=agent,
        sender=sender,
        cwd=cwd,
        timestamp=timestamp,
    )
    return _describe_addition(workspace, addition, "Created")


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


def _add(
    workspace: "Workspace",
    session: str,
    event_type: EventType,
    text: str,
    timestamp: str,
    fields: Mapping[str, object],
) -> Reply:
    addition = additions.add_event(
        workspace.paths.spool,
        workspace.now(),
        session,
        event_type,
        text,
        timestamp,
        fields,
    )
    done = "Known already: nothing was added"
    if addition.is_new_session:
        done = "Added to a new session of that name"
    elif addition.is_new:
        done = "Added"
    event = {"event_id": addition.event_id, "created": addition.is_new}
    return _describe_addition(workspace, addition, done, event)


def set_session_title(workspace: "Workspace", session: str, title: str) -> Reply:
    return _set_info(workspace, session, {"title": title})


def set_session_summary(workspace: "Workspace", session: str, summary: str) -> Reply:
    return _set_info(workspace, session, {"summary": summary})


def _set_info(
    workspace: "Workspace", session: str, info: Mapping[str, object]
) -> Reply:
    addition = additions.describe_session(
        workspace.paths.spool, workspace.now(), session, info
    )
    return _describe_addition(workspace, addition, "Saved; searches use it")


def _describe_addition(
    workspace: "Workspace",
    addition: Addition,
    done: str,
    event: Mapping[str, object] | None = None,
) -> Reply:
    when = "in a moment" if workspace.has_worker else "when memtui next runs"
    head: Item = {
        "session": addition.session,
        "timestamp": date_format.iso_utc(addition.at),
        **(event or {}),
    }
    head_lines = [
        f"{key}: {value if isinstance(value, str) else str(value).lower()}"
        for key, value in head.items()
    ]
    notes = (f"{done}. It shows {when}.",)
    return Reply({"done": ()}, str, head, head_lines, notes, is_stored=False)


def judge_line(
    workspace: "Workspace",
    node_id: str,
    line: str,
    ruling: str,
    *,
    words: str = "",
    reason: str = "",
) -> Reply:
    now = workspace.now()
    if ruling == Ruling.UNDONE:
        name, bullet = judging.undo_line(node_id, line, now, author=AGENT)
        done = "The judgement is taken back"
    else:
        name, bullet = judging.find_line(node_id, line)
        texts = {"words": words, "reason": reason}
        judging.judge(name, bullet, Ruling(ruling), now, author=AGENT, **texts)
        done = f"The line is {ruling}"
    when = "in a moment" if workspace.has_worker else "when memtui next runs"
    note = f"{done}. Searches follow {when}."
    head: Item = {"node_id": name, "line": bullet.claim_text, "ruling": ruling}
    lines = [f"{key}: {value}" for key, value in head.items()]
    return Reply({"done": ()}, str, head, lines, (note,))


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
    services_jobs.request_run(model_jobs.find_jobs(jobs or ALL_JOBS), workspace.now())
    return _job_statuses(workspace, jobs, f"Requested. {workspace.describe_when_due()}")


def _job_statuses(
    workspace: "Workspace", names: Sequence[str], done: str = ""
) -> Reply:
    is_worked = bool(workspace.has_worker)
    works = (
        "memtui is running." if is_worked else "memtui is not running, so no job runs."
    )
    now, chosen = workspace.now(), model_jobs.find_jobs(names or ALL_JOBS)
    statuses = services_jobs.statuses(workspace.schedules, now, has_worker=is_worked)
    items = [_job(status) for status in statuses if status.job in chosen]
    return Reply(
        {"jobs": items},
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
