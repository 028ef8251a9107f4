"""Split a command line into the simple commands that a shell would run."""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtui.text.stopwords import word_set

READ_CHARS = 8_000
"""Only this much of a command line is read."""

_HERE_DOCUMENT = (
    r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)\\?(?P<end>\w+)(?P=quote)(?P<after>[^\n]*)\n"
    r"(?P<body>.*?)(?:^[ \t]*(?P=end)\b"
)
_WHOLE = re.compile(rf"{_HERE_DOCUMENT})", re.DOTALL | re.MULTILINE)
_CUT = re.compile(rf"{_HERE_DOCUMENT}|\Z)", re.DOTALL | re.MULTILINE)
"""Here-documents in a command line, and in one of which the end is not read."""

_TOKEN = re.compile(
    r"(?P<space>[ \t]+|\\\n)|(?P<comment>\#[^\n]*)"
    r"|(?P<word>(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[<>]&|&>|>\||[^\s\"'\\;|&()])+)"
    r"|(?P<operator>&&|\|\||\|&|;;|[;|&\n()])|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\"((?:\\.|[^\"\\])*)\"|\$?'([^']*)'|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`\n])")
_HERE = re.compile(r"\$\(\s*cat\s+\0(\d+)\0\s*\)|\0(\d+)\0")
_ASSIGNMENT = re.compile(r"\w+=")
_REDIRECTION = re.compile(
    r"(?P<stream>\d*|&)(?P<operator><<<|>>|>\||[<>])(?P<target>.*)", re.DOTALL
)

_OPENING = word_set("if while until for case select")
_CLOSING = word_set("fi done esac")
_KEYWORDS = word_set("do then else elif if while until ! {")
_PREFIXES = word_set("sudo env command time nohup exec rtk timeout nice")
"""Programs that run a command."""

_CONDITIONAL = word_set("then else elif do")

_SHELLS = word_set("bash sh zsh dash fish pwsh powershell")
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program and its arguments, without quotation marks and redirections."""

    words: tuple[str, ...]
    runner: tuple[str, ...] = ()
    """The programs that run it, with their options: ``sudo -n``."""
    input: str = ""
    """The here-document it reads."""
    outputs: tuple[str, ...] = ()
    """The files that its output is written to."""
    folder: str = ""
    """The folder it runs in, by the ``cd`` before it; "" if there is none."""
    is_conditional: bool = False
    """It only runs if a condition holds, or if another command fails."""
    is_after_success: bool = False
    """It only runs if the command before it succeeds."""

    @property
    def program(self) -> str:
        """Return the name of the program, without its folder."""
        return self.words[0].replace("\\", "/").rpartition("/")[2]


def split_commands(
    command: str | Sequence[str], depth: int = 0, folder: str = ""
) -> Iterator[SimpleCommand]:
    """Yield the simple commands of a command line, or of a program's arguments.

    Those that a shell gets as an argument (``bash -lc "…"``) are among them; text in
    quotation marks and here-documents is not.
    """
    if not isinstance(command, str):
        yield from _expand(SimpleCommand(tuple(map(str, command))), depth)
        return
    bodies: list[str] = []

    def keep(match: re.Match[str]) -> str:
        bodies.append(match["body"])
        return f" \0{len(bodies) - 1}\0{match['after']}\n"

    line = command[:READ_CHARS].replace("\0", "")
    if "<<" in line:
        pattern = _CUT if len(command) > READ_CHARS else _WHOLE
        line = pattern.sub(keep, line)
    words: list[str] = []
    folders = [folder]
    """The folder of each level of parentheses."""
    blocks = 0
    is_word_open, operator = False, ""
    for token in _TOKEN.finditer(f"{line}\n"):
        kind, text = token.lastgroup, token[0]
        if kind == "comment" and is_word_open:
            kind = "word"
        if kind == "word" and is_word_open:
            words[-1] += text
        elif kind == "word":
            words.append(text)
        elif kind == "operator" and words:
            simple = replace(
                _make_command(words, bodies),
                folder=folders[-1],
                is_conditional=operator == "||" or blocks > 0,
                is_after_success=operator == "&&",
            )
            yield from _expand(simple, depth)
            blocks = max(0, blocks + _count_blocks(simple.words))
            if simple.words[:1] == ("cd",):
                folders[-1] = join_path(folders[-1], "".join(simple.words[1:2]))
            words = []
        if kind == "operator":
            operator = text
            if text == "(":
                folders.append(folders[-1])
            elif text == ")" and len(folders) > 1:
                folders.pop()
        is_word_open = kind == "word"


def _count_blocks(words: Sequence[str]) -> int:
    """Return how many blocks (``if … fi``) begin with a command, less those it ends."""
    blocks = 0
    for word in words:
        if word in _OPENING:
            blocks += 1
        elif word in _CLOSING:
            blocks -= 1
        elif word not in _KEYWORDS:
            break
    return blocks


def join_path(folder: str, path: str) -> str:
    """Return a path that may be relative to a folder, of POSIX or of Windows."""
    is_absolute = path.startswith("~") or path[1:2] == ":"
    return path if is_absolute else posixpath.join(folder, path)


def _make_command(words: Sequence[str], bodies: Sequence[str]) -> SimpleCommand:
    """Remove quotation marks, and put here-documents in their places."""

    def body(match: re.Match[str]) -> str:
        return bodies[int(match[1] or match[2])].rstrip("\n")

    def plain(word: str) -> str:
        return _HERE.sub(body, _QUOTED.sub(_unquote, word))

    kept, inputs, outputs = [], [], []
    given = iter(words)
    for word in given:
        if word[0] == "\0":
            inputs.append(bodies[int(word.strip("\0"))])
        elif redirection := _REDIRECTION.fullmatch(word):
            target = redirection["target"] or next(given, "")
            is_output = ">" in redirection["operator"]
            is_of_errors = redirection["stream"] not in ("", "1", "&")
            if is_output and target[:1] not in ("", *"&<>") and not is_of_errors:
                outputs.append(plain(target))
        else:
            kept.append(plain(word))
    return SimpleCommand(tuple(kept), input="\n".join(inputs), outputs=tuple(outputs))


def _unquote(match: re.Match[str]) -> str:
    if match[1] is not None:
        return _ESCAPED.sub(lambda escaped: escaped[1].strip("\n"), match[1])
    return match[2] if match[2] is not None else match[3].strip("\n")


def _expand(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    """Yield a command without the words before it, or those that a shell is given."""
    words, runner = list(command.words), list(command.runner)
    is_conditional = command.is_conditional
    while words and (
        words[0] in _PREFIXES or words[0] in _KEYWORDS or _ASSIGNMENT.match(words[0])
    ):
        is_conditional = is_conditional or words[0] in _CONDITIONAL
        prefix = [words.pop(0)]
        while words and words[0].startswith("-"):
            prefix.append(words.pop(0))
        is_timed = prefix[0] in ("timeout", "nice")
        if is_timed and words and words[0][:1].isdigit():
            prefix.append(words.pop(0))
        runner += prefix if prefix[0] in _PREFIXES else []
    if not words:
        return
    simple = replace(
        command,
        words=tuple(words),
        runner=tuple(runner),
        is_conditional=is_conditional,
    )
    scripts = list(_find_scripts(simple))
    if scripts and depth < _MAX_DEPTH:
        yield from split_commands(scripts[0], depth + 1, command.folder)
    else:
        yield simple


def _find_scripts(command: SimpleCommand) -> Iterator[str]:
    if command.program == "eval":
        yield " ".join(command.words[1:])
    elif command.program.removesuffix(".exe") in _SHELLS:
        for option, script in zip(command.words[1:], command.words[2:], strict=False):
            if option.startswith("-") and option.lower().endswith(("c", "-command")):
                yield script
