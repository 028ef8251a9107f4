"""Where settings get their values: files, environment, command line; all are checked.

The command line wins over ``MEMTUI_*`` in the environment, that over the file given by
``--config``, that over the default file, that over what is built in (decisions §10).
"""

import math
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtui.errors import SettingsError
from memtui.memory.setting import Setting, Value
from memtui.settings import BY_NAME, Held, Settings

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
    import tomllib  # noqa: PLC0415 - 4 ms, and only where there is a file

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
    import difflib  # noqa: PLC0415 - only mistakes need it

    return difflib.get_close_matches(word, words, n=1, cutoff=0.5)


def value_of(name: str, text: str) -> Value:
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


def _read(setting: Setting, text: str, where: str) -> Value:
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


def _checked(setting: Setting, value: object, where: str) -> Value:
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
        if setting.least is not None and value < setting.least:
            raise SettingsError(f"{where}: {name} is at least {setting.least:g}")
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
