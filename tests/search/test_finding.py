"""What a query finds in an index: filters, forms, phrases, where a wide hit leads."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memtui.memory import looking, queries, scores
from memtui.memory.hits import Found, HitKind, Match
from memtui.memory.scores import Part
from memtui.memory.toc import TocLevel
from memtui.search import documents, gathering
from memtui.search.documents import LEAF, Document, mark
from memtui.search.index import Index

DAY = datetime(2025, 3, 10, tzinfo=UTC)


def document(
    name: str,
    text: str,
    *,
    part: Part = Part.BULLETS,
    level: TocLevel = TocLevel.SEGMENT,
    day: int = 0,
    days: int = 0,
    marks: Iterable[str] = (),
) -> Document:
    began = DAY + timedelta(days=day)
    ended = began + (timedelta(days=days) or timedelta(minutes=20))
    own = [mark(documents.LEVEL, level)]
    own += [LEAF] if level is TocLevel.SEGMENT else []
    return Document(
        HitKind.NODE,
        name,
        name,
        ((part, text),),
        level,
        (*own, *marks),
        began,
        ended,
    )


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    """An empty index."""
    made = Index(tmp_path / "index")
    made.make("fed")
    yield made
    made.close()


def find(
    index: Index,
    query: str,
    limit: int = 50,
    *,
    is_exact: bool = True,
    is_recent_first: bool = False,
) -> Found:
    how = {"is_exact": is_exact, "is_recent_first": is_recent_first}
    return index.find(queries.read(query, UTC), limit, among=None, **how)


def found(index: Index, query: str, limit: int = 50, **how: bool) -> list[str]:
    return [match.target_id for match in find(index, query, limit, **how).matches]


def score(index: Index, query: str, name: str) -> float:
    matches: dict[str, Match] = {m.target_id: m for m in find(index, query).matches}
    return matches[name].score


# Forms


def test_the_word_as_it_stands_comes_before_another_form_of_it(index: Index) -> None:
    index.put(
        [
            document("stem", "the ferry connects"),
            document("exact", "the ferry connection"),
            document("more", "the connected ferries"),
        ],
        [],
    )
    assert found(index, "connection ")[0] == "exact"
    assert score(index, "connection ", "stem") == pytest.approx(
        score(index, "connection ", "exact") * scores.STEMMED
    )


def test_an_identifier_as_it_stands_comes_before_its_parts(index: Index) -> None:
    index.put(
        [
            document("parts", "the user got a name by id"),
            document("whole", "then getUserById fails"),
        ],
        [],
    )
    assert found(index, "getUserById ") == ["whole", "parts"]
    assert "whole" in found(index, "UserById ")
    assert found(index, "getUserB") == ["whole"]


def test_the_commonest_ways_to_go_on_are_looked_up(index: Index) -> None:
    words = [f"zebra{letter}" for letter in "bcfghjkmnpqtvwz"]
    often = [document(f"often{i}", "the zebrax ran") for i in range(9)]
    index.put([*often, *(document(word, word) for word in words)], [])
    assert set(found(index, "zebr")) >= {one.target_id for one in often}
    assert len(find(index, "zebr").matches) == len(often) + scores.EXPANSIONS - 1


def test_a_finished_word_comes_before_one_that_goes_on(index: Index) -> None:
    index.put([document("long", "tokenizer"), document("short", "token")], [])
    assert found(index, "token") == ["short", "long"]
    assert found(index, "token ") == ["short"]
    assert found(index, "token* x ") == ["short", "long"]


# Conditions


def test_filters_leave_out_what_is_not_asked_for(index: Index) -> None:
    agent, project, has = documents.AGENT, documents.PROJECT, documents.HAS
    index.put(
        [
            document("a", "ferry", marks=[mark(agent, "codex"), mark(has, "weak")]),
            document("b", "ferry", marks=[mark(agent, "gemini")], day=1),
            document("c", "ferry", marks=[mark(project, "shop, inc.")], day=2),
            document("d", "ferry", level=TocLevel.DAY, day=2, days=1),
            document("e", "ferry", marks=[mark(documents.BY, "model")], day=40),
        ],
        [],
    )
    asked = {
        "agent:codex": "a",
        "agent:code": "",
        'project:"shop, inc."': "c",
        "level:day": "d",
        "level:day,segment": "abcde",
        "level:week": "",
        "has:weak": "a",
        "has:weak,supported": "a",
        "by:model": "e",
        "after:2025-03-12": "cde",
        "after:2025-04": "e",
        "before:2025-03-12": "ab",
        "before:2025-03-10": "",
        "after:2025-03-11 before:2025-03-12": "b",
        "agent:codex after:2025-03-11": "",
    }
    for said, names in asked.items():
        assert sorted(found(index, f"{said} ferry ")) == sorted(names), said


def test_a_filter_holds_for_what_is_deleted_and_what_is_new(index: Index) -> None:
    index.put([document("a", "ferry"), document("b", "ferry", day=1)], [])
    assert sorted(found(index, "after:2025-03-10 ferry")) == ["a", "b"]
    index.put([document("c", "ferry", day=1)], ["b"])
    assert sorted(found(index, "after:2025-03-10 ferry")) == ["a", "c"]
    assert found(index, "after:2025-03-11 ferry") == ["c"]


def test_only_the_nodes_that_are_named_are_found(index: Index) -> None:
    index.put([document(name, "ferry") for name in "abc"], [])
    asked = queries.read("ferry", UTC)
    some = index.find(asked, 9, among=["b", "x"]).matches
    assert [match.target_id for match in some] == ["b"]
    assert index.find(asked, 9, among=[]).matches == ()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("ferry -harbour", "c"),
        ("ferry -harb*", "c"),
        ("ferry -harbourmaster", "ac"),
        ("ferry -zeppelin", "abc"),
        ("ferry -rf", "abc"),
    ],
)
def test_what_must_not_be_there_is_left_out(
    index: Index, query: str, names: str
) -> None:
    texts = {"a": "ferry harbour", "b": "ferry harbours harbourmaster", "c": "ferry"}
    index.put([document(name, text) for name, text in texts.items()], [])
    assert "".join(sorted(found(index, query))) == names


def test_all_words_of_a_phrase_must_be_there(index: Index) -> None:
    texts = {"a": "red ferry", "b": "ferry", "c": "the ferry was painted red"}
    index.put([document(name, text) for name, text in texts.items()], [])
    assert sorted(found(index, '"red ferry"')) == ["a", "c"]
    assert sorted(found(index, '"red ferry"', is_exact=False)) == ["a", "b", "c"]


# Order


def test_recent_first_halves_what_is_old_and_sorts_nothing_by_time_alone(
    index: Index,
) -> None:
    index.put(
        [
            document("old", "the ferry"),
            document("new", "the ferry", day=300),
            document("newest", "the ferry" + " and all that is besides" * 9, day=301),
        ],
        [],
    )
    assert found(index, "ferry ")[2] == "newest"
    assert found(index, "ferry ", is_recent_first=True) == ["new", "newest", "old"]
    plain = {m.target_id: m.score for m in find(index, "ferry ").matches}
    aged = find(index, "ferry ", is_recent_first=True).matches
    for match in aged:
        days = {"old": 301, "new": 1, "newest": 0}[match.target_id]
        expected = plain[match.target_id] * scores.recency(days)
        assert match.score == pytest.approx(expected, rel=1e-4)


def test_what_is_recent_is_found_even_where_much_that_is_old_scores_higher(
    index: Index,
) -> None:
    old = [document(f"old{i}", "ferry", part=Part.TITLE) for i in range(40)]
    index.put([*old, document("new", "ferry", day=400)], [])
    assert "new" not in found(index, "ferry", 5)
    assert found(index, "ferry", 5, is_recent_first=True)[0] == "new"


def test_equals_come_in_an_order_that_never_changes(index: Index) -> None:
    index.put([document(f"n{i}", "ferry", day=i % 7) for i in range(40)], [])
    first = found(index, "ferry", 10)
    assert first == found(index, "ferry", 10) == found(index, "ferry", 40)[:10]
    assert first == [f"n{i}" for i in range(39, 29, -1)]


def test_a_wide_node_leads_to_the_segment_in_it_that_answers_best(
    index: Index,
) -> None:
    index.put(
        [
            document("week", "ferry quay", level=TocLevel.WEEK, days=7),
            document("next", "ferry quay", level=TocLevel.WEEK, day=7, days=7),
            document("first", "the ferry", day=0),
            document("both", "the ferry at the quay", day=3),
            document("better", "ferry quay", part=Part.TITLE, day=8),
            document("empty", "nothing of that", day=15),
            document("wide", "quay", level=TocLevel.DAY, day=15, days=1),
        ],
        [],
    )
    for query in ("ferry quay ", "level:week,day ferry quay "):
        leads = {m.target_id: m.leads_to for m in find(index, query).matches}
        assert leads["week"] == "both"
        assert leads["next"] == "better"
        assert leads["wide"] == "wide"
        assert leads.get("both", "both") == "both"


# Much of it


def name(number: int) -> str:
    """A word that has no parts and no other form."""
    return f"q{chr(97 + number // 26)}{chr(97 + number % 26)}"


def many(count: int) -> list[Document]:
    return [
        document(
            f"n{i:04}",
            " ".join(["file"] * (i % 3) + ["test"] * (i % 5) + ["code", name(i % 97)]),
            part=Part.TITLE if i % 50 == 0 else Part.BULLETS,
            day=i,
        )
        for i in range(count)
    ]


@pytest.mark.parametrize(
    "query",
    ["file test ", f"{name(5)} file test code ", "code ", f"{name(12)} q", "fi te co"],
)
def test_less_work_finds_the_same(
    index: Index, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be among the best is left out, and nothing else."""
    everything = many(1200)
    for start in range(0, 1200, 300):
        index.put(everything[start : start + 300], [])
    whole = [(m.target_id, m.score) for m in find(index, query, 2000).matches]
    monkeypatch.setattr(gathering, "WORTH_ASKING", 10)
    few = find(index, query, 15)
    assert few.left_out == ()
    expected = [value for _, value in whole[:15]]
    assert [match.score for match in few.matches] == pytest.approx(expected)


def test_more_than_is_to_be_read_is_said_to_be_left_out(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.put(many(600), [])
    monkeypatch.setattr(gathering, "WORTH_ASKING", 10)
    monkeypatch.setattr(gathering, "POSTINGS", 100)
    alone = find(index, "test ", 200)
    assert alone.left_out == ("test",)
    assert len(alone.matches) == 100
    assert {m.target_id for m in alone.matches} <= {f"n{i:04}" for i in range(450, 600)}
    assert find(index, "test ", 200) == alone
    rare = find(index, f"{name(5)} test ", 200)
    assert rare.left_out == ("test",)
    assert all(int(m.target_id[1:]) % 97 == 5 for m in rare.matches)
    assert find(index, f"{name(5)} {name(6)} ", 200).left_out == ()


def test_a_score_is_what_the_document_itself_gives(index: Index) -> None:
    everything = many(200)
    index.put(everything, [])
    asked = queries.read(f"{name(7)} file te", UTC)
    units = index.units(asked)
    assert [unit.term for unit in units] == [name(7), "file", "te"]
    for match in index.find(asked, 500).matches:
        of = next(one for one in everything if one.target_id == match.target_id)
        own = scores.score(units, scores.fits(of.said, of.level))
        assert match.score == pytest.approx(own, rel=1e-5)
    assert len(units) <= looking.TERMS


def test_small_pieces_are_merged_and_large_ones_left(
    index: Index, tmp_path: Path
) -> None:
    folder = tmp_path / "index"
    index.put(many(100), [])
    for i in range(60):
        index.put([document(f"x{i}", f"ferry number{i}")], [f"n{i:04}", f"x{i - 1}"])
        assert len(list(folder.glob("*.seg"))) <= 12
    assert found(index, "ferry") == ["x59"]
    assert index.count() == 41
    assert len(found(index, f"{name(70)} {name(71)} {name(72)} ")) == 3
    assert not list(folder.glob("*.tmp"))


# Misspelt


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("refersh tokens ", "refresh tokens "),
        ("the refrsh ", "the refresh "),
        ("ivoice ", "invoice "),
        ("invioces ", "invoices "),
        ("timteabel ", "timetable "),
        ("refresh ", ""),
        ("refr", ""),
        ("zzzzzzz ", ""),
        ("xyz ", ""),
        ("get_usr_name ", "get_user_name "),
        ("agent:codx refersh ", "agent:codx refresh "),
        ("12345678 ", ""),
        ("評審 ", ""),
    ],
)
def test_a_misspelt_word_is_put_right(index: Index, query: str, meant: str) -> None:
    text = "refresh the token, tokens of invoices in the timetable; get_user_name"
    index.put([document("a", text), document("b", "an invoice")], [])
    asked = queries.read(query, UTC)
    assert index.suggestion(asked, has_few=False) == meant


def test_the_commoner_of_two_near_words_is_meant(index: Index) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(5)]
    index.put([*often, document("x", "a hardour")], [])
    asked = queries.read("haxbour ", UTC)
    assert index.suggestion(asked, has_few=False) == "harbour "


def test_a_rare_word_is_only_doubted_where_little_is_found(index: Index) -> None:
    often = [document(f"n{i}", "a harbour") for i in range(20)]
    index.put([*often, document("x", "a hardour")], [])
    asked = queries.read("hardour ", UTC)
    assert index.suggestion(asked, has_few=False) == ""
    assert index.suggestion(asked, has_few=True) == "harbour "


@settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.sampled_from(['"', "-", "*", ":", "agent:", "after:2025", "評審", " "]))
    .flatmap(lambda signs: st.tuples(st.just(signs), st.text(max_size=30)))
    .map(lambda told: "".join(told[0]) + told[1])
)
def test_any_string_is_answered_in_order(index: Index, query: str) -> None:
    if not index.count():
        index.put(many(30), [])
    asked = queries.read(query, UTC)
    answered = index.find(asked, 10).matches
    values = [match.score for match in answered]
    assert values == sorted(values, reverse=True)
    assert all(0 < value < 1 for value in values)
    assert isinstance(index.suggestion(asked, has_few=True), str)
