"""The head of the search bar: what is typed, how much was found, and in which view."""

from collections.abc import Collection

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from memtui.widgets import found_words
from memtui.widgets.filter_suggester import FilterSuggester
from memtui.widgets.found_lines import View


class FoundHead(Vertical):
    """A line to type in, and what was found and where, beside it or under it."""

    def __init__(self, typed: str, views: Collection[View]) -> None:
        super().__init__(id="head")
        self._first, self._views = typed, views
        self.suggester = FilterSuggester()

    def compose(self) -> ComposeResult:
        """The parts; one line where there is room, else two."""
        with Horizontal(id="asking"):
            yield Static("/", id="slash")
            yield Input(
                self._first,
                placeholder="search everything",
                compact=True,
                select_on_focus=True,
                suggester=self.suggester,
                id="query",
            )
        with Horizontal(id="told"):
            yield Static("", id="measure", markup=False)
            yield Static("", id="views", markup=False)

    @property
    def typed(self) -> str:
        """What stands there."""
        return self.query_one(Input).value

    def type(self, text: str) -> None:
        """Put something else there."""
        line = self.query_one(Input)
        line.value = text
        line.cursor_position = len(text)

    def say_view(self, view: View) -> None:
        """Say what is looked through."""
        told = found_words.views(view, self._views)
        self.query_one("#views", Static).update(told)

    def say_measure(self, words: str) -> None:
        """Say how much was found."""
        self.query_one("#measure", Static).update(Content(words))
