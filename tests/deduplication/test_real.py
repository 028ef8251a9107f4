"""Real sessions of which both hook payloads and transcripts exist."""

import json
import random
from datetime import datetime
from pathlib import Path

import pytest

from tests.deduplication.deliveries import HOOKS, HistoryDelivery, shuffled_pieces

SESSIONS = {
    "4111cd2e-9717-438e-877c-d300c22459a8": "chat_2025-08-06T112356_7b0229c7.jsonl",
    "8664c04e-75fa-497d-ac11-57d69997e3ec": "chat_2025-08-06T204012_20edf283.jsonl",
}


def payloads(file: Path) -> str:
    """Return payloads in the form of ``tests.deduplication.deliveries``."""
    letters = []
    for line in file.read_text().splitlines():
        fields = json.loads(line)
        at = datetime.fromisoformat(fields["received_at"]).timestamp()
        letters.append(json.dumps({"at": at, "payload": fields["payload"]}))
    return "\n".join(letters) + "\n"


@pytest.mark.parametrize("name", SESSIONS)
def test_a_real_session_is_the_same_in_any_order_of_sources(
    delivery: HistoryDelivery, shared: Path, name: str
) -> None:
    stream = shared / "hook_sessions" / f"attio-mcp-server__{name}.jsonl"
    transcript = shared / "claude_code" / "attio-mcp-server" / SESSIONS[name]
    ways = {"s1.jsonl": transcript.read_text(), HOOKS: payloads(stream)}
    whole = delivery.after_steps(list(ways.items()))
    assert len(whole["events"]) > 50
    assert delivery.after_steps(list(ways.items())[::-1]) == whole
    assert delivery.after_steps(shuffled_pieces(ways, random.Random(1))) == whole
    assert delivery.after_steps(shuffled_pieces(ways, random.Random(2))) == whole


def test_real_folders_are_the_same_in_any_order_and_repeated(
    delivery: HistoryDelivery, shared: Path, tmp_path: Path
) -> None:
    folders = [shared / "claude_code", shared / "incremental"]
    whole = delivery.after_imports(*folders)
    files = sorted(file for folder in folders for file in folder.rglob("*.jsonl"))
    random.Random(3).shuffle(files)
    assert delivery.after_imports(*files, *folders) == whole
