"""What is said of a line counts everywhere, and lasts as long as its sources."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from memtui.errors import MemtuiError, UsageError
from memtui.model import citations
from memtui.model.audit import AuditQuery
from memtui.model.judgements import Judgement, Ruling
from memtui.model.nodes import Bullet, BulletKind, TocNode
from memtui.model.sessions import WorkState
from memtui.model.verdicts import Support
from memtui.services import audit, browse, conversation, judging, sessions, versions
from memtui.services.forget import Forget
from memtui.services.integrity import Audit
from memtui.services.sessions import SessionQuery, list_range, read_card
from memtui.store import database, events, judgements, nodes
from memtui.store import versions as store_versions
from memtui.store.tombstones import TombstoneKind
from memtui.workspace import Workspace
from tests import model_versions
from tests.cli_runner import json_data, run_memtui
from tests.conftest import NOW

SESSION = "claude-code:shop-1"
DAY = "toc:day:2024-01-15"
OUTCOME = "The session now slides"
NOTE = "Sessions live for an hour and their cookie is renewed"


def run_pipeline(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def judge(
    workspace: Workspace, line: str, ruling: Ruling, name: str = SESSION, **details: Any
) -> Judgement:
    judgement = judging.judge(*judging.find_line(name, line), ruling, NOW, **details)
    run_pipeline(workspace)
    return judgement


def card_texts() -> list[str]:
    return [bullet.text for bullet in read_card(*SESSION.split(":")).bullets]


def segment_page() -> TocNode:
    (segment,) = read_card(*SESSION.split(":")).segments
    return segment


def texts_of_parents() -> str:
    names = [DAY, "toc:week:2024-W03", "toc:month:2024-01", "toc:year:2024"]
    texts = []
    for name in names:
        node = browse.get_node(name)
        assert node is not None
        texts += [node.headline, *(bullet.text for bullet in node.bullets)]
    return "\n".join(texts)


def list_snippets(workspace: Workspace) -> list[str]:
    hits = workspace.teleport.find("session slides renews").hits
    return [hit.snippet.text for hit in hits]


def show_model_lines(*texts: str) -> str:
    """Add a model's version of the segment with some lines; return its id."""
    segment = segment_page()
    with database.connection():
        (extract,) = nodes.get_extracts([segment.node_id])
    displayed = [b for b in extract.bullets if b.kind is BulletKind.OUTCOME]
    verdict = replace(displayed[0].verdict, is_by_model=True)
    lines = [
        replace(displayed[0], text=text, kind=BulletKind.DECISION, verdict=verdict)
        for text in texts
    ]
    node = replace(
        segment,
        bullets=(*lines, *extract.bullets[2:]),
        generation=model_versions.STATS,
        input_hash=f"model {texts}",
    )
    with database.transaction():
        assert store_versions.add_from_model(node, 0)
    return segment.node_id


def test_rejected_outcome_is_shown_nowhere(full_workspace: Workspace) -> None:
    workspace, before = full_workspace, (card_texts(), texts_of_parents())
    assert OUTCOME in "".join(card_texts()) and OUTCOME in texts_of_parents()
    assert any(OUTCOME in snippet for snippet in list_snippets(workspace))
    judgement = judge(workspace, OUTCOME, Ruling.REJECTED, reason="too early")
    assert OUTCOME not in "".join(card_texts())
    assert OUTCOME not in texts_of_parents()
    displayed = [*segment_page().bullets, *segment_page().further]
    assert not any(bullet.text.startswith(OUTCOME) for bullet in displayed)
    assert not any(OUTCOME in snippet for snippet in list_snippets(workspace))
    (row,) = list_range(SessionQuery(words=("basket",)), 0, 9).sessions
    assert row.work.outcome == ""
    (rejected,) = [b for b in segment_page().withheld if b.is_rejected]
    assert rejected.judgement is not None and rejected.judgement.reason == "too early"
    judging.undo(judgement, NOW)
    run_pipeline(workspace)
    assert (card_texts(), texts_of_parents()) == before
    assert any(OUTCOME in snippet for snippet in list_snippets(workspace))


def test_rejected_outcome_is_in_no_pinned_day(full_workspace: Workspace) -> None:
    versions.pin(DAY, None, full_workspace.zone, NOW)
    judge(full_workspace, OUTCOME, Ruling.REJECTED)
    assert not any(OUTCOME in snippet for snippet in list_snippets(full_workspace))
    with database.connection():
        assert OUTCOME not in str(nodes.get_words([DAY]))
    node = browse.get_node(DAY)
    assert node is not None and node.is_pinned
    assert OUTCOME not in texts_of_parents()
    assert any(OUTCOME in bullet.text for bullet in node.withheld)


def test_correction_that_is_rejected_later_is_shown_nowhere(
    full_workspace: Workspace,
) -> None:
    judge(full_workspace, OUTCOME, Ruling.CORRECTED, words="A pangolin came of it")
    versions.pin(DAY, None, full_workspace.zone, NOW)
    judge(full_workspace, "A pangolin", Ruling.REJECTED)
    assert "pangolin" not in texts_of_parents() + "".join(card_texts())
    (row,) = list_range(SessionQuery(words=("basket",)), 0, 9).sessions
    assert row.work.outcome == ""


def test_rejecting_a_line_makes_only_its_ancestors_again(
    full_workspace: Workspace,
) -> None:
    def count_versions() -> dict[str, int]:
        names = [row.node_id for row in browse.list_children()]
        counts = {}
        while names:
            name = names.pop()
            history = versions.get_history(name)
            assert history is not None
            counts[name] = len(history.versions)
            names += [row.node_id for row in browse.list_children(name)]
        return counts

    before = count_versions()
    segment_id = segment_page().node_id
    judge(full_workspace, OUTCOME, Ruling.REJECTED)
    changed = {name for name, n in count_versions().items() if n != before[name]}
    assert {segment_id, DAY} <= changed
    assert changed <= {
        segment_id,
        DAY,
        "toc:week:2024-W03",
        "toc:month:2024-01",
        "toc:year:2024",
    }


def test_corrected_outcome_is_that_of_its_session(full_workspace: Workspace) -> None:
    words = "Baskets are kept for an hour by a pangolin"
    judge(full_workspace, OUTCOME, Ruling.CORRECTED, words=words)
    (corrected,) = [b for b in read_card(*SESSION.split(":")).bullets if b.judgement]
    assert (corrected.text, corrected.kind) == (words, BulletKind.OUTCOME)
    assert corrected.claim_text.startswith(OUTCOME) and not corrected.is_quote
    assert words in texts_of_parents() and OUTCOME not in texts_of_parents()
    assert full_workspace.teleport.find("pangolin").hits
    # Corrected once more, it is still the same claim.
    judge(full_workspace, words, Ruling.CORRECTED, words="An okapi keeps baskets")
    assert "pangolin" not in texts_of_parents() + "".join(card_texts())
    assert "An okapi keeps baskets" in card_texts()


def test_rejected_state_and_tests_are_left_out(full_workspace: Workspace) -> None:
    state = Bullet("done", kind=BulletKind.STATE)
    page = f"toc:session:2024-01-15:{SESSION.replace(':', '/')}"
    grips = segment_page().bullets[0].grip_ids
    judging.judge(page, replace(state, grip_ids=grips), Ruling.REJECTED, NOW)
    judge(full_workspace, "14 passed", Ruling.REJECTED)
    card = read_card(*SESSION.split(":"))
    assert card.work.state is None
    assert BulletKind.TESTS not in {bullet.kind for bullet in card.bullets}
    assert BulletKind.TESTS not in {b.kind for b in segment_page().bullets}


def test_state_is_corrected_and_linked_to_another_message(
    full_workspace: Workspace,
) -> None:
    first = segment_page().node_id.rpartition(":")[2]
    state = read_card(*SESSION.split(":")).work.state
    assert state is WorkState.DONE
    with pytest.raises(UsageError, match="a state is one of done"):
        judge(full_workspace, "state", Ruling.CORRECTED, words="nearly done")
    judge(full_workspace, "state", Ruling.CORRECTED, words="open")
    assert read_card(*SESSION.split(":")).work.state is WorkState.OPEN
    assert "(open)" in texts_of_parents()
    judge(full_workspace, "state: open", Ruling.MOVED, event_id=first)
    judge(full_workspace, "state: open", Ruling.ACCEPTED)
    work = read_card(*SESSION.split(":")).work
    assert (work.state, work.state_event_id) == (WorkState.OPEN, first)
    rows = audit.list_claims(AuditQuery(session=SESSION, kind=BulletKind.STATE), 9)
    (claim,) = map(audit.find_claim, rows)
    (grip_id,) = claim.bullet.grip_ids
    (event,) = conversation.expand(grip_id).excerpt_events
    assert event.event_id == first
    for _ in range(3):
        _, line = judging.find_line(SESSION, "state")
        assert line.judgement is not None
        judging.undo(line.judgement, NOW)
        run_pipeline(full_workspace)
    assert read_card(*SESSION.split(":")).work.state is state


def test_judged_state_is_listed_with_its_session(full_workspace: Workspace) -> None:
    query = AuditQuery(session=SESSION, kind=BulletKind.STATE)
    (before,) = audit.list_claims(query, 9)
    judge(full_workspace, "state", Ruling.ACCEPTED)
    (row,) = audit.list_claims(query, 9)
    assert row.is_judged and row.session_name == before.session_name != ""


def test_rejected_state_has_its_source_once_that_is_undone(
    full_workspace: Workspace,
) -> None:
    query = AuditQuery(session=SESSION, kind=BulletKind.STATE)
    (row,) = audit.list_claims(query, 9)
    before = audit.find_claim(row)
    rejected = judge(full_workspace, "state", Ruling.REJECTED)
    judging.undo(rejected, NOW)
    # The session is described again only later.
    assert read_card(*SESSION.split(":")).work.state is None
    undone = audit.find_claim(row)
    assert undone.bullet.grip_ids == before.bullet.grip_ids
    assert undone.event_id == before.event_id != ""


def test_periods_have_sources_after_all_claims_were_rejected(
    full_workspace: Workspace,
) -> None:
    agent, session_id = SESSION.split(":")
    sessions.rename(agent, session_id, "Shop", full_workspace.zone)
    rows = audit.list_claims(AuditQuery(), 500)
    for claim in map(audit.read_claim, rows):
        if claim is not None:
            judging.judge(claim.page, claim.bullet, Ruling.REJECTED, NOW)
    run_pipeline(full_workspace)
    day = browse.get_node(DAY)
    assert day is not None and "Shop" in day.bullets[0].text
    assert all(bullet.grip_ids for bullet in day.bullets)
    report = Audit(AuditQuery(), full_workspace.paths, with_tools=False).run(
        has_worker=False
    )
    assert report.damages == []


def test_accepted_line_of_a_model_stays_when_it_writes_others(
    full_workspace: Workspace,
) -> None:
    segment_id = show_model_lines(NOTE, "The cookie lost its domain")
    judge(full_workspace, NOTE, Ruling.ACCEPTED, segment_id)
    judge(full_workspace, "The cookie", Ruling.REJECTED, segment_id)
    show_model_lines("Nothing else was said", "The cookie lost its domain")
    run_pipeline(full_workspace)
    texts = [bullet.text for bullet in segment_page().bullets]
    assert {NOTE, "Nothing else was said"} <= set(texts)
    assert texts.count(NOTE) == 1
    assert "The cookie lost its domain" not in texts + card_texts()
    assert NOTE in card_texts()
    assert full_workspace.teleport.find("cookie renewed").hits
    hits = full_workspace.teleport.find("cookie domain").hits
    assert "domain" not in " ".join(hit.snippet.text for hit in hits)


def test_pinned_old_version_does_not_show_a_rejected_line(
    full_workspace: Workspace,
) -> None:
    segment_id = show_model_lines(NOTE)
    judge(full_workspace, NOTE, Ruling.REJECTED, segment_id)
    for version in (1, 2):
        versions.pin(segment_id, version, full_workspace.zone, NOW)
        run_pipeline(full_workspace)
        assert NOTE not in [bullet.text for bullet in segment_page().bullets]
    old = versions.get_version(segment_id, 2)
    assert old is not None
    (rejected,) = old.withheld
    assert rejected.is_rejected


def test_withheld_line_is_shown_once_it_is_accepted(full_workspace: Workspace) -> None:
    held = (model_versions.unsupported_bullet("The moon was counted"),)
    model_versions.add_model_version(DAY, "One", held=held)
    judge(full_workspace, "The moon", Ruling.ACCEPTED, DAY)
    node = browse.get_node(DAY)
    assert node is not None
    (accepted,) = [b for b in node.bullets if b.text == "The moon was counted"]
    assert accepted.support is Support.SUPPORTED
    assert versions.explain_verdict(accepted) == "accepted by you"


def test_another_source_replaces_that_of_a_line(full_workspace: Workspace) -> None:
    with database.connection():
        first = segment_page().node_id.rpartition(":")[2]
        event = events.get([first])[first]
    segment_id = show_model_lines(NOTE)
    judge(full_workspace, NOTE, Ruling.MOVED, segment_id, event_id=event.event_id)
    (bullet,) = [b for b in segment_page().bullets if b.text == NOTE]
    (grip_id,) = bullet.grip_ids
    assert conversation.expand(grip_id).excerpt_events == (event,)
    # It stays when the line is accepted with it.
    judge(full_workspace, NOTE, Ruling.ACCEPTED, segment_id)
    (bullet,) = [b for b in segment_page().bullets if b.text == NOTE]
    assert bullet.grip_ids == (grip_id,)
    # A citation as searches print it names the same message.
    cited = citations.cite_event(event.event_id)
    judge(full_workspace, NOTE, Ruling.MOVED, segment_id, event_id=cited)
    (bullet,) = [b for b in segment_page().bullets if b.text == NOTE]
    assert bullet.grip_ids == (grip_id,)
    with pytest.raises(MemtuiError, match="is not stored"):
        judge(full_workspace, NOTE, Ruling.MOVED, segment_id, event_id="0" * 26)


def test_lines_that_repeat_others_are_not_judged(full_workspace: Workspace) -> None:
    with pytest.raises(UsageError, match="repeats other lines"):
        judge(full_workspace, "Sessions time out", Ruling.REJECTED, DAY)
    with pytest.raises(UsageError, match="another wording"):
        judge(full_workspace, OUTCOME, Ruling.CORRECTED)
    with pytest.raises(UsageError, match="no line begins"):
        judging.find_line(SESSION, "Pangolin")


def test_secrets_in_words_and_reason_are_not_stored(full_workspace: Workspace) -> None:
    secret = "ghp_R8v2kQz7LmX4pTn9WbY3cHd6JfS1aGe5UoKi"
    words, reason = f"The token is {secret}", f"since {secret}"
    judge(full_workspace, OUTCOME, Ruling.CORRECTED, words=words, reason=reason)
    with database.connection():
        (judgement,) = judgements.list_current("1")
    assert secret not in judgement.words + judgement.reason


# Forgetting


def forget_event(workspace: Workspace, event_id: str) -> None:
    forget = Forget(workspace.paths, workspace.zone, lambda: NOW)
    forget.run(TombstoneKind.EVENT, [event_id])
    run_pipeline(workspace)


def test_judgement_stays_while_its_sources_do(
    full_workspace: Workspace,
) -> None:
    segment_id = show_model_lines(NOTE)
    judge(full_workspace, NOTE, Ruling.ACCEPTED, segment_id)
    card = read_card(*SESSION.split(":"))
    (other,) = [b for b in card.bullets if b.kind is BulletKind.TESTS]
    with database.connection():
        grips = store_versions.get_grips(other.grip_ids)
        sources = store_versions.get_grips(
            next(b for b in card.bullets if b.text == NOTE).grip_ids
        )
    (tests_event,) = {grip.event_id_start for grip in grips.values()}
    (source_event,) = {grip.event_id_start for grip in sources.values()}
    forget_event(full_workspace, tests_event)
    assert NOTE in card_texts()
    forget_event(full_workspace, source_event)
    assert NOTE not in card_texts()
    with database.connection():
        assert judgements.list_current("1") == []
    raw = (full_workspace.paths.store.parent / "memory.db").read_bytes()
    assert NOTE.encode() not in raw


def test_judgements_cannot_be_changed(full_workspace: Workspace) -> None:
    judge(full_workspace, OUTCOME, Ruling.REJECTED)
    statements = (
        "UPDATE judgements SET ruling = 'accepted'",
        "DELETE FROM judgements",
        "INSERT OR REPLACE INTO judgements SELECT * FROM judgements",
    )
    file = full_workspace.paths.store.parent / "memory.db"
    with closing(sqlite3.connect(file)) as opened:
        for statement in statements:
            with pytest.raises(sqlite3.IntegrityError, match="judgements are"):
                opened.execute(statement)


# Commands and tools


def test_line_is_judged_from_the_command_line(full_workspace: Workspace) -> None:
    home = full_workspace.paths.store.parent
    full_workspace.stop()
    output = run_memtui(home, "judge", SESSION, OUTCOME, "--reject", "--json")
    assert json_data(output.stdout)["judgement"] == "rejected"
    assert OUTCOME not in run_memtui(home, "show", DAY).stdout
    run_memtui(home, "judge", SESSION, OUTCOME, "--undo")
    assert OUTCOME in run_memtui(home, "show", DAY).stdout
    output = run_memtui(home, "judge", SESSION, OUTCOME, "--undo", code=1)
    assert "nobody has judged a line" in output.stderr
