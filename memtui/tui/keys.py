"""What a terminal answers by itself is no key: it is left out of what is typed.

Such an answer comes late over a slow line, or after another program that asked for it,
and in parts: what is begun is held until its end comes, for a moment. A key that begins
like an answer is held no longer than Textual itself holds it.
"""

import re
import time
from collections.abc import Iterable

from textual import constants
from textual._xterm_parser import (
    BRACKETED_PASTE_END,
    BRACKETED_PASTE_START,
    XTermParser,
)
from textual.driver import Driver
from textual.message import Message

_REPLY = re.compile(
    r"\x1b[\]P_^][^\x00-\x1f\x7f]*(?:\x07|\x1b\\)"  # colours, names, capabilities
    r"|\x1b\[[?>=][\d;:]*[A-Za-z]"  # what it is, and what it can do
    r"|\x1b\[(?!48;)\d+(?:;\d+){2}t|\x1b\[[03]n"  # its size and state
    r"|\x1b\[<[\d;-]*(?=[^\d;\-Mm])"  # the mouse, cut off
)


_UNDONE = re.compile(r"\x1b(?:\[[<?>=]?[\d;:-]*|[\]P_^][^\x00-\x1f\x7f]*\x1b?)?\Z")
"""What may be the beginning of an answer, or of a key."""


_PASTE_UNDONE = re.compile(r"\x1b(?:\[\d*)?\Z")
"""What may be the beginning of a paste's end."""


_SURE = re.compile(r"\x1b(?:\[[<?>=]|\]\d+;|P[\d>!+]|_G)")
"""The beginning of an answer or of what the mouse sends: no key begins so."""


LATE_S = 1.0
"""How long the end of an answer is waited for, in seconds; then it is let go of."""


class Parser(XTermParser):
    """Reads keys, pastes and the mouse, and nothing else."""

    _held = ""
    _until_s = 0.0
    _is_pasting = False

    def feed(self, data: str) -> Iterable[Message]:
        """Parse what was read, without the terminal's answers; "" at its end."""
        return super().feed(kept) if (kept := self._kept(data)) or not data else ()

    def tick(self) -> Iterable[Message]:
        """Let go of what was held, and tell the keys in it."""
        if self._held and time.monotonic() >= self._until_s:
            held, self._held = self._held, ""
            if not _SURE.match(held):
                yield from super().feed(held)
                if self._timeout_time is not None:
                    self._timeout_time = 0.0  # it has been waited for
        yield from super().tick()

    def _kept(self, data: str) -> str:
        data, self._held = (self._held + data if data else ""), ""
        was_pasting = self._is_pasting
        begun, ended = (
            data.rfind(mark) for mark in (BRACKETED_PASTE_START, BRACKETED_PASTE_END)
        )
        if begun != ended:
            self._is_pasting = begun > ended
        is_paste = was_pasting or begun >= 0
        data = data if is_paste else _REPLY.sub("", data)
        if undone := (_PASTE_UNDONE if is_paste else _UNDONE).search(data):
            data, self._held = data[: undone.start()], undone.group()
            wait_s = LATE_S if _SURE.match(self._held) else constants.ESCAPE_DELAY
            self._until_s = time.monotonic() + wait_s
        return data


def unheard(driver: type[Driver]) -> type[Driver]:
    """The same driver; one that reads a terminal itself does not hear its answers."""
    if driver.__module__ == "textual.drivers.linux_driver":
        from textual.drivers import linux_driver

        vars(linux_driver)["XTermParser"] = Parser
    return driver
