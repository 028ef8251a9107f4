from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.capture.spool import Spool, SpoolFile


def letter(name: str) -> SpoolFile:
    return SpoolFile(name, b"{}", datetime(2025, 3, 14, tzinfo=UTC))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("1763.7.0a1b.copilot-cli.agentStop.json", ("copilot-cli", "agentStop")),
        ("1763.7.0a1b.copilot-cli..json", ("copilot-cli", "")),
        ("1763.7.0a1b..agentStop.json", ("", "agentStop")),
        ("1763.7.AbCdEf.codex.Stop.json", ("codex", "Stop")),
        ("1763.7.0a1b.json", ("", "")),
        ("1763.7.0a1b.codex.json", ("", "")),
        ("1763.7.0a1b.codex.Stop.more.json", ("", "")),
        ("1763.7.0a1b.co dex.Stop.json", ("", "")),
        ("1763.7.0a1b.codex.Stop.json\n", ("", "")),
        ("1763.7.0a1b.c\u00f6dex.Stop.json", ("", "")),
        (f"1763.7.0a1b.{'x' * 41}.Stop.json", ("", "")),
        ("mine.json", ("", "")),
    ],
)
def test_a_name_says_who_told_it_or_nothing(name: str, said: tuple[str, str]) -> None:
    assert (letter(name).agent, letter(name).event) == said


def test_a_letter_is_read_with_what_its_name_says(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.create()
    (tmp_path / "new" / "1763.7.0a1b.codex.Stop.json").write_bytes(b"{}")
    read = spool.read(spool.names()[0])
    assert read is not None
    assert (read.raw, read.agent, read.event) == (b"{}", "codex", "Stop")
