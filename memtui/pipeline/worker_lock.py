"""One process at a time works a store: whoever holds the lock on its claim file.

The lock belongs to the process: when it ends, however it ends, the next one gets it.
"""

import fcntl
import os
from pathlib import Path

from memtui.errors import StoreError

PROC_LOCKS = Path("/proc/locks")
"""Where Linux lists the locks that are held."""


def find_holder(file: Path, locks: Path = PROC_LOCKS) -> int | None:
    """The process that works a store, without getting in its way.

    Args:
        file: The claim's file.
        locks: The list of locks.

    Returns:
        Its number, 0 for none; None on a system that does not tell.
    """
    try:
        held = locks.read_text("utf-8", "replace").splitlines()
        inode = str(file.stat().st_ino)
    except FileNotFoundError:
        return 0 if locks.exists() else None
    except OSError:
        return None
    for line in held:
        # 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF; who waits has "->".
        words = line.split()
        if words[1:2] == ["FLOCK"] and words[5].rpartition(":")[2] == inode:
            return int(words[4])
    return 0


class WorkerLock:
    """The right to work a store."""

    def __init__(self, file: Path) -> None:
        """Remember the claim's file; it is made when first asked for."""
        self._file = file
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """Whether this process works the store."""
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Try to get the right, without waiting; whether it is held now.

        Raises:
            StoreError: The file cannot be written.
        """
        if self.is_held:
            if self._is_current():
                return True
            self.release()
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(self._file, flags, 0o600)
        except OSError as error:
            raise StoreError(f"{self._file}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def _is_current(self) -> bool:
        """Whether the file that is locked is the one that others find."""
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._file.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Give the right up."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
