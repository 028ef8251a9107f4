"""Names and numbers that the source says of the same thing, or does not."""

import pytest

from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import Support
from memtui.summarize.grounding import claims
from memtui.summarize.grounding.passages import PassageIndex

AUTH = "The login is checked in /home/x/src/auth/token.py before each request."


def named(bullet: str, *texts: str) -> tuple[str, ...]:
    return claims.check_bullet(
        DraftBullet(bullet), PassageIndex(texts)
    ).features.missing


def support(bullet: str, *texts: str) -> Support:
    return claims.check_bullet(DraftBullet(bullet), PassageIndex(texts)).support


@pytest.mark.parametrize(
    "path",
    [
        "token.py",
        "auth/token.py",
        "src/auth/token.py",
        "/home/x/src/auth/token.py",
        "./src/auth/token.py",
    ],
)
def test_a_path_is_supported_by_one_with_the_same_end(path: str) -> None:
    bullet = f"The login is checked in {path} before each request"
    assert Support.SUPPORTED is support(bullet, AUTH)


@pytest.mark.parametrize(
    "path",
    [
        "lib/token.py",
        "src/legacy/token.py",
        "lib/auth/token.py",
        "vendor/billing/token.py",
        "/home/y/src/auth/token.py",
        "src/auth/token.rb",
    ],
)
def test_a_file_name_in_another_directory_is_missing(path: str) -> None:
    bullet = f"The login is checked in {path} before each request"
    assert named(bullet, AUTH) == (path.strip("/"),)


def test_a_file_name_supports_a_path_unless_another_path_differs() -> None:
    said = "The login is checked in token.py before each request."
    bullet = "The login is checked in src/auth/token.py before each request"
    assert support(bullet, said) is Support.SUPPORTED
    assert named(bullet, said, "Read: src/auth/token.py") == ()
    assert named(bullet, said, "Read: lib/token.py") == ("src/auth/token.py",)


def test_the_end_supports_a_longer_path_unless_another_has_it() -> None:
    said = "The login is checked in auth/token.py before each request."
    bullet = "The login is checked in src/auth/token.py before each request"
    assert support(bullet, said) is Support.SUPPORTED
    assert named(bullet, said, "Read: lib/auth/token.py") == ("src/auth/token.py",)


def test_a_url_on_its_own_line_belongs_to_the_text_before_it() -> None:
    said = "The continuous run failed, please look.\nhttps://example.com/runs/27"
    bullet = "The continuous run failed: https://example.com/runs/27"
    assert support(bullet, said) is Support.SUPPORTED


@pytest.mark.parametrize(
    ("source", "bullet", "wrong"),
    [
        ("1309 tests pass, 0 lint issues are left.", "0 tests pass", ("0",)),
        (
            "All 1274 tests passed and lint is clean.",
            "All 1274 errors passed",
            ("1274",),
        ),
        ("The build took 3 s in the container.", "The build took 3 minutes", ("3",)),
        ("The build took 3s in the container.", "The build took 3min", ("3",)),
        ("The upload is 90% done by now.", "The upload is 90 points done", ("90",)),
        ("The button is at x=100, y=200 now.", "The button is at x=200", ("200",)),
        ("The call left line 26 but is on line 46.", "The call left line 46", ("46",)),
        ("Phase 2 stages errors, phase 5 ends it.", "Phase 5 stages errors", ("5",)),
        ("A two-phase pipeline is planned.", "A three-phase pipeline", ("3",)),
        ("The third attempt worked at last.", "The fourth attempt worked", ("4.",)),
        ("Memory fell from 40 to 30.", "Memory fell from 30 to 40", ("30", "40")),
        (
            "Waiting grew from 3 minutes to 5 minutes.",
            "Waiting grew from 5 minutes to 3 minutes",
            ("5", "3"),
        ),
        (
            "Der Importer verarbeitet 500 Zeilen pro Sekunde.",
            "Der Importer verarbeitet 500 Zeilen pro Minute",
            ("500",),
        ),
        (
            "Die Datenbank wird nachts um 3 Uhr gesichert.",
            "Die Datenbank wird tagsüber um 3 Uhr gesichert",
            ("3",),
        ),
        (
            "Auth has 30 tests and billing has 12 tests.",
            "Auth has 12 tests and billing has 30 tests",
            ("12", "30"),
        ),
        ("npm test exits with code 1: 3 of 14 fail.", "It exits with code 3", ("3",)),
        ("Plan Resources (4 lines, drop one)", "Plan Resources (4 files)", ("4",)),
        ("Alle 14 Tests sind grün.", "Alle 14 Fehler sind grün", ("14",)),
        ("数据库每天凌晨3点备份。", "数据库每天下午3点备份", ("3",)),
        ("导入器每秒处理500行。", "导入器每分钟处理500行", ("500",)),
        ("导入器每秒处理500行。", "导入器每秒处理500个文件", ("500",)),
        ("现在只需要40毫秒，以前需要900毫秒。", "现在只需要900毫秒", ("900",)),
        ("所有14个测试都通过了。", "所有14个错误都通过了", ("14",)),
    ],
)
def test_a_number_said_of_something_else_is_missing(
    source: str, bullet: str, wrong: tuple[str, ...]
) -> None:
    assert named(bullet, source) == wrong


@pytest.mark.parametrize(
    ("source", "bullet"),
    [
        ("All 14 failing tests were in tests/auth.", "All 14 tests were in tests/auth"),
        ("The server listens on port 8080 now.", "Server now listening on port 8080"),
        ("The build took 3s in the container.", "In the container it took 3 seconds"),
        ("A two-phase pipeline is planned.", "A pipeline of 2 phases was planned"),
        ("The redirect fails in 3 of the 12 tests.", "It fails in 3 of 12 tests"),
        ("The talk is on 7 May 2023.", "The talk is on May 7, 2023"),
        ("The third attempt worked at last.", "The 3rd attempt worked"),
        ("Die Sicherung läuft um 3 Uhr.", "Um 3 Uhr läuft die Sicherung"),
        ("导入器每秒处理500行并写入文件。", "每秒处理500行"),
        ("数据库每天凌晨3点备份。", "数据库凌晨3点备份"),
        ("现在只需要40毫秒，以前需要900毫秒。", "现在需要40毫秒"),
    ],
)
def test_a_number_of_the_same_thing_is_supported(source: str, bullet: str) -> None:
    assert named(bullet, source) == ()
