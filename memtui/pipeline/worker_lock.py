"""The file lock that lets one process at a time run the pipeline of a store.

The operating system releases the lock when the process ends, however it ends.
"""

import fcntl
import os
from pathlib import Path

from memtui.errors import StoreError

PROC_LOCKS = Path("/proc/locks")
"""The file in which Linux lists file locks."""


def find_holder(file: Path, locks: Path = PROC_LOCKS) -> int | None:
    """Return the id of the process that holds the lock, without taking it.

    Returns:
        0 if nobody holds it; None on a system without ``/proc/locks``.
    """
    try:
        held = locks.read_text("utf-8", "replace").splitlines()
        inode = str(file.stat().st_ino)
    except FileNotFoundError:
        return 0 if locks.exists() else None
    except OSError:
        return None
    for line in held:
        # 1: FLOCK  ADVISORY  WRITE 4711 fe:00:131074 0 EOF; a waiting process has "->".
        words = line.split()
        if words[1:2] == ["FLOCK"] and words[5].rpartition(":")[2] == inode:
            return int(words[4])
    return 0


class WorkerLock:
    """The lock of a store's pipeline."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    def acquire(self) -> bool:
        """Try to take the lock without waiting; return whether it is held.

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
        """Return whether the locked file is still the one at its path."""
        if self._descriptor is None:
            return False
        try:
            return os.path.samestat(os.fstat(self._descriptor), self._file.stat())
        except OSError:
            return False

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
