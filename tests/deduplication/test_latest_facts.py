"""The latest record decides what a session is called, in whatever order files come."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from memtui.model.sessions import SessionMetadata
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.store import database, events, sessions, sources
from memtui.workspace import Workspace
from tests.tables import CursorRow

SESSION = "019a0000-0000-7000-8000-000000000077"


def rollout(cwd: str = "/home/ada/shop") -> str:
    content = [{"type": "input_text", "text": "why is this so slow"}]
    message = {"type": "message", "role": "user", "content": content}
    records = [
        ("session_meta", {"id": SESSION, "cwd": cwd}),
        ("response_item", message),
    ]
    return "".join(
        json.dumps(
            {"timestamp": "2026-11-20T09:00:00Z", "type": kind, "payload": fields}
        )
        + "\n"
        for kind, fields in records
    )


def index(name: str, day: int) -> str:
    at = f"2026-11-{day}T09:00:00Z"
    return json.dumps({"id": SESSION, "thread_name": name, "updated_at": at}) + "\n"


def read(workspace: Workspace, *paths: Path) -> None:
    for _ in workspace.pipeline.importer().run(paths):
        pass


def title() -> str:
    with database.connection():
        session = sessions.get("codex", SESSION)
        return session.agent_title if session else ""


@pytest.mark.parametrize("order", permutations(["rollout", "old", "new"]))
def test_latest_name_in_an_index_is_the_title(
    workspace: Workspace, tmp_path: Path, order: Sequence[str]
) -> None:
    texts = {
        "rollout": rollout(),
        "old": index("Old name", 20),
        "new": index("New name", 21) + index("Older name", 19),
    }
    for name in order:
        file = tmp_path / f"{name}.jsonl"
        file.write_text(texts[name])
        read(workspace, file)
    assert title() == "New name"


def test_session_is_renamed_when_its_index_grows(
    workspace: Workspace, tmp_path: Path
) -> None:
    file, names = tmp_path / "rollout.jsonl", tmp_path / "session_index.jsonl"
    names.write_text(index("Old name", 20))
    read(workspace, names)
    assert title() == ""
    file.write_text(rollout())
    read(workspace, file)
    assert title() == "Old name"
    names.write_text(names.read_text() + index("New name", 21))
    read(workspace, names)
    assert title() == "New name"


def test_no_name_of_an_excluded_session_is_stored(
    tmp_path: Path, settings: Settings
) -> None:
    workspace = Workspace(
        in_home(tmp_path / "home"), replace(settings, capture_exclude=("shop",))
    )
    (tmp_path / "rollout.jsonl").write_text(rollout())
    (tmp_path / "session_index.jsonl").write_text(index("Quokka", 20))
    for _ in range(2):
        read(workspace, tmp_path)
    with database.connection():
        assert sessions.count() == 0
        states = [row.state for row in CursorRow.select()]
    assert len(states) == 2 and not any("Quokka" in state for state in states)
    workspace.stop()


def transcript(points: int) -> str:
    """Return a session as it was at one of three points."""
    records = []
    for number in range(points):
        records += [
            {
                "type": "user",
                "uuid": f"u{number}",
                "sessionId": "s1",
                "cwd": "/home/ada/shop",
                "gitBranch": f"branch {number}",
                "timestamp": f"2026-11-20T09:0{number}:00Z",
                "message": {"role": "user", "content": f"message {number}"},
            },
            {
                "type": "custom-title",
                "customTitle": f"Title {number}",
                "sessionId": "s1",
            },
        ]
    return "".join(f"{json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize("order", permutations([1, 2, 3]))
def test_latest_copy_of_a_session_decides_on_title_and_branch(
    workspace: Workspace, tmp_path: Path, order: Sequence[int]
) -> None:
    for points in order:
        file = tmp_path / f"{points}.jsonl"
        file.write_text(transcript(points))
        read(workspace, file)
    with database.connection():
        session = sessions.get("claude-code", "s1")
    assert session is not None
    assert (session.agent_title, session.branch) == ("Title 2", "branch 2")


def test_title_that_is_added_later_is_the_title(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(transcript(2))
    read(workspace, file)
    more = {"type": "custom-title", "customTitle": "Renamed", "sessionId": "s1"}
    file.write_text(transcript(2) + json.dumps(more) + "\n")
    read(workspace, file)
    with database.connection():
        session = sessions.get("claude-code", "s1")
    assert session is not None and session.agent_title == "Renamed"


@pytest.mark.parametrize("is_given", [True, False])
def test_copilot_says_whether_the_user_named_the_session(
    workspace: Workspace, tmp_path: Path, *, is_given: bool
) -> None:
    records: list[tuple[str, dict[str, object]]] = [
        ("session.start", {"sessionId": "s1", "context": {"cwd": "/home/ada/shop"}}),
        ("user.message", {"content": "why is this so slow"}),
    ]
    times = {"timestamp": "2026-11-20T09:00:00Z", "parentId": None}
    (tmp_path / "events.jsonl").write_text(
        "".join(
            json.dumps({"type": kind, "data": data, "id": f"e-{kind}", **times}) + "\n"
            for kind, data in records
        )
    )
    named = f"name: Slow prices\nuser_named: {str(is_given).lower()}\n"
    (tmp_path / "workspace.yaml").write_text(named)
    read(workspace, tmp_path / "events.jsonl")
    with database.connection():
        session = sessions.get("copilot-cli", "s1")
    assert session is not None
    assert (session.agent_title, session.is_title_given) == ("Slow prices", is_given)


def test_given_name_survives_an_export(workspace: Workspace, tmp_path: Path) -> None:
    fields = {"record": "session", "session_id": "s1", "agent": "codex"}
    place = {"timestamp": "2026-11-20T09:00:00Z", "project": "shop"}
    said = {"session_id": "s1", "agent": "codex", "text": "why", "role": "user"}
    lines = [
        fields | place | {"title": "Given", "is_title_given": True},
        said | place,
        fields | place | {"title": "Made"},
    ]
    file = tmp_path / "export.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    read(workspace, file)
    with database.connection():
        exported = [r for r in events.read_all() if isinstance(r, SessionMetadata)]
    assert [(item.title, item.is_title_given) for item in exported] == [("Given", True)]


GIVEN = {"type": "custom-title", "customTitle": "Given", "sessionId": "s1"}
MADE = {"type": "ai-title", "aiTitle": "Made", "sessionId": "s1"}


@pytest.mark.parametrize("in_pieces", [False, True])
@pytest.mark.parametrize("titles", permutations([GIVEN, MADE]))
def test_name_that_the_user_gave_stays_beside_one_that_the_agent_made(
    workspace: Workspace,
    tmp_path: Path,
    titles: Sequence[dict[str, str]],
    *,
    in_pieces: bool,
) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_text(transcript(1).splitlines(keepends=True)[0])
    for fields in titles:
        with file.open("a") as lines:
            lines.write(f"{json.dumps(fields)}\n")
        if in_pieces:
            read(workspace, file)
    read(workspace, file)
    with database.connection():
        session = sessions.get("claude-code", "s1")
    assert session is not None
    assert (session.agent_title, session.is_title_given) == ("Given", True)


def codex_file(folder: Path, names: Sequence[str]) -> Path:
    """Write a rollout in which the user gave these names; "" takes one away."""
    records = [
        {
            "timestamp": f"2026-11-20T09:0{number}:00Z",
            "type": "event_msg",
            "payload": {"type": "thread_name_updated", "thread_name": name},
        }
        for number, name in enumerate(names, 1)
    ]
    lines = "".join(f"{json.dumps(record)}\n" for record in records)
    file = folder / f"rollout-2026-11-20T09-00-00-{SESSION}.jsonl"
    file.write_text(rollout() + lines)
    return file


def codex_index(folder: Path, names: Sequence[str]) -> Path:
    read_rollout = codex_file(folder, [])
    file = folder / "session_index.jsonl"
    days = enumerate(names, 20)
    file.write_text("".join(index(name, day) for day, name in days))
    return file if names else read_rollout


def claude_file(folder: Path, names: Sequence[str]) -> Path:
    prompt, *_ = transcript(1).splitlines()
    replies = []
    for number, name in enumerate(names, 1):
        at = f"2026-11-20T10:0{number}:00Z"
        reply = json.loads(prompt) | {"uuid": f"reply-{number}", "timestamp": at}
        replies += [reply, GIVEN | {"customTitle": name}]
    lines = [prompt, *map(json.dumps, replies), json.dumps(MADE)]
    file = folder / "s1.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def copilot_file(folder: Path, names: Sequence[str]) -> Path:
    data = {"sessionId": "s1", "context": {"cwd": "/home/ada/shop"}}
    about = {"id": "e1", "timestamp": "2026-11-20T09:00:00Z"}
    file = folder / "events.jsonl"
    prompt = {"type": "user.message", "data": {"content": "why"}, **about, "id": "e2"}
    start = {"type": "session.start", "data": data, **about}
    file.write_text(f"{json.dumps(start)}\n{json.dumps(prompt)}\n")
    name = names[-1] if names else ""
    (folder / "workspace.yaml").write_text(
        f"name: {name or 'Made'}\nuser_named: {str(bool(name)).lower()}\n"
        f"updated_at: 2026-11-20T09:{len(names):02}:00Z\n"
    )
    return file


@pytest.mark.parametrize("order", permutations([0, 1, 2, 3]))
@pytest.mark.parametrize(
    ("make", "made"),
    [
        (codex_file, ""),
        (codex_index, ""),
        (claude_file, "Made"),
        (copilot_file, "Made"),
    ],
)
def test_name_that_the_user_took_away_is_no_title(
    workspace: Workspace,
    tmp_path: Path,
    make: Callable[[Path, Sequence[str]], Path],
    made: str,
    order: Sequence[int],
) -> None:
    for count in order:
        folder = tmp_path / f"copy-{count}"
        folder.mkdir()
        read(workspace, make(folder, ["First", "Second", ""][:count]))
        if make is codex_index:
            read(workspace, codex_file(folder, []))
    with database.connection():
        agent, name = ("codex", SESSION) if not made else ("claude-code", "s1")
        agent = "copilot-cli" if make is copilot_file else agent
        session = sessions.get(agent, name)
    assert session is not None
    assert (session.agent_title, session.is_title_given) == (made, False)


def test_damaged_line_of_an_index_stays_counted_when_it_is_read_again(
    workspace: Workspace, tmp_path: Path
) -> None:
    file = tmp_path / "session_index.jsonl"
    file.write_text(index("Name", 20) + "{torn\n")
    # The index is read again because a session is new.
    read(workspace, file, codex_file(tmp_path, []))
    assert title() == "Name"
    with database.connection():
        (problem,) = sources.list_damaged()
    assert (problem.line, problem.count) == (2, 1)
    file.write_text("null\n")
    read(workspace, file)
    with database.connection():
        (problem,) = sources.list_damaged()
    assert (problem.reason, problem.line) == ("not a JSON object", 1)
