"""What a person rejected shows nowhere, and what a person worded stays."""

from dataclasses import replace

import pytest

from memtui.model.events import EventRole
from memtui.model.judgements import Claim, Judgement, Ruling
from memtui.model.nodes import BulletKind
from memtui.model.work import Commit, Facts, PullRequest
from memtui.services import audit, browse, judging, points, report, versions
from memtui.services.sessions import read_card
from memtui.store import database, judgements, nodes
from memtui.store import versions as store_versions
from memtui.workspace import Workspace
from tests import model_versions
from tests.conftest import NOW
from tests.message_factory import make_commit, make_edit, make_message, store_messages
from tests.services.test_judged_facts import (
    SESSION,
    everything,
    find_damages,
    judge,
    lines_of,
    segment_ids,
    store,
    work,
)
from tests.services.test_points import FIRST, kept, run_pipeline

REPLY = "Part 10800 of the mill is built"
YEAR = "toc:year:2025"


def add_line_of_model(text: str) -> None:
    """Show a model's version of the last segment with one outcome."""
    with database.transaction():
        segment = nodes.get(segment_ids()[-1])
        assert segment is not None
        (reply,) = [b for b in segment.bullets if b.kind is BulletKind.OUTCOME]
        verdict = replace(reply.verdict, is_by_model=True)
        node = replace(
            segment,
            bullets=(replace(reply, text=text, verdict=verdict),),
            generation=model_versions.STATS,
            input_hash="model",
        )
        assert store_versions.add_from_model(node, 0)


@pytest.mark.parametrize("line", [f"{REPLY}.", REPLY])
def test_rejected_line_of_a_model_that_is_the_last_reply_shows_nowhere(
    workspace: Workspace, line: str
) -> None:
    store(workspace)
    before = everything(workspace)
    add_line_of_model(line)
    work(workspace)
    judge(workspace, SESSION, f"{line}", Ruling.REJECTED)
    assert REPLY not in everything(workspace)
    assert REPLY not in read_card(*SESSION.split(":")).work.outcome
    assert find_damages(workspace) == []
    judging.undo_line(SESSION, line, NOW)
    work(workspace)
    assert everything(workspace) == before


@pytest.mark.parametrize(
    "line", ["Part 1 of the mill", f"{REPLY[:-1]}d, not mended", f"{REPLY}, not mended"]
)
def test_rejected_line_of_a_model_leaves_a_reply_of_other_words(
    workspace: Workspace, line: str
) -> None:
    store(workspace)
    add_line_of_model(line)
    work(workspace)
    judge(workspace, SESSION, line, Ruling.REJECTED)
    assert read_card(*SESSION.split(":")).work.outcome == f"{REPLY}."
    lines = report.make_report(YEAR, workspace.zone)
    assert f"{REPLY}." in lines and line not in lines
    assert find_damages(workspace) == []


@pytest.mark.parametrize("words", [9, 60])
def test_rejected_long_outcome_is_in_no_line_about_its_session(
    workspace: Workspace, words: int
) -> None:
    reply = " ".join(["It is done"] + [f"with wheel {n}" for n in range(words)])
    asked = make_message("Please build the mill as well as you can. " * 3, 0)
    store_messages(asked, make_message(reply, 9, role=EventRole.ASSISTANT))
    work(workspace)
    name = "toc:day:2025-03-14"
    versions.pin(name, None, workspace.zone, NOW)
    assert "It is done" in str(browse.get_node(name))
    judge(workspace, SESSION, "It is done", Ruling.REJECTED)
    node = browse.get_node(name)
    assert node is not None and "It is done" not in str(node.bullets)
    assert find_damages(workspace) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [(REPLY, "A pangolin came of it"), ("files: late", "A pangolin was filed")],
)
def test_corrected_line_stays_after_later_events(
    workspace: Workspace, line: str, words: str
) -> None:
    store(workspace, make_edit("/mill/late.py", 1, 10_860))
    late = segment_ids()[-1]
    judging.judge(*judging.find_line(late, line), Ruling.CORRECTED, NOW, words=words)
    work(workspace)
    store_messages(
        make_edit("/mill/last.py", 5, 11_800),
        make_message("The mill rests.", 11_801, role=EventRole.ASSISTANT),
    )
    work(workspace)
    card = [bullet.text for bullet in read_card(*SESSION.split(":")).bullets]
    assert card.count(words) == 1
    assert "The mill rests." in card and "late.py +1" not in card
    assert words in report.make_report(YEAR, workspace.zone)
    with database.connection():
        assert words in nodes.list_lines([late])[late]
    assert workspace.teleport.find("pangolin").hits
    assert find_damages(workspace) == []
    # It can be taken back.
    judging.undo_line(SESSION, words, NOW)
    work(workspace)
    assert words not in everything(workspace)


def test_corrected_line_stays_beside_lines_of_a_model(workspace: Workspace) -> None:
    store(workspace)
    late, words = segment_ids()[-1], "A pangolin came of it"
    judging.judge(*judging.find_line(late, REPLY), Ruling.CORRECTED, NOW, words=words)
    work(workspace)
    add_line_of_model("The mill has a wheel")
    work(workspace)
    card = [bullet.text for bullet in read_card(*SESSION.split(":")).bullets]
    assert card.count(words) == 1 and "The mill has a wheel" in card
    with database.connection():
        assert words in nodes.list_lines([late])[late]


def test_corrected_pull_request_keeps_its_number() -> None:
    facts = Facts(
        pull_requests=(PullRequest("Add the mil", "e1", 7), PullRequest("Go", "e2", 8)),
        commits=(Commit("Add the mil", "e1"), Commit("Add the mil and more", "e1")),
    )
    claims: dict[tuple[str, str], str] = {
        (BulletKind.PULL_REQUEST, "#7 Add the mil"): "#7 Add the mill",
        (BulletKind.COMMIT, "Add the mil"): "Add a mill",
    }
    by_text = {
        claim: Judgement(
            Claim(SESSION, *claim), Ruling.CORRECTED, words=words, event_ids=("e1",)
        )
        for claim, words in claims.items()
    }
    judged = judgements.judge_facts(facts, by_text)
    assert [pull.title for pull in judged.pull_requests] == ["Add the mill", "Go"]
    subjects = [commit.subject for commit in judged.commits]
    assert subjects == ["Add a mill", "Add the mil and more"]


def test_corrected_outcome_is_in_a_report_once(workspace: Workspace) -> None:
    store(workspace)
    page, line = judging.find_line(SESSION, REPLY)
    judging.judge(page, line, Ruling.CORRECTED, NOW, words="A pangolin came of it")
    work(workspace)
    assert report.make_report(YEAR, workspace.zone).count("pangolin") == 1


def test_corrected_commit_names_its_session(workspace: Workspace) -> None:
    store(workspace, make_commit("Mend the weel", 60), make_commit("Bake it", 10_900))
    before = everything(workspace)
    page, line = judging.find_line(segment_ids()[0], "commit: Mend the weel")
    judging.judge(page, line, Ruling.CORRECTED, NOW, words="Mend the wheel")
    work(workspace)
    # Its sources are quoted as they are.
    lines, _, _ = report.make_report(YEAR, workspace.zone).partition("[1] “")
    assert "Mend the weel" not in lines and "Mend the wheel (+1 more)" in lines
    assert read_card(*SESSION.split(":")).work.name.startswith("Mend the wheel")
    assert lines_of(BulletKind.COMMIT).count("Mend the wheel") == 2
    assert find_damages(workspace) == []
    judge(workspace, SESSION, "commit: Mend the wheel", Ruling.REJECTED)
    assert "Mend" not in everything(workspace)
    assert find_damages(workspace) == []
    for _ in range(2):
        judging.undo_line(SESSION, "commit: Mend the", NOW)
        work(workspace)
    assert everything(workspace) == before


def test_judged_open_end_is_found_again(workspace: Workspace) -> None:
    kept(workspace, *FIRST)
    write, ship = points.list_left_open()
    accepted, corrected = audit.find_claim(ship), audit.find_claim(write)
    judging.judge(accepted.page, accepted.bullet, Ruling.ACCEPTED, NOW)
    words = {"words": "Write it all"}
    judging.judge(corrected.page, corrected.bullet, Ruling.CORRECTED, NOW, **words)
    for _ in range(2):
        rows = points.list_left_open()
        said = [(row.text, row.words, row.ruling) for row in rows]
        assert said == [
            ("Write", "Write it all", Ruling.CORRECTED),
            ("Ship", "", Ruling.ACCEPTED),
        ]
        run_pipeline(workspace)
    claim = audit.find_claim(rows[0])
    assert claim.bullet.text == "Write it all"
    judging.judge(claim.page, claim.bullet, Ruling.DONE, NOW)
    run_pipeline(workspace)
    assert [row.text for row in points.list_left_open()] == ["Ship"]
    for _ in range(2):
        judging.undo_line("claude-code:s1", "Write it all", NOW)
        run_pipeline(workspace)
    assert points.list_left_open()[0].ruling is None
