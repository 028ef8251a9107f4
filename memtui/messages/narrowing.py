"""What is said when the app is narrowed to a part of the memory.

The app holds one scope, ``app.scope``; whoever shows several things at once shows those
that are of it. A screen is handed the scope when it is made, and hears ``Narrowed``
when it changes. ``screens/filter.py`` is where a person chooses it.
"""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.memory.scopes import Scope
    from memtui.recall.parts import Parts


class Narrowed(Message, bubble=False):
    """The whole app shows another part of the memory from now on.

    It does not bubble: the app hands it down to its screens.
    """

    def __init__(self, scope: "Scope") -> None:
        super().__init__()
        self.scope = scope


class PartsRead(Message):
    """The parts that one can choose among are known."""

    def __init__(self, parts: "Parts") -> None:
        super().__init__()
        self.parts = parts
