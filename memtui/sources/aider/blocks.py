"""The blocks of Aider's chat history: who wrote which lines, and what they tell."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

BLANK = "<blank>"
"""What Aider writes for a prompt without words."""

_HEADER = re.compile(r"# aider chat started at (.+?)\s*")
_MARK = "  "
"""How Aider ends the lines that it, or the person, wrote."""

_FENCE = re.compile(r"\s*(?:```|~~~)")

_ASKS = frozenset(
    {"/ask", "/code", "/architect", "/context", "/copy-context", "/help", "/web"}
)
"""Commands that carry words for the assistant, where they carry any."""

_RUNS = ("/run", "/test", "/lint", "/git", "/commit", "/diff", "/undo", "/voice", "!")
"""Commands whose output is all that follows."""

_NOTICE = re.compile(
    r"$|\^C|KeyboardInterrupt|Tokens: |Cost: |Aider v\d|aider\b|/\S*/aider |Model: "
    r"|(?:Main|Weak|Editor) model: |Models?: |Git (?:repo|working dir): |Repo-map: "
    r"|Use /help|You can skip this check|Initial repo scan|Error checking pypi"
    r"|Warning: |https?://\S+$|Newer aider version|Restored previous conversation"
    r"|.* is already in the chat|.*\]: \w*$|Use a different|VSCode terminal|Update "
    r"|Detected dumb terminal|Cur working dir: |Multiline mode|Summariz"
)
"""Lines that only tell how Aider is, or ask."""

_ERROR = re.compile(
    r"The LLM did not conform|# ?\d+ SEARCH/REPLACE blocks? failed|litellm\.\w+"
    r"|(?:\w+\.)*\w*Error\b|Traceback |Unable to |.* file not found|Can't initialize"
)
_MODEL = re.compile(r"(?:Main model|Model): (\S+)")


class Kind(StrEnum):
    """Who wrote a block."""

    PERSON = "person"
    ASSISTANT = "assistant"
    AIDER = "aider"


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of one writer, without what marks them as theirs."""

    kind: Kind
    line: int
    """The first line, from 1."""
    lines: Sequence[str]

    @property
    def text(self) -> str:
        """The lines as a text."""
        return "\n".join(self.lines).strip("\n")


def header(line: str) -> str | None:
    """The time in the header of a session; None if a line is none."""
    found = _HEADER.fullmatch(line)
    return found.group(1) if found else None


def local_time(said: str) -> datetime | None:
    """The time of a header, which is this machine's local one."""
    try:
        return datetime.fromisoformat(said).astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def is_command(prompt: str) -> bool:
    """Whether a prompt speaks to Aider alone."""
    if prompt.startswith("!"):
        return True
    word, *rest = prompt.split(None, 1) or [""]
    is_one = re.fullmatch(r"/[a-z-]+", word) is not None
    return is_one and (word not in _ASKS or not rest)


def deeds(block: Block, command: str, *, is_first: bool) -> tuple[list[str], int]:
    """What Aider did, and how many lines merely note something.

    Args:
        block: Lines of Aider's own.
        command: What the person asked of it just before, if anything.
        is_first: Whether the session has only begun: it tells of itself then.
    """
    if command.startswith(_RUNS):
        return [line for line in block.lines if line.strip()], 0
    done = [] if is_first else [ln for ln in block.lines if not _NOTICE.match(ln)]
    noted = len([line for line in block.lines if line.strip()]) - len(done)
    return done, noted


def tells_error(done: Sequence[str]) -> bool:
    """Whether what was done went wrong."""
    return any(_ERROR.match(line) for line in done)


def model(lines: Sequence[str]) -> str:
    """The model that Aider says it uses; "" if it does not say."""
    found = (_MODEL.match(line) for line in lines)
    return next((match.group(1) for match in found if match), "")


@dataclass(slots=True)
class _Open:
    kind: str = ""
    line: int = 0
    lines: list[str] = field(default_factory=list)
    is_fenced: bool = False
    """Whether a code block of the assistant's is not closed yet."""
    is_marked: bool = False
    """Whether lines of this session were seen to end as Aider ends them."""
    is_parted: bool = False
    """Whether a blank line came last."""


class Lines:
    """Joins lines to blocks."""

    def __init__(self, state: object = None) -> None:
        """Go on with the block an earlier reading left open."""
        self._open = _Open(**state) if isinstance(state, Mapping) else _Open()

    @property
    def is_open(self) -> bool:
        """Whether there is a block that may go on."""
        return bool(self._open.lines)

    def state(self) -> dict[str, object]:
        """What another reading must know of the open block."""
        now = self._open
        return {name: getattr(now, name) for name in _Open.__slots__} | {
            "lines": list(now.lines)
        }

    def add(self, line: str, number: int) -> Block | None:
        """Take a line; gives the block that it ends, if it ends one."""
        now = self._open
        kind, text = self._whose(line)
        if kind is None:
            now.is_parted = True
            if now.kind == Kind.ASSISTANT:
                now.lines.append("")
            return None
        is_next = kind is Kind.PERSON and now.is_parted
        ended = self.close() if kind != now.kind or is_next else None
        if not now.lines:
            now.kind, now.line = kind.value, number
        now.lines.append(text)
        now.is_parted = False
        if kind is Kind.ASSISTANT and _FENCE.match(text):
            now.is_fenced = not now.is_fenced
        elif kind is not Kind.ASSISTANT:
            now.is_fenced = False
        return ended

    def close(self) -> Block | None:
        """Give the open block, if there is one."""
        now = self._open
        block = Block(Kind(now.kind), now.line, now.lines) if now.lines else None
        now.kind, now.lines, now.is_parted = "", [], False
        return block if block and block.text.strip() else None

    def _whose(self, line: str) -> tuple[Kind | None, str]:
        """Who wrote a line, and what; nobody wrote a blank one."""
        for start, kind in (("####", Kind.PERSON), (">", Kind.AIDER)):
            if line != start and not line.startswith(f"{start} "):
                continue
            is_marked = line.endswith(_MARK)
            now = self._open
            now.is_marked = now.is_marked or is_marked
            if is_marked or not (now.is_marked or now.is_fenced):
                said = line[len(start) + 1 :]
                return kind, said.rstrip() if kind is Kind.AIDER else said.removesuffix(
                    _MARK
                )
        return (Kind.ASSISTANT, line) if line.strip() else (None, "")
