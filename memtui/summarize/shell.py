"""Split a command line into the simple commands that a shell would run."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memtui.text.stopwords import word_set

READ_CHARS = 8_000
"""Only this much of a command line is read."""

_HERE_DOCUMENT = re.compile(
    r"(?<!<)<<-?[ \t]*(?P<quote>['\"]?)\\?(?P<end>\w+)(?P=quote)(?P<after>[^\n]*)\n"
    r"(?P<body>.*?)^[ \t]*(?P=end)\b",
    re.DOTALL | re.MULTILINE,
)
_TOKEN = re.compile(
    r"(?P<space>[ \t]+|\\\n)|(?P<comment>\#[^\n]*)"
    r"|(?P<word>(?:\"(?:\\.|[^\"\\])*\"|'[^']*'|\\.|[<>]&|&>|[^\s\"'\\;|&()])+)"
    r"|(?P<operator>&&|\|\||\|&|;;|[;|&\n()])|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"\"((?:\\.|[^\"\\])*)\"|\$?'([^']*)'|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\([\"\\$`\n])")
_HERE = re.compile(r"\$\(\s*cat\s+\0(\d+)\0\s*\)|\0(\d+)\0")
_ASSIGNMENT = re.compile(r"\w+=")

_PREFIXES = word_set(
    "sudo env command time nohup exec rtk do then else if while until ! { timeout nice"
)
"""Words before a command."""

_CONDITIONAL = word_set("then else do")

_SHELLS = word_set("bash sh zsh dash fish pwsh powershell")
_MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program and its arguments, without quotation marks."""

    words: tuple[str, ...]
    input: str = ""
    """The here-document it reads."""
    is_conditional: bool = False
    """It only runs if a condition holds, or if another command fails."""
    is_after_success: bool = False
    """It only runs if the command before it succeeds."""

    @property
    def program(self) -> str:
        """Return the name of the program, without its folder."""
        return self.words[0].replace("\\", "/").rpartition("/")[2]


def split_commands(
    command: str | Sequence[str], depth: int = 0
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
        line = _HERE_DOCUMENT.sub(keep, line)
    words: list[str] = []
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
                is_conditional=operator == "||",
                is_after_success=operator == "&&",
            )
            yield from _expand(simple, depth)
            words = []
        if kind == "operator":
            operator = text
        is_word_open = kind == "word"


def _make_command(words: Sequence[str], bodies: Sequence[str]) -> SimpleCommand:
    """Remove quotation marks, and put here-documents in their places."""
    given = [bodies[int(word.strip("\0"))] for word in words if word[0] == "\0"]

    def body(match: re.Match[str]) -> str:
        return bodies[int(match[1] or match[2])].rstrip("\n")

    plain = (_HERE.sub(body, _QUOTED.sub(_unquote, word)) for word in words)
    kept = (text for word, text in zip(words, plain, strict=True) if word[0] != "\0")
    return SimpleCommand(tuple(kept), "\n".join(given))


def _unquote(match: re.Match[str]) -> str:
    if match[1] is not None:
        return _ESCAPED.sub(lambda escaped: escaped[1].strip("\n"), match[1])
    return match[2] if match[2] is not None else match[3].strip("\n")


def _expand(command: SimpleCommand, depth: int) -> Iterator[SimpleCommand]:
    """Yield a command without the words before it, or those that a shell is given."""
    words = list(command.words)
    is_conditional = command.is_conditional
    while words and (words[0] in _PREFIXES or _ASSIGNMENT.match(words[0])):
        is_conditional = is_conditional or words[0] in _CONDITIONAL
        is_timed = words.pop(0) in ("timeout", "nice")
        while words and words[0].startswith("-"):
            words.pop(0)
        if is_timed and words and words[0][:1].isdigit():
            words.pop(0)
    if not words:
        return
    simple = replace(command, words=tuple(words), is_conditional=is_conditional)
    scripts = list(_find_scripts(simple))
    if scripts and depth < _MAX_DEPTH:
        yield from split_commands(scripts[0], depth + 1)
    else:
        yield simple


def _find_scripts(command: SimpleCommand) -> Iterator[str]:
    if command.program == "eval":
        yield " ".join(command.words[1:])
    elif command.program.removesuffix(".exe") in _SHELLS:
        for option, script in zip(command.words[1:], command.words[2:], strict=False):
            if option.startswith("-") and option.lower().endswith(("c", "-command")):
                yield script
