"""Pinning and regenerating versions; no version is deleted."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.errors import MemtuiError
from memtui.model import calendar
from memtui.model.nodes import NodeStatus, TocHistory
from memtui.services import browse, versions
from memtui.services.forget import Forget
from memtui.services.redact import Redaction
from memtui.store import database, queues
from memtui.store.tombstones import TombstoneKind
from memtui.text.tokens import load_counter
from memtui.workspace import Workspace
from tests import model_versions
from tests.tables import (
    BulletGripRow,
    BulletRow,
    EventRow,
    GripRow,
    NodeRow,
    VersionRow,
)

DAY = "toc:day:2024-01-18"
WEEK = "toc:week:2024-W03"
NOW = datetime(2024, 3, 1, 12, tzinfo=UTC)
WHY = "no bullet is supported by the source"


def history(node_id: str = DAY) -> TocHistory:
    stored = versions.get_history(node_id)
    assert stored is not None
    return stored


def displayed_version(node_id: str = DAY) -> tuple[int, bool]:
    """Which version is shown, and whether it is pinned."""
    version = history(node_id).displayed
    assert version is not None
    return version.version, version.is_pinned


def settle(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


@pytest.fixture
def workspace(full_workspace: Workspace) -> Workspace:
    """The full workspace, of one of whose days a model wrote two versions."""
    model_versions.add_model_version(DAY, "The model tells of the pelican")
    model_versions.add_model_version(DAY, "The model tells of the walrus", rejected=WHY)
    return full_workspace


def later(workspace: Workspace, folder: Path, minute: int = 0) -> None:
    """More is said on that day."""
    said = {
        "session_id": f"later-{minute}",
        "timestamp": f"2024-01-18T20:{minute:02}:00+00:00",
        "role": "user",
        "text": "Please have the harbour ledger counted before the audit.",
        "project": "harbour",
        "key": f"later-{minute}",
    }
    file = folder / f"later-{minute}.jsonl"
    file.write_text(json.dumps(said) + "\n")
    for _ in workspace.pipeline.importer().run([file]):
        pass
    settle(workspace)


def test_an_earlier_version_can_be_pinned_and_unpinned(
    workspace: Workspace,
) -> None:
    assert displayed_version() == (2, False)
    assert versions.pin(DAY, 1, workspace.zone, NOW).version == 1
    assert displayed_version() == (1, True)
    assert history().entry.status is NodeStatus.CURRENT
    assert versions.unpin(DAY, workspace.zone, NOW).version == 2
    assert displayed_version() == (2, False)
    assert [version.version for version in history().versions] == [3, 2, 1]


def test_pinning_without_a_number_pins_the_displayed_version(
    workspace: Workspace,
) -> None:
    assert versions.pin(DAY, None, workspace.zone, NOW).version == 2
    assert displayed_version() == (2, True)


def test_a_node_can_be_named_by_an_older_form_of_its_id(workspace: Workspace) -> None:
    versions.pin("toc:week:2024-03", 1, workspace.zone, NOW)
    assert displayed_version(WEEK) == (1, True)


def test_a_pinned_version_stays_and_becomes_outdated(
    workspace: Workspace, tmp_path: Path
) -> None:
    versions.pin(DAY, 2, workspace.zone, NOW)
    later(workspace, tmp_path)
    model_versions.add_model_version(DAY, "The model tells of the heron")
    assert displayed_version() == (2, True)
    assert history().entry.status is NodeStatus.STALE
    assert [version.version for version in history().versions] == [5, 4, 3, 2, 1]
    assert versions.unpin(DAY, workspace.zone, NOW).version == 5
    assert displayed_version() == (5, False)


def test_pinning_a_version_of_older_content_is_outdated_at_once(
    workspace: Workspace, tmp_path: Path
) -> None:
    later(workspace, tmp_path)
    assert displayed_version() == (4, False)
    versions.pin(DAY, 2, workspace.zone, NOW)
    assert history().entry.status is NodeStatus.STALE
    versions.pin(DAY, 4, workspace.zone, NOW)
    settle(workspace)
    assert history().entry.status is NodeStatus.CURRENT


def test_pinning_a_rejected_version_must_be_confirmed(
    workspace: Workspace,
) -> None:
    with pytest.raises(
        versions.VersionRejectedError, match=f"version 3 was rejected: {WHY}"
    ):
        versions.pin(DAY, 3, workspace.zone, NOW)
    assert displayed_version() == (2, False)
    version = versions.pin(DAY, 3, workspace.zone, NOW, even_rejected=True)
    assert (version.version, version.rejection) == (3, WHY)
    assert displayed_version() == (3, True)
    assert versions.unpin(DAY, workspace.zone, NOW).version == 2


def test_an_unknown_version_is_reported_with_the_existing_ones(
    workspace: Workspace,
) -> None:
    with pytest.raises(MemtuiError, match="no version 9: it has 1, 2, 3"):
        versions.pin(DAY, 9, workspace.zone, NOW)
    with pytest.raises(MemtuiError, match=r"it has 1$"):
        versions.pin(WEEK, 2, workspace.zone, NOW)
    for unknown in ("toc:day:1999-01-01", "nonsense", ""):
        with pytest.raises(MemtuiError, match=f"there is no node {unknown}"):
            versions.pin(unknown, None, workspace.zone, NOW)
        with pytest.raises(MemtuiError, match=f"there is no node {unknown}"):
            versions.request(unknown, NOW)
    with pytest.raises(MemtuiError, match=f"no version of {DAY} is pinned"):
        versions.unpin(DAY, workspace.zone, NOW)


def test_a_pending_node_has_no_version_to_pin(workspace: Workspace) -> None:
    pending = "toc:day:2024-06-01"
    with database.transaction():
        queues.add_rollups([pending], workspace.zone)
    assert history(pending).versions == ()
    with pytest.raises(MemtuiError, match="has no version yet"):
        versions.pin(pending, 1, workspace.zone, NOW)
    with pytest.raises(MemtuiError, match="has no version yet"):
        versions.unpin(pending, workspace.zone, NOW)
    with pytest.raises(MemtuiError, match="has no version yet"):
        versions.request(pending, NOW)


def test_search_and_parent_nodes_follow_a_pinned_version(workspace: Workspace) -> None:
    def finds(word: str) -> list[str]:
        return [hit.target_id for hit in workspace.teleport.find(word).hits]

    with database.transaction():
        queues.add_nodes([DAY], 1)
        queues.add_rollups([WEEK], workspace.zone)
    settle(workspace)
    week = browse.get_node(WEEK)
    assert finds("pelican") != []
    versions.pin(DAY, 1, workspace.zone, NOW)
    with database.connection():
        assert [name for _, name in queues.list_unindexed_nodes(9)] == [DAY]
        assert queues.count_rollups() == 2  # its week and its month
    settle(workspace)
    assert finds("pelican") == []
    versions.pin(DAY, 3, workspace.zone, NOW, even_rejected=True)
    settle(workspace)
    assert DAY in finds("walrus")
    then = browse.get_node(WEEK)
    assert week is not None and then is not None
    assert then.version > week.version


def test_a_running_app_is_notified_of_changed_nodes(workspace: Workspace) -> None:
    settle(workspace)
    workspace.pipeline.take_changed_nodes()
    versions.pin(DAY, 1, workspace.zone, NOW)
    output: set[str] = set()
    workspace.pipeline.run_until_idle(lambda progress: output.update(progress.changed))
    assert {DAY, WEEK} <= output | workspace.pipeline.take_changed_nodes()


def test_a_second_request_for_a_version_keeps_the_first_place(
    workspace: Workspace,
) -> None:
    with database.transaction():
        NodeRow.update(
            needs_model=False, model_attempts=4, model_retry_ms=2**50
        ).execute()
    versions.request(DAY, NOW)
    assert history().requested_at == NOW
    versions.request(DAY, datetime(2024, 3, 2, tzinfo=UTC))
    assert history().requested_at == NOW
    with database.connection():
        row = NodeRow.get(NodeRow.node_id == DAY)
        others = NodeRow.select().where(NodeRow.requested_ms > 0).count()
    assert (row.needs_model, row.model_attempts, row.model_retry_ms) == (True, 0, 0)
    assert others == 1
    assert displayed_version() == (2, False)


def test_a_request_for_a_version_keeps_the_pin(workspace: Workspace) -> None:
    versions.pin(DAY, 1, workspace.zone, NOW)
    assert versions.request(DAY, NOW).is_pinned
    assert displayed_version() == (1, True)


SECRET = "the quokka ledger of Ada"
TRACES = [part.encode() for part in ("quokka", "Quokka")]


def holding(home: Path) -> list[Path]:
    """The files that hold any of it, byte by byte."""
    files = (file for file in sorted(home.rglob("*")) if file.is_file())
    return [file for file in files if any(word in file.read_bytes() for word in TRACES)]


@pytest.mark.parametrize("pinned", [1, 2, 3])
def test_forgetting_deletes_a_models_versions_and_their_pin(
    workspace: Workspace,
    import_files: Callable[..., Workspace],
    tmp_path: Path,
    pinned: int,
) -> None:
    at = "2025-03-14T10:00:00+00:00"
    said = [
        {"session_id": "s-ada", "timestamp": at, "role": "user", "key": key,
         "text": text, "cwd": "/home/ada/ledgers"}
        for key, text in (("a", f"Count {SECRET} twice."), ("b", "Then close it."))
    ]  # fmt: skip
    file = tmp_path / "told.jsonl"
    file.write_text("".join(json.dumps(text) + "\n" for text in said))
    import_files(workspace, file)
    day = "toc:day:2025-03-14"
    segment = browse.list_children(day)[0].node_id
    for node_id in (segment, day, "toc:year:2025"):
        held = (model_versions.unsupported_bullet("Quokkas were sold"),)
        model_versions.add_model_version(
            node_id, "Quokkas counted", held=held, with_weak="42 quokkas"
        )
        model_versions.add_model_version(
            node_id, "Quokkas again", rejected="1 of 2 bullets: quokka", held=held
        )
        versions.pin(node_id, pinned, workspace.zone, NOW, even_rejected=True)
    settle(workspace)
    assert holding(workspace.paths.store.parent) != []
    forget = Forget(workspace.paths, workspace.zone, lambda: NOW)
    forget.run(TombstoneKind.SESSION, ["s-ada"])
    settle(workspace)
    assert holding(workspace.paths.store.parent) == []
    with database.connection():
        assert NodeRow.select().where(NodeRow.is_pinned).count() == 0
        gone = [segment, day, "toc:year:2025"]
        assert VersionRow.select().where(VersionRow.node_id.in_(gone)).count() == 0
        kept = VersionRow.select(VersionRow.id)
        assert BulletRow.select().where(BulletRow.version.not_in(kept)).count() == 0
        without_event = GripRow.start_event_id.not_in(EventRow.select(EventRow.id))
        assert GripRow.select().where(without_event).count() == 0
        linked = BulletGripRow.select().where(
            BulletGripRow.grip.not_in(GripRow.select(GripRow.id))
        )
        assert linked.count() == 0
    assert versions.get_history(day) is None
    assert displayed_version() == (2, False)


def test_redaction_deletes_a_pinned_version_with_a_secret(
    workspace: Workspace, import_unredacted: Callable[..., Workspace], tmp_path: Path
) -> None:
    key = "ghp_quokka7Zr4Tq9Xw2Lm8Nv5Kd3Jf6Hs1Gaxyz"
    output = {
        "session_id": "s-ada",
        "timestamp": "2024-01-18T20:00:00+00:00",
        "role": "user",
        "text": f"Count the ledger with {key}, please.",
    }
    file = tmp_path / "told.jsonl"
    file.write_text(json.dumps(output) + "\n")
    import_unredacted(workspace, file)
    (segment,) = (
        line.node_id for line in browse.list_children(DAY) if key in line.headline
    )
    for node_id in (segment, DAY):
        held = (model_versions.unsupported_bullet(f"{key} was sold"),)
        made = model_versions.add_model_version(
            node_id, key, rejected=f"no bullet but {key}", held=held
        )
        model_versions.add_model_version(node_id, key, with_weak=f"{key} counts")
        versions.pin(node_id, made.version, workspace.zone, NOW, even_rejected=True)
    settle(workspace)
    redact = Redaction(
        workspace.paths,
        workspace.zone,
        load_counter(workspace.paths.vocabulary),
        lambda: NOW,
    )
    redact.run()
    settle(workspace)
    assert holding(workspace.paths.store.parent) == []
    days = browse.list_children(calendar.parent_id(DAY) or "")
    day = next(line for line in days if line.node_id == DAY)
    for line in (day, *browse.list_children(DAY)):
        assert not line.is_pinned
        assert not line.is_by_model


def test_forgetting_part_of_a_day_deletes_all_its_versions_and_its_pin(
    workspace: Workspace, tmp_path: Path
) -> None:
    later(workspace, tmp_path, 30)
    model_versions.add_model_version(DAY, "Quokkas counted")
    versions.pin(DAY, 2, workspace.zone, NOW)
    forget = Forget(workspace.paths, workspace.zone, lambda: NOW)
    forget.run(TombstoneKind.SESSION, ["later-30"])
    settle(workspace)
    (version,) = history().versions
    assert (version.is_shown, version.is_pinned, version.is_by_model) == (
        True,
        False,
        False,
    )
    assert history().entry.status is NodeStatus.CURRENT
