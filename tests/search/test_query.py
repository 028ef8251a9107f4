"""Parsing queries: any string is a query, and text that is not syntax is text."""

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


def parse(text: str) -> Query:
    return search_query.parse(text, UTC)


def parse_words(text: str) -> list[str]:
    return [word.text for word in parse(text).words]


def test_words_are_searched_by_their_stem() -> None:
    assert parse("running tests ").terms == ("run", "test")


def test_identifier_is_a_word_with_all_its_parts() -> None:
    (word,) = parse("getUserName ").words
    assert word.terms == ("user", "name")
    assert word.exact == "getusername"


def test_word_keeps_the_typed_form() -> None:
    (word,) = parse("running ").words
    assert (word.terms, word.exact) == (("run",), "running")
    assert parse("run ").words[0].exact == ""


@pytest.mark.parametrize(
    ("text", "prefixes"),
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
def test_unfinished_word_is_a_prefix(text: str, prefixes: set[str]) -> None:
    assert parse(text).prefixes == prefixes


def test_beginning_of_a_hash_is_a_prefix() -> None:
    (word,) = parse("1a2b3c4d ").words
    assert (word.terms, word.is_prefix) == (("1a2b3c4d",), True)


def test_stop_words_are_used_only_if_there_are_no_others() -> None:
    assert parse_words("what did we decide about the retries") == ["decide", "retries"]
    assert parse_words("what was it") == ["what", "was", "it"]


def test_repeated_word_is_searched_once() -> None:
    assert parse_words("retry Retry retried ") == ["retried"]


def test_quoted_words_must_occur_as_they_are() -> None:
    query = parse('can\'t open "a/b.py"')
    assert query.phrases == ("a/b.py",)
    assert "a/b.py" in [word.text for word in query.words]
    assert query.matches("It can't open A/B.py now")
    assert not query.matches("It can't open a and b.py")


def test_unbalanced_quote_is_text() -> None:
    query = parse('print "retry')
    assert (query.phrases, query.terms) == ((), ("print", "retri"))


def test_quoted_punctuation_is_a_phrase_without_words() -> None:
    query = parse('"=> {"')
    assert (query.words, query.phrases) == ((), ("=> {",))
    assert not query.is_empty


def test_word_after_a_hyphen_is_excluded() -> None:
    query = parse('retries -backoff -"circuit breaker"')
    assert query.terms == ("retri",)
    assert query.matches("Retries were added.")
    assert not query.matches("Retries with back-off and backoffs")
    assert not query.matches("Retries behind a circuit breaker")


@pytest.mark.parametrize("text", ["rm -rf build", "git push --force", "a - b", "-"])
def test_flags_and_lone_hyphens_are_text(text: str) -> None:
    query = parse(text)
    assert (query.excluded, query.excluded_phrases, query.hints) == ((), (), ())


def test_excluded_prefix_excludes_all_its_words() -> None:
    query = parse("retries -back*")
    assert not query.matches("Retries with backpressure")
    assert query.matches("Retries with a pause")


def test_filters_are_parsed() -> None:
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


def test_typed_filter_replaces_a_given_one() -> None:
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
def test_invalid_filter_is_ignored_and_reported(text: str, hint: str) -> None:
    query = parse(f"retries {text}")
    assert query.filters == Filters()
    assert query.terms == ("retri",)
    (sentence,) = query.hints
    assert hint in sentence


@pytest.mark.parametrize("text", ["std::vec", "http://a.b/c", "foo:bar", "10:30"])
def test_colon_without_a_filter_is_text(text: str) -> None:
    query = parse(text)
    assert query.filters == Filters()
    assert query.words


def test_long_query_is_cut_with_a_hint() -> None:
    query = parse(" ".join(f"word{n}x" for n in range(3_000)))
    assert len(query.words) == search_query.MAX_WORDS
    assert len(query.hints) == 2


@given(st.text(max_size=300))
def test_any_string_is_a_query(text: str) -> None:
    query = parse(text)
    assert all(word.terms for word in query.words)
    query.matches(text)


@given(st.text(alphabet='ab1 "-*:#評审ก.', max_size=60))
def test_any_use_of_syntax_is_a_query(text: str) -> None:
    query = parse(text)
    assert all(all(word.terms) for word in query.words)
    assert query.is_empty == (not query.words and not query.phrases)


def test_name_of_a_filter_without_a_colon_is_a_word() -> None:
    query = parse("token -session role")
    assert [word.text for word in query.excluded] == ["session"]
    assert [word.text for word in query.words] == ["token", "role"]
    assert query.hints == ()
    assert parse("-session:x").hints


def test_the_terms_of_phrases_are_separate() -> None:
    query = parse('token "the getUserName fails" -"old one"')
    assert query.phrase_terms == ("user", "name", "fail")
    assert parse("token").phrase_terms == ()
    assert parse('"the of"').phrase_terms == ()


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("ld: cannot find -lzanzibar", "ld: cannot find lzanzibar"),
        ('why -"first draft" of -I/usr/include', 'why "first draft" of I/usr/include'),
        (
            '"cannot find -lzanzibar" -rf --force',
            '"cannot find -lzanzibar" -rf --force',
        ),
        ("left - right -level:day", "left - right -level:day"),
    ],
)
def test_question_excludes_nothing(question: str, query: str) -> None:
    assert search_query.read_question(question) == query
    parsed = parse(query)
    assert not (parsed.excluded or parsed.excluded_phrases)
