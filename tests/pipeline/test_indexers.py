"""The message index follows the store, whatever happens to it."""

import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from memtui.model.events import EventRole
from memtui.pipeline import pipeline
from memtui.pipeline.pipeline import MessageIndexer
from memtui.search.message_index import MessageIndex
from memtui.store import database, meta, queues
from memtui.workspace import Workspace
from tests.message_factory import index_messages, make_message, store_messages


def count(workspace: Workspace) -> int:
    return MessageIndex(workspace.paths.message_index).status().messages


def waiting() -> int:
    with database.connection():
        return queues.count_rows(queues.INDEX_EVENT)


def test_stored_events_are_indexed_once_and_leave_the_outbox(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1), make_message("pier", 2))
    assert waiting() == 1
    index_messages(workspace)
    assert (count(workspace), waiting()) == (2, 0)
    store_messages(make_message("quay", 1))
    assert index_messages(workspace) == 0
    assert count(workspace) == 2


def test_index_of_another_store_or_version_is_rebuilt(
    workspace: Workspace,
) -> None:
    store_messages(make_message("quay", 1))
    index_messages(workspace)
    with database.transaction():
        meta.write(meta.MESSAGE_INDEX, "another")
    index_messages(workspace)
    assert count(workspace) == 1
    assert len(workspace.message_search.find("quay").hits) == 1


def test_index_may_be_deleted_at_any_time(workspace: Workspace) -> None:
    store_messages(*(make_message(f"quay {n}", n) for n in range(50)))
    index = MessageIndexer(MessageIndex(workspace.paths.message_index))
    while index.step():
        MessageIndex(workspace.paths.message_index).delete()
        if random.random() < 0.5:
            break
    store_messages(make_message("quay late", 99))
    while index.step():
        pass
    assert count(workspace) == 51
    assert waiting() == 0


def test_filling_begins_with_the_newest_and_resumes(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "EVENTS_AT_ONCE", 1_000)
    store_messages(*(make_message(f"quay {n}", n) for n in range(2_500)))
    index = MessageIndex(workspace.paths.message_index)
    first = MessageIndexer(index)
    first.step()
    assert not index.status().is_complete
    assert index.status().events_read == pipeline.EVENTS_AT_ONCE
    (hit, *_) = workspace.message_search.find('"quay 2499"').hits
    assert hit.match is not None
    assert "so far" in workspace.message_search.find("quay").notes[0]
    MessageIndexer(index).step()
    assert index.status().events_read == 2 * pipeline.EVENTS_AT_ONCE
    index_messages(workspace)
    assert index.status().is_complete
    assert count(workspace) == 2_500
    (hit, *_) = workspace.message_search.find('"quay 0"', before=0, after=2).hits
    assert [said.msg_idx for said in hit.window] == [0, 1, 2]


def test_an_event_with_a_better_copy_is_listed_once(workspace: Workspace) -> None:
    store_messages(make_message("quay", 1), route="hook")
    index_messages(workspace)
    store_messages(make_message("quay", 1.5), route="transcript")
    index_messages(workspace)
    assert count(workspace) == 1
    (hit,) = workspace.message_search.find("quay").hits
    assert len(hit.window) == 1


def test_injected_words_are_found_and_nobody_said_them(workspace: Workspace) -> None:
    store_messages(make_message("quay", 1, role=EventRole.SYSTEM))
    index_messages(workspace)
    (hit,) = workspace.message_search.find("quay").hits
    assert hit.event is not None
    assert hit.event.role is EventRole.SYSTEM


WORK = """
    import sys
    from pathlib import Path
    from memtui import store
    from memtui.pipeline.pipeline import MessageIndexer
    from memtui.search.message_index import MessageIndex
    store.open_at(Path(sys.argv[1]))
    index = MessageIndexer(MessageIndex(Path(sys.argv[2])))
    print("ready", flush=True)
    while index.step():
        pass
    print("done", flush=True)
"""


@pytest.mark.full
def test_index_is_complete_however_often_its_process_is_killed(
    workspace: Workspace, tmp_path: Path
) -> None:
    store_messages(
        *(
            make_message(f"quay number {n}", n, session=f"s{n % 7}")
            for n in range(4_000)
        )
    )
    index_messages(workspace)
    before = [
        hit.event_id for hit in workspace.message_search.find("quay number 77").hits
    ]
    MessageIndex(workspace.paths.message_index).delete()
    script = tmp_path / "work.py"
    script.write_text(textwrap.dedent(WORK))
    command = [sys.executable, str(script), str(workspace.paths.store)]
    said, pause_s = "", random.Random(7)
    kills = 0
    while "done" not in said:
        child = subprocess.Popen(
            [*command, str(workspace.paths.message_index)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        child.stdout.readline()
        if kills < 5:
            time.sleep(pause_s.uniform(0.0, 0.1))
            child.kill()
            kills += 1
        said = child.stdout.read()
        child.wait()
        child.stdout.close()
    assert count(workspace) == 4_000
    after = [
        hit.event_id for hit in workspace.message_search.find("quay number 77").hits
    ]
    assert after == before
