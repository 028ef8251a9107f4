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


def test_the_model_is_named_with_its_window_and_where_it_runs(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]]
) -> None:
    with run_stub(Model("qwen3:4b"), Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama")
        found = get_finding(ask(), "model")
        assert found["is_ok"]
        assert "qwen3:4b, not loaded, with a window of 8,192" in found["message"]
        assert f"Ollama 0.33.0 at {stub.url}" in found["message"]
        assert {one.path for one in stub.received} == {
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
        shown = ask()
    assert (
        f"loaded, on {words}, with a window of 4,096"
        in get_finding(shown, "model")["message"]
    )
    health = shown["model"]["health"]
    assert (health["is_loaded"], health["on_cpu"]) == (True, not on_gpu)
    assert health["condition"] == "ready"


@listing
def test_doctor_shows_the_health_seen_by_the_working_process(
    home: Path, ask: Ask
) -> None:
    at = datetime(2026, 1, 2, 21, 20, tzinfo=UTC)
    until = at + timedelta(minutes=14)
    opened = Workspace(in_home(home), Settings())
    with database.transaction():
        found = meta.ModelRecord(ModelCondition.RESTING, "its server failed", until, at)
        meta.set_model_record(found)
    opened.stop()
    assert [one["subject"] for one in get_findings(ask(), "model")] == [""]
    with (home / "work.lock").open("w") as claim:
        fcntl.flock(claim, fcntl.LOCK_EX)
        ours, theirs = get_findings(ask(), "model")
    assert ours["subject"] == "" and theirs["is_ok"]
    words = "the running memtui: resting until {}, its server failed (at {})"
    times = [f"{when.astimezone(opened.zone):%H:%M}" for when in (until, at)]
    assert theirs["message"] == words.format(*times)


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_the_want_of_a_model_is_wrong_where_one_is_asked_for(
    ask: Ask, summaries: Set, provider: str
) -> None:
    summaries(provider=provider)
    found = get_finding(ask(), "model")
    assert found["is_ok"] == (provider == "auto")
    assert "Ollama does not answer at http://127.0.0.1:1" in found["message"]
    assert "until then summaries are made of quotes" in found["message"]
    assert "install it from ollama.com, then: ollama pull qwen3:4b" in found["remedy"]


@pytest.mark.parametrize("named", ["", "gemma3:4b"])
def test_a_model_that_is_missing_is_to_be_pulled(
    ask: Ask, summaries: Set, named: str
) -> None:
    with run_stub(Model("nomic-embed-text", size="137M")) as stub:
        summaries(url=stub.url, provider="ollama", model=named)
        found = failed_findings(ask())["model"]
    assert found["remedy"] == f"ollama pull {named or 'qwen3:4b-instruct'}"


def test_a_model_that_must_not_summarize_is_to_be_named_otherwise(
    ask: Ask, summaries: Set
) -> None:
    with run_stub(Model("words:4b", capabilities=("embedding",))) as stub:
        summaries(url=stub.url, provider="ollama", model="words:4b")
        found = failed_findings(ask())["model"]
    assert "it does not write" in found["message"]
    assert "summaries.model" in found["remedy"]


def test_a_small_model_that_is_named_is_used_with_a_warning(
    ask: Ask, summaries: Set
) -> None:
    with run_stub(Model("tiny:1b", size="1.0B")) as stub:
        summaries(url=stub.url, provider="ollama", model="tiny:1b")
        found = get_finding(ask(), "model")
        assert found["is_ok"]
        assert "tiny:1b is small: with 1B parameters" in found["message"]
        summaries(url=stub.url, provider="ollama", model="")
        assert "no model that summarizes" in failed_findings(ask())["model"]["message"]


def test_a_model_in_the_cloud_is_not_asked(ask: Ask, summaries: Set) -> None:
    with run_stub(Model("far", remote_host="https://x")) as stub:
        summaries(url=stub.url, provider="ollama", model="far")
        found = failed_findings(ask())["model"]
        assert not stub.chats()
    assert "does not run on this machine" in found["message"]
    assert "summaries.model" in found["remedy"]


@pytest.mark.parametrize(
    "named", ["http://203.0.113.5:11434", "https://ollama.example", "http://[::", "x:y"]
)
def test_no_ollama_elsewhere_is_asked(
    ask: Ask, summaries: Set, connected: list[tuple[Any, ...]], named: str
) -> None:
    summaries(url=named, provider="ollama")
    found = failed_findings(ask())["model"]
    assert "summaries.url" in found["remedy"]
    assert "summaries.allowed_hosts" in found["remedy"]
    assert connected == []


def test_what_the_environment_says_of_ollama_is_not_looked_at(
    ask: Ask, summaries: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    with run_stub() as stub, run_stub() as other:
        monkeypatch.setenv("OLLAMA_HOST", other.url)
        monkeypatch.setenv("HTTP_PROXY", other.url)
        summaries(url=stub.url)
        assert "qwen3:4b" in get_finding(ask(), "model")["message"]
        assert other.received == []


@pytest.mark.parametrize("provider", ["auto", "ollama"])
def test_an_ollama_that_never_answers_is_not_waited_for(
    ask: Ask, summaries: Set, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "OLLAMA_TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        summaries(url=url, provider=provider)
        found = get_finding(ask(), "model")
    assert found["is_ok"] == (provider == "auto")
    assert f"{url}: the server fell silent" in found["message"]


def test_where_no_model_is_wanted_nobody_is_asked(ask: Ask, summaries: Set) -> None:
    with run_stub() as stub:
        summaries(url=stub.url, provider="extractive")
        shown = ask()
        assert stub.received == []
    assert (
        "no model is used (summaries.provider)"
        in get_finding(shown, "model")["message"]
    )
    assert shown["model"]["health"] is None
