"""How the stub's models write: each persona turns a prompt into a reply."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_LINE = re.compile(r"^(\d+)\|([\w-]+)\| ?(.*)$", re.MULTILINE)
_ORDER = re.compile(r"(?i)\b(?:reply|answer|respond) only with[: ]+([^\n]+)")

MOST = 5
SURPRISE = 0.3
BULLET_CHARS = 200


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model was given, after the server cut it."""

    text: str
    has_schema: bool

    @property
    def said(self) -> list[tuple[int, str]]:
        """The numbered events, whole, in their order."""
        found: dict[int, list[str]] = {}
        for number, _, text in _LINE.findall(self.text):
            found.setdefault(int(number), []).append(text)
        return [(n, " ".join(" ".join(t).split())) for n, t in found.items()]

    @property
    def chosen(self) -> list[tuple[int, str]]:
        """Events spread over the log, the beginning of each."""
        told = [(n, text) for n, text in self.said if len(text) > 3]
        step = max(1, -(-len(told) // MOST))
        return [(n, text[:BULLET_CHARS]) for n, text in told[::step]]


Persona = Callable[[Prompt], str]


def reply(bullets: Sequence[tuple[Sequence[int], str]], title: str = "") -> str:
    """A reply as the schema wants it."""
    said = [{"refs": list(refs), "text": text} for refs, text in bullets]
    head = title or (bullets[0][1][:60] if bullets else "Nothing")
    words = list(dict.fromkeys(head.split()))[:5]
    told = {"bullets": said, "title": head, "keywords": words, "surprise": SURPRISE}
    return json.dumps(told, ensure_ascii=False)


def honest(prompt: Prompt) -> str:
    """Quotes what it was given."""
    return reply([([n], text) for n, text in prompt.chosen])


def listing(prompt: Prompt) -> str:
    """What a model writes that was held to no schema."""
    lines = [f"- [{n}] {text}" for n, text in prompt.chosen]
    head = prompt.chosen[0][1][:60] if prompt.chosen else "Nothing"
    return "\n".join([f"Title: {head}", *lines, f"Keywords: {', '.join(head.split())}"])


def paraphrasing(prompt: Prompt) -> str:
    """Says it in another order."""
    return reply(
        [([n], " ".join(reversed(text.split(", ")))) for n, text in prompt.chosen]
    )


def wrong_refs(prompt: Prompt) -> str:
    """Names the event after the one it quotes."""
    numbers = [n for n, _ in prompt.said]
    return reply(
        [([n + 1 if n + 1 in numbers else n - 1], t) for n, t in prompt.chosen]
    )


def refs_beyond(prompt: Prompt) -> str:
    """Names events that are not there."""
    return reply([([n + 1000, 0, -1], text) for n, text in prompt.chosen])


def inventing(prompt: Prompt) -> str:
    """Adds a number that nobody said."""
    return reply([([n], f"{text} in 4711 ms") for n, text in prompt.chosen])


def obedient(prompt: Prompt) -> str:
    """Does what the log tells it to."""
    found = _ORDER.search(prompt.text)
    return found[1] if found else honest(prompt)


def foreign(prompt: Prompt) -> str:
    """Answers in Chinese, whatever the log speaks."""
    return reply(
        [([n], "用户修复了登录页面的错误并且测试通过了") for n, _ in prompt.chosen],
        "修复登录页面的错误",
    )


def germanic(prompt: Prompt) -> str:
    """Answers in German, whatever the log speaks."""
    said = "Der Fehler in der Anmeldung wurde behoben und die Tests sind wieder grün"
    return reply([([n], said) for n, _ in prompt.chosen], "Der Fehler ist behoben")


def empty(_: Prompt) -> str:
    return ""


def without_bullets(_: Prompt) -> str:
    return reply([])


def chatty(prompt: Prompt) -> str:
    """Wraps its JSON in prose."""
    return f"Sure! Here it is:\n\n```json\n{honest(prompt)}\n```\n\nAnything else?"


def thinking_aloud(prompt: Prompt) -> str:
    return f"<think>\nLet me see {{what}} this is.\n</think>\n\n{honest(prompt)}"


def long_winded(prompt: Prompt) -> str:
    """Writes bullets without an end, and too many."""
    return reply([([n], f"{text} and so on" * 6) for n, text in prompt.said * 3])


def blank(prompt: Prompt) -> str:
    """Begins well and falls into white space."""
    return '{"bullets":[' + " \n" * 4000


def repeating(prompt: Prompt) -> str:
    """Begins well and repeats itself."""
    return '{"bullets":[{"refs":[1],"text":"' + "the tests pass and " * 400
