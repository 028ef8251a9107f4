"""What has changed since somebody last asked; told and asked on any thread."""

import threading
from collections.abc import Iterable


class Changes:
    """Ids of nodes whose line or page may be another now."""

    def __init__(self) -> None:
        """Begin with none."""
        self._names: set[str] = set()
        self._lock = threading.Lock()

    def update(self, *some: Iterable[str]) -> None:
        """Add some."""
        with self._lock:
            self._names.update(*some)

    def take(self) -> frozenset[str]:
        """All that were added since this was last asked."""
        with self._lock:
            taken, self._names = frozenset(self._names), set()
        return taken
