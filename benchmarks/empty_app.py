"""The smallest Textual app that shows something."""

from textual.app import App, ComposeResult
from textual.widgets import Static


class EmptyApp(App[None]):
    """One word on the screen."""

    def compose(self) -> ComposeResult:
        """Lay out the word."""
        yield Static("ready")


if __name__ == "__main__":
    EmptyApp().run()
