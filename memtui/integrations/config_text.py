"""The formats of settings files: JSON, JSON with comments, and TOML.

A settings file is parsed, changed as a mapping, and written in the style it had: its
indent, line ends, comments and byte order mark stay. Errors name the line and the
reason, but not the file.

    settings = TOML.parse(text)
    settings.setdefault("mcp_servers", {})["memtui"] = {"command": "memtui"}
    text = TOML.dump(settings, text)
"""

import json
import re
import tomllib
from collections.abc import MutableMapping
from typing import Any

from memtui.errors import HooksError
from memtui.integrations import json_comments

Settings = MutableMapping[str, Any]

_BOM = "\ufeff"

_DEFAULT_INDENT = "  "

MAX_TOML_CHARS = 100_000
"""A longer text could take seconds to parse."""

_FIRST_INDENT = re.compile(r"\n([ \t]+)\S")


class JsonFormat:
    """Plain JSON.

    ``parse`` returns the settings in a text, none if it is empty. ``dump`` returns a
    text with changed settings, in the style of the text before. Both raise HooksError.
    """

    def parse(self, text: str) -> Settings:
        if not text.strip(f"{_BOM} \t\r\n"):
            return {}
        try:
            settings = json.loads(
                text.removeprefix(_BOM),
                object_pairs_hook=_unique_keys,
                parse_constant=_reject_constant,
            )
        except json.JSONDecodeError as error:
            reason = f"{error.msg[0].lower()}{error.msg[1:]}"
            raise HooksError(f"line {error.lineno}: {reason}") from None
        except ValueError:
            raise HooksError("a number is too large") from None
        except RecursionError:
            raise HooksError("it is nested too deeply") from None
        if not isinstance(settings, dict):
            raise HooksError("line 1: it is not an object")
        return settings

    def dump(self, settings: Settings, before: str) -> str:
        try:
            text = json.dumps(
                settings,
                indent=_indent_of(before),
                # A lone surrogate can only be written as an escape.
                ensure_ascii="\\u" in before,
                allow_nan=False,
            )
        except ValueError:
            raise HooksError("a number is too large") from None
        end = before[len(before.rstrip()) :] if before.strip() else "\n"
        bom = _BOM if before.startswith(_BOM) else ""
        return _with_line_ends(bom + text + end, before)


class JsonWithComments(JsonFormat):
    """JSON that may have comments and trailing commas, as OpenCode's settings."""

    def parse(self, text: str) -> Settings:
        try:
            return super().parse(text)
        except HooksError:
            return json_comments.parse(text)

    def dump(self, settings: Settings, before: str) -> str:
        try:
            super().parse(before)
        except HooksError:
            text = json_comments.edit(before, settings, _indent_of(before))
            return _with_line_ends(text, before)
        return super().dump(settings, before)


class TomlFormat:
    def parse(self, text: str) -> Settings:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        if len(text) > MAX_TOML_CHARS:
            raise HooksError("it is too long to keep its comments")
        try:
            # First, because it limits the depth of keys: tomllib takes quadratic time.
            settings = tomlkit.parse(text)
            tomllib.loads(text)
        except (tomllib.TOMLDecodeError, TOMLKitError) as error:
            raise HooksError(f"it is not valid TOML: {error}") from None
        except RecursionError:
            raise HooksError("it is nested too deeply") from None
        return settings

    def dump(self, settings: Settings, before: str) -> str:
        import tomlkit

        assert isinstance(settings, tomlkit.TOMLDocument)
        text = _with_line_ends(settings.as_string(), before)
        # Some forms, such as dotted keys, are more than tomlkit can change.
        if tomllib.loads(text) != settings.unwrap():
            raise HooksError("it must be changed by hand")
        return text


ConfigFormat = JsonFormat | TomlFormat

JSON = JsonFormat()
JSON_WITH_COMMENTS = JsonWithComments()
TOML = TomlFormat()


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members: dict[str, object] = {}
    for key, value in pairs:
        if key in members:
            raise HooksError(f'"{key}" occurs a second time')
        members[key] = value
    return members


def _reject_constant(name: str) -> object:
    raise HooksError(f"{name} is not JSON")


def _indent_of(text: str) -> str:
    match = _FIRST_INDENT.search(text)
    return match[1] if match else _DEFAULT_INDENT


def _with_line_ends(text: str, before: str) -> str:
    if "\r\n" not in before:
        return text
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
