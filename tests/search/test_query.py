"""Any string is a query; what is not syntax is text."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.calendar import TocLevel
from memtui.model.events import EventRole
from memtui.model.filters import Filters, Scope, SummarizerKind
from memtui.model.verdicts import Support
from memtui.search import query as search_query
from memtui.search.query import Query

BERLIN = ZoneInfo("Europe/Berlin")


def read(text: str) -> Query:
    return search_query.parse(text, UTC)


def asked(text: str) -> list[str]:
    return [word.text for word in read(text).words]


def test_each_word_is_asked_for_in_its_loosest_form() -> None:
    assert read("running tests ").terms == ("run", "test")


def test_an_identifier_is_one_word_with_all_its_parts() -> None:
    (word,) = read("getUserName ").words
    assert word.terms == ("user", "name")
    assert word.exact == "getusername"


def test_a_word_in_another_form_remembers_how_it_stood() -> None:
    (word,) = read("running ").words
    assert (word.terms, word.exact) == (("run",), "running")
    assert read("run ").words[0].exact == ""


@pytest.mark.parametrize(
    ("text", "begun"),
    [
        ("token refr", {"refr"}),
        ("token refr ", set()),
        ("token refr?", set()),
        ("refr* token ", {"refr"}),
        ("getUserNam", {"nam"}),
        ("getUserNa", {"getuserna"}),
        ("retries", {"retries"}),
    ],
)
def test_a_word_may_go_on_where_typing_has_not_ended(
    text: str, begun: set[str]
) -> None:
    assert read(text).prefixes == begun


def test_the_beginning_of_a_hash_finds_the_whole_of_it() -> None:
    (word,) = read("1a2b3c4d ").words
    assert (word.terms, word.is_prefix) == (("1a2b3c4d",), True)


def test_stop_words_are_left_out_unless_there_is_nothing_else() -> None:
    assert asked("what did we decide about the retries") == ["decide", "retries"]
    assert asked("what was it") == ["what", "was", "it"]


def test_a_word_said_twice_is_asked_for_once() -> None:
    assert asked("retry Retry retried ") == ["retried"]


def test_words_in_quotes_must_stand_there_as_they_are() -> None:
    query = read('can\'t open "a/b.py"')
    assert query.phrases == ("a/b.py",)
    assert "a/b.py" in [word.text for word in query.words]
    assert query.matches("It can't open A/B.py now")
    assert not query.matches("It can't open a and b.py")


def test_an_unbalanced_quote_is_text() -> None:
    query = read('print "retry')
    assert (query.phrases, query.terms) == ((), ("print", "retri"))


def test_quoted_punctuation_is_a_phrase_without_words() -> None:
    query = read('"=> {"')
    assert (query.words, query.phrases) == ((), ("=> {",))
    assert not query.is_empty


def test_what_follows_a_hyphen_must_not_be_there() -> None:
    query = read('retries -backoff -"circuit breaker"')
    assert query.terms == ("retri",)
    assert query.matches("Retries were added.")
    assert not query.matches("Retries with back-off and backoffs")
    assert not query.matches("Retries behind a circuit breaker")


@pytest.mark.parametrize("text", ["rm -rf build", "git push --force", "a - b", "-"])
def test_flags_and_lone_hyphens_are_text(text: str) -> None:
    query = read(text)
    assert (query.excluded, query.excluded_phrases, query.hints) == ((), (), ())


def test_an_excluded_beginning_excludes_whatever_begins_so() -> None:
    query = read("retries -back*")
    assert not query.matches("Retries with backpressure")
    assert query.matches("Retries with a pause")


def test_filters_narrow_what_is_looked_through() -> None:
    query = search_query.parse(
        'retries agent:codex project:"my shop" role:user level:day,week'
        " has:unsupported by:model after:2025-03 before:2025-04-02 session:01AB",
        BERLIN,
    )
    assert query.terms == ("retri",)
    assert query.filters == Filters(
        scope=Scope("codex", "my shop"),
        session="01AB",
        role=EventRole.USER,
        levels=frozenset({TocLevel.DAY, TocLevel.WEEK}),
        support=frozenset({Support.UNSUPPORTED}),
        summarizer_kind=SummarizerKind.MODEL,
        since=datetime(2025, 3, 1, tzinfo=BERLIN),
        until=datetime(2025, 4, 2, tzinfo=BERLIN),
    )
    assert query.hints == ()


def test_a_filter_that_is_typed_goes_before_one_that_holds_besides() -> None:
    given = Filters(scope=Scope("codex", "shop"), role=EventRole.USER)
    query = search_query.parse("retries agent:aider", UTC, given)
    assert query.filters == Filters(scope=Scope("aider", "shop"), role=EventRole.USER)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("level:dya", "level: takes levels"),
        ("after:2025-13", "after: takes a date, or words for one"),
        ("before:soon", "before: takes"),
        ("role:boss", "role: takes"),
        ("-agent:codex", "a filter says what to keep"),
    ],
)
def test_an_invalid_filter_is_ignored_and_reported(text: str, hint: str) -> None:
    query = read(f"retries {text}")
    assert query.filters == Filters()
    assert query.terms == ("retri",)
    (said,) = query.hints
    assert hint in said


@pytest.mark.parametrize("text", ["std::vec", "http://a.b/c", "foo:bar", "10:30"])
def test_what_is_no_filter_is_text(text: str) -> None:
    query = read(text)
    assert query.filters == Filters()
    assert query.words


def test_a_long_query_is_cut_and_a_note_says_so() -> None:
    query = read(" ".join(f"word{n}x" for n in range(3_000)))
    assert len(query.words) == search_query.MAX_WORDS
    assert len(query.hints) == 2


@given(st.text(max_size=300))
def test_any_string_is_a_query(text: str) -> None:
    query = read(text)
    assert all(word.terms for word in query.words)
    query.matches(text)


@given(st.text(alphabet='ab1 "-*:#評审ก.', max_size=60))
def test_any_play_with_the_grammar_is_a_query(text: str) -> None:
    query = read(text)
    assert all(all(word.terms) for word in query.words)
    assert query.is_empty == (not query.words and not query.phrases)


def test_a_word_that_names_a_filter_is_a_word_without_its_colon() -> None:
    asked = search_query.parse("token -session role", UTC)
    assert [word.text for word in asked.excluded] == ["session"]
    assert [word.text for word in asked.words] == ["token", "role"]
    assert asked.hints == ()
    assert search_query.parse("-session:x", UTC).hints


def test_the_terms_of_phrases_are_separate() -> None:
    asked = search_query.parse('token "the getUserName fails" -"old one"', UTC)
    assert asked.phrase_terms == ("user", "name", "fail")
    assert search_query.parse("token", UTC).phrase_terms == ()
    assert search_query.parse('"the of"', UTC).phrase_terms == ()
