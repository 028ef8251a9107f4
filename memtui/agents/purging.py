"""How long Claude Code keeps its transcripts before it deletes them."""

import json

from memtui.agents import known
from memtui.agents.machine import Machine

AGENT = "claude-code"

SETTING = "cleanupPeriodDays"
DAYS = 30
"""What holds where the setting is missing, in days."""


def days(machine: Machine) -> float:
    """For how many days transcripts are kept after they were last written to."""
    try:
        told = json.loads(known.named(AGENT).file(machine).read_bytes())
        said = told.get(SETTING, DAYS)
    except (OSError, ValueError, AttributeError):
        return DAYS
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return said if is_number and said >= 0 else DAYS
