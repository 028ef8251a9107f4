"""Orders: the ways in which sessions can be listed."""

from enum import StrEnum


class Order(StrEnum):
    """What the list of sessions goes by."""

    NEWEST = "newest first"
    OLDEST = "oldest first"
    LONGEST = "longest first"
    MESSAGES = "most messages first"
    TITLE = "by title"

    @property
    def next(self) -> "Order":
        """The one after this, and after the last the first."""
        every = list(Order)
        return every[(every.index(self) + 1) % len(every)]
