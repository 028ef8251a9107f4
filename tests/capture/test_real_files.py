"""The events of real files of every agent, compared with the raw files.

The expected numbers are counted here, without any of memtui's readers.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memtui.store import database, sources
from memtui.workspace import Workspace
from tests.tables import EventRow, ThoughtRow

ROOT = Path(__file__).parents[1]
STAGE0 = "fixtures_other/agent-sessions/stage0/agents"
REGISTRY = "fixtures_other/deja-vu/registry"

Fields = dict[str, Any]


@dataclass
class Found:
    """The messages of a file by author, each with a unique key."""

    person: set[tuple[object, ...]] = field(default_factory=set)
    assistant: set[tuple[object, ...]] = field(default_factory=set)

    def add(self, role: str, *name: object) -> None:
        (self.person if role == "user" else self.assistant).add(name)


def objects(file: Path) -> Iterator[tuple[int, Fields]]:
    """Yield the JSON objects of a file with their lines."""
    for number, line in enumerate(file.read_text(errors="replace").split("\n")):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield number, value


def words(content: object, *kinds: str) -> str:
    """Return the text of a message, which is text or a list of blocks."""
    if isinstance(content, str):
        return content.strip()
    blocks = content if isinstance(content, list) else []
    matching = [b for b in blocks if isinstance(b, dict) and b.get("type") in kinds]
    plain = [b for b in blocks if isinstance(b, str)]
    said = [b.get("text", f"[{b['type']}]") for b in matching]
    return "\n\n".join(t for t in (*plain, *said) if t.strip()).strip()


def is_time(value: object) -> bool:
    try:
        return bool(datetime.fromisoformat(str(value)))
    except ValueError:
        return False


WRAPPED = re.compile(
    r"<command-|<local-command-|<bash-|<task-notification|\[Request interrupted by"
    r"|Caveat: The messages below|This session is being continued from a previous"
    r"|Summarize this part of a conversation in"
    r"|(<system-reminder>.*?</system-reminder>\s*)+\Z",
    re.DOTALL,
)
"""The beginnings of texts that the program wrote in the user's name."""


def claude(file: Path, messages: Found) -> None:
    taken: Counter[str] = Counter()
    for number, outer in objects(file):
        inner, within = outer, outer.get("data")
        queued = str(outer.get("content") or "").strip()
        if outer.get("operation") == "enqueue" and not re.match(
            r'/|\{"task_id"|<task-notification', queued
        ):
            taken[queued] += 1
            messages.add("user", outer["sessionId"], queued, taken[queued])
        if isinstance(within, dict) and within.get("type") == "agent_progress":
            inner = {**outer, **within["message"]}
        message = inner.get("message")
        if inner.get("type") not in ("user", "assistant") or not is_time(
            inner.get("timestamp")
        ):
            continue
        if not isinstance(message, dict) or "content" not in message:
            continue
        role, session = inner["type"], inner.get("sessionId")
        said = words(message["content"], "text", "image", "document")
        origin = inner.get("origin") or {}
        is_injected = role == "user" and (
            inner.get("isMeta")
            or inner.get("isCompactSummary")
            or origin.get("kind", "human") != "human"
            or WRAPPED.match(said)
        )
        if said and session and not is_injected:
            # The records of a message share an id; older ones have none.
            name = message.get("id") if role == "assistant" else None
            if role == "user" and taken[said]:
                taken[said] -= 1
                continue
            messages.add(role, session, name or inner.get("uuid") or (file, number))


CODEX_WRAPPED = re.compile(
    r"\s*(?:# AGENTS\.md|<(?:user_instructions|INSTRUCTIONS|environment|permissions"
    r"|collaboration_mode|turn_aborted|skill|user_shell|subagent_not|model_switch))"
)


def codex(file: Path, messages: Found) -> None:
    counts = {"item": Counter[tuple[str, str]](), "event": Counter[tuple[str, str]]()}
    for _, fields in objects(file):
        payload = fields.get("payload", fields)
        kind, role, way = payload.get("type"), payload.get("role"), "item"
        content = payload.get("content", payload.get("message"))
        if not is_time(fields.get("timestamp", fields.get("created_at"))):
            continue
        if fields.get("type") == "event_msg":
            way = "event"
            role = {"user_message": "user", "agent_message": "assistant"}.get(kind)
        elif kind not in ("message", None):
            continue
        said = words(content, "text", "input_text", "output_text")
        is_injected = role == "user" and CODEX_WRAPPED.match(said)
        if role in ("user", "assistant") and said and not is_injected:
            counts[way][role, said] += 1
    # Most are recorded twice, as an item and as an event.
    for (role, said), number in (counts["item"] | counts["event"]).items():
        for place in range(number):
            messages.add(role, file, said, place)


def copilot(file: Path, messages: Found) -> None:
    for _, fields in objects(file):
        kind, about = fields.get("type"), fields.get("data") or {}
        role = {"user.message": "user", "assistant.message": "assistant"}.get(str(kind))
        is_said = str(about.get("content") or "").strip()
        if role and is_said and is_time(fields.get("timestamp")):
            if role == "user" and about.get("source", "user") != "user":
                continue
            messages.add(role, file, fields["id"])


def gemini(file: Path, messages: Found) -> None:
    text = file.read_text()
    values = [json.loads(text)] if file.suffix == ".json" else []
    records = values or [fields for _, fields in objects(file)]
    session = next((r["sessionId"] for r in records if "sessionId" in r), None)
    for record in records if session else ():
        snapshot = record.get("messages") or record.get("$set", {}).get("messages")
        for message in snapshot or [record]:
            said = words(
                [
                    part if isinstance(part, str) else {"type": "text", **part}
                    for name in ("content", "parts")
                    for given in [message.get(name) or []]
                    for part in (given if isinstance(given, list) else [given])
                ],
                "text",
            )
            if said and message.get("type") in ("user", "gemini", "model"):
                messages.add(message["type"], session, message["id"])


def opencode(file: Path, messages: Found) -> None:
    if file.parent.parent.name != "session":
        return
    storage, session = file.parents[2], json.loads(file.read_text())["id"]
    parts = [json.loads(f.read_text()) for f in storage.glob("part/**/*.json")]
    for fields in (storage / "message" / session).glob("*.json"):
        message = json.loads(fields.read_text())
        beside = (storage / "part" / message["id"]).glob("*.json")
        mine = [json.loads(part.read_text()) for part in beside]
        mine += [part for part in parts if part.get("messageID") == message["id"]]
        if words(mine, "text"):
            messages.add(message["role"], session, message["id"])


AIDER_ASKS = re.compile(r"/(?:ask|code|architect|copy-context)\s+\S")
"""Commands whose text goes to the assistant."""


def aider(file: Path, messages: Found) -> None:
    before = ""
    for number, line in enumerate(file.read_text().split("\n")):
        is_prompt = line.startswith("#### ")
        # A prompt of several lines is one.
        if is_prompt and not before.startswith("#### "):
            typed = line[5:].strip()
            if AIDER_ASKS.match(typed) or not re.match(r"/[a-z-]+|!|<blank>", typed):
                messages.add("user", file, number)
        is_own = line.strip() and not line.startswith((">", "#### ", "# aider chat"))
        if is_own and not (before.strip() and not before.startswith((">", "#"))):
            messages.add("assistant", file, number)
        before = line if line.strip() or not is_own else before


def plain(file: Path, messages: Found) -> None:
    for number, fields in objects(file):
        kind = fields.get("event_type") or f"{fields.get('role')}_message"
        if kind in ("user_message", "assistant_message"):
            messages.add(kind.removesuffix("_message"), file, number)


def hook(number: int, payload: Fields, messages: Found) -> None:
    name = payload["hook_event_name"]
    if name == "UserPromptSubmit" and payload["prompt"].strip():
        messages.add("user", number)
    if name == "Stop" and payload.get("last_assistant_message"):
        messages.add("assistant", number)


Count = Callable[[Path, Found], None]

PLACES: dict[str, tuple[str, Count, list[str]]] = {
    "claude_code": ("claude-code", claude, ["claude_code"]),
    "claude fixtures": (
        "claude-code",
        claude,
        [
            f"{STAGE0}/claude/large.jsonl",
            f"{STAGE0}/claude/schema_drift.jsonl",
            f"{STAGE0}/claude/subagent",
            f"{REGISTRY}/claude-code",
            "fixtures_other/deja-vu/synthetic/claude",
            "fixtures_other/funes/claude_session.jsonl",
        ],
    ),
    "incremental": ("claude-code", claude, ["incremental"]),
    "codex": ("codex", codex, ["codex"]),
    "codex fixtures": (
        "codex",
        codex,
        [
            f"{STAGE0}/codex",
            f"{REGISTRY}/codex",
            "fixtures_other/deja-vu/synthetic/codex/sessions",
            "fixtures_other/funes/codex_session.jsonl",
        ],
    ),
    "copilot_cli": ("copilot-cli", copilot, ["copilot_cli"]),
    "copilot fixtures": (
        "copilot-cli",
        copilot,
        [f"{STAGE0}/copilot", f"{REGISTRY}/copilot"],
    ),
    "gemini fixtures": (
        "gemini-cli",
        gemini,
        [f"{STAGE0}/gemini/{name}" for name in ("large.json", "small.json")]
        + [f"{STAGE0}/gemini/jsonl_v040.jsonl", f"{REGISTRY}/gemini"],
    ),
    "opencode fixtures": ("opencode", opencode, [f"{STAGE0}/opencode"]),
    "aider": ("aider", aider, ["aider", f"{REGISTRY}/aider"]),
    "plain": ("plain", plain, [str(ROOT / "data" / "history.jsonl")]),
}
"""For each row: the source, the function that counts its files, and their folders."""

Row = Callable[..., None]


@pytest.mark.parametrize("name", PLACES)
def test_every_message_of_a_source_is_kept(
    name: str, workspace: Workspace, shared: Path, capture_matrix: Row
) -> None:
    source, count, places = PLACES[name]
    messages = Found()
    for place in (shared / place for place in places):
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for file in files:
            if file.suffix in (".json", ".jsonl", ".md") and file.is_file():
                count(file, messages)
        for _ in workspace.pipeline.importer().run([place]):
            pass
    check(name, source, messages, capture_matrix)


@pytest.mark.parametrize("name", ["hooks", "hook_sessions"])
def test_every_message_from_a_hook_is_stored(
    name: str, workspace: Workspace, shared: Path, capture_matrix: Row
) -> None:
    messages, new = Found(), workspace.paths.spool / "new"
    new.mkdir(parents=True, exist_ok=True)
    values = [
        fields.get("payload", fields)
        for file in sorted((shared / name).rglob("*.jsonl"))
        for _, fields in objects(file)
    ]
    for number, payload in enumerate(values):
        hook(number, payload, messages)
        file = new / f"{number:06}.json"
        file.write_text(json.dumps(payload))
        os.utime(file, (1_750_000_000 + number, 1_750_000_000 + number))
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    check(name, "hooks", messages, capture_matrix)
    assert list(new.iterdir()) == []


def check(name: str, source: str, messages: Found, row: Row) -> None:
    with database.connection():
        kept = Counter(EventRow.select(EventRow.type, EventRow.role).tuples())
        thoughts = ThoughtRow.select().count()
        left = sources.count_problems_by_reason()
    unknown = sum(n for reason, _, n in left if reason.startswith("unknown"))
    dropped = {f"{reason} ×{n}" for reason, kind, n in left if kind == "damaged"}
    person = kept["user_message", "user"]
    assistant = kept["assistant_message", "assistant"]
    row(
        files=name,
        source=source,
        person=f"{person}/{len(messages.person)}",
        assistant=f"{assistant}/{len(messages.assistant)}",
        thoughts=thoughts,
        tools=sum(n for (kind, _), n in kept.items() if kind == "tool_result"),
        unknown=unknown,
        dropped="; ".join(sorted(dropped)) or "nothing",
    )
    assert (person, assistant) == (len(messages.person), len(messages.assistant))
    assert person
