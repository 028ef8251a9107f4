"""The list of what sessions left open, or of what was decided, to be judged."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.binding import BindingType

from memtui.model.audit import ClaimRow
from memtui.model.filters import Scope
from memtui.model.judgements import Ruling
from memtui.model.nodes import BulletKind
from memtui.services import points
from memtui.tui import commands
from memtui.tui.screens.audit import ClaimsScreen, claim_bindings

NOTHING_OPEN = "Nothing was left open{of}.\n\nL lists what was decided."
NOTHING_DECIDED = (
    "No decision is stored{of}. Your answers to questions that an agent asks by a tool"
    " are decisions, and what a model finds in sessions.\n\n"
    "{model}\n\nL lists what was left open."
)


class PointsScreen(ClaimsScreen):
    """Lists what was left open, the latest first, or what was decided."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *claim_bindings(
            "mark_done",
            "undo_judgement",
            "switch_points",
            reject="Dismiss this line: it is shown nowhere any more.",
        ),
        *commands.bindings("accept", "correct", "move_source"),
    ]

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope
        self.kind = BulletKind.LEFT_OPEN

    def reload(self) -> None:
        is_open = self.kind is BulletKind.LEFT_OPEN
        read = points.list_left_open if is_open else points.list_decisions
        self.load(partial(read, self._scope), partial(self._show, self.kind), "claims")

    def _show(self, kind: str, rows: Sequence[ClaimRow]) -> None:
        if kind is self.kind:
            of = f" in {self._scope}" if self._scope.is_narrow else ""
            text = NOTHING_OPEN if kind is BulletKind.LEFT_OPEN else NOTHING_DECIDED
            model = self.memtui.rewrite_forecast().message
            self.show_rows(rows, text.format(of=of, model=model))
            self.read_totals()

    def read_totals(self) -> None:
        rows = self.rows
        count = sum(not (row.later or row.is_judged) for row in rows)
        finished = sum(row.later is not None for row in rows)
        info = f"{count:,}" + (f" · {finished:,} finished later" if finished else "")
        self._list_title.show(str(self.kind).capitalize(), info if rows else "")

    def show_scope(self, scope: Scope) -> None:
        self._scope = scope
        self.reload()

    def action_switch_points(self) -> None:
        is_open = self.kind is BulletKind.LEFT_OPEN
        self.kind = BulletKind.DECISION if is_open else BulletKind.LEFT_OPEN
        self.reload()

    def action_mark_done(self) -> None:
        if self.kind is BulletKind.LEFT_OPEN:
            self.judge(Ruling.DONE)
        else:
            self.notify("This was decided, not left open. x dismisses it.")
