"""Threads that read for a screen: of what is asked twice the later answer counts.

A thread cannot be stopped. What it tells goes through here, and is dropped where the
same was asked again meanwhile: no older answer comes after a newer one.
"""

from collections.abc import Callable
from typing import Any

from textual.dom import DOMNode
from textual.message import Message
from textual.worker import Worker, get_current_worker

SLOW_S = 0.3
"""After so many seconds it is said that an answer takes its time."""

READING = "reading…"
"""What is said then, beside what is to be read."""

AGAIN_S = 1.0
"""How soon it is asked again what could not be read, in seconds."""

TRIED_AGAIN = "It is tried again by itself."
"""What is said of that."""


def ask(of: DOMNode, reading: Callable[[], None], group: str) -> None:
    """Read something on a thread; what was asked before in this group gives way.

    Args:
        of: The screen or widget; it is told ``Worker.StateChanged`` if that fails.
        reading: Reads, and tells what it read by ``tell``.
        group: What is asked.
    """
    of.run_worker(
        reading, group=group, thread=True, exclusive=True, exit_on_error=False
    )


def do(of: DOMNode, doing: Callable[[], None], group: str) -> None:
    """Do something on a thread, whatever else is done; it posts what came of it."""
    of.run_worker(doing, group=group, thread=True, exit_on_error=False)


def tell(of: DOMNode, message: Message) -> None:
    """Tell what was read, from the thread that read it; dropped if it gave way."""
    of.call_later(_pass_on, of, get_current_worker(), message)


def _pass_on(of: DOMNode, worker: Worker[Any], message: Message) -> None:
    # On the thread of the screens, where it is asked: nothing comes in between.
    if not worker.is_cancelled:
        of.post_message(message)
