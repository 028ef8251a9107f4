"""How the panes of a screen lie, by how wide it is."""

from collections.abc import Callable
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.message import Message
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widgets import Input, OptionList

from memtui.tui import workers
from memtui.tui.messages import WentBack
from memtui.tui.widgets.detail_pane import Reader
from memtui.tui.widgets.key_line import KeyLine

LAYOUTS = [(0, "-narrow"), (100, "-normal"), (160, "-wide")]
"""From which width in columns on which layout holds."""


HEIGHTS = [(0, "-low"), (30, "-tall")]
"""From which height in lines on there is room for what is only nice to have."""


AGAIN = f"{workers.TRIED_AGAIN[:-1]}; esc goes back."
"""What is said where nothing could be read."""


class Following(Screen[ScreenResultType]):
    """A screen that looks again, and rests between."""

    REST_S: ClassVar[float] = workers.AGAIN_S
    """How long it rests before it looks again, in seconds."""

    _is_due = False
    _rests = False

    def ask(self, ask: Callable[[], None], group: str) -> None:
        """Read on a thread; what was asked before in this group gives way."""
        workers.ask(self, ask, group)

    def tell(self, message: Message) -> None:
        """Tell what was asked, from the thread; dropped if that was asked anew."""
        workers.tell(self, message)

    def do(self, doing: Callable[[], None], group: str) -> None:
        """Do something on a thread, which posts what came of it."""
        workers.do(self, doing, group)

    def read_anew(self) -> None:
        """Read what is shown once more."""
        raise NotImplementedError

    def look_again(self) -> None:
        """Look now, or as soon as the screen has rested."""
        self._is_due = True
        self._look_if_rested()

    def look_soon(self) -> None:
        """Look again after a rest: this time it could not be read."""
        self.set_timer(self.REST_S, self.look_again)

    def _look_if_rested(self) -> None:
        if self._is_due and not self._rests:
            self._is_due, self._rests = False, True
            self.read_anew()
            self.set_timer(self.REST_S, self._rested)

    def _rested(self) -> None:
        self._rests = False
        self._look_if_rested()


class Dialog(ModalScreen[ScreenResultType]):
    """Lays its own line of keys over that of the screen below."""

    def compose(self) -> ComposeResult:
        """What is asked, and the keys that answer."""
        yield from self.ask()
        yield KeyLine()

    def ask(self) -> ComposeResult:
        """What is asked."""
        raise NotImplementedError

    async def action_submit(self) -> None:
        """Take what is typed."""
        await self.query_one(Input).action_submit()


class Choosing(Following[ScreenResultType]):
    """A screen of two panes: the list, and the reader of what is chosen."""

    HORIZONTAL_BREAKPOINTS = LAYOUTS

    @property
    def _list(self) -> OptionList:
        return self.query_one(OptionList)

    @property
    def _reader(self) -> Reader:
        return self.query_one(Reader)

    @on(OptionList.OptionSelected)
    def action_next_pane(self) -> None:
        """Go from the list to what there is of the chosen one, and back."""
        (self._reader if self._list.has_focus else self._list).focus()

    def action_previous_pane(self) -> None:
        """Go the other way round, which is the same."""
        self.action_next_pane()

    @on(WentBack)
    def action_back(self) -> None:
        """Back to the list, or leave."""
        if self._reader.has_focus:
            self._list.focus()
        else:
            self._leave()

    def _leave(self) -> None:
        self.dismiss(None)
