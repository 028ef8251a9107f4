"""The bullets of a node: each with its verdict and its sources, quotes folded away."""

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
from memtui.services import sources
from memtui.summarize.grounding import explain
from memtui.tui import commands, format
from memtui.tui.messages import QuotesRead, SourceOpened, SourceWanted, WentBack
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph

NO_SOURCE = "no source says this"
"""What stands beside a bullet without a grip."""


CLOSEST = "closest words"
"""What stands beside an unsupported bullet, before the number of its grips."""


def row(
    bullet: Bullet, *, is_open: bool, is_explained: bool, is_withheld: bool
) -> Paragraph:
    """A bullet: its mark, its text and its sources.

    Args:
        bullet: What to draw.
        is_open: Whether its quotes are shown under it.
        is_explained: Whether to say why it has its mark, where there is more to say
            than the mark does.
        is_withheld: Whether it is hidden unless a person wants to see it.
    """
    ink = "$context" if is_withheld and not is_explained else ""
    text = Content.styled(" ".join(bullet.text.split()), ink)
    why = explain.of(bullet) if is_explained else ""
    under = [Content.styled(why, "not bold")] if why else []
    return Paragraph(mark(bullet), text, _end(bullet, is_open=is_open), under)


def quote_row(words: str) -> Paragraph:
    """An excerpt, under its bullet."""
    told = f"“{' '.join(words.split())}”" if words else "no longer kept"
    return Paragraph(Content("    "), Content.styled(told, "italic $evidence"))


def hidden(count: int, *, is_shown: bool) -> Paragraph:
    """The line about what a model claimed and no source says.

    Args:
        count: How many claims; at least one.
        is_shown: Whether they follow it.
    """
    claims = format.counted(count, "claim")
    one, it = ("is", "it") if count == 1 else ("are", "them")
    told = f"{claims} of the model {one} hidden: no source says {it} (u shows {it})"
    if is_shown:
        told = f"{claims} of the model that no source says (u hides {it} again)"
    return Paragraph(Content("  "), Content.styled(told, "italic $context"))


def mark(bullet: Bullet) -> Content:
    """What stands before a bullet."""
    ink = "" if bullet.stands else "$error"
    if bullet.stands and format.mark(bullet.support) == format.SUPPORTED:
        ink = "$context"
    return Content.styled(f"{format.mark(bullet.support)} ", ink)


def _end(bullet: Bullet, *, is_open: bool) -> Content:
    if not bullet.grip_ids:
        return Content.styled(NO_SOURCE, "$error")
    fold = f"{len(bullet.grip_ids)} {'▾' if is_open else '▸'}"
    told = fold if bullet.stands else f"{CLOSEST} {fold}"
    return Content.styled(told, "$context")


WHY_NO_SOURCE = (
    "No source says this: nothing in the conversation was found that does.\n"
    "Read it with doubt."
)


Place = tuple[int, int]
"""A bullet, and one of its grips or quotes, both from 0; -1 is the bullet itself."""


class BulletList(ItemList, inherit_bindings=False):
    """Moves through bullets and quotes; says which source belongs beside them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
            open="Open the source of this bullet.",
            fold="Show or hide the quotes of this bullet.",
            deeper="Show the quotes of this bullet, or open its source.",
            outward="Hide the quotes, or go back to the contents.",
        ),
        *commands.bindings("show_withheld", in_footer=True),
    ]  # fmt: skip
    CALLED = "On the page"

    def __init__(self) -> None:
        super().__init__()
        self.node_id = ""
        self.bullets: tuple[Bullet, ...] = ()
        """What is shown: the node's bullets, then what is withheld if it is wanted."""
        self._withheld: tuple[Bullet, ...] = ()
        self._are_withheld_shown = False
        self._explained = -1
        self._open: set[int] = set()
        self._quotes: dict[int, Sequence[str]] = {}
        self._places: list[Place | None] = []
        self._grip: Place = (0, 0)

    def show(self, node: TocNode) -> None:
        """Show a node's bullets; of the same node, keep the cursor and what is open."""
        if node.node_id == self.node_id:
            unfolded = {self.bullets[at].text for at in self._open}
        else:
            unfolded, self._grip = set(), (0, 0)
            self._are_withheld_shown = False
        self.node_id, self._withheld = node.node_id, node.withheld
        self.bullets = node.bullets
        if self._are_withheld_shown:
            self.bullets += node.withheld
        if self._grip[0] >= len(self.bullets):
            self._grip = (0, 0)
        self.refresh_bindings()
        self._quotes.clear()
        self._open.clear()
        for at, bullet in enumerate(self.bullets):
            if bullet.text in unfolded:
                self._unfold(at)
        self._draw(self._grip[0])

    def clear(self) -> None:
        """Show nothing: there is no page."""
        self.node_id, self.bullets, self._withheld = "", (), ()
        self.refresh_bindings()
        self._draw(0)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """What is withheld can be shown here where there is any."""
        return action != "show_withheld" or bool(self._withheld)

    def action_show_withheld(self) -> None:
        """Show what a model claimed and no source says, or hide it again."""
        self.toggle_withheld()

    def toggle_withheld(self) -> bool:
        """Show what a model claimed and no source says, or hide it; if there is any."""
        if not self._withheld:
            self.notify("Nothing is hidden on this page.", markup=False)
            return False
        first = self._first_withheld
        self._are_withheld_shown = not self._are_withheld_shown
        if self._are_withheld_shown:
            self.bullets += self._withheld
            self._draw(first)
            return True
        self.bullets = self.bullets[:first]
        self._open = {at for at in self._open if at < first}
        place = self.position or (0, -1)
        self._draw(*(place if place[0] < first else (max(first - 1, 0), -1)))
        return True

    @property
    def _first_withheld(self) -> int:
        """Where what is withheld begins among the bullets, shown or not."""
        return len(self.bullets) - len(self._withheld) * self._are_withheld_shown

    def _draw(self, bullet: int, quote: int = -1) -> None:
        options: list[Option] = []
        self._places = []
        self._explained = bullet
        for at in range(len(self.bullets)):
            if at == self._first_withheld:
                self._add_hidden(options)
            self._places.append((at, -1))
            options.append(Option(self._row(at)))
            if at in self._open:
                for number, words in enumerate(self._quotes.get(at, ())):
                    self._places.append((at, number))
                    options.append(Option(quote_row(words)))
        if not self._are_withheld_shown:
            self._add_hidden(options)
        self.set_options(options)
        if self.bullets:
            target = (bullet, quote)
            here = target if target in self._places else (bullet, -1)
            self.highlighted = self._places.index(here)

    def _add_hidden(self, options: list[Option]) -> None:
        """Add the line about what is withheld; the cursor never stands on it."""
        if count := len(self._withheld):
            told = hidden(count, is_shown=self._are_withheld_shown)
            self._places.append(None)
            options.append(Option(told, disabled=True))

    def _row(self, at: int) -> Paragraph:
        is_open = at in self._open
        return row(
            self.bullets[at],
            is_open=is_open,
            is_explained=is_open or at == self._explained,
            is_withheld=at >= self._first_withheld,
        )

    def _explain(self, bullet: int) -> None:
        """Say why the bullet the cursor is on has its mark, and of no other one."""
        before, self._explained = self._explained, bullet
        for at in {before, bullet} if before != bullet else ():
            if (at, -1) in self._places:
                place = self._places.index((at, -1))
                self.replace_option_prompt_at_index(place, self._row(at))
        self.scroll_to_highlight()

    @property
    def position(self) -> Place | None:
        """Where the cursor is."""
        return self._places[self.highlighted] if self.highlighted is not None else None

    @property
    def grip_id(self) -> str:
        """The source that belongs to where the cursor is; "" for none."""
        bullet, grip = self._grip
        grips = self.bullets[bullet].grip_ids if self.bullets else ()
        return grips[min(grip, len(grips) - 1)] if grips else ""

    @on(OptionList.OptionHighlighted)
    def point(self, event: OptionList.OptionHighlighted) -> None:
        """Ask for the source that belongs to where the cursor is."""
        event.stop()
        if event.option_index != self.highlighted:
            return  # The cursor has moved on since this was said.
        place = self._places[event.option_index]
        if place is None:
            return
        bullet, quote = place
        self._explain(bullet)
        if quote >= 0:
            self._grip = bullet, quote
        elif bullet != self._grip[0]:
            self._grip = bullet, 0
        self._want()

    def _want(self) -> None:
        bullet, grip = self._grip
        grips, verdict = self.bullets[bullet].grip_ids, self.bullets[bullet].verdict
        if grips:
            at = min(grip, len(grips) - 1)
            place = grips[at], at + 1, len(grips)
            wanted = SourceWanted(*place, "", verdict, bullet=bullet + 1)
        else:
            wanted = SourceWanted("", 0, 0, WHY_NO_SOURCE, bullet=bullet + 1)
        self.post_message(wanted)

    def step_grip(self, by: int) -> bool:
        """Go to the next grip or the one before; False when there is none."""
        grips = [
            (at, grip)
            for at, bullet in enumerate(self.bullets)
            for grip in range(len(bullet.grip_ids))
        ]
        here = self._grip
        ahead = [g for g in grips if (g > here if by > 0 else g < here)]
        if not ahead:
            return False
        self._go(ahead[0] if by > 0 else ahead[-1])
        return True

    def request_source(self) -> bool:
        """Show the source that belongs to where the cursor is; False for no bullet."""
        if not self.bullets:
            return False
        self._want()
        return True

    def go_to_grip(self, grip_id: str) -> bool:
        """Put the cursor on the first bullet that rests on a grip."""
        for at, bullet in enumerate(self.bullets):
            if grip_id in bullet.grip_ids:
                self._go((at, bullet.grip_ids.index(grip_id)))
                return True
        return False

    def _go(self, grip: Place) -> None:
        self._grip = grip
        spot = grip if grip in self._places else (grip[0], -1)
        self.highlighted = self._places.index(spot)
        self._want()

    # Folding

    def _unfold(self, bullet: int) -> None:
        self._open.add(bullet)
        reading = partial(
            self._read, self.node_id, bullet, self.bullets[bullet].grip_ids
        )
        self.run_worker(reading, group="quotes", thread=True, exit_on_error=False)

    def _read(self, node_id: str, bullet: int, grip_ids: Sequence[str]) -> None:
        opened = [sources.expand(grip_id, before=0, after=0) for grip_id in grip_ids]
        quotes = [one.grip.excerpt if one.grip else "" for one in opened]
        self.post_message(QuotesRead(node_id, bullet, quotes))

    @on(QuotesRead)
    def add_quotes(self, message: QuotesRead) -> None:
        """Show the quotes under their bullet."""
        if message.node_id == self.node_id and message.bullet in self._open:
            self._quotes[message.bullet] = message.quotes
            self._draw(*(self.position or (0, -1)))

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the quotes could not be read."""
        if event.state is WorkerState.ERROR:
            event.stop()
            reason = format.why(event.worker.error)
            self.notify(
                f"The quotes could not be read: {reason}. Unfold again to retry.",
                severity="error",
                markup=False,
            )

    def action_fold(self) -> None:
        """Show the quotes of the bullet, or fold them away."""
        if self.position is None:
            return
        bullet = self.position[0]
        if not self.bullets[bullet].grip_ids:
            self.notify("No source says this: there is no quote.", markup=False)
            return
        if bullet in self._open:
            self._open.discard(bullet)
        else:
            self._unfold(bullet)
        self._draw(bullet)

    def action_deeper(self) -> None:
        """Show the quotes; where they are shown, open the source."""
        place = self.position
        if place is None or place[1] >= 0 or place[0] in self._open:
            self.action_open()
        elif self.bullets[place[0]].grip_ids:
            self.action_fold()
        else:
            self.action_open()

    def action_outward(self) -> None:
        """From a quote to its bullet; fold the bullet; then leave for the contents."""
        place = self.position
        if place is not None and place[1] >= 0:
            self.highlighted = self._places.index((place[0], -1))
        elif place is not None and place[0] in self._open:
            self.action_fold()
        else:
            self.post_message(WentBack())

    def action_open(self) -> None:
        """Open the source."""
        place = self.position
        if place is None:
            self.notify("Nothing is claimed here yet.", markup=False)
        elif not self.bullets[place[0]].grip_ids:
            self.notify("No source says this: there is nothing to open.", markup=False)
        else:
            self.post_message(SourceOpened())

    @on(OptionList.OptionSelected)
    def choose(self, event: OptionList.OptionSelected) -> None:
        """A click opens the source."""
        event.stop()
        self.action_open()
