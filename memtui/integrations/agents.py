"""The agents that memtui can be registered with, and its state in their settings.

The events are those that memtui stores something of and that no version of the agent
has problems with.
"""

import json
import shlex
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from memtui.errors import HooksError, UsageError
from memtui.files import read_small_file
from memtui.integrations import config_files
from memtui.integrations.config_entries import (
    COMMAND_FIELDS,
    JsonHooks,
    OwnFile,
    Server,
)
from memtui.integrations.config_files import ConfigEntry, ConfigValue, Machine
from memtui.integrations.config_text import JSON, JSON_WITH_COMMENTS, TOML
from memtui.model.events import clean

TIMEOUT_S = 10
"""The agent's time limit for the hook, which takes hundredths of a second."""

RUN_TIMEOUT_S = 10.0

MAX_LINE_CHARS = 200

ALL_TOOLS = "--tools=all"
"""The server's option to offer all tools, not only the core ones."""

ALLOW_WRITE = "--allow-write"
"""The server's option to offer tools that change something."""

PathOf = Callable[[Machine], Path]

_DEFAULT_CLEANUP_DAYS = 30

_MAX_CLEANUP_DAYS = 1_000_000
"""More than any time that can be computed with is as good as forever."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent, and memtui's entries in its settings."""

    name: str
    title: str
    program: str
    folder: PathOf
    hooks: JsonHooks | OwnFile
    server: Server
    skill: OwnFile
    hooks_note: str = ""
    """A note on what the user must know for the hooks to work."""
    off_setting: str = ""
    """The setting that, when true, switches off all hooks."""

    def is_found(self, machine: Machine) -> bool:
        return self.folder(machine).is_dir() or machine.has_program(self.program)

    def note_for(self, entry: ConfigEntry, machine: Machine) -> str:
        """Return what the user must know for an entry to work."""
        notes = []
        if entry is self.hooks and self.hooks_note:
            notes.append(self.hooks_note)
        elif entry is self.server:
            notes.append("Restart it so that it finds memtui.")
        # The local settings of Claude Code are not committed.
        is_local = entry is self.hooks and self.name == "claude-code"
        if machine.project is not None and entry is not self.skill and not is_local:
            notes.append(
                "The command names this machine's paths: keep the file out of commits."
            )
        return " ".join(notes)


def _claude_folder(machine: Machine) -> Path:
    return machine.folder("CLAUDE_CONFIG_DIR", ".claude")


def _codex_folder(machine: Machine) -> Path:
    return machine.folder("CODEX_HOME", ".codex")


def _gemini_folder(machine: Machine) -> Path:
    return machine.home / ".gemini"


def _opencode_folder(machine: Machine) -> Path:
    base = machine.folder("XDG_CONFIG_HOME", ".config")
    return machine.folder("OPENCODE_CONFIG_DIR", str(base / "opencode"))


def _copilot_folder(machine: Machine) -> Path:
    return machine.folder("COPILOT_HOME", ".copilot")


def _file(folder: PathOf, name: str, project_name: str) -> PathOf:
    """Return a function for a path in an agent's folder, or in a project."""

    def path(machine: Machine) -> Path:
        if machine.project is not None:
            return machine.project / project_name
        return folder(machine) / name

    return path


def _skill(name: str, folder: PathOf, project_folder: str) -> OwnFile:
    path = "skills/memtui/SKILL.md"
    source = Path(__file__).with_name("skill.md")
    file = _file(folder, path, f"{project_folder}/{path}")
    mark = "<!-- Written by memtui"
    return OwnFile(name, file, source, mark, ("skill",))


def _claude_server_file(machine: Machine) -> Path:
    # Claude Code keeps servers with its state, not in its settings.
    if machine.project is not None:
        return machine.project / ".mcp.json"
    if machine.environment.get("CLAUDE_CONFIG_DIR"):
        return _claude_folder(machine) / ".claude.json"
    return machine.home / ".claude.json"


def _plugin_file(machine: Machine) -> Path:
    project = machine.project
    base = project / ".opencode" if project else _opencode_folder(machine)
    # Older versions only know "plugin".
    is_old = (base / "plugin").is_dir() and not (base / "plugins").is_dir()
    return base / ("plugin" if is_old else "plugins") / "memtui.js"


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


def _server(words: Sequence[str]) -> dict[str, object]:
    return {"command": words[0], "args": list(words[1:])}


AGENTS = (
    Agent(
        name="claude-code",
        title="Claude Code",
        program="claude",
        folder=_claude_folder,
        hooks=JsonHooks(
            "claude-code",
            # Not settings.json: that is committed, and the command is this machine's.
            _file(_claude_folder, "settings.json", ".claude/settings.local.json"),
            (
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
            _claude_handler,
        ),
        server=Server(
            "claude-code",
            _claude_server_file,
            "mcpServers",
            lambda words: {"type": "stdio", **_server(words)},
        ),
        skill=_skill("claude-code", _claude_folder, ".claude"),
        hooks_note="Needs Claude Code 2.1.139 or newer.",
        off_setting="disableAllHooks",
    ),
    Agent(
        name="codex",
        title="Codex",
        program="codex",
        folder=_codex_folder,
        hooks=JsonHooks(
            "codex",
            _file(_codex_folder, "hooks.json", ".codex/hooks.json"),
            ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"),
            _codex_handler,
        ),
        server=Server(
            "codex",
            _file(_codex_folder, "config.toml", ".codex/config.toml"),
            "mcp_servers",
            _server,
            format=TOML,
        ),
        skill=_skill("codex", _codex_folder, ".codex"),
        hooks_note="Codex runs a hook only once you have trusted it: /hooks, in Codex.",
    ),
    Agent(
        name="gemini-cli",
        title="Gemini CLI",
        program="gemini",
        folder=_gemini_folder,
        hooks=JsonHooks(
            "gemini-cli",
            _file(_gemini_folder, "settings.json", ".gemini/settings.json"),
            ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"),
            _gemini_handler,
        ),
        server=Server(
            "gemini-cli",
            _file(_gemini_folder, "settings.json", ".gemini/settings.json"),
            "mcpServers",
            _server,
        ),
        skill=_skill("gemini-cli", _gemini_folder, ".gemini"),
    ),
    Agent(
        name="copilot-cli",
        title="Copilot CLI",
        program="copilot",
        folder=_copilot_folder,
        hooks=JsonHooks(
            "copilot-cli",
            _file(_copilot_folder, "hooks/memtui.json", ".github/hooks/memtui.json"),
            (
                "sessionStart",
                "userPromptSubmitted",
                "postToolUse",
                "postToolUseFailure",
                "subagentStop",
                "agentStop",
                "sessionEnd",
            ),
            _copilot_handler,
            is_grouped=False,
            version=1,
        ),
        server=Server(
            "copilot-cli",
            _file(_copilot_folder, "mcp-config.json", ".github/mcp.json"),
            "mcpServers",
            lambda words: {"type": "local", **_server(words), "tools": ["*"]},
        ),
        skill=_skill("copilot-cli", _copilot_folder, ".github"),
    ),
    Agent(
        name="opencode",
        title="OpenCode",
        program="opencode",
        folder=_opencode_folder,
        hooks=OwnFile(
            "opencode",
            _plugin_file,
            Path(__file__).with_name("opencode.js"),
            "// Written by memtui",
        ),
        server=Server(
            "opencode",
            _file(_opencode_folder, "opencode.json", "opencode.json"),
            "mcp",
            lambda words: {"type": "local", "command": [*words], "enabled": True},
            format=JSON_WITH_COMMENTS,
        ),
        skill=_skill("opencode", _opencode_folder, ".opencode"),
        hooks_note="OpenCode loads plugins when it starts.",
    ),
)
"""All agents, in the order they are shown."""

AGENT_NAMES = tuple(agent.name for agent in AGENTS)


def find_agent(name: str) -> Agent:
    """Return the agent with a name.

    Raises:
        UsageError: There is no such agent.
    """
    for agent in AGENTS:
        if agent.name == name:
            return agent
    raise UsageError(f"no agent is called {name!r}: {', '.join(AGENT_NAMES)}")


def claude_cleanup_days(machine: Machine) -> float:
    try:
        settings = json.loads(read_small_file(AGENTS[0].hooks.path(machine)))
        days = settings.get("cleanupPeriodDays", _DEFAULT_CLEANUP_DAYS)
    except (OSError, ValueError, AttributeError, RecursionError):
        return _DEFAULT_CLEANUP_DAYS
    is_number = isinstance(days, int | float) and not isinstance(days, bool)
    if not is_number or not days >= 0:
        return _DEFAULT_CLEANUP_DAYS
    return float(min(days, _MAX_CLEANUP_DAYS))


@dataclass(frozen=True, slots=True)
class HookStatus:
    agent: str
    title: str
    is_found: bool
    scope: str
    """``user`` or ``project``."""
    file: Path
    is_installed: bool
    is_current: bool
    """The hooks are what would be installed now."""
    runs: bool | None
    """True if the command runs; None if there is none or it was not tried."""
    events: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    problem: str = ""
    note: str = ""
    """A hint for the user without which the hooks may not work."""
    is_off: bool = False
    """The agent's settings switch off all hooks."""


def hook_status(agent: Agent, machine: Machine) -> HookStatus:
    """Return the status of an agent's hooks, after a trial of the user's command."""
    problem, existing, is_off = "", list[ConfigValue](), False
    try:
        text, existing = config_files.read(agent.hooks, machine)
        if agent.off_setting:
            is_off = JSON.parse(text).get(agent.off_setting) is True
    except HooksError as error:
        problem = str(error)
    expected = agent.hooks.expected(machine)
    is_current = config_files.is_up_to_date(existing, expected)
    command = command_words(existing[0].value) if existing else ()
    # The files of a project may come from anybody: what they name is never run.
    is_tried = bool(existing) and machine.project is None
    runs = _runs(command, machine.home) if is_tried else None
    if existing and is_off:
        problem = f"{agent.off_setting} switches off all hooks there"
    elif existing and runs is False:
        problem = "the command it names does not run"
    elif existing and not is_current:
        problem = "outdated: another command, or other events, than this memtui's"
        if machine.project is not None:
            problem += f"; it runs: {command_line(command)}"
    return HookStatus(
        agent=agent.name,
        title=agent.title,
        is_found=agent.is_found(machine),
        scope="project" if machine.project else "user",
        file=agent.hooks.path(machine),
        is_installed=bool(existing),
        is_current=is_current,
        runs=runs,
        events=tuple(clean(item.key) for item in existing),
        command=command,
        problem=problem,
        note=agent.note_for(agent.hooks, machine),
        is_off=is_off,
    )


def hook_statuses(machine: Machine) -> list[HookStatus]:
    """Return the status of each agent's hooks, in the order of ``AGENTS``."""
    return [hook_status(agent, machine) for agent in AGENTS]


def command_words(value: dict[str, object]) -> tuple[str, ...]:
    """Return the program and arguments that a handler runs."""
    lines = (str(value[name]) for name in COMMAND_FIELDS if value.get(name))
    line, arguments = next(lines, ""), value.get("args")
    if isinstance(arguments, list):
        return (line, *map(str, arguments))
    return ("/bin/sh", "-c", line)


def command_line(command: Sequence[str]) -> str:
    """Return a command on one line, to be shown."""
    words = command[2:] if command[:2] == ("/bin/sh", "-c") else (shlex.join(command),)
    line = " ".join(clean(" ".join(words)).split())
    return line if len(line) <= MAX_LINE_CHARS else f"{line[:MAX_LINE_CHARS]}…"


def _runs(command: Sequence[str], folder: Path) -> bool:
    """Return whether the user's own command succeeds without output on empty input.

    It runs in a folder where a relative path does not lead into a repository.
    """
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_TIMEOUT_S,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return False
    return (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


@dataclass(frozen=True, slots=True)
class ServerStatus:
    agent: str
    title: str
    is_found: bool
    file: Path
    is_installed: bool
    is_current: bool
    """The entry is what would be installed now."""
    has_skill: bool
    may_write: bool = False
    """The server offers tools that change something."""
    problem: str = ""


def server_status(agent: Agent, machine: Machine) -> ServerStatus:
    problem, existing, is_current, has_skill = "", list[ConfigValue](), False, False
    options: list[str] = []
    try:
        text, existing = config_files.read(agent.server, machine)
    except HooksError as error:
        problem = str(error)
    for item in existing:
        words = {word for value in item.value.values() for word in _words(value)}
        options = [option for option in (ALLOW_WRITE, ALL_TOOLS) if option in words]
        # The options are the user's choice; only the command is compared.
        base = [word for word in machine.server if word not in (ALLOW_WRITE, ALL_TOOLS)]
        chosen = replace(machine, server=(*base, *options))
        expected = agent.server.expected(chosen, text)
        is_current = config_files.is_up_to_date(existing, expected)
        if not is_current:
            where = ["--project"] if machine.project is not None else []
            arguments = " ".join([agent.name, *where, *options])
            problem = f"another command than this memtui's: mcp install {arguments}"
    with suppress(HooksError):
        has_skill = bool(config_files.read(agent.skill, machine)[1])
    return ServerStatus(
        agent=agent.name,
        title=agent.title,
        is_found=agent.is_found(machine),
        file=agent.server.path(machine),
        is_installed=bool(existing),
        is_current=is_current,
        has_skill=has_skill,
        may_write=ALLOW_WRITE in options,
        problem=problem,
    )


def _words(value: object) -> list[str]:
    """Return the words of a command, which is a list where the agent wants one."""
    words = value if isinstance(value, list) else []
    return [word for word in words if isinstance(word, str)]
