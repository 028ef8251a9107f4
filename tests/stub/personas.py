"""Personas of the stub's models: functions that turn a prompt into a reply."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_LINE = re.compile(r"^(\d+)\|([\w-]+)\| ?(.*)$", re.MULTILINE)
_FENCE = re.compile(r"^LOG-\w+$", re.MULTILINE)
_PERIOD = re.compile(r"^Sessions of a ", re.MULTILINE)
_ORDER = re.compile(r"(?i)\b(?:reply|answer|respond) only with[: ]+([^\n]+)")

MAX_GOALS = 5
TEXT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt that the model reads, after the server has cut it."""

    text: str

    @property
    def is_period(self) -> bool:
        """True if it lists the sessions of a period."""
        return bool(_PERIOD.search(self.text))

    @property
    def events(self) -> list[tuple[int, str]]:
        """The complete numbered lines of the record, in order."""
        record = _FENCE.split(self.text)[-1]
        texts: dict[int, list[str]] = {}
        for number, _, text in _LINE.findall(record):
            texts.setdefault(int(number), []).append(text)
        return [(n, " ".join(" ".join(t).split())) for n, t in texts.items()]

    @property
    def sample(self) -> list[tuple[int, str]]:
        """The beginnings of some lines, spread over the record."""
        long = [(n, text) for n, text in self.events if len(text) > 3]
        step = max(1, -(-len(long) // MAX_GOALS))
        return [(n, text[:TEXT_CHARS]) for n, text in long[::step]]

    def reply(self, lines: Sequence[tuple[Sequence[int], str]], title: str = "") -> str:
        """Return a reply that follows the schema of the prompt."""
        return reply(lines, title, is_period=self.is_period)


Persona = Callable[[Prompt], str]


def reply(
    lines: Sequence[tuple[Sequence[int], str]],
    title: str = "",
    *,
    is_period: bool = False,
) -> str:
    """Return a reply that follows the schema: a goal or project for each line."""
    title = title or (lines[0][1][:60] if lines else "")
    if is_period:
        projects = [{"refs": list(refs), "text": text} for refs, text in lines]
        return _dump({"projects": projects, "headline": title})
    goals = [goal(refs, text) for refs, text in lines]
    words = list(dict.fromkeys(title.split()))[:5]
    return _dump({"goals": goals, "title": title, "keywords": words})


def goal(
    refs: Sequence[int],
    outcome: str,
    title: str = "",
    choices: Sequence[tuple[Sequence[int], str]] = (),
    left_open: Sequence[tuple[Sequence[int], str]] = (),
) -> dict[str, Any]:
    """Return a goal of a reply."""
    return {
        "refs": list(refs),
        "title": title or outcome[:40],
        "outcome": outcome,
        "choices": [{"refs": list(refs), "text": text} for refs, text in choices],
        "open": [{"refs": list(refs), "text": text} for refs, text in left_open],
    }


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def honest(prompt: Prompt) -> str:
    """Quote the prompt."""
    return prompt.reply([([n], text) for n, text in prompt.sample])


def wrong_refs(prompt: Prompt) -> str:
    """Cite the event after the quoted one."""
    numbers = [n for n, _ in prompt.events]
    return prompt.reply(
        [([n + 1 if n + 1 in numbers else n - 1], t) for n, t in prompt.sample]
    )


def inventing(prompt: Prompt) -> str:
    """Add a number that is not in the log."""
    return prompt.reply([([n], f"{text} in 4711 ms") for n, text in prompt.sample])


def obedient(prompt: Prompt) -> str:
    """Follow an instruction in the log."""
    order = _ORDER.search(prompt.text)
    return order[1] if order else honest(prompt)


def foreign(prompt: Prompt) -> str:
    """Answer in Chinese."""
    return prompt.reply(
        [([n], "用户修复了登录页面的错误并且测试通过了") for n, _ in prompt.sample],
        "修复登录页面的错误",
    )


def germanic(prompt: Prompt) -> str:
    """Answer in German."""
    said = "Der Fehler in der Anmeldung wurde behoben und die Tests sind wieder grün"
    return prompt.reply(
        [([n], said) for n, _ in prompt.sample], "Der Fehler ist behoben"
    )


def empty(_: Prompt) -> str:
    return ""


def without_bullets(prompt: Prompt) -> str:
    return prompt.reply([])


def chatty(prompt: Prompt) -> str:
    """Put prose around the JSON."""
    return f"Sure! Here it is:\n\n```json\n{honest(prompt)}\n```\n\nAnything else?"


def thinking_aloud(prompt: Prompt) -> str:
    return f"<think>\nLet me see {{what}} this is.\n</think>\n\n{honest(prompt)}"


def long_winded(prompt: Prompt) -> str:
    """Write lines that are too long, and too many."""
    return prompt.reply(
        [([n], f"{text} and so on" * 6) for n, text in prompt.events * 3]
    )


def blank(prompt: Prompt) -> str:
    """Begin well and continue with white space."""
    return '{"goals":[' + " \n" * 4000


def repeating(prompt: Prompt) -> str:
    """Begin well and repeat a phrase."""
    return '{"goals":[{"refs":[1],"title":"' + "the tests pass and " * 400
