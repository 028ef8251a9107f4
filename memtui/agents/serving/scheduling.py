"""The tool for the model's jobs: how they stand; and to pause, resume and run them."""

from memtui.agents.serving.answers import Answer, Item, line
from memtui.agents.serving.memory import Memory
from memtui.agents.serving.parameters import Given, Parameter
from memtui.agents.serving.tools import Tool
from memtui.curate import jobs as steered
from memtui.memory import jobs as named
from memtui.memory.jobs import Job
from memtui.recall import jobs
from memtui.recall.jobs import Status

_JOBS = Parameter("jobs", "array", choices=(*Job, named.EVERY))


def status(memory: Memory, given: Given) -> Answer:
    """How every job stands."""
    return _told(memory, list(Job), "")


def pause(memory: Memory, given: Given) -> Answer:
    """Let jobs rest until they are resumed."""
    chosen = _chosen(given)
    steered.pause(chosen)
    return _told(memory, chosen, "Paused.")


def resume(memory: Memory, given: Given) -> Answer:
    """Let jobs run again."""
    chosen = _chosen(given)
    steered.resume(chosen)
    return _told(memory, chosen, "Resumed.")


def run_now(memory: Memory, given: Given) -> Answer:
    """Ask for a run."""
    chosen = _chosen(given)
    steered.ask(chosen, memory.now())
    return _told(memory, chosen, f"Asked for. {memory.promise()}")


def _chosen(given: Given) -> list[Job]:
    return named.all_named(given["jobs"] or (named.EVERY,))


def _told(memory: Memory, chosen: list[Job], done: str) -> Answer:
    is_worked = memory.is_worked()
    found = jobs.statuses(memory.plan, memory.now(), is_worked=is_worked)
    told = {True: "A memtui is at work.", False: "No memtui is at work: no job runs."}
    head = " ".join(filter(None, (done, told.get(is_worked or False))))
    items = [_item(one, memory) for one in found if one.job in chosen]
    return Answer(head, tuple(items), {"is_worked": is_worked})


def _item(one: Status, memory: Memory) -> Item:
    is_asked = one.asked_at is not None
    stands = "paused" if one.is_paused else "runs" if one.is_running else one.schedule
    said = [f"{one.job}: {stands}"]
    if one.last and one.last.result:
        at = f"{one.last.began_at.astimezone(memory.zone):%Y-%m-%d %H:%M}"
        error = f" ({line(one.last.error, 120)})" if one.last.error else ""
        said.append(f"last {at} {one.last.result}{error}, {one.last.made} made")
    said += ["asked for"] * is_asked
    if one.next_at:
        said.append(f"next {one.next_at.astimezone(memory.zone):%Y-%m-%d %H:%M}")
    told = {
        "job": one.job.value,
        "schedule": one.schedule,
        "is_paused": one.is_paused,
        "is_running": one.is_running,
        "is_asked": is_asked,
        "next_at": one.next_at.isoformat() if one.next_at else None,
    }
    return Item("; ".join(said), told)


TOOLS = (
    Tool(
        "scheduler_status",
        "When summaries are made and whether a memtui is at work.",
        status,
    ),
    Tool("scheduler_pause", "Let summary jobs rest.", pause, (_JOBS,), is_writing=True),
    Tool(
        "scheduler_resume",
        "Let summary jobs run again.",
        resume,
        (_JOBS,),
        is_writing=True,
    ),
    Tool(
        "scheduler_run_now",
        "Ask for a run of summary jobs now.",
        run_now,
        (_JOBS,),
        is_writing=True,
    ),
)
"""What looks after the jobs."""
