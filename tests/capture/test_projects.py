"""The project of a folder."""

import subprocess
from pathlib import Path

import pytest

from memtui.capture.policy import ProjectLocation, locate_project


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
