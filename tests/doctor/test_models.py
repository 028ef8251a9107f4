"""The model: where it runs, and what is wrong with it."""

import fcntl
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memtui.model.jobs import ModelCondition
from memtui.paths import in_home
from memtui.services import doctor
from memtui.settings import Settings
from memtui.store import database, meta
from memtui.workspace import Workspace
from tests.doctor.findings import (
    Ask,
    failed_findings,
    get_finding,
    get_findings,
    listing,
)
from tests.stub.models import Model
from tests.stub.server import run_stub

Set = Callable[..., None]


@pytest.fixture
def summaries(monkeypatch: pytest.MonkeyPatch) -> Set:
    """Sets who summarizes."""

    def put(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"MEMTUI_SUMMARIES__{name.upper()}", value)

    return put


def test_the_model_is_named_with_window_and_server(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]]
) -> None:
    with run_stub(Model("qwen3:4b"), Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama")
        finding = get_finding(ask(), "model")
        assert finding["is_ok"]
        assert "qwen3:4b, not loaded, with a window of 8,192" in finding["message"]
        assert f"Ollama 0.33.0 at {stub.url}" in finding["message"]
        assert {request.path for request in stub.received} == {
            *("/api/version", "/api/tags", "/api/ps", "/api/show")
        }
    assert {host for host, *_ in connected} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("on_gpu", "words"), [(True, "a graphics card"), (False, "the CPU only")]
)
def test_a_loaded_model_shows_its_processor(
    ask: Ask, summaries: Set, on_gpu: bool, words: str
) -> None:
    model = Model(on_gpu=on_gpu)
    with run_stub(model) as stub:
        stub.memory.load(model, {"num_ctx": 4096})
        summaries(url=stub.url)
        report = ask()
    assert (
        f"loaded, on {words}, with a window of 4,096"
        in get_finding(report, "model")["message"]
    )
    health = report["model"]["health"]
    assert (health["is_loaded"], health["on_cpu"]) == (True, not on_gpu)
    assert health["condition"] == "ready"


@listing
def test_the_health_seen_by_the_running_memtui_is_shown(home: Path, ask: Ask) -> None:
    at = datetime(2026, 1, 2, 21, 20, tzinfo=UTC)
    until = at + timedelta(minutes=14)
    opened = Workspace(in_home(home), Settings())
    with database.transaction():
        record = meta.ModelRecord(
            ModelCondition.RESTING, "its server failed", until, at
        )
        meta.set_model_record(record)
    opened.stop()
    assert [finding["subject"] for finding in get_findings(ask(), "model")] == [""]
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        ours, theirs = get_findings(ask(), "model")
    assert ours["subject"] == "" and theirs["is_ok"]
    words = "the running memtui: resting until {}, its server failed (at {})"
    times = [f"{when.astimezone(opened.zone):%H:%M}" for when in (until, at)]
    assert theirs["message"] == words.format(*times)


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_a_missing_server_is_wrong_only_if_a_model_is_required(
    ask: Ask, summaries: Set, provider: str
) -> None:
    summaries(provider=provider)
    finding = get_finding(ask(), "model")
    assert finding["is_ok"] == (provider == "auto")
    assert "Ollama does not answer at http://127.0.0.1:1" in finding["message"]
    assert "until then summaries are made of quotes" in finding["message"]
    assert "install it from ollama.com, then: ollama pull qwen3:4b" in finding["remedy"]


@pytest.mark.parametrize("named", ["", "gemma3:4b"])
def test_a_missing_model_is_to_be_pulled(ask: Ask, summaries: Set, named: str) -> None:
    with run_stub(Model("nomic-embed-text", size="137M")) as stub:
        summaries(url=stub.url, provider="ollama", model=named)
        finding = failed_findings(ask())["model"]
    assert finding["remedy"] == f"ollama pull {named or 'qwen3:4b-instruct'}"


def test_a_model_that_cannot_summarize_is_wrong(ask: Ask, summaries: Set) -> None:
    with run_stub(Model("words:4b", capabilities=("embedding",))) as stub:
        summaries(url=stub.url, provider="ollama", model="words:4b")
        finding = failed_findings(ask())["model"]
    assert "it does not write" in finding["message"]
    assert "summaries.model" in finding["remedy"]


def test_a_small_model_is_used_with_a_warning(ask: Ask, summaries: Set) -> None:
    with run_stub(Model("tiny:1b", size="1.0B")) as stub:
        summaries(url=stub.url, provider="ollama", model="tiny:1b")
        finding = get_finding(ask(), "model")
        assert finding["is_ok"]
        assert "tiny:1b is small: with 1B parameters" in finding["message"]
        summaries(url=stub.url, provider="ollama", model="")
        assert "no model that summarizes" in failed_findings(ask())["model"]["message"]


def test_a_model_in_the_cloud_is_not_asked(ask: Ask, summaries: Set) -> None:
    with run_stub(Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama", model="far")
        finding = failed_findings(ask())["model"]
        assert not stub.chats()
    assert "does not run on this machine" in finding["message"]
    assert "summaries.model" in finding["remedy"]


@pytest.mark.parametrize(
    "named", ["http://203.0.113.5:11434", "https://ollama.example", "http://[::", "x:y"]
)
def test_no_server_on_another_machine_is_asked(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]], named: str
) -> None:
    summaries(url=named, provider="ollama")
    finding = failed_findings(ask())["model"]
    assert "summaries.url" in finding["remedy"]
    assert "summaries.allowed_hosts" in finding["remedy"]
    assert connected == []


def test_variables_of_ollama_are_ignored(
    ask: Ask, summaries: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_stub() as stub, run_stub() as other:
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("HTTP_PROXY", other.url)
        summaries(url=stub.url)
        assert "qwen3:4b" in get_finding(ask(), "model")["message"]
        assert other.received == []


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_a_server_that_never_answers_times_out(
    ask: Ask, summaries: Set, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "OLLAMA_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        summaries(url=url, provider=provider)
        finding = get_finding(ask(), "model")
    assert finding["is_ok"] == (provider == "auto")
    assert f"{url}: the server fell silent" in finding["message"]


def test_without_a_model_no_server_is_asked(ask: Ask, summaries: Set) -> None:
    with run_stub() as stub:
        summaries(url=stub.url, provider="extractive")
        report = ask()
        assert stub.received == []
    assert (
        "no model is used (summaries.provider)"
        in get_finding(report, "model")["message"]
    )
    assert report["model"]["health"] is None
