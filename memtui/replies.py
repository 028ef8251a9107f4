"""What a terminal answers by itself is no key: it is left out of what is typed.

Such an answer comes late over a slow line, or after another program that asked for it.
Only what is whole is taken for one, and none that a key or the mouse sends.
"""

import re
from collections.abc import Iterable

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
_UNDONE = re.compile(r"\x1b\[[<?>=][\d;:-]*\Z")
"""The beginning of an answer or of what the mouse sends: no key begins so."""


class Parser(XTermParser):
    """Reads keys, pastes and the mouse, and nothing else."""

    _held = ""
    _is_pasting = False

    def feed(self, data: str) -> Iterable[Message]:
        """Parse what was read, without the terminal's answers; "" at its end."""
        return super().feed(kept) if (kept := self._kept(data)) or not data else ()

    def _kept(self, data: str) -> str:
        data, self._held = (self._held + data if data else ""), ""
        was_pasting = self._is_pasting
        begun, ended = (
            data.rfind(mark) for mark in (BRACKETED_PASTE_START, BRACKETED_PASTE_END)
        )
        if begun != ended:
            self._is_pasting = begun > ended
        if was_pasting or begun >= 0:
            return data
        data = _REPLY.sub("", data)
        if undone := _UNDONE.search(data):
            data, self._held = data[: undone.start()], undone.group()
        return data


def unheard(driver: type[Driver]) -> type[Driver]:
    """The same driver; one that reads a terminal itself does not hear its answers."""
    if driver.__module__ == "textual.drivers.linux_driver":
        from textual.drivers import linux_driver  # noqa: PLC0415 - not on every system

        vars(linux_driver)["XTermParser"] = Parser
    return driver
