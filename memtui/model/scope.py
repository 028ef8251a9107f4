"""A scope: the part of the memory an agent, a project or a keyword marks off."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose work is meant, and about what; all of it where nothing is said.

    A stretch of work is of a scope if it is of the agent and of the project and
    carries the keyword; whatever is wider is of it if a stretch in it is.
    """

    agent: str = ""
    project: str = ""
    keyword: str = ""
    """In whatever case, as a reader would write it."""

    @property
    def is_narrow(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.agent or self.project or self.keyword)

    def __str__(self) -> str:
        """How a sentence names it: ``codex in shop``, ``shop about “retries”``."""
        whose = " in ".join(part for part in (self.agent, self.project) if part)
        about = f"about “{self.keyword}”" if self.keyword else ""
        return " ".join(part for part in (whose, about) if part)


ALL = Scope()
"""The whole memory."""
