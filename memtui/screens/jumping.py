"""Jumping over the three panes: to any node, source or message, and back again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, tzinfo

from textual import on

from memtui.messages.contents import Revealed
from memtui.messages.sessions import SessionWanted
from memtui.screens.jumps import Jumps, Spot
from memtui.screens.panes import PanedScreen
from memtui.widgets.found_lines import Landing


class JumpingScreen(PanedScreen):
    """Goes to a node wherever it is, and remembers where the reader was."""

    def __init__(self, zone: tzinfo, now: Callable[[], datetime]) -> None:
        super().__init__(zone)
        self._now = now
        self.jumps = Jumps()
        self._ahead: Spot | None = None
        self._left: Spot | None = None

    def go_to(self, node_id: str, session: SessionWanted | None = None) -> None:
        """Go to a node, from wherever the cursor is.

        Args:
            node_id: Which.
            session: The session that was read until now, at its message.
        """
        self._jump(Spot(Landing(node_id, self._now())), session)

    @property
    def spot(self) -> Spot | None:
        """Where the reader is; None where nothing is kept."""
        line = self._tree.pointed_at
        if line is None:
            return None
        grip_id = self._page.bullets.grip_id
        shown = self._source.found or Landing(line.node_id, self._now(), grip_id)
        return Spot(replace(shown, node_id=line.node_id), self._at)

    def _jump(self, spot: Spot, session: SessionWanted | None = None) -> None:
        """Go somewhere; once there, where the reader was is remembered."""
        here = self.spot
        self._left = replace(here, session=session) if here else None
        self._ahead = spot
        self._tree.reveal(spot.landing.node_id)

    def return_to(self, spot: Spot) -> None:
        """Go back to where the reader was."""
        self._ahead, self._left = spot, None
        self._tree.reveal(spot.landing.node_id)

    @on(Revealed)
    def arrive(self, message: Revealed) -> None:
        """Show what was gone to: the node in the tree, a source, or a message."""
        spot, self._ahead = self._ahead, None
        if spot is None or spot.landing.node_id != message.node_id:
            spot, self._left = Spot(Landing(message.node_id, self._now())), None
        if self._left is not None:
            self.jumps.note(self._left)
        landing, self._left = spot.landing, None
        self._source.let_go()
        self._page.open(message.node_id, landing.grip_id)
        if landing.event_id:
            self._enter("source")
            self._source.want_message(landing)
        elif landing.grip_id:
            self._enter("source")
        elif self._at == "source":
            self._enter("page")
        if spot.pane:
            self._enter(spot.pane)
