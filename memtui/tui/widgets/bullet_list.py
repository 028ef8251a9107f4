"""The bullets of a node, each with its verdict, its number of sources, and its quotes.

Quotes are collapsed until asked for. The list posts which source belongs to the cursor.
"""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual import on
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState

from memtui.model.nodes import Bullet, TocNode
from memtui.services import grip_events
from memtui.tui import commands, format, workers
from memtui.tui.messages import PaneLeft, SourceRequested, SourceSelected
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph

WHY_NO_SOURCE = (
    "Nothing was found in the conversation that supports this bullet.\n"
    "Treat it with caution."
)

BulletPosition = tuple[int, int]
"""A bullet and one of its grips or quotes, both from 0; -1 for the bullet itself."""


class BulletList(ItemList[BulletPosition]):
    """Moves through bullets and quotes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            open="Open the source of this bullet.",
            toggle_expanded="Show or hide the quotes of this bullet.",
            deeper="Show the quotes of this bullet, or open its source.",
            outward="Hide the quotes, or go back to the contents.",
        ),
        *commands.bindings("show_withheld", in_footer=True),
    ]
    HELP_TITLE = "On the page"

    def __init__(self) -> None:
        super().__init__()
        self.node_id = ""
        self.bullets: tuple[Bullet, ...] = ()
        """The listed bullets: those of the node, then the withheld ones if shown."""
        self._withheld: tuple[Bullet, ...] = ()
        self._shows_withheld = False
        self._explained = -1
        """The bullet whose verdict is explained."""
        self._quotes: dict[int, Sequence[str]] = {}
        """The quotes of the expanded bullets; empty while they are being read."""
        self._grip: BulletPosition = (0, 0)
        """The bullet and grip whose source is shown."""

    def show(self, node: TocNode) -> None:
        """Show the bullets of a node; for the same node, keep cursor and quotes."""
        expanded = {self.bullets[index].text for index in self._quotes}
        if node.node_id != self.node_id:
            expanded, self._grip = set(), (0, 0)
            self._shows_withheld = False
        self.node_id, self._withheld = node.node_id, node.withheld
        self.bullets = node.bullets
        if self._shows_withheld:
            self.bullets += node.withheld
        if self._grip[0] >= len(self.bullets):
            self._grip = (0, 0)
        self.refresh_bindings()
        self._quotes.clear()
        for index, bullet in enumerate(self.bullets):
            if bullet.text in expanded:
                self._expand(index)
        self._update_options((self._grip[0], -1))

    def clear(self) -> None:
        self.node_id, self.bullets, self._withheld = "", (), ()
        self._quotes.clear()
        self.refresh_bindings()
        self._update_options((0, -1))

    # Withheld bullets

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """Offer to show withheld bullets only where there are some."""
        return action != "show_withheld" or bool(self._withheld)

    def action_show_withheld(self) -> None:
        self.toggle_withheld()

    def toggle_withheld(self) -> bool:
        """Show or hide the bullets no source supports; False if there are none."""
        if not self._withheld:
            self.notify("Nothing is hidden on this page.", markup=False)
            return False
        first = self._first_withheld
        self._shows_withheld = not self._shows_withheld
        if self._shows_withheld:
            self.bullets += self._withheld
            self._update_options((first, -1))
            return True
        self.bullets = self.bullets[:first]
        self._quotes = {at: some for at, some in self._quotes.items() if at < first}
        position = self.current or (0, -1)
        hidden = position[0] >= first
        self._update_options((max(first - 1, 0), -1) if hidden else position)
        return True

    @property
    def _first_withheld(self) -> int:
        """The index of the first withheld bullet, shown or not."""
        return len(self.bullets) - len(self._withheld) * self._shows_withheld

    # Options

    def _update_options(self, cursor: BulletPosition) -> None:
        """Build all options again and put the cursor on a bullet or quote."""
        count = len(self._withheld)
        claims = format.quantity(count, "unsupported claim")
        key = f"u: {'hide' if self._shows_withheld else 'show'}"
        text = Content.styled(f"{claims} of the model ({key})", "italic $context")
        hidden = (
            [Option(Paragraph(Content("  "), text), disabled=True)] if count else []
        )
        items: dict[str, BulletPosition] = {}
        options: list[Option] = []
        self._explained = cursor[0]
        for index in range(len(self.bullets)):
            if index == self._first_withheld:
                options += hidden
            rows = [self._bullet(index), *map(_draw_quote, self._quotes.get(index, ()))]
            for number, row in enumerate(rows, -1):
                name = _name((index, number))
                items[name] = (index, number)
                options.append(Option(row, id=name))
        if not self._shows_withheld:
            options += hidden
        is_listed = _name(cursor) in items
        self.show_items(items, options, _name(cursor if is_listed else (cursor[0], -1)))

    def _bullet(self, index: int) -> Paragraph:
        is_expanded = index in self._quotes
        return _draw_bullet(
            self.bullets[index],
            is_expanded=is_expanded,
            is_explained=is_expanded or index == self._explained,
            is_withheld=index >= self._first_withheld,
        )

    def _explain(self, bullet: int) -> None:
        """Explain the verdict on a bullet, and no longer that on the previous one."""
        before, self._explained = self._explained, bullet
        for index in {before, bullet} if before != bullet else ():
            if (name := _name((index, -1))) in self.items:
                self.replace_option_prompt(name, self._bullet(index))
        self.scroll_to_highlight()

    # Cursor and sources

    @property
    def grip_id(self) -> str:
        """The grip whose source is shown, "" for none."""
        bullet, grip = self._grip
        grips = self.bullets[bullet].grip_ids if self.bullets else ()
        return grips[min(grip, len(grips) - 1)] if grips else ""

    @on(OptionList.OptionHighlighted)
    def follow_cursor(self, event: OptionList.OptionHighlighted) -> None:
        """Request the source of the bullet or quote under the cursor."""
        event.stop()
        position = self.current
        if event.option_index != self.highlighted or position is None:
            return  # The cursor has moved on since.
        bullet, quote = position
        self._explain(bullet)
        if quote >= 0:
            self._grip = bullet, quote
        elif bullet != self._grip[0]:
            self._grip = bullet, 0
        self.request_source()

    def request_source(self) -> bool:
        """Request the source that belongs to the cursor; False without bullets."""
        if not self.bullets:
            return False
        index, grip = self._grip
        bullet = self.bullets[index]
        if grips := bullet.grip_ids:
            at = min(grip, len(grips) - 1)
            which = grips[at], at + 1, len(grips)
            wanted = SourceRequested(*which, "", bullet.verdict, bullet=index + 1)
        else:
            wanted = SourceRequested("", 0, 0, WHY_NO_SOURCE, bullet=index + 1)
        self.post_message(wanted)
        return True

    def step_grip(self, by: int) -> bool:
        """Go to the next (1) or previous (-1) grip; False if there is none."""
        grips = [
            (index, grip)
            for index, bullet in enumerate(self.bullets)
            for grip in range(len(bullet.grip_ids))
        ]
        here = self._grip
        ahead = [grip for grip in grips if (grip > here if by > 0 else grip < here)]
        if ahead:
            self._go_to(ahead[0] if by > 0 else ahead[-1])
        return bool(ahead)

    def go_to_grip(self, grip_id: str) -> None:
        """Go to the first bullet that has a grip."""
        for index, bullet in enumerate(self.bullets):
            if grip_id in bullet.grip_ids:
                self._go_to((index, bullet.grip_ids.index(grip_id)))
                return

    def _go_to(self, grip: BulletPosition) -> None:
        self._grip = grip
        name = _name(grip)
        is_listed = name in self.items
        name = name if is_listed else _name((grip[0], -1))
        self.highlighted = self.get_option_index(name)
        self.request_source()

    # Quotes

    def _expand(self, bullet: int) -> None:
        self._quotes[bullet] = ()
        read = partial(_read_quotes, self.bullets[bullet].grip_ids)
        show = partial(self._show_quotes, self.node_id, bullet)
        workers.run(self, read, show, "quotes")

    def _show_quotes(self, node_id: str, bullet: int, quotes: Sequence[str]) -> None:
        if node_id == self.node_id and bullet in self._quotes:
            self._quotes[bullet] = quotes
            self._update_options(self.current or (0, -1))

    @on(Worker.StateChanged)
    def show_error(self, event: Worker.StateChanged) -> None:
        """Notify why quotes could not be read."""
        if event.state is WorkerState.ERROR:
            event.stop()
            reason = format.error_text(event.worker.error)
            self.notify(
                f"The quotes could not be read: {reason}. Expand again to retry.",
                severity="error",
                markup=False,
            )

    # Keys

    def action_toggle_expanded(self) -> None:
        if self.current is None:
            return
        bullet = self.current[0]
        if not self.bullets[bullet].grip_ids:
            self.notify("This bullet has no source to quote.", markup=False)
            return
        if bullet in self._quotes:
            del self._quotes[bullet]
        else:
            self._expand(bullet)
        self._update_options((bullet, -1))

    def action_deeper(self) -> None:
        """Show the quotes; where they are shown, open the source."""
        bullet, quote = self.current or (0, 0)
        if quote < 0 and bullet not in self._quotes and self.bullets[bullet].grip_ids:
            self.action_toggle_expanded()
        else:
            self.action_open()

    def action_outward(self) -> None:
        """Go from a quote to its bullet, hide the quotes, or leave the list."""
        bullet, quote = self.current or (-1, -1)
        if quote >= 0:
            self.highlighted = self.get_option_index(_name((bullet, -1)))
        elif bullet in self._quotes:
            self.action_toggle_expanded()
        else:
            self.post_message(PaneLeft())

    def action_open(self) -> None:
        if self.current is None:
            self.notify("There are no bullets here yet.", markup=False)
        elif not self.bullets[self.current[0]].grip_ids:
            self.notify("This bullet has no source to open.", markup=False)
        else:
            self.post_message(SourceSelected())

    @on(OptionList.OptionSelected)
    def open_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_open()


def _name(position: BulletPosition) -> str:
    """Return the id of the option of a bullet or quote."""
    return f"{position[0]}/{position[1]}"


def _read_quotes(grip_ids: Sequence[str]) -> Sequence[str]:
    expansions = [
        grip_events.expand(grip_id, before=0, after=0) for grip_id in grip_ids
    ]
    return [one.grip.excerpt if one.grip else "" for one in expansions]


def _draw_bullet(
    bullet: Bullet, *, is_expanded: bool, is_explained: bool, is_withheld: bool
) -> Paragraph:
    style = "$context" if is_withheld and not is_explained else ""
    text = draw_text(bullet, style)
    reason = ""
    if is_explained:
        from memtui.services import explain  # not needed at the start

        reason = explain.explain_verdict(bullet)
    under = [Content.styled(reason, "not bold")] if reason else []
    if not bullet.grip_ids:
        end = Content.styled("no source", "$error")
    else:
        count = f"{len(bullet.grip_ids)} {'▾' if is_expanded else '▸'}"
        words = "" if bullet.has_support else "closest words "
        end = Content.styled(words + count, "$context")
    return Paragraph(draw_mark(bullet), text, end, under)


def draw_text(bullet: Bullet, style: str = "") -> Content:
    """Draw a bullet on one line, its label dimmed."""
    label = bullet.labelled.removesuffix(bullet.text)
    text = Content.styled(" ".join(bullet.text.split()), style)
    return Content.styled(label, "$context") + text


def draw_mark(bullet: Bullet) -> Content:
    mark = format.bullet_mark(bullet)
    is_dim = mark in (format.SUPPORTED, format.QUOTED)
    style = "$context" if is_dim else ""
    return Content.styled(f"{mark} ", style if bullet.has_support else "$error")


def _draw_quote(text: str) -> Paragraph:
    quote = f"“{' '.join(text.split())}”" if text else "source no longer available"
    return Paragraph(Content("    "), Content.styled(quote, "italic $evidence"))
