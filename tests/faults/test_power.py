"""After a power cut, renamed files may be empty or incomplete."""

import gc
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from memtui.services import status
from memtui.workspace import Workspace
from tests.deduplication.deliveries import (
    CUT,
    HistoryDelivery,
    hook,
    session_records,
    without_versions,
    write_hook_files,
)

HomeOf = Callable[[str], Path]
TreeOf = Callable[[Path], dict[str, object]]

LINES = session_records("s1", 1, 2, 3, 40, 41, 42)


def settle(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


@pytest.mark.parametrize("left", [b"", b"\0" * 4096, b'{"session_id": "s1", "hook_'])
def test_a_truncated_hook_file_is_quarantined_and_blocks_no_other(
    workspace: Workspace, left: bytes
) -> None:
    new = workspace.paths.spool / "new"
    new.mkdir(exist_ok=True)
    lines = "".join(hook(n, "UserPromptSubmit", prompt=f"Word {n}") for n in (1, 2, 3))
    write_hook_files(new, 1, lines)
    (new / "0001.000001.json").write_bytes(left)
    settle(workspace)
    assert status.read_stats().messages == 2
    assert status.read_stats().skipped == 1
    bad = workspace.paths.spool / "bad"
    assert (bad / "0001.000001.json").exists()
    assert (bad / "0001.000001.json.reason").read_text()
    assert list(new.iterdir()) == []


def test_an_event_lost_by_a_hook_is_read_from_the_transcript(
    delivery: HistoryDelivery, workspace: Workspace
) -> None:
    whole = delivery.after_steps([("s1", LINES)])
    new = workspace.paths.spool / "new"
    new.mkdir(exist_ok=True)
    write_hook_files(new, 1, hook(1, "UserPromptSubmit", prompt="Word 1"))
    (new / "0001.000000.json").write_bytes(b"")
    settle(workspace)
    assert delivery.after_steps([("s1", LINES)]) == whole


@pytest.mark.parametrize("cut", [0, 1, 150, len(LINES) // 2, len(LINES) - 2])
@pytest.mark.parametrize("zeros", [0, 700])
def test_a_truncated_transcript_is_read_on_from_its_end(
    delivery: HistoryDelivery, cut: int, zeros: int
) -> None:
    """It was read to its end before; its agent goes on where the file ends now."""
    more = "\n" + session_records("s1", 70, 71)
    whole = delivery.after_steps([("s1", LINES + more)])
    kept = CUT + LINES[:cut] + "\0" * zeros
    tree = delivery.after_steps([("s1", LINES), ("s1", kept), ("s1", more)])
    # A line that was cut off and never ended is a damaged one.
    assert tree["stats"].pop("skipped") == (cut > 0)
    assert whole["stats"].pop("skipped") == 0
    assert tree == whole


# Whoosh leaves open what it cannot read.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("which", ["memtui-index", "*.toc", "*.seg", "*"])
@pytest.mark.full
def test_a_truncated_index_is_built_again(
    workspace: Workspace, tmp_path: Path, tree_of: TreeOf, which: str
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(LINES)
    for _ in workspace.pipeline.importer().run([file]):
        pass
    settle(workspace)
    home = workspace.paths.store.parent
    workspace.stop()
    expected = json.dumps(without_versions(tree_of(home)), sort_keys=True)
    for part in workspace.paths.index.glob(which):
        part.write_bytes(b"")
    again = Workspace(workspace.paths, workspace.settings)
    settle(again)
    again.stop()
    gc.collect()
    kept = json.dumps(without_versions(tree_of(home)), sort_keys=True)
    assert kept == expected
