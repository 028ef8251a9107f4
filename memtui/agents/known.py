"""The agents whose hooks we know: where each keeps its settings, and how it says what.

The events are those that a memory keeps something of, and of them those that no
version of the agent is known to stumble over.
"""

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memtui.agents import entries, json_text, opencode
from memtui.agents.entries import Entry
from memtui.agents.json_text import NotJson
from memtui.agents.machine import Machine

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
        return entries.ours(text)

    def added(self, text: str, machine: Machine) -> str:
        """The settings with our hooks in them.

        Raises:
            NotJson: They have something else where hooks belong.
        """
        clean = entries.removed(text) or self.skeleton
        return entries.added(clean, self.wanted(machine))

    def removed(self, text: str) -> str:
        """The settings without our hooks."""
        return entries.removed(text)

    def is_off(self, text: str) -> bool:
        """Whether the settings have the agent run no hooks at all."""
        found = json_text.find(text, self.switch) if self.switch else None
        return found is not None and found.value is True

    def check(self, text: str) -> None:
        """Make sure that a text can be such settings.

        Raises:
            NotJson: It cannot.
        """
        json_text.check(text)


class Plugin(Agent):
    """OpenCode, whose plugin is a file of ours in full."""

    __slots__ = ()

    def wanted(self, machine: Machine) -> list[Entry]:
        """The plugin's one command."""
        return [self._entry(machine.command("--agent", self.name))]

    def ours(self, text: str) -> list[Entry]:
        """The command that a plugin of ours runs."""
        command = opencode.command_of(text)
        return [self._entry(command)] if command else []

    def added(self, text: str, machine: Machine) -> str:
        """The plugin."""
        return opencode.plugin(machine.command("--agent", self.name))

    def removed(self, text: str) -> str:
        """Nothing, if it is our plugin."""
        return "" if opencode.command_of(text) else text

    def check(self, text: str) -> None:
        """Make sure that a file in our plugin's place is ours.

        Raises:
            NotJson: It is not.
        """
        if text.strip() and not opencode.command_of(text):
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
        home=opencode.folder,
        file=opencode.file,
        events=("plugin",),
        handler=_claude,
        is_own_file=True,
        note="OpenCode loads plugins when it starts.",
    ),
)
"""Every agent, in the order they are shown."""

NAMES = tuple(agent.name for agent in AGENTS)


def named(name: str) -> Agent:
    """The agent of a name.

    Raises:
        KeyError: There is none.
    """
    return {agent.name: agent for agent in AGENTS}[name]


def note_of(agent: Agent, machine: Machine) -> str:
    """What a person must know to have the hooks of an agent work."""
    is_committed = machine.project is not None and agent.name != "claude-code"
    return " ".join(filter(None, (agent.note, _SHARED if is_committed else "")))
