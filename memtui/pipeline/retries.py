"""When one thing cannot be done: it waits, longer each time, and blocks no other."""

import logging
from collections.abc import Callable
from typing import TypeVar

from memtui.errors import StoreError
from memtui.store.database import MAX_RETRY_MS

log = logging.getLogger(__name__)

MIN_RETRY_MS, LAST_MS = 60_000, MAX_RETRY_MS
"""The first and the longest wait before another try, in milliseconds."""

T = TypeVar("T")


def try_item(action: Callable[[], T]) -> T | Exception:
    """Do something, or say why it could not be done. Whatever goes wrong is logged.

    Raises:
        StoreError: The store itself failed: that is not the fault of one item.
    """
    try:
        return action()
    except StoreError:
        raise
    except Exception as error:
        log.exception("one item failed")
        return error


def next_retry_ms(failures: int, now_ms: int) -> int:
    """When to try again after this many failures before: twice as late each time."""
    return int(now_ms + min(MIN_RETRY_MS * 2 ** min(failures, 20), LAST_MS))
