"""What a record of GitHub Copilot CLI's files is, and what it says beside its text."""

import json
from collections.abc import Mapping

from memtui.memory import calls
from memtui.sources import blocks
from memtui.sources.records import text_of
from memtui.sources.tool_calls import Call

Fields = Mapping[str, object]

NOT_KEPT = frozenset(
    """assistant.turn_start assistant.turn_end assistant.intent assistant.usage
    assistant.message_start assistant.message_delta assistant.reasoning_delta
    assistant.streaming_delta hook.start hook.end permission.requested
    permission.completed system.message session.permissions_changed session.truncation
    session.usage_info session.usage_checkpoint session.auto_mode_resolved session.idle
    session.compaction_start session.info session.warning session.mode_changed
    session.plan_changed session.workspace_file_changed session.snapshot_rewind
    session.tools_updated session.skills_loaded session.custom_agents_updated
    session.mcp_servers_loaded session.mcp_server_status_changed
    session.extensions_loaded session.background_tasks_changed session.binary_asset
    session.remote_steerable_changed session.custom_notification session.task_complete
    session.import_legacy pending_messages.modified tool.user_requested
    tool.execution_partial_result tool.execution_progress subagent.selected
    subagent.deselected user_input.requested user_input.completed elicitation.requested
    elicitation.completed external_tool.requested external_tool.completed command.queued
    command.execute command.completed commands.changed exit_plan_mode.requested
    exit_plan_mode.completed sampling.requested sampling.completed mcp.oauth_required
    mcp.oauth_completed capabilities.changed""".split()  # noqa: SIM905
)
"""Types that say nothing of the conversation, or what other records say too."""

_FAMILIES = (
    "session.",
    "assistant.",
    "user.",
    "tool.",
    "hook.",
    "subagent.",
    "system.",
)


def fits(fields: Fields) -> bool:
    """Whether a record looks like one of Copilot's."""
    kind = fields.get("type")
    has_shape = isinstance(fields.get("data"), dict) and "id" in fields
    return isinstance(kind, str) and kind.startswith(_FAMILIES) and has_shape


def subagent(fields: Fields, about: Fields) -> str:
    """The helper a record belongs to: the call that started it names it."""
    return text_of(about.get("parentToolCallId") or fields.get("agentId"))


def attachments(about: Fields) -> list[str]:
    """What stands for what the person sent along: sort and name, never bytes."""
    sent = about.get("attachments")
    return [
        _attachment(one)
        for one in (sent if isinstance(sent, list) else ())
        if isinstance(one, Mapping)
    ]


def _attachment(sent: Fields) -> str:
    kind = text_of(sent.get("type")) or "attachment"
    kept, media = sent.get("data"), text_of(sent.get("mimeType"))
    if isinstance(kept, str) and kept:
        source = {"media_type": media or "unknown type", "data": kept}
        return blocks.placeholder({"type": "image", "source": source})
    name = text_of(sent.get("path") or sent.get("displayName") or sent.get("filePath"))
    return f"[{kind}: {name}]" if name else f"[{kind}]"


def answer(about: Fields) -> str:
    """What a tool answered."""
    result, error = about.get("result"), about.get("error")
    told = result if isinstance(result, Mapping) else {"content": result}
    text = blocks.result_text(told.get("content") or told.get("detailedContent"))
    if shown := _shown(told.get("contents")):
        text = "\n".join(filter(None, (text, *shown)))
    if not text.strip() and error:
        return text_of(error.get("message") if isinstance(error, Mapping) else error)
    return text


def _shown(contents: object) -> list[str]:
    """What stands for the images among a tool's answers."""
    images = [
        one
        for one in (contents if isinstance(contents, list) else ())
        if isinstance(one, Mapping) and one.get("type") == "image"
    ]
    return [_attachment(one) for one in images]


def arguments(given: object) -> object:
    """What a call was given, where it stands as JSON text; else as it stands."""
    if not isinstance(given, str) or not given.lstrip().startswith("{"):
        return given
    try:
        return json.loads(given, strict=False)
    except (ValueError, RecursionError):
        return given


def task(call: Call) -> str:
    """What a helper was asked to do, by the call that started it, in a line."""
    given = arguments(call.tool_input)
    about = given if isinstance(given, Mapping) else {}
    told = text_of(about.get("description") or about.get("prompt"))
    return calls.task(told)
