"""The skill: a file of ours in full, in the folder an agent reads skills from."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.machine import Machine

_SOURCE = Path(__file__).with_name("skill.md")
_MARK = "<!-- Written by memtui"
"""What stands in a skill of ours."""


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that teaches how the memory is asked."""

    name: str
    file: Callable[[Machine], Path]
    skeleton: str = ""
    is_own_file: bool = True

    def with_own(self, text: str) -> "Skill":
        """The same: it is ours in full."""
        return self

    def wanted(self, machine: Machine) -> list[Entry]:
        """The whole of it."""
        return [_entry(_SOURCE.read_text("utf-8"))]

    def ours(self, text: str) -> list[Entry]:
        """What stands there, if we wrote it."""
        return [_entry(text)] if _MARK in text else []

    def added(self, text: str, machine: Machine) -> str:
        """The skill."""
        return _SOURCE.read_text("utf-8")

    def removed(self, text: str) -> str:
        """Nothing, if it is our skill."""
        return "" if _MARK in text else text

    def check(self, text: str) -> None:
        """Make sure that a file in our skill's place is ours.

        Raises:
            NotJson: It is not.
        """
        if text.strip() and _MARK not in text:
            raise NotJson("line 1: it is not a skill that memtui wrote")


def _entry(text: str) -> Entry:
    return Entry("skill", {"text": text}, is_grouped=False)
