"""Deliver the same history in several ways: growing files, and hooks."""

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memtui.paths import in_home
from memtui.pipeline.config import PipelineConfig
from memtui.pipeline.pipeline import Pipeline
from memtui.services import export
from memtui.settings import Settings
from memtui.summarize.segmenter import SegmentRules
from memtui.summarize.summarizer import ExtractiveSummarizer
from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.workspace import Workspace

START = datetime(2025, 3, 14, 10, tzinfo=UTC)
LATER = datetime(2027, 1, 1, tzinfo=UTC)

TreeOf = Callable[[Path], dict[str, Any]]
Step = tuple[str, str]
"""A file's name and the text appended to it, or ``HOOKS`` and payloads."""

HOOKS = "hooks"

CUT = "cut:"
"""The beginning of a step that replaces the file."""


def record(number: int, said: str, session: str = "s1", **more: Any) -> str:
    """Return a line of a transcript: a prompt if the number is odd, else a reply."""
    kind = "user" if number % 2 else "assistant"
    fields = {
        "type": kind,
        "uuid": f"u{number}",
        "sessionId": session,
        "timestamp": (START + timedelta(minutes=number)).isoformat(),
        "cwd": "/home/ada/shop",
        "message": {
            "id": f"m{number}",
            "content": [{"type": "text", "text": said}],
            "stop_reason": "end_turn",
        },
    }
    return json.dumps(fields | more) + "\n"


def session_records(session: str, *numbers: int) -> str:
    """Return the lines of a session with these numbers."""
    return "".join(
        record(n, f"Word {n} about the migration of table {n}", session)
        for n in numbers
    )


def hook(number: float, name: str, session: str = "s1", **payload: Any) -> str:
    """Return the payload of a hook, a second after the record of this number."""
    fields = {
        "hook_event_name": name,
        "session_id": session,
        "transcript_path": f"/home/ada/.claude/projects/shop/{session}.jsonl",
        "cwd": "/home/ada/shop",
    }
    at = START + timedelta(minutes=number, seconds=1)
    return json.dumps({"at": at.timestamp(), "payload": fields | payload}) + "\n"


def write_hook_files(new: Path, place: int, lines: str) -> None:
    """Write payloads into the spool."""
    for number, line in enumerate(lines.splitlines()):
        letter = json.loads(line)
        file = new / f"{place:04}.{number:06}.json"
        file.write_text(json.dumps(letter["payload"]))
        os.utime(file, (letter["at"], letter["at"]))


@contextmanager
def open_pipeline(home: Path, settings: Settings) -> Iterator[Pipeline]:
    """Open the pipeline of a home, at a time long after all records."""
    workspace = Workspace(in_home(home), settings)
    setup = PipelineConfig(
        spool=workspace.paths.spool,
        node_index=workspace.paths.index,
        message_index=workspace.paths.message_index,
        lock_file=workspace.paths.worker_lock,
        zone=workspace.zone,
        rules=SegmentRules(),
        counter=ESTIMATING_COUNTER,
        summarizer=ExtractiveSummarizer(),
        clock=lambda: LATER,
        agent="agent",
    )
    try:
        yield Pipeline(setup)
    finally:
        workspace.stop()


def import_paths(pipeline: Pipeline, *paths: Path) -> None:
    for _ in pipeline.importer().run(paths):
        pass
    assert pipeline.run_until_idle(lambda _: None) == []


def without_versions(tree: dict[str, Any]) -> dict[str, Any]:
    """Remove numbers of versions, which depend on the order of arrival."""
    for node in tree["nodes"].values():
        del node["version"]
    return tree


class HistoryDelivery:
    """Delivers the same history in several ways, each into a new home."""

    def __init__(self, place: Path, settings: Settings, tree_of: TreeOf) -> None:
        self._place, self._settings, self._tree_of = place, settings, tree_of
        self._ways = 0

    def after_steps(self, steps: Sequence[Step]) -> dict[str, Any]:
        """Return the tree after files have grown by these steps."""
        return without_versions(self._tree_of(self._take(steps)))

    def read_steps(self, steps: Sequence[Step]) -> None:
        """Let files grow by these steps in a new home, without summaries."""
        self._take(steps, with_summaries=False)

    def export_after(self, steps: Sequence[Step]) -> str:
        """Return what a machine exports after files have grown by these steps."""
        home = self._take(steps)
        file = home / "export.jsonl"
        workspace = Workspace(in_home(home), self._settings)
        try:
            export.export_events(file, may_replace=False)
        finally:
            workspace.stop()
        return file.read_text()

    def _take(self, steps: Sequence[Step], *, with_summaries: bool = True) -> Path:
        """Return a new home, after files have grown by these steps."""
        self._ways += 1
        home = self._place / f"home-{self._ways}"
        folder = self._place / f"way-{self._ways}" / "shop"
        folder.mkdir(parents=True)
        with open_pipeline(home, self._settings) as pipeline:
            for place, (name, more) in enumerate(steps):
                if name == HOOKS:
                    write_hook_files(home / "spool" / "new", place, more)
                else:
                    is_cut = more.startswith(CUT)
                    (folder / name).parent.mkdir(parents=True, exist_ok=True)
                    with (folder / name).open("w" if is_cut else "a") as file:
                        file.write(more.removeprefix(CUT))
                if with_summaries or name == HOOKS:
                    import_paths(pipeline, *folder.glob(name))
                else:
                    assert list(pipeline.importer().run([folder / name]))
        return home

    def after_imports(self, *folders: Path) -> dict[str, Any]:
        """Return the tree after importing folders one after the other."""
        self._ways += 1
        home = self._place / f"home-{self._ways}"
        with open_pipeline(home, self._settings) as pipeline:
            for folder in folders:
                import_paths(pipeline, folder)
        return without_versions(self._tree_of(home))


def shuffled_pieces(files: Mapping[str, str], dice: random.Random) -> list[Step]:
    """Return pieces of files in random order; those of one file keep their order."""
    left = {name: text.splitlines(keepends=True) for name, text in files.items()}
    steps = []
    while left:
        name = dice.choice(sorted(left))
        number = dice.randint(1, len(left[name]))
        steps.append((name, "".join(left[name][:number])))
        left[name] = left[name][number:]
        if not left[name]:
            del left[name]
    return steps


def rollout(session: str, parts: Sequence[tuple[str, int, int]]) -> str:
    """Return a rollout of Codex that begins with copied turns, at the time of the fork.

    Args:
        session: Its name.
        parts: Whose each turn is, which one, and in which minute it is written.
    """
    records: list[tuple[datetime, str, dict[str, Any]]] = []
    heads = list(dict.fromkeys([session, *(w for w, _, _ in parts)][::-1]))
    at = START + timedelta(minutes=next((m for w, _, m in parts if w != session), 0))
    for whose in (session, *(head for head in heads if head != session)):
        records.append((at, "session_meta", {"id": whose, "cwd": "/home/ada/shop"}))
    for whose, turn, minute in parts:
        at = START + timedelta(minutes=minute)
        for role, kind in (("user", "input_text"), ("assistant", "output_text")):
            said = f"{role} {turn} of {whose} about the migration of table {turn}"
            content = [{"type": kind, "text": said}]
            fields = {"type": "message", "role": role, "content": content}
            records.append((at, "response_item", fields))
    return "".join(
        json.dumps({"timestamp": at.isoformat(), "type": kind, "payload": payload})
        + "\n"
        for at, kind, payload in records
    )


def marked(session: str, whose: str, *numbers: int) -> str:
    """Return records that name the session they were copied from."""
    return "".join(
        record(
            n,
            f"Word {n} about the migration of table {n}",
            session,
            forkedFrom={"sessionId": whose, "messageUuid": f"u{n}"},
        )
        for n in numbers
    )
