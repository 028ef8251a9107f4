"""The agents whose hooks we know: where each keeps its settings, and how it says what.

The events are those that a memory keeps something of, and of them those that no
version of the agent is known to stumble over.
"""

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from memtui.integrations import config_edit
from memtui.integrations.config_edit import NotJson, Part

HOOKS = "hooks"


_COMMANDS = ("memtui-hook", "memtui-hook.sh")


_FIELDS = ("command", "bash", "exec")
"""Where a handler says what to run."""


_VALUED = ("-W", "-X")
"""Python's options that the next word belongs to."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One handler of one event."""

    event: str
    handler: dict[str, object]
    is_grouped: bool
    """Whether the handler stands in a group, or in the event's own list."""

    @property
    def words(self) -> tuple[str, ...]:
        """What is run: a program and its arguments."""
        given = self.handler.get("args")
        if isinstance(given, list):
            return (_line(self.handler), *map(str, given))
        return ("/bin/sh", "-c", _line(self.handler))


def ours(text: str) -> list[Entry]:
    """The handlers of ours that a settings text holds.

    Raises:
        NotJson: It holds hooks twice.
    """
    return (
        []
        if not text
        else [
            Entry(event.key, inner.value, is_grouped=True)
            for event, element in _elements(text)
            for inner in _handlers(text, element)
            if isinstance(inner.value, dict) and is_ours(inner.value)
        ]
        + [
            Entry(event.key, element.value, is_grouped=False)
            for event, element in _elements(text)
            if isinstance(element.value, dict) and is_ours(element.value)
        ]
    )


def is_ours(handler: dict[str, object]) -> bool:
    """Whether a handler runs our hook and nothing else."""
    given = handler.get("args")
    words = _split(_line(handler))
    if isinstance(given, list):
        words = [_line(handler), *map(str, given)]
    if not words:
        return False
    program, rest = PurePath(words[0]).name, words[1:]
    if program in _COMMANDS:
        return True
    return program.startswith("python") and _is_hook(rest)


def _is_hook(words: Sequence[str]) -> bool:
    """Whether these arguments have Python run our hook, as a module or a script."""
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            return PurePath(word).parts[-2:] == ("memtui", "hook.py")
        if word.endswith("m"):
            return next(left, "") == "memtui.hook"
        if word.endswith("c"):
            return False
        if word in _VALUED:
            next(left, None)
    return False


def added(text: str, wanted: Sequence[Entry]) -> str:
    """The text with these handlers behind those that are there.

    Raises:
        NotJson: The settings have something else where hooks belong.
    """
    for entry in wanted:
        text = _with_list(text, entry.event)
        group = {HOOKS: [entry.handler]} if entry.is_grouped else entry.handler
        found = config_edit.find(text, HOOKS, entry.event)
        assert found is not None
        text = config_edit.append(text, found.at, group)
    return text


def removed(text: str) -> str:
    """The text without our handlers, and without what held nothing else."""
    while text and (shorter := _without_one(text)) is not None:
        text = shorter
    return text


def _with_list(text: str, event: str) -> str:
    held = config_edit.find(text, HOOKS)
    if held is None:
        text = config_edit.append(text, config_edit.root(text), {}, HOOKS)
        held = config_edit.find(text, HOOKS)
    assert held is not None
    if not isinstance(held.value, dict):
        raise NotJson(f"{_line_of(text, held)}: {HOOKS} is not an object")
    listed = config_edit.find(text, HOOKS, event)
    if listed is None:
        return config_edit.append(text, held.at, [], event)
    if not isinstance(listed.value, list):
        raise NotJson(f"{_line_of(text, listed)}: {HOOKS}.{event} is not a list")
    return text


def _without_one(text: str) -> str | None:
    """The text without the first handler of ours; None if there is none."""
    for event, element in _elements(text):
        for index, inner in enumerate(_handlers(text, element)):
            if isinstance(inner.value, dict) and is_ours(inner.value):
                return _cut_inner(text, event, element, index)
        if isinstance(element.value, dict) and is_ours(element.value):
            return _cut_element(text, event, element)
    return None


def _cut_inner(text: str, event: Part, element: Part, index: int) -> str:
    inner = next(p for p in config_edit.parts(text, element.at) if p.key == HOOKS)
    assert isinstance(inner.value, list)
    if len(inner.value) == 1:
        return _cut_element(text, event, element)
    return config_edit.cut(text, inner.at, index)


def _cut_element(text: str, event: Part, element: Part) -> str:
    held = config_edit.parts(text, event.at)
    if len(held) > 1:
        return config_edit.cut(text, event.at, _index(held, element))
    hooks = config_edit.find(text, HOOKS)
    assert hooks is not None
    events = config_edit.parts(text, hooks.at)
    if len(events) > 1:
        return config_edit.cut(text, hooks.at, _index(events, event))
    root = config_edit.root(text)
    return config_edit.cut(text, root, _index(config_edit.parts(text, root), hooks))


def _index(held: Sequence[Part], part: Part) -> int:
    return [one.start for one in held].index(part.start)


def _elements(text: str) -> Iterator[tuple[Part, Part]]:
    """Every event's list, with each of its elements."""
    hooks = config_edit.find(text, HOOKS)
    if hooks is None or not isinstance(hooks.value, dict):
        return
    for event in config_edit.parts(text, hooks.at):
        if isinstance(event.value, list):
            for element in config_edit.parts(text, event.at):
                yield event, element


def _handlers(text: str, element: Part) -> list[Part]:
    """The handlers of a group; none of what is no group."""
    if not isinstance(element.value, dict):
        return []
    inner = [p for p in config_edit.parts(text, element.at) if p.key == HOOKS]
    if len(inner) != 1 or not isinstance(inner[0].value, list):
        return []
    return config_edit.parts(text, inner[0].at)


def _line(handler: dict[str, object]) -> str:
    said = next((handler[name] for name in _FIELDS if handler.get(name)), "")
    return said if isinstance(said, str) else ""


def _split(line: str) -> list[str]:
    """A shell's line as words; none if it does more than run one program."""
    try:
        reader = shlex.shlex(line, posix=True, punctuation_chars=True)
        reader.whitespace_split = True
        words = list(reader)
    except ValueError:
        return []
    return [] if any(set(word) <= set("();<>|&") for word in words if word) else words


def _line_of(text: str, part: Part) -> str:
    return f"line {text.count(chr(10), 0, part.start) + 1}"


def project_of(folder: Path) -> Path:
    """The project a folder belongs to: the root of its repository, else itself.

    A worktree is a project of its own here: agents read their settings in it.
    """
    above = (one for one in (folder, *folder.parents) if (one / ".git").exists())
    return next(above, folder)


@dataclass(frozen=True, slots=True)
class Machine:
    """A person's home, their environment, and the hook that is to be run."""

    home: Path
    environment: Mapping[str, str]
    python: str
    """The interpreter that runs the hook."""
    hook: Path
    """The hook's own file: no package needs to be found for it to run."""
    backups: Path
    """Where copies of settings from before a change are kept."""
    spool: Path | None = None
    """Where the hook is to leave events; where it finds it by itself when None."""
    project: Path | None = None
    """The project whose settings are meant; the person's own when None."""

    def folder(self, variable: str, otherwise: str) -> Path:
        """A folder that a variable names, or else one in the home."""
        named = self.environment.get(variable)
        if not named:
            return self.home / otherwise
        if named.startswith("~/"):
            return self.home / named[2:]
        return Path(named)

    def has_program(self, name: str) -> bool:
        """Whether a program is on the path."""
        path = self.environment.get("PATH", "")
        return shutil.which(name, path=path) is not None

    def command(self, *more: str) -> list[str]:
        """What an agent is to run, and with which further words.

        ``-I -S``: neither the environment nor the site's packages are looked at, which
        is quicker and keeps what is broken there from the hook.
        """
        spool = ["--spool", str(self.spool)] if self.spool else []
        return [self.python, "-I", "-S", str(self.hook), *spool, *more]


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


TIMEOUT_S = 10
"""How long an agent may wait for the hook; it ends within hundredths of a second."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that keeps its hooks in a file of JSON."""

    name: str
    title: str
    program: str
    home: Callable[[Machine], Path]
    """The agent's own folder."""
    file: Callable[[Machine], Path]
    """The settings that hooks belong in."""
    events: tuple[str, ...]
    handler: Callable[[Machine, str], dict[str, object]]
    note: str = ""
    is_grouped: bool = True
    skeleton: str = "{}\n"
    """What a file starts with that was not there."""
    is_own_file: bool = False
    """Whether the file is memtui's alone."""
    switch: str = ""
    """The setting that, when true, has the agent run no hooks at all."""

    def is_found(self, machine: Machine) -> bool:
        """Whether the agent is on this machine."""
        return self.home(machine).is_dir() or machine.has_program(self.program)

    def with_own(self, text: str) -> "Agent":
        """The same: nothing besides is set in a hook."""
        return self

    def wanted(self, machine: Machine) -> list[Entry]:
        """What should stand in its settings."""
        return [
            Entry(event, self.handler(machine, event), self.is_grouped)
            for event in self.events
        ]

    def ours(self, text: str) -> list[Entry]:
        """What stands there of ours."""
        return ours(text)

    def added(self, text: str, machine: Machine) -> str:
        """The settings with our hooks in them.

        Raises:
            NotJson: They have something else where hooks belong.
        """
        clean = removed(text) or self.skeleton
        return added(clean, self.wanted(machine))

    def removed(self, text: str) -> str:
        """The settings without our hooks."""
        return removed(text)

    def is_off(self, text: str) -> bool:
        """Whether the settings have the agent run no hooks at all."""
        found = config_edit.find(text, self.switch) if self.switch else None
        return found is not None and found.value is True

    def check(self, text: str) -> None:
        """Make sure that a text can be such settings.

        Raises:
            NotJson: It cannot.
        """
        config_edit.check(text)


class Plugin(Agent):
    """OpenCode, whose plugin is a file of ours in full."""

    __slots__ = ()

    def wanted(self, machine: Machine) -> list[Entry]:
        """The plugin's one command."""
        return [self._entry(machine.command("--agent", self.name))]

    def ours(self, text: str) -> list[Entry]:
        """The command that a plugin of ours runs."""
        command = command_of(text)
        return [self._entry(command)] if command else []

    def added(self, text: str, machine: Machine) -> str:
        """The plugin."""
        return plugin(machine.command("--agent", self.name))

    def removed(self, text: str) -> str:
        """Nothing, if it is our plugin."""
        return "" if command_of(text) else text

    def check(self, text: str) -> None:
        """Make sure that a file in our plugin's place is ours.

        Raises:
            NotJson: It is not.
        """
        if text.strip() and not command_of(text):
            raise NotJson("line 1: it is not a plugin that memtui wrote")

    def _entry(self, command: list[str]) -> Entry:
        handler: dict[str, object] = {"command": command[0], "args": command[1:]}
        return Entry("plugin", handler, is_grouped=False)


def _in(
    folder: Callable[[Machine], Path], user: str, project: str
) -> Callable[[Machine], Path]:
    def file(machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / project
        return folder(machine) / user

    return file


def _claude_home(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def _codex_home(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def _gemini_home(machine: Machine) -> Path:
    return machine.home / ".gemini"


def _copilot_home(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


def _claude(machine: Machine, event: str) -> dict[str, object]:
    program, *arguments = machine.command()
    return {"type": "command", "command": program, "args": arguments, "async": True}


def _codex(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.command("--agent", "codex"))
    return {"type": "command", "command": line, "timeout": TIMEOUT_S}


def _gemini(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.command("--agent", "gemini-cli"))
    limit_ms = TIMEOUT_S * 1000
    return {"name": "memtui", "type": "command", "command": line, "timeout": limit_ms}


def _copilot(machine: Machine, event: str) -> dict[str, object]:
    line = shlex.join(machine.command("--agent", "copilot-cli", "--event", event))
    return {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S}


_SHARED = "The command names this machine's paths: keep the file out of commits."


AGENTS: tuple[Agent, ...] = (
    Agent(
        name="claude-code",
        title="Claude Code",
        program="claude",
        home=_claude_home,
        # Not settings.json: that is committed, and the command is this machine's.
        file=_in(_claude_home, "settings.json", ".claude/settings.local.json"),
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
        handler=_claude,
        note="Needs Claude Code 2.1.139 or newer.",
        switch="disableAllHooks",
    ),
    Agent(
        name="codex",
        title="Codex",
        program="codex",
        home=_codex_home,
        file=_in(_codex_home, "hooks.json", ".codex/hooks.json"),
        events=("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"),
        handler=_codex,
        note="Codex runs a hook only once you have trusted it: /hooks, in Codex.",
    ),
    Agent(
        name="gemini-cli",
        title="Gemini CLI",
        program="gemini",
        home=_gemini_home,
        file=_in(_gemini_home, "settings.json", ".gemini/settings.json"),
        events=("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
        handler=_gemini,
    ),
    Agent(
        name="copilot-cli",
        title="Copilot CLI",
        program="copilot",
        home=_copilot_home,
        file=_in(_copilot_home, "hooks/memtui.json", ".github/hooks/memtui.json"),
        events=(
            "sessionStart",
            "userPromptSubmitted",
            "postToolUse",
            "postToolUseFailure",
            "subagentStop",
            "agentStop",
            "sessionEnd",
        ),
        handler=_copilot,
        is_grouped=False,
        skeleton='{\n  "version": 1\n}\n',
        is_own_file=True,
    ),
    Plugin(
        name="opencode",
        title="OpenCode",
        program="opencode",
        home=folder,
        file=file,
        events=("plugin",),
        handler=_claude,
        is_own_file=True,
        note="OpenCode loads plugins when it starts.",
    ),
)
"""Every agent, in the order they are shown."""


NAMES = tuple(agent.name for agent in AGENTS)


def agent_by_name(name: str) -> Agent:
    """The agent of a name.

    Raises:
        KeyError: There is none.
    """
    return {agent.name: agent for agent in AGENTS}[name]


def note_of(agent: Agent, machine: Machine) -> str:
    """What a person must know to have the hooks of an agent work."""
    is_committed = machine.project is not None and agent.name != "claude-code"
    return " ".join(filter(None, (agent.note, _SHARED if is_committed else "")))


AGENT = "claude-code"


SETTING = "cleanupPeriodDays"


DAYS = 30
"""What holds where the setting is missing, in days."""


def days(machine: Machine) -> float:
    """For how many days transcripts are kept after they were last written to."""
    try:
        told = json.loads(agent_by_name(AGENT).file(machine).read_bytes())
        said = told.get(SETTING, DAYS)
    except (OSError, ValueError, AttributeError):
        return DAYS
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return said if is_number and said >= 0 else DAYS
