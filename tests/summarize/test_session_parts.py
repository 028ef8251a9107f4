"""The work of a session on a day is divided into parts, which are named."""

from datetime import UTC, datetime

from memtui.model.calendar import TocLevel
from memtui.model.nodes import Bullet, BulletKind, NodeCounts, TocNode
from memtui.summarize import session_work
from memtui.summarize.rollup import name_parts

START = datetime(2024, 1, 15, 9, tzinfo=UTC)


def segment(
    title: str,
    *commits: str,
    messages: int = 10,
    files: str = "",
    outcome: str = "",
) -> TocNode:
    bullets = [Bullet(outcome, kind=BulletKind.OUTCOME)] if outcome else []
    bullets += [Bullet(one, kind=BulletKind.COMMIT) for one in commits]
    bullets += [Bullet(files, kind=BulletKind.FILES)] if files else []
    return TocNode(
        node_id=f"toc:segment:{title}",
        level=TocLevel.SEGMENT,
        title=title,
        headline=title,
        start_time=START,
        end_time=START,
        bullets=tuple(bullets),
        counts=NodeCounts(segments=1, messages=messages),
    )


def test_each_request_is_a_part_with_its_continuations() -> None:
    found = name_parts(
        [
            segment("Round invoices once"),
            segment("Export the ledger as CSV"),
            segment("Export the ledger as CSV (continued)"),
        ]
    )
    assert found == ["Export the ledger as CSV", "Round invoices once"]


def test_a_prod_goes_on_with_the_part_before_it() -> None:
    found = name_parts(
        [
            segment("Round invoices once"),
            segment("continue", messages=20),
            segment("Export the ledger as CSV", messages=25),
        ]
    )
    assert found == ["Round invoices once", "Export the ledger as CSV"]


def test_a_prod_is_a_name_only_without_a_better_one() -> None:
    assert name_parts([segment("continue")]) == ["continue"]
    assert name_parts([segment("continue"), segment("Round invoices once")]) == [
        "Round invoices once"
    ]


def test_a_small_part_is_not_named() -> None:
    small = segment("Print a receipt", messages=1)
    assert name_parts([segment("Round invoices once"), small]) == [
        "Round invoices once"
    ]


def test_parts_with_similar_names_are_one() -> None:
    found = name_parts(
        [
            segment("Round invoices once"),
            segment("Export the ledger as CSV", messages=15),
            segment("Rounding of invoices"),
        ]
    )
    assert found == ["Round invoices once", "Export the ledger as CSV"]


def test_a_commit_names_the_work_that_went_another_way_than_the_request() -> None:
    found = name_parts(
        [
            segment("Read the research on parcels"),
            segment("Could scales be wrong?"),
            segment("Use pounds", "feat: weigh parcels on two scales"),
        ]
    )
    assert found == ["Weigh parcels on two scales"]


def test_a_request_that_its_commit_confirms_is_the_name() -> None:
    assert name_parts(
        [
            segment("Why do we weigh parcels of the ferry twice", messages=20),
            segment("Print it"),
            segment("Add a test", "Weigh parcels once on the scale"),
        ]
    ) == ["Why do we weigh parcels of the ferry twice"]
    assert name_parts(
        [segment("Stop the double posting of sums", "Ledger rows get a unique key")]
    ) == ["Stop the double posting of sums"]


def test_a_question_is_replaced_by_what_was_committed() -> None:
    assert name_parts(
        [segment("Where should we keep settings?", "Keep settings in a JSON file")]
    ) == ["Keep settings in a JSON file"]
    assert name_parts([segment("Where should we keep settings?")]) == [
        "Where should we keep settings?"
    ]


def test_a_problem_without_a_subject_is_replaced_by_what_was_committed() -> None:
    problem = "Something broke streaming"
    assert name_parts([segment(problem)]) == [problem]
    found = name_parts(
        [segment(problem, "fix: repair streaming by polling less often")]
    )
    assert found == ["Repair streaming by polling less often"]


def test_parts_that_differ_in_their_numbers_are_two() -> None:
    names = ["Raise the timeout of service 1", "Raise the timeout of service 2"]
    assert name_parts([*map(segment, names)]) == names


def test_the_first_commit_that_says_enough_names_a_part() -> None:
    commits = ("Wip", "Weigh parcels on two scales", "Add a changelog entry")
    assert name_parts([segment("Why two scales?", *commits)]) == [
        "Weigh parcels on two scales"
    ]


def test_a_segment_that_is_named_by_its_main_commit_names_its_part() -> None:
    commits = ("Enforce roles in the ledger", "Fix the tier that the page shows")
    assert name_parts([segment(commits[1], *commits)]) == [commits[1]]


def test_a_list_of_calls_is_replaced_by_the_outcome_and_files() -> None:
    calls = "Edited ledger.py; ran pytest"
    assert name_parts([segment(calls, outcome="The ledger adds cents.")]) == [
        "The ledger adds cents"
    ]
    files = "ledger.py +3 −1, sums.py +1, tax.py −2, 2 more"
    changed = segment(calls, outcome="The ledger adds cents.", files=files)
    assert name_parts([changed]) == ["The ledger adds cents (ledger.py, sums.py)"]
    assert name_parts([segment(calls)]) == ["Edited ledger.py, ran pytest"]


def test_the_largest_group_by_files_is_named_first_then_another_group() -> None:
    found = name_parts(
        [
            segment("Sort the imports of Python", "Sort them", messages=20),
            segment("Stream the replies of agents", "Stream", files="chat.py +4"),
            segment("Handle aborts of requests", "Abort", files="chat.py +1 −1"),
            segment("Buffer half lines of text", "Buffer", files="chat.py, 2 more"),
        ]
    )
    assert found == [
        "Stream the replies of agents",
        "Sort the imports of Python",
        "Handle aborts of requests",
        "Buffer half lines of text",
    ]


def test_names_contain_no_separators() -> None:
    assert name_parts([segment("Round invoices — once; export them")]) == [
        "Round invoices: once, export them"
    ]


def test_commits_and_changed_files_count_as_effort() -> None:
    plain, commit = segment("Round invoices"), segment("Round invoices", "Round once")
    change = segment("Round invoices", files="ledger.py +1")
    efforts = [session_work.measure_effort(one) for one in (plain, change, commit)]
    assert efforts == sorted(efforts) and len(set(efforts)) == len(efforts)
