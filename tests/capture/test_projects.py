"""The project of a folder."""

import json
import subprocess
from pathlib import Path

import pytest

from memtui.capture import policy
from memtui.capture.policy import ProjectLocation, locate_project
from tests.cli_runner import json_data, run_memtui


def git(*words: str, at: Path) -> None:
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.com")
    subprocess.run(("git", *who, *words), cwd=at, check=True, capture_output=True)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a commit."""
    shop = tmp_path / "shop"
    (shop / "src" / "cart").mkdir(parents=True)
    git("init", at=shop)
    git("commit", "--allow-empty", "-m", "begin", at=shop)
    return shop


def test_a_folder_within_a_repository_belongs_to_it(shop: Path) -> None:
    assert locate_project(f"{shop}/src/cart") == ProjectLocation(str(shop), "shop")
    assert locate_project(f"{shop}/") == ProjectLocation(str(shop), "shop")


def test_link_to_a_repository_belongs_to_it(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(shop)
    for folder in ("link", "link/src"):
        place = locate_project(f"{tmp_path}/{folder}")
        assert place == ProjectLocation(str(shop), "shop")


def test_worktrees_belong_to_the_project_of_their_repository(
    shop: Path, tmp_path: Path
) -> None:
    beside, inside = tmp_path / "shop-fix", shop / ".claude" / "worktrees" / "fix2"
    git("worktree", "add", "-b", "fix", str(beside), at=shop)
    git("worktree", "add", "-b", "fix2", str(inside), at=shop)
    (inside / "src").mkdir()
    for folder in (beside, inside, inside / "src"):
        assert locate_project(str(folder)) == ProjectLocation(str(shop), "shop")


def test_a_submodule_is_a_project_of_its_own(shop: Path) -> None:
    module = shop / "vendor" / "ferry"
    module.mkdir(parents=True)
    (module / ".git").write_text(f"gitdir: {shop}/.git/modules/ferry\n")
    assert locate_project(str(module)) == ProjectLocation(str(module), "ferry")


@pytest.mark.parametrize(
    ("cwd", "root", "place"),
    [
        ("/home/ada/work/shop", "", ProjectLocation("", "shop")),
        ("/home/ada/work/shop/", "", ProjectLocation("", "shop")),
        ("C:\\work\\shop", "", ProjectLocation("", "shop")),
        (
            "/srv/shop/.claude/worktrees/fix/src",
            "",
            ProjectLocation("/srv/shop", "shop"),
        ),
        ("/srv/shop/.worktrees/fix", "", ProjectLocation("/srv/shop", "shop")),
        ("/srv/shop/src/cart", "/srv/shop", ProjectLocation("/srv/shop", "shop")),
        ("relative/shop", "", ProjectLocation("", "shop")),
        ("", "", ProjectLocation("", "")),
        ("/nul\0/shop", "", ProjectLocation("", "shop")),
    ],
)
def test_missing_folder_is_named_by_its_path(
    cwd: str, root: str, place: ProjectLocation
) -> None:
    assert locate_project(cwd, root) == place


# Worktrees


def test_worktree_with_a_relative_path_belongs_to_its_repository(
    shop: Path, tmp_path: Path
) -> None:
    beside = tmp_path / "fix"
    git("worktree", "add", str(beside), at=shop)
    (beside / ".git").write_text("gitdir: ../shop/.git/worktrees/fix\n")
    assert locate_project(str(beside)) == ProjectLocation(str(shop), "shop")


@pytest.mark.parametrize(
    ("bare", "root"), [("shop.git", "shop.git"), ("shop/.bare", "shop")]
)
def test_worktree_of_a_bare_repository_belongs_to_it(
    shop: Path, tmp_path: Path, bare: str, root: str
) -> None:
    folder, worktree = tmp_path / "bare" / bare, tmp_path / "trees" / "fix"
    folder.parent.mkdir(parents=True)
    git("clone", "--bare", str(shop), str(folder), at=tmp_path)
    git("worktree", "add", "-b", "fix", str(worktree), at=folder)
    (worktree / "src").mkdir()
    place = ProjectLocation(str(tmp_path / "bare" / root), "shop")
    assert locate_project(str(worktree / "src")) == place


def test_submodule_in_a_worktree_is_a_project_of_its_own(tmp_path: Path) -> None:
    module = tmp_path / "fix" / "ferry"
    module.mkdir(parents=True)
    git_folder = "/srv/shop/.git/worktrees/fix/modules/ferry"
    (module / ".git").write_text(f"gitdir: {git_folder}\n")
    assert locate_project(str(module)) == ProjectLocation(str(module), "ferry")


def test_worktree_of_a_submodule_belongs_to_it(shop: Path, tmp_path: Path) -> None:
    ferry = tmp_path / "origin/ferry"
    ferry.mkdir(parents=True)
    git("init", at=ferry)
    git("commit", "--allow-empty", "-m", "begin", at=ferry)
    allowed = ("-c", "protocol.file.allow=always")
    git(*allowed, "submodule", "add", str(ferry), "vendor/ferry", at=shop)
    git("worktree", "add", "-b", "fix", str(tmp_path / "fix"), at=shop / "vendor/ferry")
    place = ProjectLocation(f"{shop}/vendor/ferry", "ferry")
    for folder in (shop / "vendor/ferry", tmp_path / "fix"):
        assert locate_project(str(folder)) == place


def test_worktree_made_in_windows_belongs_to_its_repository(tmp_path: Path) -> None:
    mark = "gitdir: C:/Users/ada/kiosk/.git/worktrees/fix\r\n"
    (tmp_path / ".git").write_text(mark)
    place = ProjectLocation("/mnt/c/Users/ada/kiosk", "kiosk")
    assert locate_project(str(tmp_path)) == place


def test_mark_of_long_paths_is_no_part_of_a_folder() -> None:
    folder = "C:\\Users\\ada\\git\\kiosk\\.claude\\worktrees\\fix"
    assert locate_project(f"\\\\?\\{folder}") == locate_project(folder)


def fill(shape: str, repository: str) -> str:
    """Return a folder of a worktree of this shape."""
    above, _, below = shape.partition("{repo}")
    above = above.replace("~", "/home/ada").replace("**/", "/srv/git/")
    return f"{above}{repository}{below}".replace("*", "3f2a")


SHAPES = (*policy._AT_REPOSITORY, *policy._ELSEWHERE)


@pytest.mark.parametrize("shape", SHAPES)
def test_folder_of_a_worktree_that_is_gone_names_its_project(shape: str) -> None:
    folder = fill(shape, "kiosk")
    below = "" if shape in policy._AT_REPOSITORY else "/old-owl"
    for cwd in (f"{folder}{below}", f"{folder}{below}/src/cart"):
        assert locate_project(cwd).project == "kiosk", cwd
        assert locate_project(cwd.replace("/", "\\")).project == "kiosk"
        within = f"{cwd}/.claude/worktrees/new-owl/src"
        assert locate_project(within).project == "kiosk"
    assert "kiosk" in locate_project(folder).root


@pytest.mark.parametrize(
    "home",
    [
        *("/Users/ada", "/root", "/mnt/c/Users/ada", "C:\\Users\\ada", "/var/home/ada"),
        *("/c/Users/ada", "\\\\?\\C:\\Users\\ada", "D:", "/mnt/d"),
        *("\\\\wsl.localhost\\Ubuntu\\home\\ada", "\\\\wsl$\\Ubuntu\\home\\ada"),
    ],
)
def test_homes_of_other_machines_are_known(home: str) -> None:
    for folder in ("worktrees/kiosk/x", ".codex/worktrees/3f2a/kiosk"):
        assert locate_project(f"{home}/{folder}").project == "kiosk"


def test_own_home_may_be_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "ada"))
    for folder in ("worktrees/kiosk/x", ".cursor/worktrees/kiosk/q1w2"):
        assert locate_project(str(tmp_path / "ada" / folder)).project == "kiosk"


@pytest.mark.parametrize(
    ("folder", "project"),
    [
        ("/home/ada/git/kiosk", "kiosk"),
        ("/home/ada/git/kiosk.git", "kiosk"),
        ("/home/ada/git/worktrees", "worktrees"),
        ("/home/ada/git/networktrees/app", "app"),
        ("/home/ada/git/kiosk-worktrees", "kiosk-worktrees"),
        ("/home/ada/git/worktrees-demo/kiosk", "kiosk"),
        ("/home/ada/.codex/sessions", "sessions"),
        ("/home/ada/git/kiosk/.claude/agents", "agents"),
        ("/home/ada/conductor/kiosk", "kiosk"),
        ("/home/ada/git/conductor/src", "src"),
        ("/home/ada/src/github.com/acme/kiosk/lib", "lib"),
        ("/srv/home/ada/git/home/ada/kiosk", "kiosk"),
    ],
)
def test_ordinary_folder_is_no_worktree(folder: str, project: str) -> None:
    assert locate_project(folder) == ProjectLocation("", project)


def test_repository_of_the_home_does_not_own_worktrees_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    git("init", at=tmp_path)
    folder = tmp_path / ".codex" / "worktrees" / "3f2a" / "kiosk"
    assert locate_project(str(folder)) == ProjectLocation(str(folder), "kiosk")


def test_folder_that_is_no_repository_holds_worktrees_of_several(
    tmp_path: Path,
) -> None:
    (tmp_path / "dev").mkdir()
    folder = tmp_path / "dev" / "worktrees" / "kiosk"
    place = ProjectLocation(str(folder), "kiosk")
    assert locate_project(str(folder / "old-owl" / "src")) == place


def test_gone_worktree_in_a_part_of_a_repository_belongs_to_it(shop: Path) -> None:
    folder = shop / "src" / ".claude" / "worktrees" / "old-owl"
    assert locate_project(str(folder)) == ProjectLocation(str(shop), "shop")


def test_gone_worktree_that_the_agent_takes_for_its_repository() -> None:
    root = "/srv/kiosk/.claude/worktrees/old-owl"
    place = ProjectLocation("/srv/kiosk", "kiosk")
    assert locate_project(f"{root}/src", root) == place


@pytest.mark.parametrize("text", ["/a" * 100_000, "/" + "a" * 5000, "a/" * 50_000])
def test_text_longer_than_any_path_is_no_folder(text: str) -> None:
    assert locate_project(text) == locate_project("", text) == ProjectLocation("", "")
    assert locate_project("/srv/shop", text) == ProjectLocation("", "shop")


def test_gone_worktree_belongs_to_the_folder_that_its_transcript_names(
    tmp_path: Path,
) -> None:
    worktree = {"originalCwd": "/srv/git/kiosk", "worktreePath": "/srv/fox"}
    state = {"type": "worktree-state", "sessionId": "s1", "worktreeSession": worktree}
    prompt = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s1",
        "cwd": "/srv/fox",
        "timestamp": "2026-03-14T10:00:00Z",
        "message": {"role": "user", "content": "Fix the till"},
    }
    later = {**prompt, "uuid": "u2", "timestamp": "2026-03-14T10:00:05Z"}
    file = tmp_path / "s1.jsonl"
    file.write_text(f"{json.dumps(state)}\n{json.dumps(prompt)}\n")
    for exclude, stored in ((["kiosk"], []), ([], ["kiosk"])):
        home = tmp_path / f"home{len(exclude)}"
        setting = ("--set", f"capture.exclude={json.dumps(exclude)}")
        run_memtui(home, *setting, "import", str(file))
        with file.open("a") as growing:
            growing.write(f"{json.dumps(later)}\n")
        run_memtui(home, *setting, "import", str(file))
        answer = json_data(run_memtui(home, *setting, "sessions", "--json").stdout)
        assert [session["project"] for session in answer["sessions"]] == stored
