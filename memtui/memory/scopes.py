"""A scope: the part of the memory that one agent, one project or both have made."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose work is meant; all of it where both are empty."""

    agent: str = ""
    project: str = ""

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.agent or self.project)

    def __str__(self) -> str:
        """How a sentence names it: ``codex in shop``."""
        return " in ".join(part for part in (self.agent, self.project) if part)


ALL = Scope()
"""The whole memory."""
