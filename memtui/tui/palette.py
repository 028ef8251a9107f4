"""What can be done now, the nearest first: what palette and help are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
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
from memtui.tui.widgets.item_list import is_drawn


class Palette(CommandPalette):
    """Textual's palette, which stands keys that come before it is drawn."""

    def on_mount(self) -> None:
        """Have no sign that terminals may lack."""
        self.query_one(SearchIcon).icon = ">"

    def _action_command_list(self, action: str) -> None:
        if is_drawn(self.query_one(CommandList)):
            super()._action_command_list(action)


class Offers(SystemCommandsProvider):
    """Finds commands by what they are called and by what they do, in our order."""

    async def discover(self) -> Hits:
        """All of them."""
        for called, says, act, _ in self.app.get_system_commands(self.screen):
            yield DiscoveryHit(Content(called), act, called, says)

    async def search(self, query: str) -> Hits:
        """Those that are called so or do so; a name counts more."""
        matcher = self.matcher(query)
        for called, says, act, _ in self.app.get_system_commands(self.screen):
            named, told = matcher.match(called), query.casefold() in says.casefold()
            if named or told:
                shown = matcher.highlight(called) if named else Content(called)
                yield Hit(1 + named if named else 1, shown, act, called, says)


class Near(IntEnum):
    """How near to the focus a command belongs."""

    PANE, SCREEN, APP = range(3)


@dataclass(frozen=True, slots=True)
class Able:
    """A command that can be done now."""

    command: Command
    says: str
    """What it does here, in a whole sentence."""
    node: DOMNode
    """Who does it."""
    near: Near


def able(screen: Screen[Any]) -> Sequence[Able]:
    """What can be done by a key where the focus is, the nearest first."""
    named = commands.named("palette")
    # Textual binds this one for us, wherever the focus is.
    found = {named: Able(named, named.help, screen.app, Near.APP)}
    for one in screen.active_bindings.values():
        if one.enabled and one.binding.id:
            row = commands.named(one.binding.id)
            near = _near(one.node)
            found.setdefault(row, Able(row, one.tooltip, one.node, near))
    place = commands.COMMANDS.index
    return sorted(found.values(), key=lambda one: (one.near, place(one.command)))


def _near(node: DOMNode) -> Near:
    if isinstance(node, App):
        return Near.APP
    return Near.SCREEN if isinstance(node, Screen) else Near.PANE


def offers(app: App[Any], screen: Screen[Any]) -> Iterator[SystemCommand]:
    """A line for each command that can be done, and for each theme but this one."""
    keyless = [row for row in commands.COMMANDS if not row.keys]
    rest = [Able(row, row.help, app, Near.APP) for row in keyless]
    place = commands.COMMANDS.index
    for one in sorted([*able(screen), *rest], key=lambda one: place(one.command)):
        row = one.command
        if row.in_palette:
            act = partial(app.run_action, row.name, one.node)
            yield SystemCommand(_title(row), one.says, act)
    for theme in THEMES:
        if theme.name != app.theme:
            take = partial(app.run_action, f"switch_theme({theme.name!r})", app)
            called = f"Theme: {themes.title(theme.name)}"
            yield SystemCommand(called, "Take these colours.", take)


def _title(row: Command) -> str:
    """What a command is called, with its keys."""
    called = row.called or row.label.capitalize()
    return f"{called}  ({row.shown})" if row.shown else called
