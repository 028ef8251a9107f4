"""The settings: their names, defaults and meaning, and how their values are read.

``Settings`` has one field for each setting: ``segments_max_tokens`` holds the setting
``segments.max_tokens``. ``load`` merges what is set: the settings file, a second file,
the environment and ``--set``; later ones win.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar, cast

from memtui.errors import SettingsError
from memtui.model.quantities import check_number

SettingValue = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Setting:
    """The description of a setting."""

    name: str
    """``section.key``."""
    default: SettingValue
    description: str
    unit: str = ""
    choices: tuple[str, ...] = ()
    """The values allowed for the text, or for each text of a list; empty: any."""
    minimum: float | None = None
    check: Callable[[str], str] | None = None
    """Returns what is wrong with a text, or ""."""
    applies_at_once: bool = False
    """True if a change takes effect while memtui runs, not at its next start."""
    applies_to: str = ""
    """The things that a change takes effect for, if neither of these."""

    @property
    def section(self) -> str:
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        return self.name.partition(".")[2]


T = TypeVar("T", bound=SettingValue)


def _setting(default: T, description: str, **details: Any) -> T:
    """Declare a field of ``Settings``; the details are those of ``Setting``."""
    metadata = {"description": description, **details}
    return field(default=default, metadata=metadata)


def _check_cron(cron: str) -> str:
    from memtui.model.jobs import find_cron_error

    return find_cron_error(cron)


def _check_zone(name: str) -> str:
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        if name:
            ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return f"there is no time zone {name!r}"
    return ""


_PRICES = re.compile(r"\S+(\s+\d{0,9}\.?\d{1,9}){4}")


def _check_prices(text: str) -> str:
    if _PRICES.fullmatch(text.strip()):
        return ""
    return "write a model and the prices of input, output, cache read and cache write"


_DURATION = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+")
_SECONDS = re.compile(r"[+-]?\d+")


def keep_alive(text: str) -> str | int:
    """Convert ``summaries.keep_alive`` to what Ollama takes."""
    text = text.strip()
    return int(text) if _SECONDS.fullmatch(text) else text


def _check_keep_alive(text: str) -> str:
    value = keep_alive(text)
    if isinstance(value, int) or _DURATION.fullmatch(value):
        return ""
    return "write 5m, 1h30m, a number of seconds, 0 for not at all, or -1 for ever"


AUTO, OLLAMA, EXTRACTIVE = "auto", "ollama", "extractive"
"""The values of ``summaries.provider``."""

CHOSEN, EVERY = "chosen", "all"
"""Values of ``capture.sources`` besides the names of agents."""

AGENTS = (
    *("claude-code", "codex", "gemini-cli", "antigravity-cli", "opencode"),
    *("copilot-cli", "aider"),
)
"""The agents whose transcripts can be read."""

DEFAULT = "default"
"""The origin of a value that is not set anywhere."""

COMMAND_LINE = "command line"

ENVIRONMENT_PREFIX = "MEMTUI_"
"""``MEMTUI_SEGMENTS__MAX_TOKENS`` sets ``segments.max_tokens``."""


@dataclass(frozen=True)
class Settings:
    """The value of every setting, and where it was set."""

    store_path: str = _setting(
        "",
        "The file of the database; the search index is next to it. Empty: in memtui's"
        " folder. A database that exists elsewhere is not moved.",
    )
    store_mode: str = _setting(
        "unified",
        "unified: one store for all your work. separate: one store for each project,"
        " chosen by the folder memtui is started in. The stores share nothing.",
        choices=("unified", "separate"),
    )
    store_time_zone: str = _setting(
        "",
        "The time zone of the table of contents, an IANA name such as Europe/Berlin."
        " A store keeps the time zone it was created with. Empty: this machine's.",
        check=_check_zone,
        applies_to="in new stores; this one keeps its time zone",
    )
    capture_sources: tuple[str, ...] = _setting(
        (CHOSEN,),
        "The agents whose transcripts are read as they are written: their names, or"
        " 'chosen' for those chosen at the first start or with memtui sources, or"
        " 'all' for every agent found. An empty list: none.",
        choices=(CHOSEN, EVERY, *AGENTS),
    )
    capture_folders: tuple[str, ...] = _setting(
        (),
        "More files and folders with transcripts to read as they are written, of any"
        " agent: for example Aider's histories, or a copy from another machine.",
    )
    capture_exclude: tuple[str, ...] = _setting(
        (),
        "Work that is not stored. A pattern without a slash is the name of a project,"
        " one with a slash is a working folder or the path of a transcript; * stands"
        " for any text. What is stored already stays: see memtui forget.",
    )
    segments_max_gap_min: float = _setting(
        30.0,
        "A longer pause ends a segment.",
        unit="minutes",
        minimum=0.01,
    )
    segments_max_tokens: int = _setting(
        4000,
        "The most text in a segment, unless a single event is longer.",
        unit="tokens",
        minimum=1,
    )
    segments_overlap_min: float = _setting(
        5.0,
        "Has no effect any more: a segment needs nothing that is before it.",
        unit="minutes",
        minimum=0,
    )
    segments_overlap_tokens: int = _setting(
        500,
        "Has no effect any more, as segments.overlap_min.",
        unit="tokens",
        minimum=0,
    )
    segments_include_subagents: bool = _setting(
        False,
        "Put the messages of subagents into segments, with the main conversation. They"
        " are stored in any case.",
    )
    search_include_tools: bool = _setting(
        False,
        "Search the arguments and results of tools, not only their names. They can"
        " contain credentials.",
    )
    summaries_provider: str = _setting(
        AUTO,
        "What writes summaries. auto: memtui at once, by quoting, and later a model of"
        " Ollama on this machine, if there is one. ollama: the same, but a missing"
        " model is reported. extractive: no model is used.",
        choices=(AUTO, OLLAMA, EXTRACTIVE),
    )
    summaries_model: str = _setting(
        "",
        "The model of Ollama, such as qwen3:4b-instruct. Empty: one that is loaded, or"
        " the largest installed one that fits in memory. Models that run in the cloud"
        " are never used.",
    )
    summaries_url: str = _setting(
        "http://127.0.0.1:11434",
        "The address of Ollama. OLLAMA_HOST and proxies are ignored.",
    )
    summaries_allowed_hosts: tuple[str, ...] = _setting(
        (),
        "Other machines that summaries.url may name. The text of your conversations is"
        " sent to them. Empty: only this machine.",
    )
    summaries_window_tokens: int = _setting(
        0,
        "The context window of the model. 0: the one it is loaded with, else 8192.",
        unit="tokens",
        minimum=0,
    )
    summaries_keep_alive: str = _setting(
        "5m",
        "How long Ollama keeps the model loaded after a summary: 5m, 1h30m, a number of"
        " seconds, 0 for not at all, -1 for ever.",
        check=_check_keep_alive,
    )
    summaries_timeout_s: float = _setting(
        300.0,
        "How long Ollama may be silent while it loads a model, reads a prompt or"
        " writes. A whole reply may take twice as long.",
        unit="seconds",
        minimum=1,
    )
    jobs_day: str = _setting(
        "0 1 * * *",
        "When the model rolls up days: a cron expression of minute, hour, day of the"
        " month, month and day of the week, after a second if there are six, in the"
        " store's time zone. A run that was missed is made up for.",
        check=_check_cron,
    )
    jobs_week: str = _setting(
        "0 2 * * 0", "When the model rolls up weeks.", check=_check_cron
    )
    jobs_month: str = _setting(
        "0 3 1 * *", "When the model rolls up months.", check=_check_cron
    )
    jobs_year: str = _setting(
        "0 4 1 1 *", "When the model rolls up years.", check=_check_cron
    )
    prices_models: tuple[str, ...] = _setting(
        (),
        "What models cost: the beginning of a model's name, and what a million tokens"
        " cost in dollars: input, output, cache read and cache write, such as"
        " 'claude-opus-4 15 75 1.5 18.75'. The longest beginning that fits counts."
        " memtui knows no prices; a cost that a transcript states is shown as it is.",
        check=_check_prices,
    )
    screen_theme: str = _setting(
        "memtui-dark",
        "The colors of the app.",
        choices=(
            "memtui-dark",
            "memtui-light",
            "memtui-contrast",
            "memtui-dusk",
            "memtui-paper",
        ),
        applies_at_once=True,
    )
    screen_ascii: str = _setting(
        "auto",
        "Draw lines and symbols with ASCII characters. auto: if the terminal cannot"
        " show others. The text of conversations is not changed.",
        choices=("auto", "always", "never"),
        applies_at_once=True,
    )
    log_level: str = _setting(
        "info",
        "How much is written to memtui.log.",
        choices=("debug", "info", "warning", "error"),
    )
    origins: Mapping[str, str] = field(default_factory=dict)
    """The place where each was set: ``FILE:LINE``, a variable or ``command line``."""

    def value(self, name: str) -> SettingValue:
        value: SettingValue = getattr(self, _field_name(name))
        return value

    def origin(self, name: str) -> str:
        """Return where a setting was set, or ``DEFAULT``."""
        return self.origins.get(name, DEFAULT)

    def is_set(self, name: str) -> bool:
        return name in self.origins or self.value(name) != SETTINGS[name].default

    @property
    def store_file(self) -> Path | None:
        """The database's file, if it is not in memtui's folder."""
        if not self.store_path:
            return None
        return Path(self.store_path).expanduser().absolute()

    @property
    def has_separate_stores(self) -> bool:
        return self.store_mode == "separate"

    @property
    def watched_folders(self) -> tuple[Path, ...]:
        """The absolute paths in ``capture.folders``."""
        return tuple(
            Path(name).expanduser().absolute() for name in self.capture_folders
        )

    @property
    def price_list(self) -> dict[str, list[float]]:
        """The cost of a million tokens of each kind, by the beginning of a name."""
        rows = map(str.split, self.prices_models)
        return {name.lower(): [*map(float, prices)] for name, *prices in rows}

    @property
    def exclude_patterns(self) -> tuple[str, ...]:
        """``capture.exclude`` with ``~`` replaced by the home folder."""
        return tuple(
            str(Path(pattern).expanduser()) if pattern.startswith("~") else pattern
            for pattern in self.capture_exclude
        )


def _field_name(name: str) -> str:
    return name.replace(".", "_", 1)


SETTINGS: dict[str, Setting] = {
    (name := setting.name.replace("_", ".", 1)): Setting(
        name, cast(SettingValue, setting.default), **setting.metadata
    )
    for setting in fields(Settings)[:-1]  # without origins
}
"""Every setting by its name, in the order of the file."""


def template() -> str:
    """Return a settings file that explains every setting, all commented out."""
    import textwrap

    lines = [
        "# The settings of memtui. Remove a # to set a value. To see the values in use",
        "# and where each was set: memtui config show",
    ]
    section = ""
    for setting in SETTINGS.values():
        if setting.section != section:
            section = setting.section
            lines += ["", f"[{section}]"]
        lines += ["", *(f"# {line}" for line in textwrap.wrap(setting.description, 86))]
        if setting.unit:
            lines.append(f"# In {setting.unit}.")
        if setting.choices:
            choices = textwrap.wrap(f"One of: {', '.join(setting.choices)}.", 86)
            lines += [f"# {line}" for line in choices]
        lines.append(f"# {setting.key} = {to_toml(setting.default)}")
    return "\n".join(lines) + "\n"


def to_toml(value: SettingValue) -> str:
    """Write a value as TOML, which is as JSON for these types."""
    return json.dumps(value, ensure_ascii=False)


def load(
    default_file: Path,
    *,
    config_file: Path | None = None,
    assignments: Sequence[str] = (),
) -> Settings:
    """Read and check all settings.

    Args:
        default_file: The file in memtui's folder; it may be missing.
        config_file: The file given on the command line; it must exist.
        assignments: ``section.key=value`` from the command line.

    Raises:
        SettingsError: A setting is unknown or has an invalid value; the message has
            the file and line.
    """
    given = _read_file(default_file, is_optional=True)
    if config_file:
        given |= _read_file(config_file)
    given |= _read_environment()
    for text in assignments:
        name, equals, value = text.partition("=")
        with _located(f"--set {text}"):
            if not equals:
                raise SettingsError("expected section.key=value")
            given[name.strip()] = parse_value(name.strip(), value), COMMAND_LINE
    values: dict[str, Any] = {
        _field_name(name): value for name, (value, _) in given.items()
    }
    origins = {name: origin for name, (_, origin) in given.items()}
    return Settings(**values, origins=origins)


@contextmanager
def _located(where: str) -> Iterator[None]:
    """Begin the message of an error with its place."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from error.__cause__


def _read_file(
    file: Path, *, is_optional: bool = False
) -> dict[str, tuple[SettingValue, str]]:
    """Return the value and the place of each setting in a file."""
    import tomllib

    from memtui.files import read_small_file

    try:
        text = read_small_file(file).decode()
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: {error}") from error
    except RecursionError:
        raise SettingsError(f"{file}: is nested too deeply") from None
    except (OSError, UnicodeDecodeError) as error:
        if is_optional and isinstance(error, FileNotFoundError | NotADirectoryError):
            return {}
        reason = getattr(error, "strerror", None) or "is not UTF-8 text"
        raise SettingsError(f"{file}: {reason}") from error
    values = {}
    for section, entries in tables.items():
        if not isinstance(entries, dict):
            where = f"{file}:{_line_number(text, '', section)}"
            raise SettingsError(f"{where}: {section} is outside of any [section]")
        for key, value in entries.items():
            where = f"{file}:{_line_number(text, section, key)}"
            with _located(where):
                setting = _find(f"{section}.{key}")
                values[setting.name] = _validate(setting, value), where
    return values


def _line_number(text: str, section: str, key: str) -> int:
    """Return the line of a key, from 1."""
    current = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[\s*([^\]]+?)\s*\]", line):
            current = header.group(1)
        elif current == section and re.match(rf"\W*{re.escape(key)}\W*=", line):
            return number
    return 1


def _read_environment() -> dict[str, tuple[SettingValue, str]]:
    values = {}
    for variable, value in os.environ.items():
        if not variable.startswith(ENVIRONMENT_PREFIX):
            continue
        if "__" not in variable:
            _check_underscores(variable)
            continue
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", ".", 1)
        with _located(variable):
            values[name] = parse_value(name, value), variable
    return values


def _check_underscores(variable: str) -> None:
    """Refuse a setting's name with one underscore; ``MEMTUI_HOME`` is no setting."""
    key = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
    for setting in SETTINGS.values():
        if key in (setting.key, _field_name(setting.name)):
            right = f"{ENVIRONMENT_PREFIX}{setting.section}__{setting.key}".upper()
            raise SettingsError(f"{variable}: did you mean {right}?")


def _find(name: str) -> Setting:
    if name in SETTINGS:
        return SETTINGS[name]
    key = name.rpartition(".")[2]
    near = _nearest(name, [*SETTINGS]) or [
        setting.name for setting in SETTINGS.values() if setting.key == key
    ]
    hint = f"; did you mean {near[0]}?" if near else ""
    raise SettingsError(f"there is no setting {name}{hint}")


def _nearest(word: str, words: Sequence[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(word, words, n=1)


def parse_value(name: str, text: str) -> SettingValue:
    """Convert text to a setting's value and check it.

    Raises:
        SettingsError: There is no such setting, or the value is invalid.
    """
    setting = _find(name)
    text = text.strip()
    value: object = text
    if isinstance(setting.default, bool):
        if text.lower() in ("true", "yes", "on", "1"):
            value = True
        elif text.lower() in ("false", "no", "off", "0"):
            value = False
    elif isinstance(setting.default, tuple):
        value = _parse_list(setting, text)
    return _validate(setting, value)


def _parse_list(setting: Setting, text: str) -> object:
    """Read a list: ``a, b``, or as it is written in the file: ``["a", "b"]``."""
    is_quoted = text.lstrip("[ ").startswith(('"', "'"))
    if not is_quoted and not (text.startswith("[") and text.endswith("]")):
        return [item.strip() for item in text.split(",") if item.strip()]
    import tomllib

    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        hint = 'write a, b or ["a", "b"]'
        raise SettingsError(f"{setting.name} cannot be {text[:80]}: {hint}") from None
    return [value] if isinstance(value, str) else value


def _validate(setting: Setting, value: object) -> SettingValue:
    name, default = setting.name, setting.default
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise SettingsError(f"{name} is true or false, not {value!r}")
        return value
    if isinstance(default, int | float):
        is_whole = isinstance(default, int)
        try:
            return check_number(value, is_whole=is_whole, minimum=setting.minimum)
        except ValueError as error:
            raise SettingsError(f"{name} is {error}, not {value!r}") from None
    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise SettingsError(f"{name} is a list of texts, not {value!r}")
        return tuple(_validate_text(setting, item) for item in value)
    return _validate_text(setting, value)


def _validate_text(setting: Setting, value: object) -> str:
    name = setting.name
    if not isinstance(value, str):
        raise SettingsError(f"{name} is text, not {value!r}")
    if setting.choices and value not in setting.choices:
        near = _nearest(value, setting.choices)
        hint = f"; did you mean {near[0]}?" if near else ""
        choices = ", ".join(setting.choices)
        raise SettingsError(f"{name} is one of {choices}, not {value!r}{hint}")
    if setting.check and (reason := setting.check(value)):
        raise SettingsError(f"{name} cannot be {value!r}: {reason}")
    return value
