"""Every setting: what it means, its unit, its default, and the file that explains all.

How values are read and checked is in ``memtui.settings.configuration``.
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.errors import SettingsError
from memtui.model.setting import Setting, SettingValue


def _fault(cron: str) -> str:
    from memtui.model import schedule

    return schedule.find_cron_error(cron)


JOBS = (
    Setting(
        "jobs.day",
        "0 1 * * *",
        "When the model rolls up days: a cron expression of minute, hour, day of the"
        " month, month and day of the week, in the store's time zone. What was missed"
        " is made up for.",
        check=_fault,
    ),
    Setting(
        "jobs.week",
        "0 2 * * 0",
        "When the model rolls up weeks.",
        check=_fault,
    ),
    Setting(
        "jobs.month",
        "0 3 1 * *",
        "When the model rolls up months.",
        check=_fault,
    ),
    Setting(
        "jobs.year",
        "0 4 1 1 *",
        "When the model rolls up years.",
        check=_fault,
    ),
    Setting(
        "jobs.jitter_s",
        300,
        "How much later than its time a roll-up may begin, so that several memories"
        " do not ask the model at once. The same for each time, whenever it is asked.",
        unit="seconds",
        minimum=0,
    ),
)
"""In the order of the file."""


_DURATION = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+")


_SECONDS = re.compile(r"[+-]?\d+")


def keep_alive(text: str) -> str | int:
    """How long a model stays, as Ollama takes it: a number alone is one of seconds."""
    said = text.strip()
    return int(said) if _SECONDS.fullmatch(said) else said


def _no_duration(text: str) -> str:
    said = keep_alive(text)
    if isinstance(said, int) or _DURATION.fullmatch(said):
        return ""
    return "say how long: 5m, 1h30m, a number of seconds, 0: not at all, -1: for ever"


AUTO, OLLAMA, EXTRACTIVE = "auto", "ollama", "extractive"
"""Who may summarise: a model if there is one, nobody but a model, or no model."""


MODELS = (
    Setting(
        "summaries.provider",
        AUTO,
        "Who summarises. auto: memtui itself at once, by quoting, and a model of Ollama"
        " on this machine later, if there is one. ollama: the same, but the want of a"
        " model is reported. extractive: no model is ever asked.",
        choices=(AUTO, OLLAMA, EXTRACTIVE),
    ),
    Setting(
        "summaries.model",
        "",
        "The model of Ollama, such as qwen3:4b. Empty: one that is loaded, or the best"
        " one there is. A model that runs in the cloud is never asked.",
    ),
    Setting(
        "summaries.url",
        "http://127.0.0.1:11434",
        "Where Ollama is. OLLAMA_HOST and proxies are not looked at.",
    ),
    Setting(
        "summaries.allowed_hosts",
        (),
        "Other machines that summaries.url may name. They are sent what was said in"
        " your conversations. Empty: this machine alone.",
    ),
    Setting(
        "summaries.window_tokens",
        0,
        "The model's window. 0: the one it is loaded with, else 8192.",
        unit="tokens",
        minimum=0,
    ),
    Setting(
        "summaries.keep_alive",
        "5m",
        "How long Ollama keeps the model loaded after a summary: 5m, 1h30m, a number of"
        " seconds, 0 for not at all, -1 for ever.",
        check=_no_duration,
    ),
    Setting(
        "summaries.timeout_s",
        300.0,
        "How long Ollama may be silent: while it loads a model, reads a prompt or"
        " writes. A whole reply may take twice as long.",
        unit="seconds",
        minimum=1,
    ),
)
"""In the order of the file."""


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
        applies_to="in stores that are made from now on; this one keeps its time zone",
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
        minimum=0.01,
    ),
    Setting(
        "segments.limit_tokens",
        4000,
        "The most text in a segment, unless one event alone is longer.",
        unit="tokens",
        minimum=1,
    ),
    Setting(
        "segments.overlap_min",
        5.0,
        "How far the context before a segment reaches back.",
        unit="minutes",
        minimum=0,
    ),
    Setting(
        "segments.overlap_tokens",
        500,
        "The most text in the context before a segment.",
        unit="tokens",
        minimum=0,
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
        applies_at_once=True,
    ),
    Setting(
        "screen.ascii",
        "auto",
        "Whether marks are drawn with plain letters. auto: where the terminal cannot"
        " show others. Texts stay as they are, if the terminal can show them.",
        choices=("auto", "always", "never"),
        applies_at_once=True,
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

    value: SettingValue
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
        lines += ["", *_wrapped(setting.description)]
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


def toml(value: SettingValue) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(map(toml, value))}]"
    if isinstance(value, int | float):
        return f"{value:g}" if isinstance(value, int) else repr(value)
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


PREFIX = "MEMTUI_"
"""How the settings' names begin in the environment; ``__`` stands between section and
key: ``MEMTUI_SEGMENTS__SILENCE_MIN=45``."""


def load(
    default_file: Path, *, given_file: Path | None = None, given: Sequence[str] = ()
) -> Settings:
    """Read all settings and check them.

    Args:
        default_file: The file in memtui's config folder; it may be missing.
        given_file: The file named on the command line; it must exist.
        given: ``section.key=value`` from the command line.

    Raises:
        SettingsError: A key is unknown or a value cannot be; names file and line.
    """
    held: dict[str, Held] = {}
    if _is_there(default_file):
        held |= _of_file(default_file)
    if given_file:
        held |= _of_file(given_file)
    held |= _of_environment(os.environ)
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise SettingsError(f"--set {text}: expected section.key=value")
        setting = _known(name.strip(), f"--set {text}")
        read = _read(setting, value.strip(), f"--set {text}")
        held[setting.name] = Held(read, "command line")
    return Settings(held)


def _is_there(file: Path) -> bool:
    try:
        return file.exists()
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from error


def _of_file(file: Path) -> dict[str, Held]:
    import tomllib

    try:
        text = file.read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise SettingsError(f"{file}: {reason}") from error
    held = {}
    for section, entries in tables.items():
        if not isinstance(entries, dict):
            where = f"{file}:{_line(text, '', section)}"
            raise SettingsError(f"{where}: {section} stands outside of any [section]")
        for key, value in entries.items():
            where = f"{file}:{_line(text, section, key)}"
            setting = _known(f"{section}.{key}", where)
            held[setting.name] = Held(_checked(setting, value, where), where)
    return held


def _line(text: str, section: str, key: str) -> int:
    """The line a key stands on, from 1."""
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            here = header.group(1)
        elif here == section and re.match(rf"\W*{re.escape(key)}\W*=", line):
            return number
    return 1


def _of_environment(environment: Mapping[str, str]) -> dict[str, Held]:
    held = {}
    for variable, value in environment.items():
        if not variable.startswith(PREFIX):
            continue
        if "__" not in variable:
            _check_single(variable)
            continue
        name = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
        setting = _known(name, variable)
        held[setting.name] = Held(_read(setting, value, variable), variable)
    return held


def _check_single(variable: str) -> None:
    """A place may have one underscore; a setting has two, and is named so."""
    key = variable.removeprefix(PREFIX).lower()
    for name in BY_NAME:
        section, _, own = name.partition(".")
        if key in (own, f"{section}_{own}"):
            right = f"{PREFIX}{section}__{own}".upper()
            raise SettingsError(f"{variable}: did you mean {right}?")


def _known(name: str, where: str) -> Setting:
    if name in BY_NAME:
        return BY_NAME[name]
    near = _nearest(name, list(BY_NAME))
    if not near:
        tail = name.rpartition(".")[2]
        near = [n for n in BY_NAME if n.rpartition(".")[2] == tail]
    hint = f"; did you mean {near[0]}?" if near else ""
    raise SettingsError(f"{where}: there is no setting {name}{hint}")


def _nearest(word: str, words: Sequence[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(word, words, n=1, cutoff=0.5)


def value_of(name: str, text: str) -> SettingValue:
    """The value a text means for a setting, checked as a file's is.

    Raises:
        SettingsError: There is no such setting, or it cannot have this value.
    """
    setting = _known(name, name)
    try:
        return _read(setting, text.strip(), name)
    except SettingsError as error:
        # The name stands twice: where it was read, and in the sentence itself.
        raise SettingsError(str(error).removeprefix(f"{name}: ")) from None


def _read(setting: Setting, text: str, where: str) -> SettingValue:
    """A value from text, of the type its default has."""
    if isinstance(setting.default, bool):
        lowered = text.lower()
        if lowered in ("true", "yes", "on", "1"):
            return True
        if lowered in ("false", "no", "off", "0"):
            return False
        raise SettingsError(f"{where}: {setting.name} is true or false, not {text!r}")
    if isinstance(setting.default, int | float):
        try:
            number = float(text)
        except ValueError:
            raise SettingsError(
                f"{where}: {setting.name} is a number, not {text!r}"
            ) from None
        whole = isinstance(setting.default, int) and number.is_integer()
        return _checked(setting, int(number) if whole else number, where)
    if isinstance(setting.default, tuple):
        items = [item.strip() for item in text.split(",")]
        return _checked(setting, [item for item in items if item], where)
    return _checked(setting, text, where)


def _checked(setting: Setting, value: object, where: str) -> SettingValue:
    name, default = setting.name, setting.default
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise SettingsError(f"{where}: {name} is true or false, not {value!r}")
        return value
    if isinstance(default, int | float):
        allowed = int if isinstance(default, int) else (int, float)
        if isinstance(value, bool) or not isinstance(value, allowed):
            kind = "a whole number" if isinstance(default, int) else "a number"
            raise SettingsError(f"{where}: {name} is {kind}, not {value!r}")
        if not math.isfinite(value):
            raise SettingsError(f"{where}: {name} is a finite number, not {value!r}")
        if setting.minimum is not None and value < setting.minimum:
            raise SettingsError(f"{where}: {name} is at least {setting.minimum:g}")
        return float(value) if isinstance(default, float) else int(value)
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise SettingsError(f"{where}: {name} is a list of texts, not {value!r}")
        return tuple(_text(setting, item, where) for item in value)
    return _text(setting, value, where)


def _text(setting: Setting, value: object, where: str) -> str:
    name = setting.name
    if not isinstance(value, str):
        raise SettingsError(f"{where}: {name} is text, not {value!r}")
    if setting.choices and value not in setting.choices:
        near = _nearest(value, setting.choices)
        hint = f"; did you mean {near[0]}?" if near else ""
        listed = ", ".join(setting.choices)
        raise SettingsError(f"{where}: {name} is one of {listed}, not {value!r}{hint}")
    if name == "store.time_zone" and value:
        _check_zone(value, where)
    if setting.check and (wrong := setting.check(value)):
        raise SettingsError(f"{where}: {name} cannot be {value!r}: {wrong}")
    return value


def _check_zone(name: str, where: str) -> None:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SettingsError(f"{where}: there is no time zone {name!r}") from None
