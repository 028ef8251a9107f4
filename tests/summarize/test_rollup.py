"""Days list pieces of work, longer periods their projects."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from memtui.model.calendar import TocLevel
from memtui.model.nodes import (
    BULLET_CHARS,
    BULLET_COUNTS,
    HEADLINE_CHARS,
    Bullet,
    BulletKind,
    NodeCounts,
    ProjectTotals,
    TocNode,
)
from memtui.model.verdicts import SUPPORTED
from memtui.summarize import rollup

START = datetime(2024, 1, 15, 9, tzinfo=UTC)


def bullet(
    kind: BulletKind, text: str, session: str = "", project: str = "", effort: float = 0
) -> Bullet:
    return Bullet(text, (f"grip:{text}",), SUPPORTED, kind, project, session, effort)


def segment(
    at: int,
    headline: str,
    outcome: str = "",
    *,
    session: str = "",
    project: str = "shop",
    state: str = "done",
    commits: tuple[str, ...] = (),
    messages: int = 10,
) -> TocNode:
    session = session or f"session-{at}"
    bullets = [bullet(BulletKind.OUTCOME, outcome, session, project)] if outcome else []
    bullets += [bullet(BulletKind.COMMIT, one, session, project) for one in commits]
    bullets.append(bullet(BulletKind.STATE, state, session, project))
    return node(TocLevel.SEGMENT, at, headline, *bullets, messages=messages)


def node(
    level: TocLevel, at: int, headline: str, *bullets: Bullet, messages: int = 10
) -> TocNode:
    return TocNode(
        node_id=f"toc:{level}:{at}",
        level=level,
        title=headline,
        start_time=START + timedelta(hours=at),
        end_time=START + timedelta(hours=at, minutes=30),
        bullets=bullets,
        headline=headline,
        projects=tuple(dict.fromkeys(one.project for one in bullets)),
        counts=NodeCounts(segments=1, messages=messages),
    )


def texts(level: TocLevel, *children: TocNode) -> list[str]:
    return [one.text for one in rollup.summarize_children(level, children).bullets]


def headline(level: TocLevel, *children: TocNode) -> str:
    return rollup.summarize_children(level, children).title


def test_a_day_lists_its_sessions_with_name_outcome_and_state() -> None:
    day = (
        segment(0, "Round invoices once", "Ledger.total rounds.", state="pushed"),
        segment(1, "Why is the cache cold?", "Deploys flush it.", state="answered"),
    )
    assert texts(TocLevel.DAY, *day) == [
        "Round invoices once — Ledger.total rounds. (pushed)",
        "Why is the cache cold? — Deploys flush it.",
    ]


def test_segments_of_a_session_are_one_piece_of_work_named_by_the_first() -> None:
    first = segment(0, "Round invoices once", "Started in the ledger.", session="a")
    other = segment(1, "Read gzip files", "Timetables load.", session="b")
    last = segment(2, "Round invoices once (continued)", "All of it.", session="a")
    summary = rollup.summarize_children(TocLevel.DAY, [first, other, last])
    assert [one.text for one in summary.bullets] == [
        "Round invoices once — All of it. (done)",
        "Read gzip files — Timetables load. (done)",
    ]
    assert [one.refs for one in summary.bullets] == [(4, 5), (2, 3)]


def test_a_session_is_named_by_words_rather_than_by_calls() -> None:
    first = segment(0, "Edited ledger.py; ran pytest", session="a")
    last = segment(1, "Round invoices once", session="a")
    assert texts(TocLevel.DAY, first, last) == ["Round invoices once (done)"]


def test_a_session_without_outcomes_ends_with_its_last_commit() -> None:
    first = segment(0, "Round invoices", session="a", commits=("Use cents",))
    last = segment(1, "Ok", session="a")
    assert texts(TocLevel.DAY, first, last) == ["Round invoices — Use cents (done)"]


def test_a_decision_is_an_outcome_rather_than_a_commit() -> None:
    chosen = segment(0, "How should we round?", commits=("Wip",))
    why = "We round once, since cents add up."
    reason = bullet(BulletKind.DECISION, why, "session-0")
    decided = replace(chosen, bullets=(reason, *chosen.bullets))
    assert texts(TocLevel.DAY, decided) == [f"How should we round? — {why} (done)"]
    assert rollup.summarize_children(TocLevel.DAY, [decided]).bullets[0].refs == (0, 2)
    shown = segment(0, "How should we round?", "The ledger rounds now.")
    shown = replace(shown, bullets=(reason, *shown.bullets))
    assert texts(TocLevel.DAY, shown)[0].startswith(
        "How should we round? — The ledger rounds now."
    )


def test_an_answer_after_the_work_is_not_the_outcome_of_a_session() -> None:
    first = segment(0, "Round invoices", "The ledger adds cents.", session="a")
    last = segment(1, "Ok", "A note stays here.", session="a", state="answered")
    assert texts(TocLevel.DAY, first, last) == [
        "Round invoices — The ledger adds cents. (done)"
    ]


def test_an_outcome_that_repeats_the_name_is_left_out() -> None:
    for outcome in (
        "Round the invoices once.",
        "I've successfully implemented the fix: invoices are rounded once.",
    ):
        one = segment(0, "Round invoices once", outcome)
        assert texts(TocLevel.DAY, one) == ["Round invoices once (done)"]


def test_bullets_name_their_project_where_there_are_several() -> None:
    day = (segment(0, "Round invoices once"), segment(1, "Read gzip", project="tide"))
    assert texts(TocLevel.DAY, *day) == [
        "shop: Round invoices once (done)",
        "tide: Read gzip (done)",
    ]
    assert headline(TocLevel.DAY, *day) == (
        "shop: Round invoices once; tide: Read gzip"
    )


def test_a_long_line_keeps_its_project_and_state() -> None:
    outcome = "The totals are rounded once, after all of them were added up " * 5
    day = (
        segment(0, "Round invoices", outcome),
        segment(1, "Read gzip", outcome, project="tide"),
    )
    for line, project in zip(texts(TocLevel.DAY, *day), ("shop", "tide"), strict=True):
        assert line.startswith(f"{project}: ") and line.endswith("… (done)")
        assert len(line) <= BULLET_CHARS


def test_a_long_day_keeps_the_largest_pieces_of_work_in_order() -> None:
    day = [segment(at, f"Work number {at}", messages=at % 11) for at in range(20)]
    most = BULLET_COUNTS[TocLevel.DAY][1]
    found = texts(TocLevel.DAY, *day)
    assert len(found) == most
    assert found == sorted(found, key=lambda text: int(text.split()[2]))
    assert "Work number 10 (done)" in found


def day_node(at: int, *works: Bullet) -> TocNode:
    return node(TocLevel.DAY, at, "A day", *works)


def work(text: str, session: str, project: str = "shop", effort: float = 1) -> Bullet:
    return bullet(BulletKind.WORK, text, session, project, effort)


def test_a_week_lists_projects_with_counts_and_their_work() -> None:
    days = (
        day_node(0, work("shop: Round invoices — In cents. (pushed)", "a", effort=9)),
        day_node(1, work("tide: Read gzip (open)", "b", "tide")),
    )
    totals = {"shop": ProjectTotals(3, 2, 4), "tide": ProjectTotals(1, 1, 0)}
    found = rollup.summarize_children(TocLevel.WEEK, days, totals)
    assert [(one.kind, one.project, one.text) for one in found.bullets] == [
        (BulletKind.PROJECT, "shop", "3 sessions on 2 days, 4 commits"),
        (BulletKind.WORK, "shop", "Round invoices — In cents. (pushed)"),
        (BulletKind.PROJECT, "tide", "1 session"),
        (BulletKind.WORK, "tide", "Read gzip (open)"),
    ]
    assert found.title == "shop: Round invoices; tide: Read gzip"


def test_a_month_does_not_repeat_the_outcomes_of_its_days() -> None:
    weeks = (day_node(0, work("Round invoices — Kept in cents. (pushed)", "a")),)
    assert texts(TocLevel.MONTH, *weeks) == ["Round invoices (pushed)"]


def test_work_on_several_days_is_listed_once_with_its_latest_state() -> None:
    days = (
        day_node(0, work("Round invoices (open)", "a")),
        day_node(1, work("Round invoices (merged)", "a")),
    )
    assert texts(TocLevel.WEEK, *days) == ["Round invoices (merged)"]


def test_every_project_is_named_before_the_largest_gets_more_room() -> None:
    days = [
        day_node(at, work(f"shop: Paint pier {at}", f"s{at}", effort=50 + at))
        for at in range(9)
    ]
    days.append(day_node(9, work("tide: Read gzip timetables", "t", "tide", 1)))
    found = texts(TocLevel.YEAR, *days)
    assert "tide: Read gzip timetables" in found
    assert len(found) == BULLET_COUNTS[TocLevel.YEAR][1]


def test_a_project_has_at_most_seven_pieces_of_work() -> None:
    days = [day_node(at, work(f"Paint pier {at}", f"s{at}")) for at in range(12)]
    assert len(texts(TocLevel.WEEK, *days)) == rollup.MAX_WORKS


def test_work_that_later_work_refers_to_is_important() -> None:
    places = ("Berth", "Crane", "Quay", "Lighthouse", "Dock", "Buoy")
    days = [
        day_node(at, work(f"{name} repaired", f"s{at}", effort=12))
        for at, name in enumerate(places)
    ]
    plan = day_node(0, work("Plan the winter timetable", "p", effort=5))
    done = day_node(9, work("Translate the winter timetable", "t", effort=12))
    assert "Plan the winter timetable" in texts(TocLevel.YEAR, plan, done, *days)


def test_sessions_with_the_same_name_are_one_piece_of_work() -> None:
    days = (
        day_node(0, work("Review the ferry code (open)", "a")),
        day_node(1, work("Review the ferry code (done)", "b")),
    )
    assert texts(TocLevel.WEEK, *days) == ["Review the ferry code (done)"]


def test_a_prod_is_no_work_of_a_week() -> None:
    days = (
        day_node(0, work("continue", "a", effort=3)),
        day_node(1, work("Review the ferry code (done)", "b")),
    )
    assert texts(TocLevel.WEEK, *days) == ["Review the ferry code (done)"]


def test_a_greeting_is_no_work_of_a_week_if_its_project_has_other_work() -> None:
    greeting = work("Helo (open)", "a", effort=9)
    days = (
        day_node(0, greeting),
        day_node(1, work("Read gzip (done)", "b")),
        day_node(2, replace(greeting, project="till", session_id="c")),
    )
    assert texts(TocLevel.WEEK, *days) == [
        "till: Helo (open)",
        "shop: Read gzip (done)",
    ]


def test_the_headline_of_a_week_names_its_project_once() -> None:
    days = (
        day_node(0, work("Round invoices (done)", "a", effort=9)),
        day_node(1, work("Read gzip (open)", "b", effort=5)),
        day_node(2, work("Sweep the mill", "c", "mill", effort=7)),
    )
    assert headline(TocLevel.WEEK, *days) == (
        "shop: Round invoices; Read gzip; mill: Sweep the mill"
    )


def test_a_headline_names_the_projects_whose_work_has_no_room() -> None:
    days = [
        day_node(0, work("Round invoices", "a", effort=90)),
        day_node(1, work("Sweep the mill", "b", "mill", effort=60)),
        day_node(2, work("Paint the boat", "c", "boat", effort=50)),
        day_node(3, work("Weigh every parcel twice " * 4, "d", "kiosk", effort=1)),
    ]
    assert headline(TocLevel.MONTH, *days) == (
        "shop: Round invoices; mill: Sweep the mill; boat: Paint the boat; also kiosk"
    )
    names = ("harbour-exporter", "ledger-archive", "timetable-printer", "hay")
    days += [
        day_node(at, work("Weigh every parcel", f"e{at}", name, effort=1))
        for at, name in enumerate(names, 4)
    ]
    assert headline(TocLevel.MONTH, *days).endswith(
        "; also kiosk, harbour-exporter, ledger-archive, timetable-printer, hay"
    )
    days += [day_node(8, work("Weigh every parcel", "f", "x" * 90, effort=0.5))]
    assert headline(TocLevel.MONTH, *days).endswith(", hay and 1 more")
    days += [day_node(9, work("Weigh every parcel", "g", "y" * 90, effort=2))]
    assert headline(TocLevel.MONTH, *days).endswith("the boat; 7 more projects")


def test_the_longest_names_are_cut_so_that_every_large_project_is_named() -> None:
    long = "Rewrite the harbour exporter, with every option that there ever was before"
    days = (
        day_node(0, work(long, "a", "harbour", effort=9)),
        day_node(1, work(long.replace("harbour", "ledger"), "b", "ledger", effort=8)),
        day_node(2, work("Sweep the mill", "c", "mill", effort=7)),
    )
    assert headline(TocLevel.MONTH, *days) == (
        "harbour: Rewrite the harbour exporter; ledger: Rewrite the ledger exporter; "
        "mill: Sweep the mill"
    )


def test_a_small_project_gets_no_room_of_a_large_one() -> None:
    days = (
        day_node(0, work("Round invoices; Export the ledger", "a", effort=90)),
        day_node(1, work("Sweep the mill", "b", "mill", effort=8)),
        day_node(2, work("Weigh every parcel twice " * 5, "c", "kiosk", effort=7)),
    )
    assert headline(TocLevel.MONTH, *days) == (
        "shop: Round invoices; Export the ledger; mill: Sweep the mill; also kiosk"
    )
    assert headline(TocLevel.MONTH, *days[::2]) == (
        "shop: Round invoices; Export the ledger; also kiosk"
    )


def test_work_without_a_project_is_not_among_that_of_a_project() -> None:
    days = (
        day_node(0, work("Round invoices", "a", effort=9)),
        day_node(1, work("Sweep the mill", "b", "", effort=5)),
    )
    assert headline(TocLevel.MONTH, *days) == "Sweep the mill; shop: Round invoices"


def test_work_that_was_given_up_counts_half() -> None:
    day = (
        segment(0, "Enable HTTP/3", messages=12, state="abandoned"),
        segment(1, "Round invoices", messages=8),
    )
    assert headline(TocLevel.DAY, *day) == "Round invoices; Enable HTTP/3"


def test_a_repeated_name_counts_as_one_later_reference() -> None:
    series = [
        day_node(at, work(f"Add report {at} of the shop", f"r{at}", effort=12))
        for at in range(9)
    ]
    large = day_node(9, work("Round invoices", "a", effort=23))
    assert headline(TocLevel.WEEK, *series, large).startswith("shop: Round invoices")


def test_the_headline_of_a_day_answers_its_question() -> None:
    question = segment(0, "Why does the ledger lose cents?", "It rounds twice.")
    assert headline(TocLevel.DAY, question) == (
        "Why does the ledger lose cents? — It rounds twice."
    )
    order = segment(0, "Explain the ledger", "It rounds twice.")
    assert headline(TocLevel.DAY, order) == "Explain the ledger"
    assert headline(TocLevel.DAY, question, segment(1, "Read gzip")) == (
        "Why does the ledger lose cents?; Read gzip"
    )


def test_a_month_names_the_parts_of_a_session() -> None:
    days = (
        day_node(0, work("Round invoices — In cents. (open)", "a", effort=5)),
        day_node(1, work("Export the ledger; Round invoices (done)", "a", effort=9)),
        day_node(2, work("Read gzip", "b", effort=3)),
    )
    assert headline(TocLevel.MONTH, *days) == (
        "shop: Export the ledger; Read gzip; Round invoices"
    )
    assert texts(TocLevel.MONTH, *days) == [
        "Export the ledger; Round invoices (done)",
        "Read gzip",
    ]


def test_the_bullets_of_a_project_include_the_work_of_the_headline() -> None:
    days = (
        day_node(0, work("continue", "a", effort=90)),
        day_node(1, work("Edited ledger.py; ran pytest", "b", effort=80)),
        day_node(2, work("Round invoices", "c", effort=10)),
        *(day_node(at, work(f"Sweep {at}", f"d{at}", "mill")) for at in range(3, 9)),
    )
    assert headline(TocLevel.YEAR, *days).startswith("shop: Round invoices")
    assert "Round invoices" in " ".join(texts(TocLevel.YEAR, *days))


def test_each_project_has_three_pieces_of_work() -> None:
    days = [
        day_node(at, work(f"Sweep the mill {at}", f"{name}{at}", name, effort=effort))
        for effort, name in ((50, "shop"), (5, "mill"), (1, "boat"))
        for at in range(4)
    ]
    found = rollup.summarize_children(TocLevel.YEAR, days).bullets
    assert [one.project for one in found] == ["shop"] * 3 + ["mill"] * 3 + ["boat"] * 3


def test_a_headline_leaves_out_small_work() -> None:
    days = (
        day_node(0, work("Round invoices (done)", "a", effort=90)),
        day_node(1, work("Reply with exactly OK", "b", effort=2)),
    )
    assert headline(TocLevel.WEEK, *days) == "shop: Round invoices"


def test_long_names_are_shortened_for_a_second_project() -> None:
    long = "Rewrite the harbour exporter, with every option that there ever was before"
    days = (
        day_node(0, work(long, "a", effort=9)),
        day_node(
            1, work("Sweep the mill before the grain of the year comes", "b", "m")
        ),
    )
    found = headline(TocLevel.YEAR, *days)
    assert found.startswith("shop: Rewrite the harbour exporter") and "; m: " in found


def test_a_request_that_begins_with_read_is_a_name() -> None:
    first = segment(0, "Read the research and the resources directories", session="a")
    last = segment(1, "Playwright agent feels implausible?", session="a")
    assert headline(TocLevel.DAY, first, last).startswith(first.headline)


def test_the_headline_of_a_single_session_names_its_other_parts_as_they_fit() -> None:
    day = (
        segment(0, "Round invoices once", session="a"),
        segment(1, "Round invoices once (continued)", session="a", messages=40),
        segment(2, "Rounding of invoices", session="a", messages=40),
        segment(3, "Log in with a passkey", session="a", messages=15),
        segment(4, "Export the ledger as CSV", session="a", messages=30),
        segment(5, "Print the receipts", session="a", messages=2),
    )
    assert headline(TocLevel.DAY, *day) == (
        "Round invoices once; Export the ledger as CSV; Log in with a passkey"
    )
    long = segment(6, "Pay by card and in cash at every till " * 4, session="b")
    assert headline(TocLevel.DAY, *day[:1], long).startswith(
        "Round invoices once; Pay by card and in cash"
    )
    other = segment(7, "Read gzip", session="b", messages=30)
    assert headline(TocLevel.DAY, *day, other) == (
        "Round invoices once; Read gzip; Export the ledger as CSV; "
        "Log in with a passkey"
    )


def test_a_headline_names_work_rather_than_calls() -> None:
    day = (
        segment(0, "Edited ledger.py; ran pytest", messages=90),
        segment(1, "Round invoices once", messages=3),
    )
    assert headline(TocLevel.DAY, *day).startswith("Round invoices once")


def test_a_headline_is_limited_and_deterministic() -> None:
    day = [
        segment(at, f"Rewrite the {name} exporter with every option there ever was")
        for at, name in enumerate(["ledger", "router", "mailer", "queue", "search"])
    ]
    found = headline(TocLevel.DAY, *day)
    assert 0 < len(found) <= HEADLINE_CHARS
    assert found == headline(TocLevel.DAY, *day)


def test_no_children_give_an_empty_summary() -> None:
    summary = rollup.summarize_children(TocLevel.DAY, [])
    assert (summary.title, summary.bullets) == ("", ())


def test_an_answer_after_work_was_pushed_does_not_change_its_state() -> None:
    first = segment(0, "Round invoices", session="a", state="pushed")
    last = segment(1, "Round invoices (continued)", session="a", state="answered")
    assert texts(TocLevel.DAY, first, last) == ["Round invoices (pushed)"]


def test_a_name_with_a_dash_stays_whole_in_a_month() -> None:
    day = segment(0, "Invoices — totals", "Cents are added first.")
    (line,) = texts(TocLevel.DAY, day)
    assert line == "Invoices: totals — Cents are added first. (done)"
    week = day_node(0, work(line, "a"))
    assert texts(TocLevel.MONTH, week) == ["Invoices: totals (done)"]


def test_a_name_keeps_its_parentheses_in_longer_periods() -> None:
    days = (day_node(0, work("Set the CSP (Content Security Policy) (done)", "a")),)
    assert headline(TocLevel.MONTH, *days) == (
        "shop: Set the CSP (Content Security Policy)"
    )
    days = (day_node(0, work("Set the CSP (of the shop) — In one file (twice)", "a")),)
    found = rollup.summarize_children(TocLevel.MONTH, days)
    assert [one.text for one in found.bullets] == ["Set the CSP (of the shop)"]


def test_small_work_is_left_out_beside_large_work_on_the_project() -> None:
    days = (
        day_node(
            0,
            work("shop: Round invoices (done)", "a", effort=90),
            work("shop: Say hello to the agent", "b", effort=2),
            work("tide: Read one gzip file", "c", "tide", effort=2),
        ),
    )
    found = rollup.summarize_children(TocLevel.WEEK, days)
    assert [one.text for one in found.bullets] == [
        "shop: Round invoices (done)",
        "tide: Read one gzip file",
    ]


def test_work_named_by_its_outcome_does_not_repeat_it() -> None:
    name = "The hydration error came from the key of the counter"
    outcome = f"{name}; it now uses a stable id, so both sides render the same markup."
    (line,) = texts(TocLevel.DAY, segment(0, name, outcome))
    assert line == f"{name} (done)"
