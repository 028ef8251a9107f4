"""Memories that are sound, and memories that are broken, for ``memtui doctor``."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from memtui.cli import main
from memtui.paths import in_home
from memtui.settings import Settings
from memtui.workspace import Workspace
from tests.cli_runner import json_data
from tests.conftest import HISTORY
from tests.doctor.findings import Ask


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the history in it, to be copied."""
    home = tmp_path_factory.mktemp("made") / "home"
    workspace = Workspace(in_home(home), Settings(store_time_zone="UTC"))
    for _ in workspace.pipeline.importer().run([HISTORY]):
        pass
    assert workspace.pipeline.run_until_idle(lambda _: None) == []
    workspace.stop()
    return home


@pytest.fixture
def home(made: Path, tmp_path: Path) -> Path:
    """A home of the test's own, to be broken."""
    return Path(shutil.copytree(made, tmp_path / "home"))


@pytest.fixture(autouse=True)
def no_ollama(monkeypatch: pytest.MonkeyPatch) -> None:
    """None answers, whatever runs on this machine."""
    monkeypatch.setenv("MEMTUI_SUMMARIES__URL", "http://127.0.0.1:1")


@pytest.fixture
def ask(home: Path, capsys: pytest.CaptureFixture[str]) -> Ask:
    """Runs doctor; what it answered, after its exit code was compared with that."""

    def asked(*options: str, words: bool = False) -> Any:
        capsys.readouterr()
        asking = ["--home", str(home), *options, "doctor"]
        code = main.main(asking if words else [*asking, "--json"])
        output = capsys.readouterr()
        if words:
            assert code == ("✗" in output.out)
            return output.out
        report = json_data(output.out)
        assert code == (not report["is_ok"])
        failed = [finding for finding in report["findings"] if not finding["is_ok"]]
        assert report["is_ok"] == (not failed)
        assert all(finding["remedy"] for finding in failed)
        return report

    return asked
