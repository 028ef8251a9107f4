"""What a record of a Codex rollout is, under whatever envelope."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from memtui.capture.formats import base
from memtui.capture.formats.base import as_text

ENVELOPES = frozenset(
    {
        "session_meta",
        "response_item",
        "event_msg",
        "turn_context",
        "compacted",
        "world_state",
        "inter_agent_communication",
        "inter_agent_communication_metadata",
    }
)
"""The types a record has that holds a payload."""


_TELLING = frozenset({"response_item", "event_msg"})
"""The types whose payload says what the record is."""


_FLAT = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_result",
        "local_shell_call",
        "custom_tool_call",
        "custom_tool_call_output",
        "web_search_call",
        "tool_call",
        "tool_result",
    }
)
"""Items that stood alone on their lines before there were envelopes."""


KNOWN = frozenset(
    """world_state inter_agent_communication inter_agent_communication_metadata
    token_count task_started turn_started thread_settings_applied thread_goal_updated
    thread_rolled_back ghost_snapshot undo_completed undo_started exited_review_mode
    item_completed item_started sub_agent_activity guardian_assessment
    dynamic_tool_call_request exec_command_begin patch_apply_begin mcp_tool_call_begin
    web_search_begin image_generation_begin collab_agent_spawn_begin
    collab_agent_interaction_begin collab_agent_interaction_end collab_waiting_begin
    collab_waiting_end collab_close_begin collab_close_end collab_resume_begin
    collab_resume_end session_configured warning stream_error background_event
    plan_update turn_diff turn.completed other state compaction compaction_summary
    compaction_trigger context_compaction ContextCompaction EnteredReviewMode
    ExitedReviewMode HookPrompt SubAgentActivity CollabAgentToolCall
    codex/event/raw_item account/rateLimits/updated""".split()  # noqa: SIM905
)
"""Kinds that say nothing of the conversation that is not said elsewhere."""


Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Told:
    """One record, taken out of its envelope."""

    kind: str
    """What it is: the payload's type where the envelope's says little."""
    label: str
    """What it is called in reports: ``event_msg/token_count``."""
    payload: Fields
    time: object
    is_item: bool = False
    """Whether it is of the model's history, not an event of the program."""
    is_flat: bool = False
    """Whether it stands without an envelope, as in the oldest rollouts."""

    @property
    def name(self) -> str:
        """The item's own name; nothing where it has none."""
        return as_text(self.payload.get("id")) if self.is_item else ""

    def with_payload(self, payload: Fields) -> "Told":
        """The same record, as if it held something else."""
        return replace(self, payload=payload)


def fits(fields: Fields) -> bool:
    """Whether a record looks like one of Codex's."""
    if fields.get("type") in _NAMES and isinstance(fields.get("payload"), dict):
        return True
    return fields.get("record_type") == "state" or _is_header(fields)


_NAMES = tuple(ENVELOPES)
"""The envelopes, to be compared with whatever stands there."""


def _is_header(fields: Fields) -> bool:
    """Whether a record is the head of one of the oldest rollouts."""
    is_named = isinstance(fields.get("id"), str) and "timestamp" in fields
    return is_named and "type" not in fields and "instructions" in fields


def of(fields: Fields) -> Told | None:
    """Take a record out of its envelope; None if it does not say what it is."""
    kind, payload = fields.get("type"), fields.get("payload")
    time = fields.get("timestamp") or fields.get("created_at")
    if kind is None and "role" in fields:
        content = fields.get("content", fields.get("message"))
        message = {"role": fields["role"], "content": content, "id": fields.get("id")}
        return Told("message", "message", message, time, is_item=True, is_flat=True)
    if kind is None and _is_header(fields):
        return Told("session_meta", "session_meta", fields, time, is_flat=True)
    if kind is None and isinstance(fields.get("record_type"), str):
        return Told("state", "state", fields, time, is_flat=True)
    if not isinstance(kind, str) or not kind:
        return None
    if kind not in ENVELOPES:
        is_item = kind in _FLAT
        name = kind if is_item else f"{_OTHER}{kind}"
        return Told(name, kind, fields, time, is_item=is_item, is_flat=True)
    return _enveloped(kind, payload if isinstance(payload, dict) else {}, time)


_OTHER = "?"
"""What keeps an unknown record's type apart from a payload's type of the same name."""


def _enveloped(kind: str, payload: Fields, time: object) -> Told:
    if kind not in _TELLING:
        return Told(kind, kind, payload, time)
    is_item = kind == "response_item"
    inner = as_text(payload.get("type")) or ("message" if "role" in payload else "")
    done = payload.get("item")
    if inner == "item_completed" and isinstance(done, dict):
        inner = as_text(done.get("type"))
        return Told(inner, f"{kind}/item_completed/{inner}", done, time)
    return Told(inner, f"{kind}/{inner}", payload, time, is_item=is_item)


def texts_of(told: object) -> Iterator[str]:
    """The texts of a list of texts or of blocks, or of a text."""
    for one in told if isinstance(told, list) else [told]:
        yield as_text(one.get("text")) if isinstance(one, dict) else as_text(one)


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
            text = _IMAGE_TAG.sub("", as_text(block.get("text")))
            if text.strip():
                yield text, False
            if url or kind in ("input_image", "image", "inputImage"):
                yield image(url or block.get("data")), True


def image(told: object) -> str:
    """What stands for an image: its type and size, or its place; never its bytes."""
    if isinstance(told, dict):
        told = told.get("url") or told.get("path")
    url = as_text(told)
    head, comma, payload = url.partition(",")
    if url.startswith("data:") and comma:
        media_type = head.removeprefix("data:").partition(";")[0]
        source = {"media_type": media_type, "data": payload}
        return base.placeholder({"type": "image", "source": source})
    is_address = len(url) <= _ADDRESS_CHARS and not url.startswith("data:")
    return f"[image: {url}]" if url and is_address else _NOTHING


_NOTHING = "[image]"
"""What stands for an image of which nothing is known."""


_ADDRESS_CHARS = 300
"""A longer address of an image is its bytes."""


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())
