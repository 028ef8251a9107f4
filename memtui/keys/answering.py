"""How keys are answered: each in its turn, and none in silence.

What is said of a key goes with the screen it was said on.
"""

from collections.abc import Callable
from datetime import datetime
from time import time
from typing import TYPE_CHECKING

from textual import events
from textual.screen import Screen

from memtui import commands
from memtui.doors import Doors
from memtui.keys.turns import Turns

if TYPE_CHECKING:
    from memtui.screens.hooks import Desk
    from memtui.screens.settings import Desk as SettingsDesk

LASTING_S = 60.0
"""What is said for longer than this, in seconds, holds on every screen."""


class Answering(Doors):
    """An app that answers every key of the table."""

    def __init__(
        self,
        now: Callable[[], datetime],
        hooks: "Callable[[], Desk] | None",
        settings: "SettingsDesk | None",
    ) -> None:
        """Take what the rooms need besides the house."""
        super().__init__(now, hooks, settings)
        self._turns = Turns(self, super().on_event)
        self._pressed_at = 0.0

    def on_mount(self) -> None:
        """Notice when another screen is shown."""
        forget = self._forget_said
        self.screen_change_signal.subscribe(self, forget, immediate=True)

    def _forget_said(self, _: Screen[object]) -> None:
        """Let go of what was said before the key that leads to another screen."""
        for said in list(self._notifications):
            if said.raised_at < self._pressed_at and said.timeout < LASTING_S:
                self._unnotify(said, refresh=False)

    def on_key(self, event: events.Key) -> None:
        """Say why a key of the table does nothing here: none of them is silent."""
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or not bound.enabled:
            self._say_why_not(event.key)

    def _say_why_not(self, key: str) -> None:
        if why := commands.why_not(key):
            self.clear_notifications()
            self.notify(why, markup=False)

    def action_focus_next(self) -> None:
        """Go to the next pane, or say that this is the only one."""
        before = self.focused
        super().action_focus_next()
        if before is not None and self.focused is before:
            self._say_why_not("tab")

    def action_focus_previous(self) -> None:
        """Go to the pane before, or say that this is the only one."""
        before = self.focused
        super().action_focus_previous()
        if before is not None and self.focused is before:
            self._say_why_not("shift+tab")

    async def on_event(self, event: events.Event) -> None:
        """Give keys in their turn, and paste several lines as one."""
        if isinstance(event, events.Paste) and not event.is_forwarded:
            # There is no room for more anywhere.
            lines = (line.strip() for line in event.text.splitlines())
            event.text = " ".join(line for line in lines if line)
        if isinstance(event, events.Key | events.MouseDown) and not event.is_forwarded:
            self._pressed_at = time()
        if isinstance(event, events.Key) and not event.is_forwarded:
            await self._turns.take(event)
        else:
            await super().on_event(event)
