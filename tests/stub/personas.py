"""Personas of the stub's models: functions that turn a prompt into a reply."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"^(\d+)\|([\w-]+)\| ?(.*)$", re.MULTILINE)
_ORDER = re.compile(r"(?i)\b(?:reply|answer|respond) only with[: ]+([^\n]+)")

MAX_BULLETS = 5
SURPRISE = 0.3
BULLET_CHARS = 200


@dataclass(frozen=True, slots=True)
class Prompt:
    """The prompt that the model reads, after the server has cut it."""

    text: str
    has_schema: bool

    @property
    def events(self) -> list[tuple[int, str]]:
        """The complete numbered events, in order."""
        found: dict[int, list[str]] = {}
        for number, _, text in _LINE.findall(self.text):
            found.setdefault(int(number), []).append(text)
        return [(n, " ".join(" ".join(t).split())) for n, t in found.items()]

    @property
    def sample(self) -> list[tuple[int, str]]:
        """The beginnings of some events, spread over the log."""
        shown = [(n, text) for n, text in self.events if len(text) > 3]
        step = max(1, -(-len(shown) // MAX_BULLETS))
        return [(n, text[:BULLET_CHARS]) for n, text in shown[::step]]


Persona = Callable[[Prompt], str]


def reply(bullets: Sequence[tuple[Sequence[int], str]], title: str = "") -> str:
    """Return a reply that follows the schema."""
    said = [{"refs": list(refs), "text": text} for refs, text in bullets]
    head = title or (bullets[0][1][:60] if bullets else "Nothing")
    words = list(dict.fromkeys(head.split()))[:5]
    shown = {"bullets": said, "title": head, "keywords": words, "surprise": SURPRISE}
    return json.dumps(shown, ensure_ascii=False)


def honest(prompt: Prompt) -> str:
    """Quote the prompt."""
    return reply([([n], text) for n, text in prompt.sample])


def listing(prompt: Prompt) -> str:
    """Write a list, as a model does without a schema."""
    lines = [f"- [{n}] {text}" for n, text in prompt.sample]
    head = prompt.sample[0][1][:60] if prompt.sample else "Nothing"
    return "\n".join([f"Title: {head}", *lines, f"Keywords: {', '.join(head.split())}"])


def paraphrasing(prompt: Prompt) -> str:
    """Quote the clauses in another order."""
    return reply(
        [([n], " ".join(reversed(text.split(", ")))) for n, text in prompt.sample]
    )


def wrong_refs(prompt: Prompt) -> str:
    """Cite the event after the quoted one."""
    numbers = [n for n, _ in prompt.events]
    return reply(
        [([n + 1 if n + 1 in numbers else n - 1], t) for n, t in prompt.sample]
    )


def refs_beyond(prompt: Prompt) -> str:
    """Cite events that do not exist."""
    return reply([([n + 1000, 0, -1], text) for n, text in prompt.sample])


def inventing(prompt: Prompt) -> str:
    """Add a number that is not in the log."""
    return reply([([n], f"{text} in 4711 ms") for n, text in prompt.sample])


def obedient(prompt: Prompt) -> str:
    """Follow an instruction in the log."""
    found = _ORDER.search(prompt.text)
    return found[1] if found else honest(prompt)


def foreign(prompt: Prompt) -> str:
    """Answer in Chinese."""
    return reply(
        [([n], "用户修复了登录页面的错误并且测试通过了") for n, _ in prompt.sample],
        "修复登录页面的错误",
    )


def germanic(prompt: Prompt) -> str:
    """Answer in German."""
    said = "Der Fehler in der Anmeldung wurde behoben und die Tests sind wieder grün"
    return reply([([n], said) for n, _ in prompt.sample], "Der Fehler ist behoben")


def empty(_: Prompt) -> str:
    return ""


def without_bullets(_: Prompt) -> str:
    return reply([])


def chatty(prompt: Prompt) -> str:
    """Put prose around the JSON."""
    return f"Sure! Here it is:\n\n```json\n{honest(prompt)}\n```\n\nAnything else?"


def thinking_aloud(prompt: Prompt) -> str:
    return f"<think>\nLet me see {{what}} this is.\n</think>\n\n{honest(prompt)}"


def long_winded(prompt: Prompt) -> str:
    """Write bullets that are too long, and too many."""
    return reply([([n], f"{text} and so on" * 6) for n, text in prompt.events * 3])


def blank(prompt: Prompt) -> str:
    """Begin well and continue with white space."""
    return '{"bullets":[' + " \n" * 4000


def repeating(prompt: Prompt) -> str:
    """Begin well and repeat a phrase."""
    return '{"bullets":[{"refs":[1],"text":"' + "the tests pass and " * 400
