"""What can go wrong.

* MemtuiError
  - Several         a name fits several things, some of which are told
  - UsageError      what was asked for is nothing that can be done
  - UnconfirmedError  a change needs confirmation, and nobody can be asked
  - SettingsError   a setting is unknown or has a value it cannot have
  - StoreError      the database cannot be opened, read or written
    + StoreBusy     another process is writing and did not let go in time
    + StoreVersionError  the database was made by another version of memtui
    + StoreGone     the database is not where it was opened
    + StoreDamaged  the database is no database any more, or not a whole one
  - SpoolError      the hooks directory cannot be read or written
  - SourceError     a file cannot be read as any format we know
  - SearchError     the index cannot be opened or written
  - HooksError      an agent's settings cannot be read or changed
  - TokensError     the tokeniser's vocabulary cannot be fetched
  - ModelError      a model does not summarise now; see ``summarize.ollama.errors``
"""

from collections.abc import Sequence

DISK_FULL = "the disk is full: free some room"
"""What is said first of whatever could not be written for want of room."""


class MemtuiError(Exception):
    """The base of all our errors. The message is shown to the reader as it is."""


class AmbiguousError(MemtuiError):
    """A name fits several things: the message tells some of them."""

    def __init__(self, asked: str, what: str, names: Sequence[str], count: int) -> None:
        """Say what could be meant.

        Args:
            asked: The name.
            what: What the things are called.
            names: Some of them.
            count: How many there are.
        """
        told = [f"{asked!r} could be any of {count:,} {what}:"]
        told += [f"  {name}" for name in names]
        if more := count - len(names):
            told.append(f"  and {more:,} more")
        super().__init__("\n".join(told))


class UsageError(MemtuiError):
    """What was asked for is nothing that can be done, whatever is kept."""


class UnconfirmedError(MemtuiError):
    """A change needs confirmation, and there is no terminal to ask at."""


class SettingsError(MemtuiError):
    """A setting is unknown or has a value it cannot have."""


class StoreError(MemtuiError):
    """The database cannot be opened, read or written."""


class StoreBusyError(StoreError):
    """Another process is writing and did not let go in time."""


class StoreVersionError(StoreError):
    """The database was made by another version of memtui."""


class StoreGoneError(StoreError):
    """The database is not where it was opened: it was moved, deleted or replaced."""


class StoreDamagedError(StoreError):
    """The database is no database any more, or not a whole one."""


class SpoolError(MemtuiError):
    """The hooks directory cannot be read or written."""


class SourceError(MemtuiError):
    """A file cannot be read as any format we know."""


class SearchError(MemtuiError):
    """The index cannot be opened or written."""


class HooksError(MemtuiError):
    """An agent's settings cannot be read or changed; they are as they were."""


class VocabularyError(MemtuiError):
    """The tokeniser's vocabulary cannot be fetched."""


class ModelError(MemtuiError):
    """A model does not summarise now; what there is without it stays."""
