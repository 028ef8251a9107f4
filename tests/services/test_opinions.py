"""Opinions of a model on claims: stored beside what counts, as long as their source."""

import json
from collections.abc import Iterator

import pytest

from memtui.errors import MemtuiError
from memtui.model.audit import AuditQuery, ClaimRow
from memtui.model.judgements import Judgement, Ruling
from memtui.services import audit, judging, opinions
from memtui.services.forget import Forget
from memtui.store import database, judgements, versions
from memtui.store.tombstones import TombstoneKind
from memtui.summarize.ollama import models
from memtui.summarize.ollama.models import ModelOptions
from memtui.summarize.ollama.prompts import NO_ANSWER
from memtui.summarize.ollama.record import PromptRecord
from memtui.summarize.ollama.summarizer import Ollama
from memtui.workspace import Workspace
from tests import model_versions
from tests.conftest import NOW
from tests.services.conftest import tree_of
from tests.stub import faults
from tests.stub.server import Stub, run_stub

CLAIM = "The session now slides"
WORDS = "every request renews it"


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stub]:
    monkeypatch.setattr(models, "machine_memory", lambda: 64 * 2**30)
    with run_stub() as stub:
        say(stub, WORDS, "partly")
        yield stub


def say(stub: Stub, words: str, answer: str) -> None:
    stub.always(faults.saying(json.dumps({"words": words, "answer": answer})))


def find_row() -> ClaimRow:
    rows = audit.list_claims(AuditQuery(), 500)
    return next(row for row in rows if row.text.startswith(CLAIM))


def ask(stub: Stub) -> None:
    opinions.ask(find_row(), Ollama(ModelOptions(stub.url, timeout_s=10)), NOW)


def list_history() -> tuple[Judgement, ...]:
    return audit.find_claim(find_row()).history


def forget_source(workspace: Workspace, event_id: str) -> None:
    Forget(workspace.paths, workspace.zone, lambda: NOW).run(
        TombstoneKind.EVENT, [event_id]
    )
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def test_opinion_is_stored_and_changes_nothing(
    full_workspace: Workspace, stub: Stub
) -> None:
    before, row = tree_of(full_workspace), find_row()
    totals = audit.count_claims(AuditQuery())
    ask(stub)
    (opinion,) = list_history()
    assert (opinion.ruling, opinion.reason) == (Ruling.OPINION, "partly")
    assert (opinion.words, opinion.at) == (WORDS, NOW)
    assert opinion.author == f"ollama-3 qwen3:4b {stub.models[0].digest[:12]}"
    assert tree_of(full_workspace) == before
    assert (find_row(), audit.count_claims(AuditQuery())) == (row, totals)
    with database.connection():
        assert judgements.list_current("1") == []


def test_judgement_counts_before_and_after_an_opinion(
    full_workspace: Workspace, stub: Stub
) -> None:
    claim = audit.find_claim(find_row())
    accepted = judging.judge(claim.page, claim.bullet, Ruling.ACCEPTED, NOW)
    ask(stub)
    assert find_row().ruling is Ruling.ACCEPTED
    judging.undo(accepted, NOW)
    assert find_row().ruling is None
    assert [j.ruling for j in list_history()] == ["undone", "opinion", "accepted"]


def test_model_is_asked_again_only_after_a_change(
    full_workspace: Workspace, stub: Stub
) -> None:
    ask(stub)
    ask(stub)
    assert len(stub.chats()) == 1
    claim = audit.find_claim(find_row())
    judging.judge(claim.page, claim.bullet, Ruling.CORRECTED, NOW, words="It glides")
    say(stub, "glides", "no")
    ask(stub)
    assert "-|claim| It glides" in stub.chats()[1].body["messages"][-1]["content"]
    stub.models[0].blob = "another version"
    ask(stub)
    assert [(j.reason, j.words) for j in list_history() if j.author != "you"] == [
        ("no", ""),
        ("no", ""),
        ("partly", WORDS),
    ]


def test_model_is_not_asked_again_after_a_judgement(
    full_workspace: Workspace, stub: Stub
) -> None:
    ask(stub)
    claim = audit.find_claim(find_row())
    judging.judge(claim.page, claim.bullet, Ruling.ACCEPTED, NOW)
    ask(stub)
    assert len(stub.chats()) == 1


def test_unusable_answer_is_stored_as_such(
    full_workspace: Workspace, stub: Stub
) -> None:
    stub.always(faults.saying('{"words": "every requ'))
    ask(stub)
    assert [(j.reason, j.words) for j in list_history()] == [(NO_ANSWER, "")]


@pytest.mark.parametrize("is_cited", [True, False])
def test_forgetting_a_message_that_was_read_empties_the_opinion(
    full_workspace: Workspace, stub: Stub, is_cited: bool
) -> None:
    ask(stub)
    (opinion,) = list_history()
    with database.connection():
        grips = versions.get_grips(audit.find_claim(find_row()).bullet.grip_ids)
    cited = {grip.event_id_start for grip in grips.values()}
    names = [name for name in opinion.event_ids if (name in cited) is is_cited]
    forget_source(full_workspace, names[0])
    with database.connection():
        rows = database.fetch("SELECT ruling, words, event_ids FROM judgements")
    assert rows == [("forgotten", "", "[]")]
    raw = (full_workspace.paths.store.parent / "memory.db").read_bytes()
    assert opinion.author.encode() not in raw


def test_answer_about_a_forgotten_source_is_not_stored(
    full_workspace: Workspace, stub: Stub
) -> None:
    class ForgetfulModel(Ollama):
        def check_claim(self, record: PromptRecord) -> tuple[str, str]:
            answer = super().check_claim(record)
            forget_source(full_workspace, record.lines[0].event_ids[0])
            return answer

    with pytest.raises(MemtuiError, match="changed meanwhile"):
        opinions.ask(find_row(), ForgetfulModel(ModelOptions(stub.url)), NOW)
    with database.connection():
        assert database.fetch("SELECT * FROM judgements") == []


def test_missing_model_says_what_to_do(full_workspace: Workspace, stub: Stub) -> None:
    stub.close()
    with pytest.raises(MemtuiError, match=r"not running.*; try: start Ollama"):
        ask(stub)
    stub.start()
    stub.models.clear()
    with pytest.raises(MemtuiError, match="try: ollama pull"):
        ask(stub)
    assert list_history() == ()


def test_claim_without_a_source_is_not_asked_about(
    full_workspace: Workspace, stub: Stub
) -> None:
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version("toc:day:2024-01-18", "One", held=held)
    rows = audit.list_claims(AuditQuery(), 500)
    (row,) = (row for row in rows if row.text == held[0].text)
    with pytest.raises(MemtuiError, match="has no source"):
        opinions.ask(row, Ollama(ModelOptions(stub.url)), NOW)
    assert stub.chats() == []
