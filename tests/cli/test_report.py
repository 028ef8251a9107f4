"""The commands ``report`` and ``handover``."""

from pathlib import Path

import pytest

from memtui.text.tokens import ESTIMATING_COUNTER
from memtui.tools import replies
from tests.cli_runner import json_data, run_memtui


@pytest.fixture
def home(digested: Path) -> Path:
    return digested


def test_report_is_printed_or_written(home: Path, tmp_path: Path) -> None:
    words = ("report", "2024", "--project", "SHOP")
    printed = run_memtui(home, *words).stdout
    assert printed.startswith("# 2024 · shop") and "## shop" in printed
    html_start = "<!DOCTYPE html>"
    files = {"r.md": "# 2024", "r.html": html_start, "R.HTM": html_start}
    for file, beginning in files.items():
        run_memtui(home, *words, "--output", str(tmp_path / file))
        assert (tmp_path / file).read_text("utf-8").startswith(beginning)
        assert (tmp_path / file).stat().st_mode & 0o077 == 0
    again = run_memtui(home, *words, "--output", str(tmp_path / "r.md"), code=1)
    assert "--force" in again.stderr
    html = run_memtui(home, *words, "--format", "html", "--json").stdout
    assert json_data(html)["text"].startswith("<!DOCTYPE html>")


def test_wrong_reports_say_why(home: Path) -> None:
    assert "no past day" in run_memtui(home, "report", "gestern", code=2).stderr
    words = ("report", "2024", "--project", "nowhere")
    assert "nowhere" in run_memtui(home, *words, code=2).stderr


def test_pack_is_within_its_budget(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "pack.md"
    words = ("handover", "shop-2", "toc:day:2024-01-15", "--budget", "500")
    text = json_data(run_memtui(home, *words, "--json").stdout)["text"]
    assert replies.cost(text, ESTIMATING_COUNTER) <= 500
    run_memtui(home, *words, "--output", str(file))
    assert file.read_text("utf-8").count("\n## ") == text.count("\n## ") == 2
    run_memtui(home, "handover", "shop-2", "--budget", "10", code=2)
