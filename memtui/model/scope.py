"""A scope: the part of the store of an agent, a project or a keyword."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """A filter by agent, project and keyword; an empty field filters nothing.

    A segment is in a scope if it is of the agent and the project and has the keyword;
    a wider node is in it if a segment below it is.
    """

    agent: str = ""
    project: str = ""
    keyword: str = ""
    """In any case."""

    @property
    def is_narrow(self) -> bool:
        return bool(self.agent or self.project or self.keyword)

    def __str__(self) -> str:
        """Return its description: ``codex in shop``, ``shop about “retries”``."""
        whose = " in ".join(part for part in (self.agent, self.project) if part)
        about = f"about “{self.keyword}”" if self.keyword else ""
        return " ".join(part for part in (whose, about) if part)


ALL = Scope()
