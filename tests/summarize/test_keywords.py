"""Keywords of segments and nodes."""

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventType
from memtui.model.nodes import MAX_KEYWORDS, Keyword
from memtui.summarize import keywords
from memtui.text import analyzer

START = datetime(2024, 1, 15, 9, tzinfo=UTC)


def said(
    text: str,
    at: int = 0,
    kind: EventType = EventType.USER_MESSAGE,
    tool_name: str = "",
) -> Event:
    return events.make(
        agent="claude-code",
        session_id="s1",
        timestamp=START + timedelta(seconds=at),
        event_type=kind,
        text=text or "-",
        source_key=str(at),
        metadata={"tool_name": tool_name} if tool_name else {},
    )


def called(text: str, at: int = 0) -> Event:
    tool = text.partition(":")[0]
    return said(text, at, EventType.TOOL_RESULT, tool)


def words_of(row: tuple[Keyword, ...]) -> list[str]:
    return [keyword.word for keyword in row]


def found_in(*texts: str, proposed: tuple[str, ...] = ()) -> list[str]:
    run = [said(text, at) for at, text in enumerate(texts)]
    return words_of(keywords.segment_keywords(run, proposed))


def rated(*row: str) -> list[Keyword]:
    return [Keyword(word, 2 - at / 10) for at, word in enumerate(row)]


# Words that may be keywords


def test_names_rank_before_plain_words() -> None:
    text = "The redirect in src/auth/session.py raises a KeyError in loadToken"
    assert set(found_in(text)[:3]) == {"session.py", "KeyError", "loadToken"}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("src/auth/session.py", "session.py"),
        ("@docs/notes.md", "notes.md"),
        ("@chakra-ui/react", "@chakra-ui/react"),
        ("this.loadToken", "loadToken"),
        ("record_id", "record_id"),
        ("Harbour's", "Harbour"),
        (".gitignore", "gitignore"),
        ("gpt-5", "gpt-5"),
    ],
)
def test_names_stay_whole_without_folders_and_marks(text: str, word: str) -> None:
    assert found_in(text) == [word]


@pytest.mark.parametrize(
    "text",
    [
        "https://example.com/x ada@example.com example.org www.example",
        "3f2b9c1d8e7a deadbeef123 12345 10:45:12 v1.2.3 250ms 2024-01-15",
        "123e4567-e89b-12d3-a456-426614174000 toolu_01A2b3C4d5E6f7G8h9",
        "x y I’m sure we’ll see it doesn’t, I'm not",
        "fix the error and then run the tests again",
    ],
)
def test_addresses_numbers_blobs_and_function_words_are_no_keywords(text: str) -> None:
    assert found_in(f"{text} webhook") == ["webhook"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "그리고 리프레시 토큰도 같이 고쳐 주세요. 지금 진행해 주세요.",
            {"토큰", "리프레시"},
        ),
        ("하지만 세션이 왜 만료되는데 그런지 알려 주세요.", {"세션"}),
        ("Потому что теперь сессия всё время истекает, а потом можно", {"сессия"}),
        ("Сделай так, чтобы токен тогда тоже был очень простой", {"токен"}),
    ],
)
def test_function_words_of_other_languages_are_no_keywords(
    text: str, words: set[str]
) -> None:
    keywords = set(found_in(text))
    assert words <= keywords
    assert keywords.isdisjoint(("그리고", "같이", "주세요", "지금", "하지만", "그런지"))
    assert keywords.isdisjoint(("потому", "теперь", "всё", "потом", "можно", "сделай"))


def test_of_a_tool_only_the_call_counts() -> None:
    run = [called("Bash: pytest tests/ferry\nbanana banana banana")]
    assert words_of(keywords.segment_keywords(run)) == ["ferry", "pytest"]


def test_the_names_of_tools_and_of_parameters_are_no_keywords() -> None:
    run = [
        called("exec_command: cargo bench --no-fail-fast -p ferry", 1),
        called('exec_command: {"max_output": 5, "workdir": "harbour"}', 2),
        said("I call exec_command for the ferry once more", 3),
    ]
    words = set(words_of(keywords.segment_keywords(run)))
    assert {"ferry", "harbour"} <= words
    assert words.isdisjoint({"exec_command", "no-fail-fast", "max_output", "workdir"})


def test_forms_of_a_word_give_one_keyword_in_the_most_frequent_spelling() -> None:
    assert found_in("Caching caches cached caches") == ["caches"]
    assert found_in("Wrapping it, wrapping it") == ["wrapping"]
    assert found_in("Sentry and sentry", "Sentry") == ["Sentry"]


def test_decomposed_letters_give_the_same_keyword() -> None:
    composed = "Müllabfuhr"
    split = unicodedata.normalize("NFD", composed)
    assert found_in(f"{composed} {split} {split}") == [composed]


def test_clauses_without_spaces_are_split() -> None:
    keywords_in_text = found_in(
        "请你分析一下我这列的处理", "如果是图片的处理，我想知道分析的结果"
    )
    assert set(keywords_in_text) >= {"分析", "处理", "图片"}
    assert max(map(len, keywords_in_text)) <= keywords.MAX_RUN_CHARS


# Weights


def test_a_mention_by_the_user_counts_most_and_one_in_a_call_least() -> None:
    run = [
        called("Bash: grain", 1),
        said("cargo", 2, EventType.ASSISTANT_MESSAGE),
        said("ferry", 3),
    ]
    assert words_of(keywords.segment_keywords(run)) == ["ferry", "cargo", "grain"]


def test_repeated_mentions_count_less_and_less() -> None:
    def weight(times: int) -> float:
        run = [said("ferry", at) for at in range(times)]
        return keywords.weigh_words(run).weights["ferri"]

    assert weight(2) - weight(1) > weight(8) - weight(7) > 0


# Keywords that a model proposes


def test_proposed_keywords_must_occur_in_one_event() -> None:
    text = "The ferry importer drops every timetable that is out of season."
    words = found_in(text, proposed=("Timetables", "Kubernetes", "ferry importer"))
    assert words[:2] == ["timetable", "ferry importer"]
    assert "Kubernetes" not in words
    texts = ("The ferry is late", "The importer is broken")
    assert "ferry importer" not in found_in(*texts, proposed=("ferry importer",))


def test_a_proposed_keyword_ranks_higher() -> None:
    text = "ferry ferry ferry harbour harbour harbour timetable"
    assert found_in(text)[-1] == "timetable"
    assert found_in(text, proposed=("timetable",))[0] == "timetable"


def test_a_proposed_function_word_is_no_keyword() -> None:
    assert "error" not in found_in("An error in the ferry", proposed=("error",))


# Keywords of parents


def test_a_parent_takes_its_keywords_from_its_children() -> None:
    children = [rated("redis", "cache"), rated("cache", "oauth"), rated("tokens")]
    words = words_of(keywords.parent_keywords(TocLevel.DAY, children))
    assert words[0] == "cache"
    assert set(words) == {"redis", "cache", "oauth", "tokens"}


def test_a_keyword_of_two_children_counts_twice_however_it_is_written() -> None:
    children = [
        [Keyword("redis", 2), Keyword("Prisma", 1.9)],
        [Keyword("oauth", 2), Keyword("prisma", 1.8)],
    ]
    assert keywords.parent_keywords(TocLevel.DAY, children)[0].word == "Prisma"


def test_a_busy_child_does_not_outweigh_a_quiet_one() -> None:
    busy = [Keyword(f"busy{chr(97 + at)}", 20 - at) for at in range(10)]
    quiet = [Keyword("quiet", 3.0)]
    words = words_of(keywords.parent_keywords(TocLevel.DAY, [busy, *3 * [quiet]]))
    assert "quiet" in words
    assert words[0] == "busya"


def test_a_minor_word_of_every_child_ranks_below_their_own_words() -> None:
    topics = ("ledger", "tides", "berths", "cranes", "ferries", "grain")
    children = [[*rated(topic), Keyword("performance", 0.5)] for topic in topics]
    words = words_of(keywords.parent_keywords(TocLevel.WEEK, children))
    assert words[-1] == "performance"


def test_a_word_of_better_keywords_is_left_out_but_a_file_is_not() -> None:
    names = ("settings.local.json", "settings.json", "settings")
    chosen = keywords.parent_keywords(TocLevel.DAY, [rated(*names)])
    assert words_of(chosen) == ["settings.local.json", "settings.json"]


def test_a_month_has_fewer_keywords_than_a_week() -> None:
    children = [rated(*(f"word{chr(97 + n)}x" for n in range(20)))]
    for level in (TocLevel.WEEK, TocLevel.MONTH):
        chosen = keywords.parent_keywords(level, children)
        assert len(chosen) == MAX_KEYWORDS[level]


@given(
    st.lists(st.text(max_size=200), min_size=1, max_size=5),
    st.lists(st.text(max_size=60), max_size=6),
)
def test_any_text_gives_few_keywords_each_in_one_form(
    texts: list[str], proposed: list[str]
) -> None:
    run = []
    for at, text in enumerate(texts):
        try:
            run.append(said(text, at))
        except events.EventRefused:
            continue
    chosen = keywords.segment_keywords(run, proposed)
    assert len(chosen) <= MAX_KEYWORDS[TocLevel.SEGMENT]
    assert chosen == keywords.segment_keywords(run, proposed)
    assert len({analyzer.fold(keyword.word) for keyword in chosen}) == len(chosen)
    for word in words_of(chosen):
        assert 0 < len(word) <= keywords.MAX_CHARS
        assert word == " ".join(unicodedata.normalize("NFC", word).split())
        assert not any(unicodedata.category(char) == "Cc" for char in word)
    assert all(keyword.weight > 0 for keyword in chosen)


@given(
    st.lists(
        st.lists(
            st.builds(Keyword, st.text(max_size=20), st.floats(0, 20)), max_size=12
        ),
        max_size=6,
    )
)
def test_a_parent_never_invents_a_keyword(children: list[list[Keyword]]) -> None:
    chosen = keywords.parent_keywords(TocLevel.YEAR, children)
    below = {keyword.word for child in children for keyword in child}
    assert set(words_of(chosen)) <= below
