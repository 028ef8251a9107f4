from pathlib import Path

import pytest

from memtui.capture.policy import Exclusions

HOME = "/home/ada"


def rule_for(
    *patterns: str, project: str = "", cwd: str = "", root: str = "", path: str = ""
) -> str:
    rules = Exclusions(patterns)
    return rules.rule_for(project=project, cwd=cwd, root=root, path=path)


def test_nothing_is_excluded_where_there_are_no_patterns() -> None:
    assert not Exclusions(())
    assert rule_for(project="acme", cwd=f"{HOME}/acme", root=f"{HOME}/acme") == ""


def test_a_blank_pattern_covers_nothing() -> None:
    assert not Exclusions(("", "  "))
    assert rule_for("", " ", project="", cwd="/") == ""


@pytest.mark.parametrize(
    ("pattern", "project", "covers"),
    [
        ("acme", "acme", True),
        ("ACME", "acme", True),
        ("acme", "Acme", True),
        ("acme*", "acme-website", True),
        ("acme", "acme-website", False),
        ("acme-?", "acme-1", True),
        ("[ab]cme", "bcme", True),
        ("acme", "", False),
        ("*", "", False),
    ],
)
def test_a_pattern_without_a_slash_is_a_projects_name(
    pattern: str, project: str, covers: bool
) -> None:
    assert rule_for(pattern, project=project) == (pattern if covers else "")


def test_pattern_without_slash_does_not_match_folders() -> None:
    assert rule_for("acme", project="site", cwd=f"{HOME}/acme/site") == ""


@pytest.mark.parametrize(
    ("pattern", "folder", "covers"),
    [
        (f"{HOME}/private/*", f"{HOME}/private/diary", True),
        (f"{HOME}/private/*", f"{HOME}/private/diary/2024/may", True),
        (f"{HOME}/private/*", f"{HOME}/private", False),
        (f"{HOME}/private", f"{HOME}/private", True),
        (f"{HOME}/private/", f"{HOME}/private/diary", True),
        (f"{HOME}/private", f"{HOME}/private-not", False),
        (f"{HOME}/private", f"/mnt{HOME}/private", False),
        ("clients/acme", f"{HOME}/clients/acme", True),
        ("clients/acme", f"{HOME}/clients/acme/site", True),
        ("clients/acme", f"{HOME}/clients/acme2", False),
        ("clients/acme", f"{HOME}/my-clients/acme", False),
        ("clients/*", f"{HOME}/clients/acme", True),
        ("*/node_modules/*", f"{HOME}/site/node_modules/left-pad", True),
        ("*/node_modules/*", f"{HOME}/site", False),
        ("/", "/anything", True),
    ],
)
def test_a_pattern_with_a_slash_covers_a_folder_and_all_below(
    pattern: str, folder: str, covers: bool
) -> None:
    assert rule_for(pattern, cwd=folder) == (pattern if covers else "")


@pytest.mark.parametrize("where", ["cwd", "root", "path"])
def test_folder_repository_and_transcript_are_matched(
    where: str,
) -> None:
    assert rule_for("clients/acme", **{where: f"{HOME}/clients/acme/x"}) != ""


def test_folder_is_matched_where_a_link_in_the_pattern_leads(tmp_path: Path) -> None:
    (tmp_path / "data" / "acme").mkdir(parents=True)
    (tmp_path / "code").symlink_to(tmp_path / "data")
    for pattern in (f"{tmp_path}/code/acme", f"{tmp_path}/code/*"):
        for folder in ("code/acme", "data/acme/site"):
            assert rule_for(pattern, cwd=f"{tmp_path}/{folder}") == pattern
        assert rule_for(pattern, cwd=f"{tmp_path}/other/acme") == ""


@pytest.mark.parametrize(
    ("pattern", "folder", "covers"),
    [
        ("acme", "-home-ada-acme", True),
        ("Acme", "-home-ada-acme--claude-worktrees-old-owl", True),
        ("a.b_c", "-home-ada-a-b-c", True),
        ("acme*", "-home-ada-acme-site", True),
        ("acme", "-home-ada-acme-site", False),
        ("acme", "-home-ada-acmes", False),
        (f"{HOME}/acme", "-home-ada-acme", True),
        (f"{HOME}/acme/", "-home-ada-acme-site", True),
        (f"{HOME}/acme", "-srv-home-ada-acme", False),
        ("clients/acme", "-home-ada-clients-acme-site", True),
        ("C:\\src\\acme", "c--src-acme", True),
    ],
)
def test_folder_of_a_transcript_is_matched_by_its_encoded_name(
    pattern: str, folder: str, covers: bool
) -> None:
    rules = Exclusions((pattern,))
    path, rule = f"{HOME}/.claude/projects/{folder}/s1.jsonl", pattern if covers else ""
    assert rules.rule_for_transcript(path) == rule
    assert rules.rule_for_transcript(path.replace("/", "\\")) == rule
    assert rules.rule_for_transcript(f"{HOME}/{folder}/s1.jsonl") == ""


def test_the_first_matching_pattern_is_reported() -> None:
    rule = rule_for(
        "other", "site", f"{HOME}/*", project="site", cwd=f"{HOME}/work/site"
    )
    assert rule == "site"


def test_the_case_of_a_folder_counts() -> None:
    assert rule_for("clients/acme", cwd=f"{HOME}/Clients/Acme") == ""


@pytest.mark.parametrize(
    ("pattern", "folder", "covers"),
    [
        ("C:\\work\\kiosk", "C:\\work\\kiosk\\src", True),
        ("C:/work/kiosk", "C:\\work\\kiosk", True),
        ("C:\\work\\kiosk", "c:/work/kiosk", True),
        ("C:\\work\\kiosk", "C:\\work\\kiosk2", False),
        ("work\\kiosk", "D:\\work\\kiosk\\src", True),
        ("work/kiosk", "D:\\work\\kiosk", True),
        ("*\\kiosk\\*", "\\\\wsl$\\Ubuntu\\home\\ada\\kiosk\\src", True),
    ],
)
def test_folders_of_windows_match_with_either_slash(
    pattern: str, folder: str, covers: bool
) -> None:
    assert rule_for(pattern, cwd=folder) == (pattern if covers else "")


def test_a_path_of_full_length_is_matched_at_once() -> None:
    patterns = [f"*/a/*/b{number}/*c" for number in range(50)]
    assert rule_for(*patterns, cwd="/a" * 2000) == ""
