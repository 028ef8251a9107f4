"""The node index is current within a second of a change."""

from pathlib import Path

from memtui.model.hit import HitKind
from memtui.pipeline import worker
from memtui.pipeline.progress import StepResult
from memtui.pipeline.worker import Worker
from memtui.store import database, nodes, queues
from memtui.workspace import Workspace

FIRST = '{"session_id": "s", "timestamp": "2025-03-14T10:00:00Z", "role": "user",'
ROUNDS = 4
"""The number of rounds after which new nodes are indexed."""


def test_new_nodes_are_found_before_the_stages_are_idle(
    workspace: Workspace, tmp_path: Path
) -> None:
    pipeline, results = workspace.pipeline, list[StepResult]()
    file = tmp_path / "one.jsonl"
    stages = Worker(pipeline._stages(), results.append)
    for number, word in enumerate(("ferry", "harbour", "lighthouse")):
        with file.open("a") as lines:
            lines.write(f'{FIRST} "text": "Paint the {word}", "key": "{number}"}}\n')
        for _ in pipeline.importer().run([file]):
            pass
        rounds = 0
        while not workspace.teleport.find(word).hits:
            assert stages.run_round() > 0
            rounds += 1
        assert rounds <= ROUNDS
        kinds = {hit.kind for hit in workspace.teleport.find(word).hits}
        assert HitKind.NODE in kinds
    assert not [result for result in results if result.error]
    assert max(worker.IDLE_S) < 0.5


def test_removed_nodes_are_no_longer_found(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "one.jsonl"
    file.write_text(f'{FIRST} "text": "Paint the ferry", "key": "0"}}\n')
    for _ in workspace.pipeline.importer().run([file]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    (segment,) = [
        hit.node_id
        for hit in workspace.teleport.find("level:segment ferry").hits
        if hit.kind is HitKind.NODE
    ]
    with database.transaction():
        nodes.delete([segment])
        queues.add_nodes([segment], 0)
    # What the tree no longer holds is not shown, even before it is indexed.
    assert all(hit.node_id != segment for hit in workspace.teleport.find("ferry").hits)
    stages = Worker(workspace.pipeline._stages(), lambda _: None)
    assert stages.run_round() > 0
    assert workspace.teleport.find("level:segment ferry").hits == ()
