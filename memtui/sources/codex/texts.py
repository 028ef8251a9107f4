"""What the texts of a Codex rollout are: whose words, and what stands for an image."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memtui.sources import blocks
from memtui.sources.records import text_of

_INJECTED = {
    "# AGENTS.md instructions": "instructions",
    "<user_instructions>": "instructions",
    "<INSTRUCTIONS>": "instructions",
    "<environment_context>": "environment",
    "<environments": "environment",
    "<permissions": "permissions",
    "<collaboration_mode>": "mode",
    "<model_switch>": "mode",
    "<personality_spec>": "mode",
    "<realtime_conversation>": "mode",
    "<turn_aborted>": "interruption",
    "<skill>": "skill",
    "<skills_instructions>": "skill",
    "<apps_instructions>": "instructions",
    "<plugins_instructions>": "instructions",
    "<user_shell_command>": "command",
    "<user_action>": "review",
    "<subagent_notification>": "notification",
    "<hook_prompt": "notification",
    "<goal_context>": "goal",
    "Another language model started to solve this problem": "compact_summary",
}
"""How texts begin that the program put into the person's mouth, and what they are."""

_REQUEST = re.compile(
    r"\A# Context from my IDE setup:.*?^## My request for Codex:\s*", re.S | re.M
)
"""What an editor sets before a prompt."""

_PLAN = re.compile(r"<proposed_plan>(.*?)</proposed_plan>", re.DOTALL)
_CITATION = re.compile(r"<oai-mem-citation>.*?(?:</oai-mem-citation>|\Z)", re.DOTALL)
_IMAGE_TAG = re.compile(r"\s*(?:<image(?: name=[^>]*)?>|</image>)\s*")


@dataclass(frozen=True, slots=True)
class Said:
    """What one record says, sorted by who says it."""

    text: str = ""
    """The person's or the assistant's words, with what stands for images."""
    words: str = ""
    """The same without what stands for images."""
    context: str = ""
    """What an editor told beside it."""
    injected: str = ""
    kind: str = ""
    """What the injected text is, or that a message is a plan."""


def of_person(content: object, images: object = None) -> Said:
    """Sort a message in the person's name.

    Args:
        content: Its text, or its blocks.
        images: The images told beside a text: addresses, data URLs or paths.
    """
    words, shown, injected, kinds, context = [], [], [], [], ""
    for text, is_image in _parts(content):
        kind = "" if is_image else injected_kind(text)
        if kind:
            injected.append(text)
            kinds.append(kind)
        elif is_image:
            shown.append(text)
        elif found := _REQUEST.match(text):
            context = text[: found.end()].strip()
            words.append(text[found.end() :])
            shown.append(text[found.end() :])
        else:
            words.append(text)
            shown.append(text)
    shown += [image(one) for one in images] if isinstance(images, list) else []
    return Said(
        _joined(shown), _joined(words), context, _joined(injected), "".join(kinds[:1])
    )


def injected_kind(text: str) -> str:
    """What a text is that the person did not write; "" if they may have written it."""
    start = text.lstrip()
    for beginning, kind in _INJECTED.items():
        if start.startswith(beginning):
            return kind
    return ""


def of_assistant(content: object) -> Iterator[Said]:
    """The messages in an assistant's record: what it says, and the plans it proposes.

    A plan's ``kind`` is ``plan``.
    """
    parts = list(_parts(content))
    words = _joined([text for text, is_image in parts if not is_image])
    words = _CITATION.sub("", words)
    said = _PLAN.sub("", words).strip()
    images = [text for text, is_image in parts if is_image and text != _NOTHING]
    if said or images:
        yield Said(_joined([said, *images]), said)
    for plan in filter(None, map(str.strip, _PLAN.findall(words))):
        yield Said(plan, plan, kind="plan")


def plain(content: object) -> str:
    """All that a record's content says, as one text."""
    return _joined([text for text, _ in _parts(content)])


def _parts(content: object) -> Iterator[tuple[str, bool]]:
    """The texts of a content in their order, each with whether it is an image's."""
    if isinstance(content, str):
        yield content, False
        return
    if isinstance(content, dict):
        content = [content]
    for block in content if isinstance(content, list) else ():
        if isinstance(block, str):
            yield block, False
        elif isinstance(block, dict):
            kind = block.get("type")
            url = block.get("image_url")
            text = _IMAGE_TAG.sub("", text_of(block.get("text")))
            if text.strip():
                yield text, False
            if url or kind in ("input_image", "image", "inputImage"):
                yield image(url or block.get("data")), True


def image(told: object) -> str:
    """What stands for an image: its type and size, or its place; never its bytes."""
    if isinstance(told, dict):
        told = told.get("url") or told.get("path")
    url = text_of(told)
    head, comma, payload = url.partition(",")
    if url.startswith("data:") and comma:
        media_type = head.removeprefix("data:").partition(";")[0]
        source = {"media_type": media_type, "data": payload}
        return blocks.placeholder({"type": "image", "source": source})
    is_address = len(url) <= _ADDRESS_CHARS and not url.startswith("data:")
    return f"[image: {url}]" if url and is_address else _NOTHING


_NOTHING = "[image]"
"""What stands for an image of which nothing is known."""

_ADDRESS_CHARS = 300
"""A longer address of an image is its bytes."""


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
