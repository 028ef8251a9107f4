"""OpenCode's plugin: a file of JavaScript that hands what happens to the hook."""

import json
import re
from pathlib import Path

from memtui.agents.machine import Machine

_SOURCE = Path(__file__).with_name("opencode.js")
_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
_MARK = "// Written by memtui"
"""How a plugin of ours starts."""


def folder(machine: Machine) -> Path:
    """OpenCode's own folder."""
    base = machine.folder("XDG_CONFIG_HOME", ".config")
    return machine.folder("OPENCODE_CONFIG_DIR", str(base / "opencode"))


def file(machine: Machine) -> Path:
    """Where the plugin belongs: older versions know ``plugin`` alone."""
    base = machine.project / ".opencode" if machine.project else folder(machine)
    is_old = (base / "plugin").is_dir() and not (base / "plugins").is_dir()
    return base / ("plugin" if is_old else "plugins") / "memtui.js"


def plugin(command: list[str]) -> str:
    """The plugin that runs this command."""
    source = _SOURCE.read_text(encoding="utf-8")
    line = f"const COMMAND = {json.dumps(command)}"
    return _COMMAND.sub(lambda _: line, source, count=1)


def command_of(text: str) -> list[str]:
    """The command a plugin of ours runs; none if it is not ours."""
    found = _COMMAND.search(text) if text.startswith(_MARK) else None
    try:
        command = json.loads(found[1]) if found else []
    except ValueError:
        return []
    return [str(word) for word in command]
