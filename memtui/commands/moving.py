"""Moving: the keys that go from line to line and from pane to pane."""

from memtui.commands.command import Command, Group


def _move(name: str, keys: str, shown: str, label: str, help: str) -> Command:
    keyed = tuple(keys.split())
    return Command(name, keyed, shown, label, help, Group.MOVE, in_palette=False)


MOVING = (
    _move("cursor_down", "j down", "j ↓", "down", "Move down a line."),
    _move("cursor_up", "k up", "k ↑", "up", "Move up a line."),
    _move(
        "deeper",
        "l right",
        "l →",
        "deeper",
        "",
    ),
    _move(
        "outward",
        "h left",
        "h ←",
        "outward",
        "",
    ),
    _move("page_down", "pagedown", "pgdn", "page down", "Move down a page."),
    _move("page_up", "pageup", "pgup", "page up", "Move up a page."),
    _move("first", "home", "home", "first", "Go to the first line."),
    _move("last", "end", "end", "last", "Go to the last line."),
    _move("next_pane", "tab", "tab", "next pane", "Go to the pane after this one."),
    _move("previous_pane", "shift+tab", "shift+tab", "pane before", "Go back a pane."),
)
