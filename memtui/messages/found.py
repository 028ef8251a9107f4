"""What the search bar hears."""

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from memtui.widgets.found_lines import Landing, Sheet, View


class Answered(Message):
    """A search has answered what was asked."""

    def __init__(self, view: "View", asked: str, sheet: "Sheet") -> None:
        super().__init__()
        self.view, self.asked, self.sheet = view, asked, sheet


class LandingFound(Message):
    """It is known which node something is opened at; an empty id where none is yet."""

    def __init__(self, landing: "Landing", node_id: str) -> None:
        super().__init__()
        self.landing, self.node_id = landing, node_id
