"""What the settings say of the jobs' times, as plain values for who keeps them."""

from datetime import tzinfo
from pathlib import Path
from typing import Any

from memtui.memory.jobs import ROLL_UPS
from memtui.memory.schedules import Plan
from memtui.settings import Settings


def plan(settings: Settings, zone: tzinfo, store: Path) -> Plan:
    """When each job of a store is due."""

    def value(name: str) -> Any:
        return settings.held[f"jobs.{name}"].value

    return Plan(
        crons={job: value(job.level) for job in ROLL_UPS},
        zone=zone,
        jitter_s=value("jitter_s"),
        store=str(store.resolve()),
    )
