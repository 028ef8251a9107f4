"""The base of the lists of the app."""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Generic, TypeVar

from textual.binding import BindingType
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.tui import commands

Item = TypeVar("Item")


class ItemList(OptionList, Generic[Item], inherit_bindings=False):
    """An option list whose options show items; the cursor stays on its item.

    A narrower list is cut off: it cannot be laid out.
    """

    DEFAULT_CSS = "ItemList { min-width: 8; }"
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down"
    )

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, markup=False)
        # The items by the ids of their options; headings have no id.
        self.items: dict[str, Item] = {}

    @property
    def current(self) -> Item | None:
        option = self.highlighted_option
        return self.items.get(option.id or "") if option is not None else None

    def show_items(
        self, items: Mapping[str, Item], options: Iterable[Option], cursor: str = ""
    ) -> None:
        """List other items, by the ids of their options.

        The cursor goes to the named item, else to the same item, else to the first.
        """
        before = self.highlighted_option
        self.items = {**items}
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(options)
        ids = [cursor, before.id if before and before.id else "", *items]
        if here := next((one for one in ids if one in items), ""):
            self.highlighted = self.get_option_index(here)

    def watch_loading(self) -> None:
        """Offer the keys of the list again once it has loaded."""
        self.refresh_bindings()

    def action_open(self) -> None:
        self.action_select()

    def action_page_down(self) -> None:
        if is_drawn(self):
            super().action_page_down()  # type: ignore[no-untyped-call]

    def action_page_up(self) -> None:
        if is_drawn(self):
            super().action_page_up()  # type: ignore[no-untyped-call]


def is_drawn(options: OptionList) -> bool:
    """Return whether the list has a size: without one, page keys would end the app."""
    return bool(options.scrollable_content_region)
