"""Change memtui's entry in an agent's settings file: plan, show, write and undo.

Before the first change, a copy of the file is saved with a hash of the changed file.
If the file is unchanged since, undoing restores the copy.

JSON text is edited in place: one member is added or removed without changing another
byte. Comments and trailing commas are allowed, as in OpenCode's settings. Positions are
those in the text; values are read from a copy in which comments are blanked out.
"""

import difflib
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from memtui.errors import HooksError
from memtui.files import read_small_file, resolve_link, write_atomically
from memtui.model.events import clean
from memtui.paths import PRIVATE_FOLDER

if TYPE_CHECKING:
    from tomlkit import TOMLDocument


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer that agents are configured on; tests replace it."""

    home: Path
    environment: Mapping[str, str]
    python: str
    hook: Path
    """The hook's file: it runs without finding any package."""
    backups: Path
    """The folder of the copies of settings files from before a change."""
    spool: Path | None = None
    """The folder where the hook writes events; None for the hook's default."""
    project: Path | None = None
    """The project whose settings are changed; None for the user's own."""
    server: tuple[str, ...] = ()
    """The command that agents run as the MCP server."""

    def folder(self, variable: str, default: str) -> Path:
        """Return the folder that a variable names, else one in the home folder."""
        value = self.environment.get(variable) or default
        return self.home / value.removeprefix("~/")

    def has_program(self, name: str) -> bool:
        path = self.environment.get("PATH", "")
        return shutil.which(name, path=path) is not None

    def hook_command(self, *arguments: str) -> list[str]:
        """Return the command that an agent is to run.

        ``-I -S`` ignore the environment and the site's packages: that is faster, and
        what is broken there cannot break the hook.
        """
        spool = ["--spool", str(self.spool)] if self.spool else []
        return [self.python, "-I", "-S", str(self.hook), *spool, *arguments]


def find_project_root(folder: Path) -> Path:
    """Return the root of the repository that a folder is in, else the folder.

    A worktree is a project of its own: agents read their settings there.
    """
    for one in (folder, *folder.parents):
        with suppress(OSError):
            if (one / ".git").exists():
                return one
    return folder


@dataclass(frozen=True, slots=True)
class ConfigValue:
    """One value of memtui in a settings file, and the key it belongs to."""

    key: str
    """The name of a hook's event, or of the object that holds MCP servers."""
    value: dict[str, object]


@dataclass(frozen=True)
class ConfigEntry(ABC):
    """An addition to a settings file: hooks, an MCP server, or a file of its own."""

    agent: str
    path: Callable[[Machine], Path]
    empty_text: str = field(default="", kw_only=True)
    """The text of a file that did not exist."""
    is_own_file: bool = field(default=False, kw_only=True)
    """The file holds nothing else."""

    @abstractmethod
    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        """Return the values that the file with this text should contain."""

    @abstractmethod
    def existing(self, text: str) -> list[ConfigValue]:
        """Return memtui's values in the file.

        Raises:
            ConfigSyntaxError: A key occurs twice.
        """

    @abstractmethod
    def add(self, text: str, machine: Machine) -> str:
        """Return the text with the wanted values in place of the existing ones.

        Raises:
            ConfigSyntaxError: There is something else where they belong.
        """

    @abstractmethod
    def remove(self, text: str) -> str:
        """Return the text without memtui's values."""

    @abstractmethod
    def check(self, text: str) -> None:
        """Check that a text is a valid file of this kind.

        Raises:
            ConfigSyntaxError: It is not.
        """


@dataclass(frozen=True, slots=True)
class ConfigChange:
    agent: str
    file: Path
    """The file as the agent names it."""
    target: Path
    """The file itself, where that one is a link."""
    before: bytes | None
    after: bytes | None
    """None deletes the file."""
    original: bytes | None = None
    """The content that undoing the change restores."""
    is_removal: bool = False

    @property
    def is_empty(self) -> bool:
        """The file is already as it should be."""
        return self.before == self.after

    def diff(self) -> list[str]:
        (before, old), (after, new) = (
            (list(io.StringIO(content.decode("utf-8"), newline="\n")), str(self.file))
            if content is not None
            else ([], os.devnull)
            for content in (self.before, self.after)
        )
        lines = difflib.unified_diff(before, after, old, new)
        return [clean(line.rstrip("\r\n")) for line in lines]


def plan_installation(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to add an entry in place of an older one.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before, text = _read(entry, file)
    if is_up_to_date(entry.existing(text), entry.wanted(machine, text)):
        return ConfigChange(entry.agent, file, target, before, before)
    backup = _read_backup(machine.backups, target)
    original = backup.before if backup and backup.matches(before) else before
    try:
        after = entry.add(text, machine).encode()
        original_text = _decode(original, file)
        if entry.existing(original_text):
            original = entry.remove(original_text).encode() or None
    except ConfigSyntaxError as error:
        raise _unchanged_error(file, str(error)) from None
    return ConfigChange(entry.agent, file, target, before, after, original)


def plan_removal(entry: ConfigEntry, machine: Machine) -> ConfigChange:
    """Plan to remove an entry; an otherwise untouched file becomes what it was.

    Raises:
        HooksError: The file cannot be changed.
    """
    file = entry.path(machine)
    target, before, text = _read(entry, file)
    after = before
    if entry.existing(text):
        backup = _read_backup(machine.backups, target)
        is_untouched = backup is not None and backup.matches(before)
        if backup and is_untouched and not entry.existing(_decode(backup.before, file)):
            after = backup.before
        else:
            try:
                rest = entry.remove(text)
            except ConfigSyntaxError as error:
                raise _unchanged_error(file, str(error)) from None
            is_new = entry.is_own_file or (backup is not None and backup.before is None)
            is_empty = rest.split() in ([], entry.empty_text.split(), ["{}"])
            after = None if is_new and is_empty else rest.encode()
    return ConfigChange(entry.agent, file, target, before, after, is_removal=True)


def is_up_to_date(
    existing: Sequence[ConfigValue], wanted: Sequence[ConfigValue]
) -> bool:
    """Return whether the values are the wanted ones, in any order."""

    def in_order(values: Sequence[ConfigValue]) -> list[tuple[str, str]]:
        return sorted((one.key, repr(sorted(one.value.items()))) for one in values)

    return in_order(existing) == in_order(wanted)


def write(change: ConfigChange, machine: Machine) -> Path | None:
    """Write a planned change; return the copy of the original, if there is one.

    Raises:
        HooksError: The file has changed since then, or cannot be written; it is as it
            was.
    """
    if change.is_empty:
        return None
    target, backups = change.target, machine.backups
    if target.exists() and target.stat().st_nlink > 1:
        reason = "it has a second name (a hard link), which would keep the old content"
        raise _unchanged_error(target, reason)
    backup = _read_backup(backups, target)
    folders = backup.folders if backup else ()
    if change.is_removal or change.after is None:
        _write_target(change)
        for path in _backup_paths(backups, target):
            path.unlink(missing_ok=True)
        if change.after is None:
            with suppress(OSError):
                for folder in reversed(folders):
                    folder.rmdir()
        return None
    new_folders = tuple(reversed([f for f in target.parents if not f.exists()]))
    copy = _write_backup(change, backups, new_folders or folders)
    _write_target(change)
    return copy


def _write_target(change: ConfigChange) -> None:
    target = change.target
    if _read_content(target)[1] != change.before:
        raise HooksError(f"{target} has changed; it was not written")
    try:
        if change.after is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, change.after, keep_attributes=True)
    except OSError as error:
        raise HooksError(f"{target}: {error.strerror or error}") from error


def read_text(entry: ConfigEntry, machine: Machine) -> str:
    """Return the text of an entry's settings file; "" if there is none.

    Raises:
        HooksError: The file cannot be read or is not valid.
    """
    return _read(entry, entry.path(machine))[2]


def _read(entry: ConfigEntry, file: Path) -> tuple[Path, bytes | None, str]:
    """Return the file that a link leads to, its content, and that as checked text."""
    target, content = _read_content(file)
    text = _decode(content, file)
    try:
        if text:
            entry.check(text)
        entry.existing(text or entry.empty_text)
    except ConfigSyntaxError as error:
        raise _unchanged_error(file, str(error)) from None
    return target, content, text


def _read_content(file: Path) -> tuple[Path, bytes | None]:
    try:
        target = resolve_link(file)
        return target, read_small_file(target) if target.exists() else None
    except OSError as error:
        raise HooksError(f"{file}: {error.strerror}") from error


def _decode(content: bytes | None, file: Path) -> str:
    try:
        text = (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _unchanged_error(file, f"line {line}: not UTF-8") from None
    return text if text.strip("\ufeff \t\r\n") else ""


def _unchanged_error(file: Path, reason: str) -> HooksError:
    return HooksError(f"{file}: {reason}; the file was not changed")


@dataclass(frozen=True, slots=True)
class _Backup:
    before: bytes | None
    """The content before the first change; None if there was no file."""
    after: str
    """The hash of the content after the last change."""
    folders: tuple[Path, ...]
    """The folders that were created for the file, the innermost last."""

    def matches(self, content: bytes | None) -> bool:
        """Return whether the file is unchanged since then."""
        return content is not None and _hash(content) == self.after


def _read_backup(backups: Path, file: Path) -> _Backup | None:
    note, copy = _backup_paths(backups, file)
    try:
        fields = json.loads(read_small_file(note))
        before = read_small_file(copy) if fields["existed"] else None
        folders = tuple(Path(folder) for folder in fields["folders"])
        return _Backup(before, str(fields["after"]), folders)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_backup(
    change: ConfigChange, backups: Path, folders: Sequence[Path]
) -> Path | None:
    note, copy = _backup_paths(backups, change.target)
    fields = {
        "file": str(change.target),
        "existed": change.original is not None,
        "after": _hash(change.after or b""),
        "folders": [str(folder) for folder in folders],
    }
    try:
        backups.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        if change.original is not None:
            write_atomically(copy, change.original)
        write_atomically(note, json.dumps(fields, indent=2).encode())
    except OSError as error:
        reason = f"{error.strerror or error}; nothing was changed"
        raise HooksError(f"{backups}: {reason}") from error
    return copy if change.original is not None else None


def _backup_paths(backups: Path, file: Path) -> tuple[Path, Path]:
    name = _hash(os.fsencode(file))[:16]
    return backups / f"{name}.json", backups / f"{name}.before"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


# JSON text

_WHITESPACE = " \t\r\n"
_DEFAULT_INDENT = "  "
_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[\]}}])")

_COMMENT_AFTER = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
"""A comment that ends on the line where a member ends."""


class ConfigSyntaxError(ValueError):
    """A settings text is not valid, or does not have the expected shape."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object, or an element of an array."""

    container: int
    index: int
    key: str
    """Empty in an array."""
    start: int
    """The position of the key, or of the element."""
    at: int
    end: int
    value: object


def _reject_constant(name: str) -> object:
    raise ConfigSyntaxError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)


def check_json(text: str, *, allow_comments: bool = False) -> None:
    """Check that a text is one JSON object.

    Raises:
        ConfigSyntaxError: It is not; the message names the line.
    """
    text = remove_json_comments(text) if allow_comments else text
    try:
        value, end = _DECODER.raw_decode(text, find_root(text))
        if text[end:].strip(_WHITESPACE):
            raise json.JSONDecodeError("Something follows the end", text, end)
    except json.JSONDecodeError as error:
        reason = f"{error.msg[0].lower()}{error.msg[1:]}"
        raise ConfigSyntaxError(f"line {error.lineno}: {reason}") from None
    except RecursionError:
        raise ConfigSyntaxError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ConfigSyntaxError("line 1: it is not an object")


def line_number(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def find_root(text: str) -> int:
    start = 1 if text.startswith("\ufeff") else 0
    return _skip_space(_blank_comments(text), start)


def list_members(text: str, at: int) -> list[Member]:
    """Return the members of the object or array that starts at a position."""
    text = remove_json_comments(text)
    found: list[Member] = []
    here = _skip_space(text, at + 1)
    while text[here] not in "]}":
        start, key = here, ""
        if text[at] == "{":
            key, here = _DECODER.raw_decode(text, here)
            here = _skip_space(text, _skip_space(text, here) + 1)
        value, end = _DECODER.raw_decode(text, here)
        found.append(Member(at, len(found), key, start, here, end, value))
        here = _skip_space(text, end)
        here = _skip_space(text, here + 1) if text[here] == "," else here
    return found


def find_members(text: str, *keys: str) -> list[Member]:
    """Return the members along a path of keys; [] if the last is not there.

    Raises:
        ConfigSyntaxError: A key of the path occurs twice.
    """
    at, chain = find_root(text), list[Member]()
    for key in keys:
        if text[at] != "{":
            return []
        same = [one for one in list_members(text, at) if one.key == key]
        if len(same) > 1:
            line = line_number(text, same[1].start)
            raise ConfigSyntaxError(f'line {line}: "{key}" occurs a second time')
        if not same:
            return []
        chain += same
        at = same[0].at
    return chain


def ensure_member(text: str, *keys: str, value: object) -> str:
    """Return the text with a member at the end of a path of keys.

    Raises:
        ConfigSyntaxError: Its value is of another type.
    """
    chain = find_members(text, *keys)
    if not chain:
        parents = find_members(text, *keys[:-1])
        return append_member(
            text, parents[-1].at if parents else find_root(text), value, keys[-1]
        )
    if type(chain[-1].value) is not type(value):
        kind = "an object" if isinstance(value, dict) else "a list"
        line = line_number(text, chain[-1].start)
        raise ConfigSyntaxError(f"line {line}: {'.'.join(keys)} is not {kind}")
    return text


def append_member(text: str, at: int, value: object, key: str = "") -> str:
    """Return the text with one more member, on lines of its own; a list has no keys."""
    newline = "\r\n" if "\r\n" in text else "\n"
    match = re.search(r"\n([ \t]+)\S", text)
    step = match[1] if match else _DEFAULT_INDENT
    outer = newline + _line_indent(text, at)
    lead, existing = outer + step, list_members(text, at)
    if existing and "\n" in text[at : existing[-1].start]:
        lead = newline + _line_indent(text, existing[-1].start)
    written = json.dumps(value, ensure_ascii=False, indent=step).replace("\n", lead)
    member = lead + (f'"{key}": ' if key else "") + written
    if not existing:
        # Before comments: the last of them may end the line of the bracket.
        rest = at + 1
        if _has_no_comments(text, at):
            rest = _skip_space(text, rest)
        return f"{text[: at + 1]}{member}{outer}{text[rest:]}"
    last, bare = existing[-1], _blank_comments(text)
    after = _skip_space(bare, last.end)
    has_comma = bare[after] == ","
    end = after + 1 if has_comma else last.end
    if comment := _COMMENT_AFTER.match(text, end):
        end = comment.start() + len(comment[0].rstrip(_WHITESPACE))
    if has_comma:
        return f"{text[:end]}{member},{text[end:]}"
    return f"{text[: last.end]},{text[last.end : end]}{member}{text[end:]}"


def remove_member(text: str, chain: Sequence[Member]) -> str:
    """Return the text without a member, and without objects left empty by that.

    The member is the last of a chain, after those it is in.
    """
    member, existing = chain[-1], list[Member]()
    for member in reversed(chain):
        existing = list_members(text, member.container)
        if len(existing) > 1 or not _has_no_comments(text, member.container):
            break
    bare = _blank_comments(text)
    start = len(text[: member.start].rstrip(_WHITESPACE))
    after = _skip_space(bare, member.end)
    if bare[after] == ",":
        return text[:start] + text[after + 1 :]
    if member.index:
        comma = _skip_space(bare, existing[member.index - 1].end)
        return text[:comma] + text[comma + 1 : start] + text[member.end :]
    is_bare = _has_no_comments(text, member.container)
    return text[:start] + text[after if is_bare else member.end :]


def _has_no_comments(text: str, at: int) -> bool:
    """Return whether an object or array has no comments beside its members."""
    existing = list_members(text, at)
    ends = [at + 1, *(member.end for member in existing)]
    close = _skip_space(remove_json_comments(text), ends[-1])
    starts = [*(member.start for member in existing), close]
    return all(
        not text[end:start].strip(f"{_WHITESPACE},")
        for end, start in zip(ends, starts, strict=True)
    )


def remove_json_comments(text: str) -> str:
    """Return a text as plain JSON, with everything at its old position."""
    bare = _blank_comments(text)

    def blank(match: "re.Match[str]") -> str:
        before = bare[: match.start()].rstrip(_WHITESPACE)[-1:]
        return " " if match[0] == "," and before not in "{[,:" else match[0]

    return _TRAILING_COMMA.sub(blank, bare)


def _blank_comments(text: str) -> str:
    def blank(match: "re.Match[str]") -> str:
        token = match[0]
        return token if token[0] == '"' else re.sub(r"[^\r\n]", " ", token)

    return _COMMENT.sub(blank, text)


def _skip_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _WHITESPACE:
        at += 1
    return at


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


# The kinds of entries: hooks, MCP servers and own files.

SERVER_NAME = "memtui"

_HOOKS = "hooks"

COMMAND_FIELDS = ("command", "bash", "exec")
"""The fields in which a handler names its command."""

_SERVER_FIELDS = ("", "type", "command", "args", "url", "httpUrl")
"""The fields that say how the server is reached; all others belong to the user."""

_PLUGIN_COMMAND = re.compile(r"^const COMMAND = (\[.*\])$", re.MULTILINE)
"""The line of OpenCode's plugin with the command of the hook."""


@dataclass(frozen=True)
class JsonHooks(ConfigEntry):
    events: tuple[str, ...]
    handler: Callable[[Machine, str], dict[str, object]]
    """Makes the handler of one event."""
    is_grouped: bool = True
    """Handlers are in groups, not directly in the event's list."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return [ConfigValue(one, self.handler(machine, one)) for one in self.events]

    def existing(self, text: str) -> list[ConfigValue]:
        chains = _own_handlers(text) if text else ()
        return [ConfigValue(one[1].key, _fields(one[-1])) for one in chains]

    def add(self, text: str, machine: Machine) -> str:
        text = self.remove(text) or self.empty_text or "{}\n"
        for wanted in self.wanted(machine):
            text = ensure_member(text, _HOOKS, value={})
            text = ensure_member(text, _HOOKS, wanted.key, value=[])
            value = {_HOOKS: [wanted.value]} if self.is_grouped else wanted.value
            event = find_members(text, _HOOKS, wanted.key)[-1]
            text = append_member(text, event.at, value)
        return text

    def remove(self, text: str) -> str:
        """Remove memtui's handlers, and objects that contain nothing else."""
        while text and (chain := next(_own_handlers(text), None)):
            text = remove_member(text, chain)
        return text

    def check(self, text: str) -> None:
        check_json(text)


def _own_handlers(text: str) -> Iterator[list[Member]]:
    """Yield memtui's handlers, each after the members that it is in.

    Raises:
        ConfigSyntaxError: ``hooks`` occurs twice.
    """
    hooks = find_members(text, _HOOKS)
    for event in list_members(text, hooks[-1].at) if _fields(*hooks) else ():
        for element in _elements(text, event):
            groups = list_members(text, element.at) if _fields(element) else ()
            lists = [one for one in groups if one.key == _HOOKS]
            for handler in _elements(text, *lists):
                if _is_own(_fields(handler)):
                    yield [*hooks, event, element, handler]
            if _is_own(_fields(element)):
                yield [*hooks, event, element]


def _elements(text: str, *members: Member) -> list[Member]:
    """Return the elements of one member that is a list; else []."""
    if len(members) != 1 or not isinstance(members[0].value, list):
        return []
    return list_members(text, members[0].at)


def _fields(*members: Member) -> dict[str, object]:
    """Return the first member's value if it is an object; else {}."""
    value = members[0].value if members else None
    return value if isinstance(value, dict) else {}


def _is_own(handler: Mapping[str, object]) -> bool:
    """Return whether a handler runs memtui's hook and nothing else."""
    words = _words(handler)
    program = PurePath(words[0]).name if words else ""
    if program in ("memtui-hook", "memtui-hook.sh"):
        return True
    arguments = iter(words[1:] if program.startswith("python") else ())
    for word in arguments:
        if not word.startswith("-"):
            return PurePath(word).parts[-2:] == ("memtui", "hook.py")
        if word.endswith("m"):
            return next(arguments, "") == "memtui.hook"
        if word.endswith("c"):
            return False
        if word in ("-W", "-X"):
            next(arguments, None)
    return False


def _words(handler: Mapping[str, object]) -> list[str]:
    """Return the words of a command; [] if it does more than run one program."""
    line = next((handler[name] for name in COMMAND_FIELDS if handler.get(name)), "")
    if not isinstance(line, str):
        return []
    if isinstance(arguments := handler.get("args"), list):
        return [line, *map(str, arguments)]
    try:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words = list(lexer)
    except ValueError:
        return []
    return [] if any(set(word) <= set("();<>|&") for word in words if word) else words


@dataclass(frozen=True)
class OwnFile(ConfigEntry):
    """A file of memtui's own: OpenCode's plugin with the hooks, or a skill."""

    source: Path
    mark: str
    """A text that only memtui's file has."""
    events: tuple[str, ...] = ("plugin",)
    """The key of its only value."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        return self.existing(self.add("", machine))

    def existing(self, text: str) -> list[ConfigValue]:
        if self.mark not in text:
            return []
        match = _PLUGIN_COMMAND.search(text)
        try:
            command = [str(word) for word in json.loads(match[1])] if match else []
        except ValueError:
            command = []
        value = {"command": command[0], "args": command[1:]} if command else {}
        return [ConfigValue(self.events[0], {**value, "text": text})]

    def add(self, text: str, machine: Machine) -> str:
        command = json.dumps(machine.hook_command("--agent", self.agent))
        source = self.source.read_text(encoding="utf-8")
        return _PLUGIN_COMMAND.sub(lambda _: f"const COMMAND = {command}", source, 1)

    def remove(self, text: str) -> str:
        return "" if self.existing(text) else text

    def check(self, text: str) -> None:
        if text.strip() and not self.existing(text):
            raise ConfigSyntaxError("line 1: it is not a file that memtui wrote")


@dataclass(frozen=True)
class ServerEntry(ConfigEntry):
    """The MCP server among others."""

    key: str
    """The object that contains the servers."""
    fields: Callable[[Sequence[str]], dict[str, object]]
    """Returns the fields of a server that is run by a command."""

    def wanted(self, machine: Machine, text: str = "") -> list[ConfigValue]:
        """Return the server, with the fields that the user has added to it."""
        old = {n: v for one in self.existing(text) for n, v in one.value.items()}
        added = {n: v for n, v in old.items() if n not in _SERVER_FIELDS}
        return [ConfigValue(self.key, {**self.fields(machine.server), **added})]


@dataclass(frozen=True)
class JsonServer(ServerEntry):
    allow_comments: bool = False
    """The agent accepts comments and trailing commas."""

    def existing(self, text: str) -> list[ConfigValue]:
        found = find_members(text, self.key, SERVER_NAME) if text else []
        return [ConfigValue(self.key, _as_fields(one.value)) for one in found[1:]]

    def add(self, text: str, machine: Machine) -> str:
        (wanted,) = self.wanted(machine, text)
        text = self.remove(text) or self.empty_text or "{}\n"
        text = ensure_member(text, self.key, value={})
        servers = find_members(text, self.key)[-1]
        return append_member(text, servers.at, wanted.value, SERVER_NAME)

    def remove(self, text: str) -> str:
        """Remove the server, and the object if it contains no other."""
        found = find_members(text, self.key, SERVER_NAME) if text else []
        return remove_member(text, found) if found else text

    def check(self, text: str) -> None:
        check_json(text, allow_comments=self.allow_comments)


class TomlServer(ServerEntry):
    def existing(self, text: str) -> list[ConfigValue]:
        servers = _parse_toml(text).get(self.key)
        if not isinstance(servers, dict) or SERVER_NAME not in servers:
            return []
        return [ConfigValue(self.key, _as_fields(servers[SERVER_NAME]))]

    def add(self, text: str, machine: Machine) -> str:
        import tomlkit
        from tomlkit.items import InlineTable

        (wanted,) = self.wanted(machine, text)
        document = tomlkit.parse(text)
        servers: object = document.setdefault(
            self.key, tomlkit.table(is_super_table=True)
        )
        if not isinstance(servers, MutableMapping):
            raise ConfigSyntaxError(f"{self.key} is not a table")
        server = servers.get(SERVER_NAME)
        if isinstance(server, MutableMapping):
            for name in [name for name in server if name not in wanted.value]:
                del server[name]
            for name, value in wanted.value.items():
                if server.get(name) != value:
                    server[name] = value
        else:
            is_inline = isinstance(servers, InlineTable)
            table = tomlkit.inline_table() if is_inline else tomlkit.table()
            table.update(wanted.value)
            if not is_inline and list(document)[-1] != self.key:
                table.add(tomlkit.nl())
            servers[SERVER_NAME] = table
        return _dump_toml(document, text, self.key)

    def remove(self, text: str) -> str:
        if not self.existing(text):
            return text
        import tomlkit

        document = tomlkit.parse(text)
        servers = document[self.key]
        assert isinstance(servers, MutableMapping)
        del servers[SERVER_NAME]
        if not servers:
            del document[self.key]
        return _dump_toml(document, text, self.key)

    def check(self, text: str) -> None:
        _parse_toml(text)


def _as_fields(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {"": value}


def _parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigSyntaxError(f"it is not valid TOML: {error}") from None


def _dump_toml(document: "TOMLDocument", before: str, key: str) -> str:
    """Return a document's text with the line ends that it had before."""
    text = document.as_string()
    if "\r\n" in before:
        text = text.replace("\r\n", "\n").replace("\n", "\r\n")
    if _parse_toml(text) != document.unwrap():
        raise ConfigSyntaxError(f"{key} must be changed by hand")
    return text
