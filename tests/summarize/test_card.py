"""Cards: the name, outcome and state of a session, and the lines of a segment."""

from dataclasses import replace
from typing import Any

import pytest

from memtui.model.nodes import TITLE_CHARS, BulletKind
from memtui.model.sessions import WorkState
from memtui.model.work import (
    Commit,
    EndKind,
    Facts,
    FileChange,
    Line,
    PullRequest,
    Request,
    Task,
    UserAnswer,
)
from memtui.model.work import TestRun as Run
from memtui.summarize import card

ASKED = Facts(
    requests=(Request("Fix the rounding of prices", "01", 4),),
    reply=Line("Fixed: prices are rounded to cents.", "09"),
    end=EndKind.REPLY,
    end_event_id="09",
)
"""A request and the reply; ids of events are in the order of time."""

COMMIT = Commit("fix(prices): round to cents", "05", "abc1234", "main", 24)
EDIT = FileChange("src/prices.py", 12, 3, "03")
PASSED = Run(38, 0, "04", "pytest")
FAILED = Run(36, 2, "06", "pytest")


def name(facts: Facts, agent_title: str = "") -> str:
    return card.name_session(facts, agent_title).text


# Name


def test_the_name_is_taken_from_the_best_source() -> None:
    facts = replace(
        ASKED, commits=(COMMIT,), pull_requests=(PullRequest("Round prices", "07", 12),)
    )
    by_model = card.describe_session(facts, model_title="A model's", agent_title="Its")
    assert (by_model.name, by_model.name_event_id) == ("A model's", "")
    assert card.describe_session(facts, agent_title="Agent's").name == "Round prices"
    assert name(replace(facts, pull_requests=()), "Agent's") == "Round to cents"
    assert name(ASKED, "Agent's") == "Agent's"
    assert name(ASKED) == "Fix the rounding of prices"
    assert name(Facts()) == ""


def test_name_that_the_user_gave_counts_more_than_work_and_model() -> None:
    facts = replace(
        ASKED, commits=(COMMIT,), pull_requests=(PullRequest("Round prices", "07", 12),)
    )
    titles = {"model_title": "A model's", "agent_title": "The user's"}
    described = card.describe_session(facts, is_title_given=True, **titles)
    assert (described.name, described.name_event_id) == ("The user's", "")


def test_the_commit_that_changed_most_names_the_session() -> None:
    commits = (
        Commit("Merge branch 'main'", "01", lines=900),
        Commit("WIP", "02", lines=800),
        Commit("fixup! round to cents", "03", lines=700),
        Commit("docs: explain rounding", "04", lines=5),
        COMMIT,
    )
    facts = replace(ASKED, commits=commits)
    assert name(facts) == "Round to cents (+1 more)"
    assert card.name_session(facts).event_id == COMMIT.event_id
    assert name(replace(ASKED, commits=commits[:3])) == "Fix the rounding of prices"


@pytest.mark.parametrize(
    ("subject", "bare"),
    [
        ("feat(api)!: add retries", "Add retries"),
        ("Fix: rounding", "Rounding"),
        ("fixed: nothing", "fixed: nothing"),
        ("Add feat: prefix", "Add feat: prefix"),
        ("chore:", "chore:"),
    ],
)
def test_the_type_of_a_commit_is_left_out(subject: str, bare: str) -> None:
    assert card.strip_commit_type(subject) == bare


def test_the_first_request_with_a_tenth_of_the_events_names_the_session() -> None:
    requests = (
        Request("Hello there, good morning", "01", 2),
        Request("Fix the rounding of prices", "02", 20),
        Request("Now fix everything else too", "03", 60),
    )
    assert name(Facts(requests=requests)) == "Fix the rounding of prices"
    many = tuple(Request(f"This is request number {n}", f"{n}", 1) for n in range(20))
    assert name(Facts(requests=many)) == "This is request number 0"


def test_a_request_with_exactly_a_tenth_of_the_events_names_the_session() -> None:
    requests = (
        Request("Fix the rounding of prices", "01", 10),
        Request("Now fix everything else too", "02", 90),
    )
    assert name(Facts(requests=requests)) == "Fix the rounding of prices"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Fix the rounding of prices\nIt is wrong.", "Fix the rounding of prices"),
        ("Fix it:\nprices are wrong", "Fix it: prices are wrong"),
        ("[image: image/png, 3 kB]\nFix the rounding here", "Fix the rounding here"),
        ("[Image #1]", "[Image #1]"),
        (
            "See https://github.com/ada/shop/issues/365?x=1 and /home/ada/shop/a/b.py.",
            "See issues/365 and b.py.",
        ),
        ("Use @src/shop/views/cart.tsx for the cart", "Use @cart.tsx for the cart"),
        ("修复价格的四舍五入问题", "修复价格的四舍五入问题"),
        ("", ""),
    ],
)
def test_a_request_is_named_by_its_first_line(text: str, title: str) -> None:
    assert card.name_request(text) == title


def test_a_first_line_of_twenty_characters_is_a_name_and_a_shorter_one_is_not() -> None:
    assert card.name_request("Fix the cart's total\nNow") == "Fix the cart's total"
    assert card.name_request("Fix the carts total\nNow") == "Fix the carts total Now"


def test_long_names_are_cut_at_a_word() -> None:
    long = replace(COMMIT, subject="Round " + "prices " * 40)
    title = name(replace(ASKED, commits=(long, COMMIT)))
    assert len(title) <= TITLE_CHARS
    assert title.endswith("prices… (+1 more)")
    assert len(name(Facts(requests=(Request("x" * 500, "01", 1),)))) <= TITLE_CHARS


# Outcome, state, left open


def test_the_outcome_is_the_beginning_of_the_last_reply() -> None:
    facts = replace(ASKED, reply=Line("Done. " * 50, "09"))
    work = card.describe_session(facts)
    assert len(work.outcome) <= card.OUTCOME_CHARS
    assert work.outcome.startswith("Done. Done.")
    assert work.outcome_event_id == "09"


def done(**facts: Any) -> Facts:
    return replace(ASKED, **facts)


def ended(end: EndKind, **facts: Any) -> Facts:
    return done(end=end, end_event_id="10", **facts)


@pytest.mark.parametrize(
    ("facts", "state", "event_id"),
    [
        (ASKED, "answered", "09"),
        (done(files=(EDIT,)), "done", "03"),
        (done(commits=(COMMIT,)), "done", "05"),
        (done(commits=(COMMIT,), pushes=(Line("main", "06"),)), "pushed", "06"),
        (done(commits=(COMMIT,), pushes=(Line("main", "02"),)), "done", "05"),
        (done(commits=(COMMIT,), merges=(Line("merge", "05"),)), "merged", "05"),
        (done(pull_requests=(PullRequest("Round", "08"),)), "pushed", "08"),
        (done(files=(EDIT,), test_runs=(PASSED, FAILED)), "failed", "06"),
        (done(files=(EDIT,), test_runs=(FAILED, PASSED)), "done", "03"),
        (done(pushes=(Line("main", "07"),), test_runs=(FAILED,)), "pushed", "07"),
        (ended(EndKind.REQUEST, commits=(COMMIT,)), "open", "10"),
        (ended(EndKind.QUESTION), "open", "10"),
        (ended(EndKind.QUESTION, files=(EDIT,)), "done", "03"),
        (ended(EndKind.QUESTION, files=(EDIT,), test_runs=(FAILED,)), "open", "06"),
        (ended(EndKind.CALL, files=(EDIT,)), "open", "10"),
        (ended(EndKind.CALL, pushes=(Line("main", "10"),)), "pushed", "10"),
        (ended(EndKind.INTERRUPTED), "abandoned", "10"),
        (ended(EndKind.INTERRUPTED, commits=(COMMIT,)), "done", "05"),
        (ended(EndKind.ERROR), "open", "10"),
        (ended(EndKind.ERROR, reply=None), "failed", "10"),
    ],
)
def test_the_state_follows_from_facts_and_the_end(
    facts: Facts, state: str, event_id: str
) -> None:
    assert card.find_state(facts) == (state, event_id)


def test_tasks_requests_and_failed_tests_are_left_open() -> None:
    facts = ended(
        EndKind.REQUEST,
        end_text="Push it",
        test_runs=(FAILED,),
        open_tasks=tuple(Task(f"Task {number}", "02") for number in range(5)),
    )
    work = card.describe_session(facts)
    assert [line.text for line in work.left_open] == [
        "Not answered: Push it",
        "Tests: 36 passed, 2 failed (pytest)",
        *(f"Task {number}" for number in range(5)),
    ]
    assert card.find_left_open(replace(ASKED, open_tasks=())) == []


def test_open_end_says_what_would_settle_it() -> None:
    def subjects(prompt: str, end: EndKind = EndKind.REQUEST) -> list[str]:
        facts = ended(end, end_text="text", requests=(Request(prompt, "10", 1),))
        return [line.subject for line in card.find_left_open(facts)]

    prompt = "Count the seals of the bay"
    assert subjects(prompt) == subjects(prompt, EndKind.CALL) == [prompt]
    assert subjects("go on") == subjects(f"{prompt} …") == [""]


def test_closing_question_is_not_left_open() -> None:
    asked = ended(EndKind.QUESTION, end_text="Is there anything else?")
    assert card.find_left_open(asked) == []


def test_tests_that_failed_before_a_push_are_not_left_open() -> None:
    facts = ended(EndKind.REPLY, test_runs=(FAILED,))
    (line,) = card.find_left_open(facts)
    assert line.subject == "pytest"
    pushed = replace(facts, pushes=(Line("main", "09"),))
    assert card.find_left_open(pushed) == []


# Segments


def test_a_segment_is_named_by_commit_request_or_what_came_before() -> None:
    def title(facts: Facts, earlier: str = "") -> str:
        return card.summarize_segment(facts, earlier).title

    assert title(replace(ASKED, commits=(COMMIT,))) == "Round to cents"
    assert title(ASKED, "Earlier") == "Fix the rounding of prices"
    later = replace(ASKED, requests=())
    assert title(later, "## Fix **it**\nplease") == "Fix it please (continued)"
    assert title(later, "x " * 200).endswith("… (continued)")
    assert len(title(later, "x " * 200)) <= TITLE_CHARS
    assert title(later) == "Fixed: prices are rounded to cents."
    assert title(Facts()) == "Nothing was said"


def test_a_segment_has_a_bullet_for_each_kind_of_line() -> None:
    other = FileChange("tests/test_prices.py", 5, 0, "04")
    facts = replace(
        ASKED,
        commits=(Commit("docs: explain", "02", lines=2), COMMIT),
        test_runs=(PASSED,),
        files=(EDIT, other, replace(EDIT, added=4, removed=0)),
    )
    bullets = card.summarize_segment(facts).bullets
    assert [(bullet.kind, bullet.text) for bullet in bullets] == [
        (BulletKind.ASKED, "Fix the rounding of prices"),
        (BulletKind.OUTCOME, "Fixed: prices are rounded to cents."),
        (BulletKind.COMMIT, "fix(prices): round to cents; docs: explain"),
        (BulletKind.TESTS, "38 passed (pytest)"),
        (BulletKind.FILES, "prices.py +16 −3, test_prices.py +5"),
    ]
    assert bullets[-1].event_ids == ("03", "04")


def test_segment_has_a_line_of_each_kind() -> None:
    facts = replace(
        ASKED,
        commits=(COMMIT,),
        pull_requests=(PullRequest("Round prices", "07", 12),),
        test_runs=(PASSED,),
        files=(EDIT,),
    )
    bullets = card.summarize_segment(facts).bullets
    assert len(bullets) == 6
    assert bullets[3].text == "#12 Round prices"


def test_many_subjects_are_counted_in_a_line() -> None:
    commits = tuple(Commit("Round prices " * 5, f"{n:02}") for n in range(9))
    (bullet,) = card.summarize_segment(Facts(commits=commits)).bullets
    assert bullet.text.endswith("; +6 more")
    assert len(bullet.text) <= 240
    assert len(bullet.event_ids) == card.MAX_EVENT_IDS


def test_files_of_the_same_name_are_told_apart() -> None:
    files = tuple(
        FileChange(f"src/{folder}/index.ts", 9 - number, number, "03")
        for number, folder in enumerate("abcdef")
    )
    (bullet,) = card.summarize_segment(Facts(files=files)).bullets
    assert bullet.text.startswith("a/index.ts +9, b/index.ts +8 −1, ")
    assert bullet.text.endswith(", 2 more")


def test_a_relative_path_is_the_file_that_an_absolute_one_names() -> None:
    paths = ("/a/shop/src/prices.py", "src/prices.py", "./prices.py", "ices.py")
    files = tuple(FileChange(path, 1, 0, "03") for path in paths)
    (bullet,) = card.summarize_segment(Facts(files=files)).bullets
    assert bullet.text == "prices.py +3, ices.py +1"
    deep = "/".join(map(str, range(card.MAX_DEPTH + 1)))
    files = (FileChange(f"/a/{deep}", 1, 0, "03"), FileChange(deep, 1, 0, "03"))
    (bullet,) = card.summarize_segment(Facts(files=files)).bullets
    assert bullet.text == f"{deep[-5:]} +1, {deep[-5:]} +1"


def test_the_largest_run_after_the_last_change_is_shown() -> None:
    runs = (Run(9, 9, "02"), PASSED, Run(3, 0, "05", "pytest -k one"))
    bullets = card.summarize_segment(Facts(test_runs=runs, files=(EDIT,))).bullets
    assert bullets[0].text == "38 passed (pytest)"


# Sessions


def test_a_session_lists_all_kinds_of_lines() -> None:
    facts = replace(
        ASKED,
        commits=tuple(replace(COMMIT, event_id=f"0{n}") for n in range(8)),
        pull_requests=(PullRequest("Round prices", "07", 12),),
        test_runs=(replace(FAILED, event_id="08"),),
        files=(EDIT,),
        failed_commands=tuple(
            Line(text, "06") for text in ("npm test", "make", "npm test", "a", "b")
        ),
    )
    lines = card.list_session_lines(facts, card.describe_session(facts))
    kinds = [line.kind.value for line in lines]
    assert kinds == [
        *("asked", "outcome", "left open"),
        *["commit"] * 6,
        *("more", "pull request", "tests", "files", "failed"),
    ]
    assert lines[9].text == "and 2 more commits"
    assert lines[-1].text == "5 commands: npm test; make; a; …"


def test_a_session_without_facts_has_no_lines() -> None:
    work = card.describe_session(Facts())
    assert (work.name, work.outcome) == (card.NOTHING_SAID, "")
    assert work.state is WorkState.ANSWERED
    assert card.list_session_lines(Facts(), work) == []


def test_answers_of_the_user_are_decisions_with_the_question() -> None:
    answers = [UserAnswer("Yes", f"{n:02}", f"Keep file {n}?") for n in range(2, 11)]
    facts = replace(ASKED, answers=tuple(answers), commits=(COMMIT,))
    of_segment = card.summarize_segment(facts).bullets
    assert [b.text for b in of_segment if b.kind is BulletKind.DECISION] == [
        f"Yes — Keep file {n}?" for n in range(2, 11)
    ]
    of_session = card.list_session_lines(facts, card.describe_session(facts))
    last = [b for b in of_session if b.kind is BulletKind.DECISION]
    assert [b.event_ids for b in last] == [(f"{n:02}",) for n in range(5, 11)]


def test_a_long_answer_leaves_room_for_the_question() -> None:
    facts = Facts(
        answers=(UserAnswer("because " * 60, "02", "Keep " + "it " * 90 + "?"),)
    )
    (bullet,) = card.summarize_segment(facts).bullets
    assert "… — Keep it it" in bullet.text
