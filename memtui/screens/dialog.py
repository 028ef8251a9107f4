"""A question over a screen: only its own keys act meanwhile, and these are shown."""

from textual.app import ComposeResult
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Input

from memtui.widgets.key_line import KeyLine


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
