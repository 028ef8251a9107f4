"""What a record of a Codex rollout is, under whatever envelope."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from memtui.sources.records import text_of

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
        return text_of(self.payload.get("id")) if self.is_item else ""

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
    inner = text_of(payload.get("type")) or ("message" if "role" in payload else "")
    done = payload.get("item")
    if inner == "item_completed" and isinstance(done, dict):
        inner = text_of(done.get("type"))
        return Told(inner, f"{kind}/item_completed/{inner}", done, time)
    return Told(inner, f"{kind}/{inner}", payload, time, is_item=is_item)


def texts_of(told: object) -> Iterator[str]:
    """The texts of a list of texts or of blocks, or of a text."""
    for one in told if isinstance(told, list) else [told]:
        yield text_of(one.get("text")) if isinstance(one, dict) else text_of(one)
