"""Facts that a person rejected are in no line that joins several, on whatever page."""

from collections.abc import Sequence

import pytest

from memtui.errors import MemtuiError
from memtui.model.audit import AuditQuery, Damage
from memtui.model.events import Event, EventRole
from memtui.model.judgements import Ruling
from memtui.model.nodes import BulletKind
from memtui.services import audit, browse, judging, report, versions
from memtui.services.integrity import Audit
from memtui.services.sessions import read_card
from memtui.store import database, judgements, nodes
from memtui.tools import handover
from memtui.workspace import Workspace
from tests.conftest import NOW
from tests.message_factory import (
    make_commit,
    make_edit,
    make_message,
    make_run,
    store_messages,
)

SESSION = "claude-code:s1"
AGENT = "agent"
LATER_S = 3 * 3_600
"""The second segment of the session starts then."""


def store(workspace: Workspace, *calls: Event) -> None:
    """Store calls of two segments, each with a prompt before and a reply behind."""
    said = list(calls)
    for at_s in (0, LATER_S):
        said.append(make_message(f"Please build part {at_s} of the mill.", at_s))
        reply = f"Part {at_s} of the mill is built."
        said.append(make_message(reply, at_s + 900, role=EventRole.ASSISTANT))
    store_messages(*said)
    work(workspace)


def work(workspace: Workspace) -> None:
    assert workspace.pipeline.run_until_idle(lambda _: None) == []


def judge(workspace: Workspace, name: str, line: str, ruling: Ruling) -> None:
    judging.judge(*judging.find_line(name, line), ruling, NOW)
    work(workspace)


def segment_ids() -> list[str]:
    return [segment.node_id for segment in read_card(*SESSION.split(":")).segments]


def lines_of(kind: BulletKind) -> list[str]:
    """Return the lines of a kind that are shown on the pages of a session."""
    card = read_card(*SESSION.split(":"))
    pages = [card.bullets, *((*s.bullets, *s.further) for s in card.segments)]
    return [bullet.text for page in pages for bullet in page if bullet.kind is kind]


def everything(workspace: Workspace) -> str:
    """Return the page of the session, a handover of it, and a report of its year."""
    # Its frame has another name each time.
    _, pack, _ = handover.make_pack(workspace, [SESSION]).text.split("memory ", 2)
    pages = report.make_report("toc:year:2025", workspace.zone)
    card = read_card(*SESSION.split(":"))
    return "\n".join([pack[6:], pages, *(bullet.text for bullet in card.bullets)])


def find_damages(workspace: Workspace) -> Sequence[Damage]:
    checks = Audit(AuditQuery(), workspace.paths, with_tools=False)
    return checks.run(has_worker=False).damages


FILES = (
    *(make_edit(f"/mill/early{n}.py", n + 1, 60 + n) for n in range(7)),
    make_edit("/mill/late.py", 1, LATER_S + 60),
)


def test_rejected_files_of_a_segment_are_not_on_the_page_of_its_session(
    workspace: Workspace,
) -> None:
    store(workspace, *FILES)
    early, late = segment_ids()
    assert "early6.py +7" in everything(workspace)
    before = everything(workspace)
    judge(workspace, early, "files: early6.py", Ruling.REJECTED)
    # Also those that the line only counted.
    assert "early" not in everything(workspace)
    assert set(lines_of(BulletKind.FILES)) == {"late.py +1"}
    assert find_damages(workspace) == []
    judging.undo_line(early, "files: early6.py", NOW)
    work(workspace)
    assert everything(workspace) == before
    # And the other way round.
    judge(workspace, SESSION, "files: early6.py", Ruling.REJECTED)
    assert lines_of(BulletKind.FILES) == []
    assert find_damages(workspace) == []
    assert segment_ids() == [early, late]
    judging.undo_line(SESSION, "files", NOW)
    work(workspace)
    assert everything(workspace) == before


def test_rejected_commands_are_counted_nowhere(workspace: Workspace) -> None:
    failed = [make_run("make mill", "Error: no mill", 60 + n) for n in range(7)]
    store(workspace, *failed, make_run("make wheel", "Error: no wheel", LATER_S + 60))
    assert lines_of(BulletKind.FAILED) == ["8 commands: make mill; make wheel"]
    judge(workspace, SESSION, "failed: 8 commands", Ruling.REJECTED)
    assert lines_of(BulletKind.FAILED) == []
    assert "make mill" not in everything(workspace)
    assert find_damages(workspace) == []


def test_rejected_commits_are_in_no_line_that_joins_them(workspace: Workspace) -> None:
    names = ["Grind", "Sieve", "Bake", "Brew", "Carry", "Store", "Sell"]
    store(
        workspace,
        *(make_commit(f"{name} it", 60 + n) for n, name in enumerate(names)),
        make_commit("Mend the wheel", LATER_S + 60),
    )
    (early, _), before = segment_ids(), everything(workspace)
    judge(workspace, early, "commit: Grind it", Ruling.REJECTED)
    assert set(lines_of(BulletKind.COMMIT)) == {"Mend the wheel"}
    assert "Sell it" not in everything(workspace)
    assert find_damages(workspace) == []
    judging.undo_line(early, "commit: Grind it", NOW)
    work(workspace)
    assert everything(workspace) == before
    # One of several is left out of the line that joins them, and alone if it is pinned.
    versions.pin(early, None, workspace.zone, NOW)
    judge(workspace, SESSION, "commit: Grind it", Ruling.REJECTED)
    assert "Grind" not in everything(workspace)
    assert "Sieve it" in "".join(lines_of(BulletKind.COMMIT))
    assert find_damages(workspace) == []


def test_pinned_segment_does_not_show_rejected_files(workspace: Workspace) -> None:
    store(workspace, *FILES)
    _, late = segment_ids()
    versions.pin(late, None, workspace.zone, NOW)
    judge(workspace, SESSION, "files: early6.py", Ruling.REJECTED)
    assert lines_of(BulletKind.FILES) == []
    (line,) = [
        b for b in read_card(*SESSION.split(":")).segments[1].withheld if b.is_rejected
    ]
    assert line.text == "late.py +1"
    assert (
        versions.explain_verdict(line) == "rejected by you: a part of it was rejected"
    )
    assert find_damages(workspace) == []
    # It can be accepted by itself.
    judge(workspace, late, "files: late.py", Ruling.ACCEPTED)
    assert "late.py +1" in lines_of(BulletKind.FILES)


def test_pinned_day_does_not_show_an_earlier_reply(workspace: Workspace) -> None:
    store(workspace, *FILES)
    (early, _), day = segment_ids(), "toc:day:2025-03-14"
    versions.pin(day, None, workspace.zone, NOW)
    reply = "Part 0 of the mill is built"
    node = browse.get_node(day)
    assert node is not None and f"; Part {LATER_S}" in node.bullets[0].text
    assert f"— {reply}" in node.bullets[0].text
    judge(workspace, early, reply, Ruling.REJECTED)
    node = browse.get_node(day)
    assert node is not None and node.is_pinned
    assert reply not in "".join(bullet.text for bullet in node.bullets)
    with database.connection():
        assert reply not in str(nodes.get_words([day, early]))
    assert find_damages(workspace) == []
    # In a new version of the day only the later one is left.
    versions.unpin(day, workspace.zone, NOW)
    work(workspace)
    node = browse.get_node(day)
    assert node is not None and f"— Part {LATER_S}" in node.bullets[0].text


def test_audit_finds_rejected_facts_that_are_shown(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(workspace, *FILES)
    (early, _) = segment_ids()
    monkeypatch.setattr(judgements, "judge_facts", lambda facts, _: facts)
    judge(workspace, early, "files: early6.py", Ruling.REJECTED)
    (damage,) = find_damages(workspace)
    assert (damage.subject, damage.ids[0]) == ("line", SESSION)
    assert damage.message == "it was rejected, but is shown"


def test_judged_line_that_is_gone_can_be_undone(workspace: Workspace) -> None:
    store(workspace, *FILES)
    _, late = segment_ids()
    judge(workspace, late, "files: late.py", Ruling.ACCEPTED)
    judge(workspace, SESSION, "files: early6.py", Ruling.ACCEPTED)
    store_messages(make_edit("/mill/last.py", 5, LATER_S + 90))
    work(workspace)
    # What is judged now is the line that is shown.
    judge(workspace, SESSION, "files", Ruling.ACCEPTED)
    rows = audit.list_claims(AuditQuery(kind=BulletKind.FILES), 9)
    gone = [row for row in rows if row.is_judged]
    assert len(gone) == 3
    for row in gone:
        details = audit.find_claim(row)
        assert details.bullet.text == row.text and details.bullet.grip_ids
    _, line = judging.undo_line(late, "files", NOW)
    assert line.text == "late.py +1"
    with pytest.raises(MemtuiError, match=r"several lines begin with 'files'.*early6"):
        judging.undo_line(SESSION, "files", NOW)
    for row in gone[1:]:
        judging.undo_line(SESSION, row.text, NOW)
    assert not any(
        row.is_judged for row in audit.list_claims(AuditQuery(kind=BulletKind.FILES), 9)
    )


def test_line_that_is_gone_takes_no_other_facts_along(workspace: Workspace) -> None:
    store(workspace, *FILES)
    _, late = segment_ids()
    judge(workspace, late, "files: late.py", Ruling.REJECTED)
    store_messages(make_edit("/mill/last.py", 5, LATER_S + 90))
    work(workspace)
    rows = audit.list_claims(AuditQuery(kind=BulletKind.FILES), 9)
    (row,) = [row for row in rows if row.is_judged]
    judging.undo_line(late, "files: late.py", NOW)
    work(workspace)
    # The audit still lists the line that the page does not have any more.
    claim = audit.find_claim(row)
    judging.judge(claim.page, claim.bullet, Ruling.REJECTED, NOW)
    work(workspace)
    assert "last.py +5" in lines_of(BulletKind.FILES)
    assert "late.py" not in everything(workspace)


def test_agent_does_not_overrule_a_person(workspace: Workspace) -> None:
    store(workspace, *FILES)
    page, line = judging.find_line(SESSION, "files")
    judging.judge(page, line, Ruling.REJECTED, NOW)
    message = "a person has said that this line is rejected"
    # Whatever it has read before.
    with pytest.raises(MemtuiError, match=message):
        judging.judge(page, line, Ruling.ACCEPTED, NOW, author=AGENT)
    with pytest.raises(MemtuiError, match=message):
        judging.undo_line(SESSION, "files", NOW, author=AGENT)
    judging.undo_line(SESSION, "files", NOW)
    judging.judge(page, line, Ruling.REJECTED, NOW, author=AGENT)
    judging.judge(page, line, Ruling.ACCEPTED, NOW, author=AGENT)
    judging.undo_line(SESSION, "files", NOW)
    with database.connection():
        (judgement,) = judgements.list_current("1")
    assert (judgement.ruling, judgement.author) == (Ruling.REJECTED, AGENT)
