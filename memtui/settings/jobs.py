"""The settings of when the model rolls up."""

from memtui.memory.setting import Setting


def _fault(cron: str) -> str:
    from memtui.memory import schedules  # noqa: PLC0415 - only who sets one waits

    return schedules.fault(cron)


JOBS = (
    Setting(
        "jobs.day",
        "0 1 * * *",
        "When the model rolls up days: a cron expression of minute, hour, day of the"
        " month, month and day of the week, in the store's time zone. What was missed"
        " is made up for.",
        check=_fault,
    ),
    Setting(
        "jobs.week",
        "0 2 * * 0",
        "When the model rolls up weeks.",
        check=_fault,
    ),
    Setting(
        "jobs.month",
        "0 3 1 * *",
        "When the model rolls up months.",
        check=_fault,
    ),
    Setting(
        "jobs.year",
        "0 4 1 1 *",
        "When the model rolls up years.",
        check=_fault,
    ),
    Setting(
        "jobs.jitter_s",
        300,
        "How much later than its time a roll-up may begin, so that several memories"
        " do not ask the model at once. The same for each time, whenever it is asked.",
        unit="seconds",
        least=0,
    ),
)
"""In the order of the file."""
