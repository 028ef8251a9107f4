"""Scheduling: how the model's jobs stand; to pause, resume and run them."""

from collections.abc import Sequence

from memtui.agents.replies import Plain, Reply
from memtui.agents.tool import Given, Memory
from memtui.model import jobs as model_jobs
from memtui.model.jobs import Job
from memtui.services import jobs
from memtui.services.jobs import JobStatus
from memtui.text import date_format
from memtui.text.fencing import line


def status(memory: Memory, given: Given) -> Reply:
    """How every job stands."""
    return _told(memory, list(Job), "")


def pause(memory: Memory, given: Given) -> Reply:
    """Let jobs rest until they are resumed."""
    chosen = _chosen(given)
    jobs.pause(chosen)
    return _told(memory, chosen, "Paused.")


def resume(memory: Memory, given: Given) -> Reply:
    """Let jobs run again."""
    chosen = _chosen(given)
    jobs.resume(chosen)
    return _told(memory, chosen, "Resumed.")


def run_now(memory: Memory, given: Given) -> Reply:
    """Ask for a run."""
    chosen = _chosen(given)
    jobs.request_run(chosen, memory.now())
    return _told(memory, chosen, f"Asked for. {memory.promise()}")


def _chosen(given: Given) -> list[Job]:
    return model_jobs.find_jobs(given["jobs"] or (model_jobs.ALL_JOBS,))


def _told(memory: Memory, chosen: Sequence[Job], done: str) -> Reply:
    is_worked = memory.is_worked()
    found = jobs.statuses(memory.plan, memory.now(), is_worked=is_worked)
    works = {True: "A memtui is at work.", False: "No memtui is at work: no job runs."}
    notes = [*filter(None, (done, works.get(is_worked or False)))]
    told = [_plain(one, memory) for one in found if one.job in chosen]
    is_quoted = any("error" in one for one in told)
    about: Plain = {"is_worked": is_worked}
    return Reply("jobs", told, _line, about, notes=notes, is_quoted=is_quoted)


def _plain(one: JobStatus, memory: Memory) -> Plain:
    last, zone = one.last, memory.zone
    told: Plain = {
        "job": one.job.value,
        "schedule": one.schedule,
        "is_paused": one.is_paused,
        "is_running": one.is_running,
        "is_asked": one.asked_at is not None,
    }
    if one.next_at:
        told["next"] = date_format.iso_minute(one.next_at, zone)
    if last and last.result:
        told["last"] = date_format.iso_minute(last.started_at, zone)
        told |= {"result": last.result.value, "made": last.created}
        told |= {"error": line(last.error)} if last.error else {}
    return told


def _line(told: Plain) -> str:
    stands = "runs now" if told["is_running"] else told["schedule"]
    said = [f"{told['job']}: {'paused' if told['is_paused'] else stands}"]
    if "last" in told:
        error = f" ({told['error']})" if "error" in told else ""
        said.append(f"last {told['last']} {told['result']}, {told['made']} made{error}")
    said += ["asked for"] * told["is_asked"]
    if "next" in told:
        said.append(f"next {told['next']}")
    return "; ".join(said)
