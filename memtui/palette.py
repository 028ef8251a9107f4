"""What the palette offers: what of the table can be done now, and the themes."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.command import CommandList, CommandPalette
from textual.screen import Screen

from memtui import commands, themes
from memtui.themes import THEMES
from memtui.widgets.options import is_drawn

ALWAYS = {"palette"}
"""The commands that Textual binds for us, wherever the focus is."""


class Palette(CommandPalette):
    """Textual's palette, which stands keys that come before it is drawn."""

    def _action_command_list(self, action: str) -> None:
        if is_drawn(self.query_one(CommandList)):
            super()._action_command_list(action)


def active(screen: Screen[Any]) -> set[str]:
    """The names of the commands whose keys work where the focus is."""
    bound = screen.active_bindings.values()
    return {one.binding.id for one in bound if one.enabled and one.binding.id} | ALWAYS


def offers(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """A line for each command that can be done, and for each theme but this one."""
    able = {
        one.binding.id: one.node
        for one in screen.active_bindings.values()
        if one.enabled
    }
    for command in commands.COMMANDS:
        node = able.get(command.name) if command.keys else app
        if command.in_palette and node is not None:
            act = partial(app.run_action, command.name, node)
            yield SystemCommand(command.label.capitalize(), command.help, act)
    for theme in THEMES:
        if theme.name != app.theme:
            take = partial(app.run_action, f"switch_theme({theme.name!r})", app)
            called = f"Theme: {themes.title(theme.name)}"
            yield SystemCommand(called, "Take these colours.", take)
