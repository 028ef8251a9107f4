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

from memtui import commands
from memtui.memory.toc import Bullet, TocNode
from memtui.messages import QuotesRead, SourceOpened, SourceWanted, WentBack
from memtui.recall import expand
from memtui.widgets import wording
from memtui.widgets.hanging import Hanging

NO_SOURCE = "no source says this"
"""What stands beside a bullet without a grip."""

WHY_NO_SOURCE = (
    "No source says this: nothing in the conversation was found that does.\n"
    "Read it with doubt."
)

Place = tuple[int, int]
"""A bullet, and one of its grips or quotes, both from 0; -1 is the bullet itself."""


class BulletList(OptionList, inherit_bindings=False):
    """Moves through bullets and quotes; says which source belongs beside them."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "open", "fold", "deeper", "outward", "first", "last",
        "cursor_up", "cursor_down", "page_up", "page_down",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.node_id = ""
        self.bullets: tuple[Bullet, ...] = ()
        self._open: set[int] = set()
        self._quotes: dict[int, Sequence[str]] = {}
        self._places: list[Place] = []
        self._grip: Place = (0, 0)

    def show(self, node: TocNode) -> None:
        """Show a node's bullets; of the same node, keep the cursor and what is open."""
        if node.node_id == self.node_id:
            unfolded = {self.bullets[at].text for at in self._open}
            grip = self._grip if self._grip[0] < len(node.bullets) else (0, 0)
        else:
            unfolded, grip = set(), (0, 0)
        self.node_id, self.bullets, self._grip = node.node_id, node.bullets, grip
        self._quotes.clear()
        self._open.clear()
        for at, bullet in enumerate(node.bullets):
            if bullet.text in unfolded:
                self._unfold(at)
        self._draw(grip[0])

    def _draw(self, bullet: int, quote: int = -1) -> None:
        options: list[Option] = []
        self._places = []
        for at, claim in enumerate(self.bullets):
            self._places.append((at, -1))
            options.append(Option(_row(claim, is_open=at in self._open)))
            if at in self._open:
                for number, words in enumerate(self._quotes.get(at, ())):
                    self._places.append((at, number))
                    options.append(Option(_quote(words)))
        self.set_options(options)
        if self._places:
            target = (bullet, quote)
            here = target if target in self._places else (bullet, -1)
            self.highlighted = self._places.index(here)

    @property
    def place(self) -> Place | None:
        """Where the cursor is."""
        return self._places[self.highlighted] if self.highlighted is not None else None

    @on(OptionList.OptionHighlighted)
    def point(self, event: OptionList.OptionHighlighted) -> None:
        """Ask for the source that belongs to where the cursor is."""
        event.stop()
        if event.option_index != self.highlighted:
            return  # The cursor has moved on since this was said.
        bullet, quote = self._places[event.option_index]
        if quote >= 0:
            self._grip = bullet, quote
        elif bullet != self._grip[0]:
            self._grip = bullet, 0
        self._want()

    def _want(self) -> None:
        bullet, grip = self._grip
        grips = self.bullets[bullet].grip_ids
        if grips:
            grip = min(grip, len(grips) - 1)
            self.post_message(SourceWanted(grips[grip], grip + 1, len(grips), ""))
        else:
            self.post_message(SourceWanted("", 0, 0, WHY_NO_SOURCE))

    def step(self, by: int) -> bool:
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
        opened = [expand.expand(grip_id, before=0, after=0) for grip_id in grip_ids]
        quotes = [one.grip.excerpt if one.grip else "" for one in opened]
        self.post_message(QuotesRead(node_id, bullet, quotes))

    @on(QuotesRead)
    def add_quotes(self, message: QuotesRead) -> None:
        """Show the quotes under their bullet."""
        if message.node_id == self.node_id and message.bullet in self._open:
            self._quotes[message.bullet] = message.quotes
            self._draw(*(self.place or (0, -1)))

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why the quotes could not be read."""
        if event.state is WorkerState.ERROR:
            event.stop()
            reason = wording.why(event.worker.error)
            self.notify(
                f"The quotes could not be read: {reason}. Unfold again to retry.",
                severity="error",
                markup=False,
            )

    def action_fold(self) -> None:
        """Show the quotes of the bullet, or fold them away."""
        if self.place is None:
            return
        bullet = self.place[0]
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
        place = self.place
        if place is None or place[1] >= 0 or place[0] in self._open:
            self.action_open()
        elif self.bullets[place[0]].grip_ids:
            self.action_fold()
        else:
            self.action_open()

    def action_outward(self) -> None:
        """From a quote to its bullet; fold the bullet; then leave for the contents."""
        place = self.place
        if place is not None and place[1] >= 0:
            self.highlighted = self._places.index((place[0], -1))
        elif place is not None and place[0] in self._open:
            self.action_fold()
        else:
            self.post_message(WentBack())

    def action_open(self) -> None:
        """Open the source."""
        place = self.place
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


def _row(bullet: Bullet, *, is_open: bool) -> Hanging:
    text = Content(" ".join(bullet.text.split()))
    if not bullet.stands:
        mark = Content.styled(f"{wording.UNSUPPORTED} ", "$error")
        return Hanging(mark, text, Content.styled(NO_SOURCE, "$error"))
    mark = Content.styled(f"{wording.SUPPORTED} ", "$context")
    fold = "▾" if is_open else "▸"
    end = Content.styled(f"{len(bullet.grip_ids)} {fold}", "$context")
    return Hanging(mark, text, end)


def _quote(words: str) -> Hanging:
    told = f"“{' '.join(words.split())}”" if words else "no longer kept"
    return Hanging(Content("    "), Content.styled(told, "italic $evidence"))
