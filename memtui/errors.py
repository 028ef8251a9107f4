"""The errors that memtui raises itself; their messages are shown to the user."""

from collections.abc import Sequence

DISK_FULL = "the disk is full: free some room"
"""The beginning of every error about a full disk."""


class MemtuiError(Exception):
    """The base class of memtui's errors."""


class AmbiguousError(MemtuiError):
    """A name fits several things; the message lists some of them."""

    def __init__(self, name: str, nouns: str, names: Sequence[str], count: int) -> None:
        """List what the name may mean.

        Args:
            name: The name.
            nouns: The plural noun of the things: ``sessions``.
            names: The names of some of them.
            count: How many there are.
        """
        lines = [f"{name!r} could be any of {count:,} {nouns}:"]
        lines += [f"  {candidate}" for candidate in names]
        if more := count - len(names):
            lines.append(f"  and {more:,} more")
        super().__init__("\n".join(lines))


class UsageError(MemtuiError):
    """The command or the question cannot be understood."""


class UnconfirmedError(MemtuiError):
    """A change needs confirmation, and there is no terminal to ask at."""


class SettingsError(MemtuiError):
    """A setting is unknown or has an invalid value."""


class StoreError(MemtuiError):
    """The database cannot be opened, read or written."""


class StoreBusyError(StoreError):
    """Another process is writing and did not finish in time."""


class StoreVersionError(StoreError):
    """The database was made by another version of memtui."""


class StoreGoneError(StoreError):
    """The database was moved, deleted or replaced."""


class StoreDamagedError(StoreError):
    """The database is damaged, or not a database."""


class SpoolError(MemtuiError):
    """The spool cannot be read or written."""


class SourceError(MemtuiError):
    """A file has no known format."""


class SearchError(MemtuiError):
    """The index cannot be opened or written."""


class HooksError(MemtuiError):
    """An agent's settings cannot be read or changed; they are unchanged."""


class VocabularyError(MemtuiError):
    """The vocabulary of the tokenizer cannot be downloaded."""


class ModelError(MemtuiError):
    """The model cannot be used now; everything else works."""
