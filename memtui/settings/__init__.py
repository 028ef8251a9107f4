"""Every setting: what it means, its unit, its default, and the file that explains all.

How values are read and checked is in ``memtui.settings.configuration``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memtui.memory.setting import Setting, Value
from memtui.settings.jobs import JOBS
from memtui.settings.models import MODELS

ASKED, EVERY = "asked", "all"
"""What stands for the agents a person agreed to, and for all that are found."""

AGENTS = ("claude-code", "codex", "gemini-cli", "opencode", "copilot-cli", "aider")
"""The agents whose transcripts can be read."""

BUILT_IN = "built in"
"""Where a value comes from that nobody has set."""


ALL = (
    Setting(
        "store.path",
        "",
        "The database's file; the index lies beside it. Empty: in memtui's folder. What"
        " is kept elsewhere is not moved there.",
    ),
    Setting(
        "store.mode",
        "unified",
        "unified: one memory of all your work. separate: one for each project, and the"
        " folder memtui is started in says which. Neither takes over what the other"
        " keeps.",
        choices=("unified", "separate"),
    ),
    Setting(
        "store.time_zone",
        "",
        "The time zone whose days the table of contents follows, as an IANA name such"
        " as Europe/Berlin. Read when a store is made; a store keeps the one it has."
        " Empty: this machine's.",
        when="in stores that are made from now on; this one keeps its time zone",
    ),
    Setting(
        "capture.agent_id",
        "agent",
        "The agent of imported events that name none.",
    ),
    Setting(
        "capture.sources",
        (ASKED,),
        "Whose transcripts are read as they are written: agents by their names, or"
        " 'asked' for those you agreed to when memtui asked, or 'all' for all that are"
        " found. An empty list: nobody's.",
        choices=(ASKED, EVERY, *AGENTS),
    ),
    Setting(
        "capture.folders",
        (),
        "Further files and folders with transcripts to be read as they are written, of"
        " whatever agent: Aider's histories, say, or a copy from another machine.",
    ),
    Setting(
        "capture.exclude",
        (),
        "What is never kept: a pattern without a slash is the name of a project, one"
        " with a slash a folder that work was done in, or a transcript's own path."
        " * stands for anything. What was kept before stays: memtui forget.",
    ),
    Setting(
        "segments.silence_min",
        30.0,
        "A pause longer than this ends a segment.",
        unit="minutes",
        least=0.01,
    ),
    Setting(
        "segments.limit_tokens",
        4000,
        "The most text in a segment, unless one event alone is longer.",
        unit="tokens",
        least=1,
    ),
    Setting(
        "segments.overlap_min",
        5.0,
        "How far the context before a segment reaches back.",
        unit="minutes",
        least=0,
    ),
    Setting(
        "segments.overlap_tokens",
        500,
        "The most text in the context before a segment.",
        unit="tokens",
        least=0,
    ),
    Setting(
        "segments.with_subagents",
        False,
        "Whether what helpers of an agent do is cut into segments with the main"
        " conversation. It is kept either way.",
    ),
    Setting(
        "search.with_tools",
        False,
        "Whether search reaches what tools were told and answered, not their names"
        " alone. Credentials can stand there.",
    ),
    *MODELS,
    *JOBS,
    Setting(
        "screen.theme",
        "memtui-dark",
        "The colours of the app.",
        choices=(
            "memtui-dark",
            "memtui-light",
            "memtui-contrast",
            "memtui-dusk",
            "memtui-paper",
        ),
        is_at_once=True,
    ),
    Setting(
        "screen.ascii",
        "auto",
        "Whether marks are drawn with plain letters. auto: where the terminal cannot"
        " show others. Texts stay as they are, if the terminal can show them.",
        choices=("auto", "always", "never"),
        is_at_once=True,
    ),
    Setting(
        "log.level",
        "info",
        "How much is written to memtui.log.",
        choices=("debug", "info", "warning", "error"),
    ),
)
"""Every setting, in the order of the file."""

BY_NAME = {setting.name: setting for setting in ALL}


@dataclass(frozen=True, slots=True)
class Held:
    """A value and where it came from."""

    value: Value
    origin: str


class Settings:
    """All settings with their values."""

    def __init__(self, held: Mapping[str, Held]) -> None:
        """Take the values that are set; the others are built in."""
        self.held = {
            setting.name: held.get(setting.name, Held(setting.default, BUILT_IN))
            for setting in ALL
        }

    def without(self, name: str) -> "Settings":
        """The same settings, one of them as it is built in."""
        return Settings({n: held for n, held in self.held.items() if n != name})

    def _value(self, name: str) -> Any:
        return self.held[name].value

    @property
    def store_path(self) -> Path | None:
        """Where the database lies, if not in memtui's folder."""
        named = str(self._value("store.path"))
        return Path(named).expanduser().absolute() if named else None

    @property
    def time_zone(self) -> str:
        """The time zone for a new store; "" for this machine's."""
        return str(self._value("store.time_zone"))

    @property
    def agent(self) -> str:
        """The agent of imported events that name none."""
        return str(self._value("capture.agent_id"))

    @property
    def is_separate(self) -> bool:
        """Whether each project has a memory of its own."""
        return bool(self._value("store.mode") == "separate")

    @property
    def sources(self) -> tuple[str, ...]:
        """Whose transcripts are read as they are written."""
        return tuple(self._value("capture.sources"))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Further files and folders that are read as they are written."""
        named = self._value("capture.folders")
        return tuple(Path(name).expanduser().absolute() for name in named)

    @property
    def exclude(self) -> tuple[str, ...]:
        """What is never kept, ``~`` told."""
        return tuple(
            str(Path(rule).expanduser()) if rule.startswith("~") else rule
            for rule in self._value("capture.exclude")
        )

    @property
    def silence_min(self) -> float:
        """A pause longer than this ends a segment, in minutes."""
        return float(self._value("segments.silence_min"))

    @property
    def limit_tokens(self) -> int:
        """The most text in a segment, in tokens."""
        return int(self._value("segments.limit_tokens"))

    @property
    def overlap_min(self) -> float:
        """How far the context before a segment reaches back, in minutes."""
        return float(self._value("segments.overlap_min"))

    @property
    def overlap_tokens(self) -> int:
        """The most text in the context before a segment, in tokens."""
        return int(self._value("segments.overlap_tokens"))

    @property
    def with_subagents(self) -> bool:
        """Whether helpers' events are cut into segments too."""
        return bool(self._value("segments.with_subagents"))

    @property
    def with_tools(self) -> bool:
        """Whether search reaches what tools were told and answered."""
        return bool(self._value("search.with_tools"))

    @property
    def theme(self) -> str:
        """The colours of the app."""
        return str(self._value("screen.theme"))

    @property
    def ascii(self) -> str:
        """Whether marks are drawn with plain letters."""
        return str(self._value("screen.ascii"))

    @property
    def log_level(self) -> str:
        """How much is logged."""
        return str(self._value("log.level"))


def manual() -> str:
    """A settings file that is its own manual: every key, commented out."""
    lines = [
        "# The settings of memtui. Take a # away to set a value; memtui names the line",
        "# it does not understand. What a value is now, and why: memtui config show",
    ]
    section = ""
    for setting in ALL:
        head, _, key = setting.name.partition(".")
        if head != section:
            section = head
            lines += ["", f"[{section}]"]
        lines += ["", *_wrapped(setting.says)]
        if setting.unit:
            lines.append(f"# In {setting.unit}.")
        if setting.choices:
            lines.append(f"# One of: {', '.join(setting.choices)}.")
        lines.append(f"# {key} = {toml(setting.default)}")
    return "\n".join(lines) + "\n"


def _wrapped(text: str, width: int = 86) -> list[str]:
    lines = ["#"]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append("#")
        lines[-1] += f" {word}"
    return lines


def toml(value: Value) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, int) else repr(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
