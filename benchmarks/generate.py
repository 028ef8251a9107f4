"""Generate transcripts of any length, always the same ones.

They are files of Claude Code, one for each session, with prompts, answers, tool calls
and results. Words follow Zipf's law over prose and identifiers, because the cost of an
index or a summarizer depends on how often words recur. Run it from the checkout:

    python -m benchmarks.generate FOLDER --messages 100000
"""

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from pathlib import Path
from uuid import UUID

SEED = 20240115
"""What makes two runs equal."""

VERSION = 1
"""Goes up when the same number of messages would give other files."""

RECORDS = (40, 300)
"""How many records a session has: the least and the most."""

DAYS = 270
"""Over how many days the sessions are spread."""

BEGIN = datetime(2025, 1, 6, 8, tzinfo=UTC)
"""When the first session may start."""

WORDS = {"user": 30, "assistant": 57, "tool_use": 34, "tool_result": 134}
"""How long records are in words, as medians; a quarter more on average."""

SPREAD = 0.7
"""The sigma of the log-normal lengths."""

CALLS = 0.6
"""The share of turns of the assistant that call a tool."""

PROSE = 12_000
"""How many different words of prose there are."""

IDENTIFIERS = 8_000
"""How many different names of functions, files and variables there are."""

COMMON = """
the to a of and is in it that for this with not be on as are we if so by
from at or an but now test file when which error line only all has one was have can code
first no then same after still two before use new does will should run set read where
change value there each more than into check just data time why how what list call key
type name store back write index keep fix would build config cache query path value row
return table result function string number field
"""
"""The most frequent words, the first ones most of all."""

PROJECTS = ("harbour", "lantern", "orchard", "quarry", "thicket")
TOOLS = ("Bash", "Edit", "Grep", "Read", "Write")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words, the frequent ones first, and how their weights add up."""

    words: list[str]
    weights: list[float]

    def draw(self, dice: random.Random, count: int) -> list[str]:
        """Pick words as often as they are frequent."""
        return dice.choices(self.words, cum_weights=self.weights, k=count)


def vocabulary(dice: random.Random) -> Vocabulary:
    """Real function words, then made-up prose and identifiers, shuffled together."""
    syllables = [
        c + v + e for c in "bdfgklmnprstvw" for v in "aeiou" for e in ("", "n")
    ]
    made: dict[str, None] = {}
    while len(made) < PROSE:
        made["".join(dice.choices(syllables, k=dice.randint(2, 4)))] = None
    stems = list(made)
    while len(made) < PROSE + IDENTIFIERS:
        parts = dice.choices(stems[:2000], k=dice.randint(2, 3))
        snake, camel = "_".join(parts), parts[0] + "".join(map(str.title, parts[1:]))
        made[dice.choice([snake, camel, f"src/{snake}.py", f"{snake}()"])] = None
    rare = list(made)
    dice.shuffle(rare)
    words = list(dict.fromkeys(COMMON.split())) + rare
    # Zipf's law with Mandelbrot's shift, which flattens the very first ranks.
    return Vocabulary(words, list(accumulate(1 / (r + 2.7) for r in range(len(words)))))


def write(folder: Path, messages: int) -> int:
    """Write transcripts that hold a number of messages in all.

    Args:
        folder: Where they go; must not hold others.
        messages: How many records in all; a call and its result are two.

    Returns:
        How many files were written.
    """
    dice = random.Random(SEED)
    words = vocabulary(dice)
    files, left = 0, messages
    sessions = max(1, messages * 2 // sum(RECORDS))
    while left > 0:
        length = min(left, dice.randint(*RECORDS))
        project = dice.choice(PROJECTS)
        starts = BEGIN + timedelta(
            days=files * DAYS / sessions, minutes=dice.randint(0, 500)
        )
        session = Session(words, dice, project, starts)
        path = folder / f"-home-robin-{project}" / f"{session.name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8") as out:
            for record in session.records(length):
                out.write(json.dumps(record, separators=(",", ":")) + "\n")
        files, left = files + 1, left - length
    return files


class Session:
    """One conversation in the making."""

    def __init__(
        self, words: Vocabulary, dice: random.Random, project: str, starts: datetime
    ) -> None:
        self._words = words
        self._dice = dice
        self._project = project
        self._at = starts
        self._parent: str | None = None
        self.name = self._uuid()

    def records(self, length: int) -> Iterator[dict[str, object]]:
        """The session's records in their order."""
        call: str | None = None
        speaker = "user"
        for _ in range(length):
            if call:
                yield self._result(call)
                call, speaker = None, "assistant"
            elif speaker == "user":
                yield self._record("user", self._text("user"), 300)
                speaker = "assistant"
            elif self._dice.random() < CALLS:
                call = f"toolu_{self._dice.getrandbits(96):024x}"
                yield self._call(call)
            else:
                said = [{"type": "text", "text": self._text("assistant")}]
                yield self._record("assistant", said, 30)
                speaker = self._dice.choice(["user", "assistant"])

    def _call(self, call: str) -> dict[str, object]:
        tool = self._dice.choice(TOOLS)
        given = {"command" if tool == "Bash" else "text": self._text("tool_use")}
        part = {"type": "tool_use", "id": call, "name": tool, "input": given}
        return self._record("assistant", [part], 20)

    def _result(self, call: str) -> dict[str, object]:
        part = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": self._text("tool_result"),
        }
        return self._record("user", [part], 40)

    def _record(self, role: str, content: object, most_s: int) -> dict[str, object]:
        self._at += timedelta(seconds=self._dice.uniform(1, most_s))
        message: dict[str, object] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"type": "message", "model": "claude-sonnet-4-5"}
        uuid, parent = self._uuid(), self._parent
        self._parent = uuid
        return {
            "parentUuid": parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": f"/home/robin/{self._project}",
            "sessionId": self.name,
            "version": "2.0.0",
            "gitBranch": "main",
            "type": role,
            "message": message,
            "uuid": uuid,
            "timestamp": self._at.isoformat(timespec="milliseconds")[:-6] + "Z",
        }

    def _text(self, kind: str) -> str:
        count = max(1, round(WORDS[kind] * self._dice.lognormvariate(0, SPREAD)))
        drawn = self._words.draw(self._dice, count)
        at = 0
        while at < count:
            at += self._dice.randint(6, 22)
            if at < count:
                drawn[at] += "\n" if kind.startswith("tool") else "."
        return " ".join(drawn)

    def _uuid(self) -> str:
        return str(UUID(int=self._dice.getrandbits(128), version=4))


def main() -> None:
    """Write transcripts into a folder."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--messages", type=int, default=100_000)
    given = parser.parse_args()
    print(write(given.folder, given.messages), "files")


if __name__ == "__main__":
    main()
