"""The commands that can be used now: the source of the palette and the help."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from textual.app import App, SystemCommand
from textual.command import (
    CommandList,
    CommandPalette,
    DiscoveryHit,
    Hit,
    Hits,
    SearchIcon,
)
from textual.content import Content
from textual.dom import DOMNode
from textual.screen import Screen
from textual.system_commands import SystemCommandsProvider

from memtui.tui import commands, themes
from memtui.tui.commands import Command
from memtui.tui.themes import THEMES
from memtui.tui.widgets.panes import is_drawn


class Palette(CommandPalette):
    """Textual's palette, safe for keys that arrive before it is drawn."""

    def on_mount(self) -> None:
        """Use an icon that all terminals can show."""
        self.query_one(SearchIcon).icon = ">"

    def _action_command_list(self, action: str) -> None:
        if is_drawn(self.query_one(CommandList)):
            super()._action_command_list(action)


class CommandProvider(SystemCommandsProvider):
    """Finds commands by title and by help text, in the order of the table."""

    async def discover(self) -> Hits:
        for title, help, run, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(Content(title), run, title, help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, help, run, _ in self.app.get_system_commands(self.screen):
            score = matcher.match(title)
            if score or query.casefold() in help.casefold():
                shown = matcher.highlight(title) if score else Content(title)
                yield Hit(1 + score, shown, run, title, help)


@dataclass(frozen=True, slots=True)
class AvailableCommand:
    """A command that can be used now."""

    command: Command
    help: str
    """Its effect here, in a whole sentence."""
    node: DOMNode
    """The node whose action it is."""
    level: int
    """0 in the focused pane, 1 on the screen, 2 in the app."""


def available_commands(screen: Screen[Any]) -> Sequence[AvailableCommand]:
    """Return the commands bound to a key where the focus is, the nearest first."""
    row = commands.get_command("palette")
    # Textual binds this one itself.
    found = {row: AvailableCommand(row, row.help, screen.app, 2)}
    for one in screen.active_bindings.values():
        if one.enabled and one.binding.id:
            row = commands.get_command(one.binding.id)
            level = isinstance(one.node, App | Screen) + isinstance(one.node, App)
            found.setdefault(row, AvailableCommand(row, one.tooltip, one.node, level))
    place = commands.COMMANDS.index
    return sorted(found.values(), key=lambda one: (one.level, place(one.command)))


def system_commands(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """Yield the entries of the palette: the available commands, then the themes."""
    available = {one.command: one for one in available_commands(screen)}
    for row in commands.COMMANDS:
        if not row.keys:
            yield _entry(row, row.help, app)
        elif row.in_palette and row not in commands.MOVING and row in available:
            yield _entry(row, available[row].help, available[row].node)
    for theme in THEMES:
        if theme.name != app.theme:
            run = partial(app.run_action, f"switch_theme({theme.name!r})", app)
            title = f"Theme: {themes.short_name(theme.name)}"
            yield SystemCommand(title, "Switch to this theme.", run)


def _entry(row: Command, help: str, node: DOMNode) -> SystemCommand:
    title = row.label.capitalize()
    title = f"{title}  ({row.shown})" if row.shown else title
    return SystemCommand(title, help, partial(node.app.run_action, row.name, node))
