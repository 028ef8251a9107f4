"""The agents whose hooks memtui can install: where their settings are, and their form.

The events are those that memtui stores something of and that no version of the agent
has problems with.
"""

import json
import re
import shlex
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from memtui.files import read_small_file
from memtui.integrations import json_edit
from memtui.integrations.config_files import ConfigEntry, ConfigValue
from memtui.integrations.json_edit import ConfigSyntaxError, Member
from memtui.integrations.machine import Machine

TIMEOUT_S = 10
"""The agent's time limit for the hook, which takes hundredths of a second."""

_HOOKS = "hooks"
_SCRIPT_NAMES = ("memtui-hook", "memtui-hook.sh")

_COMMAND_FIELDS = ("command", "bash", "exec")
"""The fields in which a handler names its command."""

_PYTHON_OPTIONS_WITH_VALUE = ("-W", "-X")
_PLUGIN_SOURCE = Path(__file__).with_name("opencode.js")
_PLUGIN_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
_PLUGIN_MARK = "// Written by memtui"
_PROJECT_NOTE = "The command names this machine's paths: keep the file out of commits."
_CLEANUP_SETTING = "cleanupPeriodDays"
_DEFAULT_CLEANUP_DAYS = 30
PathOf = Callable[[Machine], Path]

Handler = Callable[[Machine, str], dict[str, object]]
"""Makes the handler of one event."""


class KnownAgent(ConfigEntry):
    """An agent, and memtui's hooks in its settings."""

    title: str
    program: str
    events: tuple[str, ...]
    note: str = ""
    off_setting: str = ""
    """The setting that, when true, switches off all hooks."""

    @abstractmethod
    def home(self, machine: Machine) -> Path:
        """Return the agent's own folder."""

    def is_found(self, machine: Machine) -> bool:
        """Return whether the agent is on this machine."""
        return self.home(machine).is_dir() or machine.has_program(self.program)

    def note_for(self, machine: Machine) -> str:
        """Return what the user must know for the hooks to work."""
        # The local settings of Claude Code are not committed.
        is_committed = machine.project is not None and self.name != "claude-code"
        notes = (self.note, _PROJECT_NOTE if is_committed else "")
        return " ".join(filter(None, notes))

    def hooks_are_off(self, text: str) -> bool:
        """Return whether the settings switch off all hooks."""
        found = json_edit.find(text, self.off_setting) if self.off_setting else None
        return found is not None and found.value is True


@dataclass(frozen=True)
class JsonAgent(KnownAgent):
    """An agent with its hooks in a JSON file."""

    name: str
    title: str
    program: str
    folder: PathOf
    user_file: str
    project_file: str
    events: tuple[str, ...]
    handler: Handler
    note: str = ""
    is_grouped: bool = True
    """Handlers are in groups, not directly in the event's list."""
    empty_text: str = "{}\n"
    is_own_file: bool = False
    off_setting: str = ""

    def home(self, machine: Machine) -> Path:
        return self.folder(machine)

    def path(self, machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / self.project_file
        return self.folder(machine) / self.user_file

    def wanted(self, machine: Machine) -> list[ConfigValue]:
        return [ConfigValue(one, self.handler(machine, one)) for one in self.events]

    def existing(self, text: str) -> list[ConfigValue]:
        values = ((event.key, part.value) for event, part, _, _ in _own_handlers(text))
        return [ConfigValue(key, one) for key, one in values if isinstance(one, dict)]

    def add(self, text: str, machine: Machine) -> str:
        text = self.remove(text) or self.empty_text
        for wanted in self.wanted(machine):
            text = _with_event_list(text, wanted.key)
            value = {_HOOKS: [wanted.value]} if self.is_grouped else wanted.value
            event = json_edit.find(text, _HOOKS, wanted.key)
            assert event is not None
            text = json_edit.append(text, event.at, value)
        return text

    def remove(self, text: str) -> str:
        """Remove memtui's handlers, and what holds nothing else."""
        while found := next(_own_handlers(text), None):
            text = _without_handler(text, *found)
        return text

    def check(self, text: str) -> None:
        json_edit.check(text)


@dataclass(frozen=True)
class OpenCodePlugin(KnownAgent):
    """OpenCode, whose hooks are a plugin file of memtui's own."""

    name: str = "opencode"
    title: str = "OpenCode"
    program: str = "opencode"
    events: tuple[str, ...] = ("plugin",)
    note: str = "OpenCode loads plugins when it starts."
    empty_text: str = ""
    is_own_file: bool = True

    def home(self, machine: Machine) -> Path:
        return opencode_folder(machine)

    def path(self, machine: Machine) -> Path:
        project = machine.project
        base = project / ".opencode" if project else opencode_folder(machine)
        # Older versions only know "plugin".
        is_old = (base / "plugin").is_dir() and not (base / "plugins").is_dir()
        return base / ("plugin" if is_old else "plugins") / "memtui.js"

    def wanted(self, machine: Machine) -> list[ConfigValue]:
        return [self._value(machine.hook_command("--agent", self.name))]

    def existing(self, text: str) -> list[ConfigValue]:
        command = _plugin_command(text)
        return [self._value(command)] if command else []

    def _value(self, command: list[str]) -> ConfigValue:
        return ConfigValue("plugin", {"command": command[0], "args": command[1:]})

    def add(self, text: str, machine: Machine) -> str:
        command = json.dumps(machine.hook_command("--agent", self.name))
        source = _PLUGIN_SOURCE.read_text(encoding="utf-8")
        return _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {command}", source, 1)

    def remove(self, text: str) -> str:
        return "" if _plugin_command(text) else text

    def check(self, text: str) -> None:
        if text.strip() and not _plugin_command(text):
            raise ConfigSyntaxError("line 1: it is not a plugin that memtui wrote")


def _plugin_command(text: str) -> list[str]:
    """Return the command in a plugin of memtui's; [] if it is another plugin."""
    match = _PLUGIN_COMMAND.search(text) if text.startswith(_PLUGIN_MARK) else None
    try:
        command = json.loads(match[1]) if match else []
    except ValueError:
        return []
    return [str(word) for word in command]


def command_words(value: dict[str, object]) -> tuple[str, ...]:
    """Return the program and arguments that a handler runs."""
    arguments = value.get("args")
    if isinstance(arguments, list):
        return (_command(value), *map(str, arguments))
    return ("/bin/sh", "-c", _command(value))


_OwnHandler = tuple[Member, Member, Member, int | None]
"""The event, the handler, its element in the event's list, and its place in a group."""


def _own_handlers(text: str) -> Iterator[_OwnHandler]:
    """Yield memtui's handlers.

    Raises:
        ConfigSyntaxError: ``hooks`` occurs twice.
    """
    hooks = json_edit.find(text, _HOOKS) if text else None
    if hooks is None or not isinstance(hooks.value, dict):
        return
    for event in json_edit.members(text, hooks.at):
        if not isinstance(event.value, list):
            continue
        for element in json_edit.members(text, event.at):
            group = _group(text, element)
            handlers = json_edit.members(text, group.at) if group else []
            for index, handler in enumerate(handlers):
                if _is_own(handler.value):
                    yield event, handler, element, index
            if _is_own(element.value):
                yield event, element, element, None


def _group(text: str, element: Member) -> Member | None:
    """Return the list of handlers in an element, or None."""
    if not isinstance(element.value, dict):
        return None
    found = [one for one in json_edit.members(text, element.at) if one.key == _HOOKS]
    if len(found) != 1 or not isinstance(found[0].value, list):
        return None
    return found[0]


def _with_event_list(text: str, event: str) -> str:
    hooks = json_edit.find(text, _HOOKS)
    if hooks is None:
        text = json_edit.append(text, json_edit.root(text), {}, _HOOKS)
        hooks = json_edit.find(text, _HOOKS)
    assert hooks is not None
    if not isinstance(hooks.value, dict):
        line = json_edit.line_number(text, hooks.start)
        raise ConfigSyntaxError(f"line {line}: {_HOOKS} is not an object")
    found = json_edit.find(text, _HOOKS, event)
    if found is None:
        return json_edit.append(text, hooks.at, [], event)
    if not isinstance(found.value, list):
        line = json_edit.line_number(text, found.start)
        raise ConfigSyntaxError(f"line {line}: {_HOOKS}.{event} is not a list")
    return text


def _without_handler(
    text: str, event: Member, handler: Member, element: Member, index: int | None
) -> str:
    """Return the text without one handler, and without what held nothing else."""
    group = _group(text, element)
    if index is not None and group and len(json_edit.members(text, group.at)) > 1:
        return json_edit.remove(text, group.at, index)
    hooks = json_edit.find(text, _HOOKS)
    assert hooks is not None
    for at, member in ((event.at, element), (hooks.at, event)):
        siblings = json_edit.members(text, at)
        if len(siblings) > 1:
            return json_edit.remove(text, at, _index(siblings, member))
    root = json_edit.root(text)
    return json_edit.remove(text, root, _index(json_edit.members(text, root), hooks))


def _index(members: Sequence[Member], member: Member) -> int:
    return [one.start for one in members].index(member.start)


def _is_own(value: object) -> bool:
    """Return whether a handler runs memtui's hook and nothing else."""
    if not isinstance(value, dict):
        return False
    arguments = value.get("args")
    if isinstance(arguments, list):
        words = [_command(value), *map(str, arguments)]
    else:
        words = _split_command(_command(value))
    if not words:
        return False
    program = PurePath(words[0]).name
    if program in _SCRIPT_NAMES:
        return True
    return program.startswith("python") and _runs_hook(words[1:])


def _runs_hook(arguments: Sequence[str]) -> bool:
    """Return whether Python runs the hook, as a module or a script."""
    words = iter(arguments)
    for word in words:
        if not word.startswith("-"):
            return PurePath(word).parts[-2:] == ("memtui", "hook.py")
        if word.endswith("m"):
            return next(words, "") == "memtui.hook"
        if word.endswith("c"):
            return False
        if word in _PYTHON_OPTIONS_WITH_VALUE:
            next(words, None)
    return False


def _command(value: dict[str, object]) -> str:
    command = next((value[name] for name in _COMMAND_FIELDS if value.get(name)), "")
    return command if isinstance(command, str) else ""


def _split_command(line: str) -> list[str]:
    """Split a shell command into words; [] if it does more than run one program."""
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    return [] if any(set(word) <= set("();<>|&") for word in words if word) else words


def claude_folder(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def codex_folder(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def gemini_folder(machine: Machine) -> Path:
    return machine.home / ".gemini"


def opencode_folder(machine: Machine) -> Path:
    base = machine.folder("XDG_CONFIG_HOME", ".config")
    return machine.folder("OPENCODE_CONFIG_DIR", str(base / "opencode"))


def copilot_folder(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


def _claude_handler(machine: Machine, event: str) -> dict[str, object]:
    program, *arguments = machine.hook_command()
    return {"type": "command", "command": program, "args": arguments, "async": True}


def _codex_handler(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.hook_command("--agent", "codex"))
    return {"type": "command", "command": line, "timeout": TIMEOUT_S}


def _gemini_handler(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.hook_command("--agent", "gemini-cli"))
    timeout_ms = TIMEOUT_S * 1000
    return {"name": "memtui", "type": "command", "command": line, "timeout": timeout_ms}


def _copilot_handler(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.hook_command("--agent", "copilot-cli", "--event", event))
    return {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S}


AGENTS: tuple[KnownAgent, ...] = (
    JsonAgent(
        name="claude-code",
        title="Claude Code",
        program="claude",
        folder=claude_folder,
        user_file="settings.json",
        # Not settings.json: that is committed, and the command is this machine's.
        project_file=".claude/settings.local.json",
        events=(
            "SessionStart",
            "UserPromptSubmit",
            "PostToolUse",
            "PostToolUseFailure",
            "SubagentStop",
            "Stop",
            "StopFailure",
            "PreCompact",
            "PostCompact",
            "SessionEnd",
        ),
        handler=_claude_handler,
        note="Needs Claude Code 2.1.139 or newer.",
        off_setting="disableAllHooks",
    ),
    JsonAgent(
        name="codex",
        title="Codex",
        program="codex",
        folder=codex_folder,
        user_file="hooks.json",
        project_file=".codex/hooks.json",
        events=("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"),
        handler=_codex_handler,
        note="Codex runs a hook only once you have trusted it: /hooks, in Codex.",
    ),
    JsonAgent(
        name="gemini-cli",
        title="Gemini CLI",
        program="gemini",
        folder=gemini_folder,
        user_file="settings.json",
        project_file=".gemini/settings.json",
        events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
        handler=_gemini_handler,
    ),
    JsonAgent(
        name="copilot-cli",
        title="Copilot CLI",
        program="copilot",
        folder=copilot_folder,
        user_file="hooks/memtui.json",
        project_file=".github/hooks/memtui.json",
        events=(
            "sessionStart",
            "userPromptSubmitted",
            "postToolUse",
            "postToolUseFailure",
            "subagentStop",
            "agentStop",
            "sessionEnd",
        ),
        handler=_copilot_handler,
        is_grouped=False,
        empty_text='{\n  "version": 1\n}\n',
        is_own_file=True,
    ),
    OpenCodePlugin(),
)
"""All agents, in the order they are shown."""

AGENT_NAMES = tuple(agent.name for agent in AGENTS)


def agent_by_name(name: str) -> KnownAgent:
    """Return the agent with a name.

    Raises:
        KeyError: There is none.
    """
    return {agent.name: agent for agent in AGENTS}[name]


def claude_cleanup_days(machine: Machine) -> float:
    """Return after how many days Claude Code deletes transcripts."""
    try:
        file = agent_by_name("claude-code").path(machine)
        settings = json.loads(read_small_file(file))
        days = settings.get(_CLEANUP_SETTING, _DEFAULT_CLEANUP_DAYS)
    except (OSError, ValueError, AttributeError, RecursionError):
        return _DEFAULT_CLEANUP_DAYS
    is_number = isinstance(days, int | float) and not isinstance(days, bool)
    return days if is_number and days >= 0 else _DEFAULT_CLEANUP_DAYS
