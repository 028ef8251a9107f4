"""Keywords of segments and nodes, and their origins."""

import unicodedata
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventType
from memtui.model.nodes import MAX_KEYWORDS, Keyword, KeywordOrigin
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


def found_in(*texts: str, proposed: tuple[str, ...] = ()) -> list[str]:
    run = [said(text, at) for at, text in enumerate(texts)]
    return [one.word for one in keywords.segment_keywords(run, proposed)]


def origins_in(*texts: str, proposed: tuple[str, ...] = ()) -> dict[str, KeywordOrigin]:
    run = [said(text, at) for at, text in enumerate(texts)]
    return {one.word: one.origin for one in keywords.segment_keywords(run, proposed)}


def rated(*row: str) -> list[Keyword]:
    return [Keyword(word, weight=2 - at / 10) for at, word in enumerate(row)]


def test_names_rank_before_plain_words() -> None:
    found = found_in(
        "The redirect in src/auth/session.py raises a KeyError in loadToken"
    )
    assert set(found[:3]) == {"session.py", "KeyError", "loadToken"}


def test_forms_of_a_word_give_one_keyword() -> None:
    found = found_in("cache caching caches cached redis")
    assert len([word for word in found if word.startswith("cach")]) == 1


def test_hashes_addresses_and_numbers_are_no_keywords() -> None:
    assert found_in(
        "https://example.com/x 3f2b9c1d8e7a 12345 "
        "123e4567-e89b-12d3-a456-426614174000 10:45:12 webhook"
    ) == ["webhook"]


def test_contractions_are_not_keywords() -> None:
    assert found_in("I’m sure we’ll see it doesn’t, I'm not: webhook’s") == ["webhook"]


def test_tool_output_gives_only_error_names() -> None:
    call = said(
        "Bash: pytest\nbanana banana banana ValueError: no banana",
        kind=EventType.TOOL_RESULT,
    )
    found = [one.word for one in keywords.segment_keywords([call])]
    assert "ValueError" in found
    assert "banana" not in found


def test_the_names_of_tools_and_of_their_options_are_no_keywords() -> None:
    calls = [
        said(
            f"exec_command: cargo test --no-fail-fast -p ferry{at}",
            at,
            EventType.TOOL_RESULT,
            "exec_command",
        )
        for at in range(4)
    ]
    shown = said("I call exec_command for the ferry once more", 9)
    found = {one.word for one in keywords.segment_keywords([*calls, shown])}
    assert "ferry" in found
    assert found.isdisjoint({"exec_command", "no-fail-fast"})


def test_an_mcp_tool_gives_its_server() -> None:
    call = said("mcp__attio__search: notes", 0, EventType.TOOL_RESULT, "attio_search")
    assert "attio" in {one.word for one in keywords.segment_keywords([call])}


def test_a_capital_at_the_start_of_a_sentence_is_ignored() -> None:
    found = origins_in("Wrapping the handler in Sentry.", "- Wrapping it for Sentry.")
    assert found["wrapping"] is KeywordOrigin.FREQUENCY
    assert found["Sentry"] is KeywordOrigin.NAME


def test_a_short_plain_word_of_another_alphabet_ranks_below_a_long_one() -> None:
    found = found_in("Привет! Импорт накладных пропускает строки. Все строки нужны.")
    assert "привет" in found
    assert found.index("накладных") < found.index("все")
    assert not any(word.istitle() for word in found)


def test_clauses_without_spaces_are_split() -> None:
    found = found_in("请你分析一下我这列的处理", "如果是图片的处理，我想知道分析的结果")
    assert set(found) >= {"分析", "处理", "图片"}
    assert max(map(len, found)) <= keywords.MAX_RUN_CHARS


def test_decomposed_letters_give_the_same_keyword() -> None:
    shown = "Müllabfuhr"
    split = unicodedata.normalize("NFD", shown)
    assert found_in(f"{shown} {split} {split}") == [shown]


def test_each_keyword_has_an_origin() -> None:
    found = origins_in(
        "The redirect in src/auth/session.py raises KeyError in load_token().",
        "Then `npm install left-pad`, for Playwright retries: retries, retries.",
    )
    assert {word: found[word] for word in ("session.py", "KeyError", "load_token")} == {
        "session.py": KeywordOrigin.FILE,
        "KeyError": KeywordOrigin.ERROR,
        "load_token": KeywordOrigin.FUNCTION,
    }
    assert found["left-pad"] is KeywordOrigin.PACKAGE
    assert found["Playwright"] is KeywordOrigin.NAME
    assert found["retries"] is KeywordOrigin.FREQUENCY


def test_proposed_keywords_must_occur_in_the_source() -> None:
    shown = "The ferry importer drops every timetable that is out of season."
    found = origins_in(shown, proposed=("Timetables", "Kubernetes", "ferry importer"))
    assert found["timetable"] is KeywordOrigin.MODEL
    assert found["ferry importer"] is KeywordOrigin.MODEL
    assert not {"Kubernetes", "kubernetes"} & set(found)


def test_a_proposed_keyword_must_occur_in_one_event() -> None:
    texts = ("The ferry is late", "The importer is broken")
    assert "ferry importer" not in found_in(*texts, proposed=("ferry importer",))


def test_a_proposed_keyword_keeps_its_origin() -> None:
    found = origins_in("Look at ferry.py and at ferry", proposed=("ferry.py", "error"))
    assert found["ferry.py"] is KeywordOrigin.FILE
    assert "error" not in found


def test_a_proposed_keyword_ranks_higher() -> None:
    texts = ("ferry ferry ferry harbour harbour harbour timetable",)
    assert found_in(*texts)[-1] == "timetable"
    assert found_in(*texts, proposed=("timetable",))[0] == "timetable"


def test_a_parent_takes_its_keywords_from_its_children() -> None:
    children = [rated("redis", "cache"), rated("cache", "oauth"), rated("tokens")]
    found = [one.word for one in keywords.parent_keywords(TocLevel.DAY, children)]
    assert found[0] == "cache"
    assert set(found) == {"redis", "cache", "oauth", "tokens"}


def test_a_keyword_of_two_children_counts_twice_however_it_is_written() -> None:
    children = [
        [Keyword("redis", weight=2), Keyword("Prisma", KeywordOrigin.NAME, 1.9)],
        [Keyword("oauth", weight=2), Keyword("prisma", weight=1.8)],
    ]
    first = keywords.parent_keywords(TocLevel.DAY, children)[0]
    assert (first.word, first.origin) == ("Prisma", KeywordOrigin.NAME)


def test_a_busy_child_does_not_outweigh_a_quiet_one() -> None:
    busy = [Keyword(f"busy{chr(97 + at)}", weight=20 - at) for at in range(10)]
    quiet = [Keyword("quiet", KeywordOrigin.FILE, 2.0)]
    found = keywords.parent_keywords(TocLevel.DAY, [busy, quiet, quiet, quiet])
    assert "quiet" in {one.word for one in found}
    assert found[0].word == "busya"


def test_a_minor_word_of_every_child_ranks_below_their_own_words() -> None:
    topics = ("ledger", "tides", "berths", "cranes", "ferries", "grain")
    minor = Keyword("performance", weight=0.5)
    children = [[*rated(topic), minor] for topic in topics]
    found = [one.word for one in keywords.parent_keywords(TocLevel.WEEK, children)]
    assert found[-1] == "performance"


def test_function_words_of_any_language_are_no_keywords() -> None:
    hungarian = (
        "Nem működik a kikötő, mert a token nem érvényes. Nem értem, hogy miért nem. "
        "A teszt nem fut le. A token nem jó. Ez nem az. A gomb nem csinál semmit. Nem "
        "ment. Azt nem értem, hogy mi kell. Nem jó. A kikötő nem nyílik. Nem kell."
    )
    found = found_in(hungarian)
    assert "nem" not in found and "kikötő" in found


def test_a_parent_accepts_only_keywords_of_its_children() -> None:
    children = [rated("redis", "cache", "oauth")]
    proposed = ("Kafka", "OAuth")
    found = keywords.parent_keywords(TocLevel.DAY, children, proposed)
    assert [one.word for one in found] == ["oauth", "redis", "cache"]


def test_two_files_with_the_same_words_are_two_keywords() -> None:
    children = [rated("settings.local.json", "settings.json", "settings")]
    found = [one.word for one in keywords.parent_keywords(TocLevel.DAY, children)]
    assert "settings" not in found
    files = [
        Keyword(word, KeywordOrigin.FILE, 1.0)
        for word in ("settings.local.json", "settings.json")
    ]
    assert len(keywords.parent_keywords(TocLevel.DAY, [files])) == 2


def test_a_month_has_fewer_keywords_than_a_week() -> None:
    children = [rated(*(f"word{chr(97 + n)}x" for n in range(20)))]
    counts = [
        len(keywords.parent_keywords(level, children))
        for level in (TocLevel.WEEK, TocLevel.MONTH)
    ]
    assert counts == [MAX_KEYWORDS[TocLevel.WEEK], MAX_KEYWORDS[TocLevel.MONTH]]


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
    found = keywords.segment_keywords(run, proposed)
    assert len(found) <= MAX_KEYWORDS[TocLevel.SEGMENT]
    assert found == keywords.segment_keywords(run, proposed)
    assert len({analyzer.fold(one.word) for one in found}) == len(found)
    for one in found:
        assert 0 < len(one.word) <= keywords.MAX_CHARS
        assert one.word == " ".join(unicodedata.normalize("NFC", one.word).split())
        assert not any(unicodedata.category(char) == "Cc" for char in one.word)
        assert one.weight > 0


@given(
    st.lists(
        st.lists(
            st.builds(
                Keyword,
                st.text(max_size=20),
                st.sampled_from(KeywordOrigin),
                st.floats(0, 20),
            ),
            max_size=12,
        ),
        max_size=6,
    ),
    st.lists(st.text(max_size=20), max_size=4),
)
def test_a_parent_never_invents_a_keyword(
    children: list[list[Keyword]], proposed: list[str]
) -> None:
    found = keywords.parent_keywords(TocLevel.YEAR, children, proposed)
    below = {(one.word, one.origin) for child in children for one in child}
    assert {one.word for one in found} <= {word for word, _ in below}
    for one in found:
        same = {
            o for word, o in below if analyzer.fold(word) == analyzer.fold(one.word)
        }
        assert one.origin in same


def origin_of(text: str, word: str) -> KeywordOrigin:
    return keywords.classify_origin(word, keywords.origins_from_usage([text]))


@pytest.mark.parametrize(
    ("word", "origin"),
    [
        ("KeyError", KeywordOrigin.ERROR),
        ("NullPointerException", KeywordOrigin.ERROR),
        ("EACCES", KeywordOrigin.ERROR),
        ("ERESOLVE", KeywordOrigin.ERROR),
        ("SIGSEGV", KeywordOrigin.ERROR),
        ("E0308", KeywordOrigin.ERROR),
        ("TS2345", KeywordOrigin.ERROR),
        ("SHA256", KeywordOrigin.NAME),
        ("NoError", KeywordOrigin.NAME),
        ("ENTIRE", KeywordOrigin.NAME),
        ("token.rs", KeywordOrigin.FILE),
        ("docs-finder.test.ts", KeywordOrigin.FILE),
        ("Dockerfile", KeywordOrigin.FILE),
        (".gitignore", KeywordOrigin.FILE),
        ("console.log", KeywordOrigin.NAME),
        ("Node.js", KeywordOrigin.PACKAGE),
        ("loadToken", KeywordOrigin.NAME),
        ("record_id", KeywordOrigin.NAME),
        ("gpt-5", KeywordOrigin.NAME),
        ("Playwright", KeywordOrigin.NAME),
        ("streaming", KeywordOrigin.FREQUENCY),
        ("plan-first", KeywordOrigin.FREQUENCY),
        ("图片", KeywordOrigin.FREQUENCY),
    ],
)
def test_spelling_shows_the_origin(word: str, origin: KeywordOrigin) -> None:
    assert keywords.classify_origin(word, {}) is origin


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("import peewee\n", "peewee"),
        ("from playhouse.sqlite_ext import AutoIncrementField", "playhouse"),
        ("Add `import numpy as np` there", "numpy"),
        ("import { render } from 'preact/hooks'", "preact"),
        ("const x = require('lodash')", "lodash"),
        ("use serde::Deserialize;", "serde"),
        ("pip install -U 'x' whoosh", ""),
        ("pip install -U whoosh==2.7.4", "whoosh"),
        ("uv add httpx[http2]", "httpx"),
        ("npm install --save-dev left-pad@1.3 vitest", "vitest"),
        ("bun add @chakra-ui/react", "@chakra-ui/react"),
        ("go get github.com/spf13/cobra@latest", "cobra"),
        ("cargo add tokio", "tokio"),
        ("npx knip", "knip"),
    ],
)
def test_imported_or_installed_names_are_packages(text: str, word: str) -> None:
    if word:
        assert origin_of(text, word) is KeywordOrigin.PACKAGE
    else:
        assert KeywordOrigin.PACKAGE not in keywords.origins_from_usage([text]).values()


@pytest.mark.parametrize(
    "text",
    [
        "The import works again",
        "We import the old timetable there",
        "npm install to the cache",
        "It came from 'timetable' alone",
    ],
)
def test_prose_about_imports_gives_no_package(text: str) -> None:
    assert KeywordOrigin.PACKAGE not in keywords.origins_from_usage([text]).values()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("it calls loadToken() twice", "loadToken"),
        ("then time.Now() is read", "time.Now"),
        ("def parse(self, line):", "parse"),
        ("func (s *Server) Serve(ctx)", "Serve"),
        ("fn new<T>(x: T)", "new"),
    ],
)
def test_called_or_defined_names_are_functions(text: str, word: str) -> None:
    assert origin_of(text, word) is KeywordOrigin.FUNCTION


@pytest.mark.parametrize(
    "text",
    ["the file(s) are gone", "feat(api): add notes", "Bash(git log)", "MCP (see)"],
)
def test_a_word_before_an_aside_is_not_a_function(text: str) -> None:
    assert KeywordOrigin.FUNCTION not in keywords.origins_from_usage([text]).values()


def test_a_word_alone_between_backticks_is_a_name() -> None:
    assert origin_of("set `entire` and `git push` up", "entire") is KeywordOrigin.NAME
    assert (
        origin_of("set `entire` and `git push` up", "push") is KeywordOrigin.FREQUENCY
    )


def test_the_most_informative_origin_wins() -> None:
    text = "`vitest` is called as vitest(), after npm install vitest"
    assert origin_of(text, "vitest") is KeywordOrigin.PACKAGE
    assert origin_of("`ferry.py` it is", "ferry.py") is KeywordOrigin.FILE
    assert set(keywords.origins_from_usage([text])) == {analyzer.fold("vitest")}


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Для чего мы храним даты в базе? Чтобы склады в Омске видели даты.", "даты"),
        ("Чому ми зберігаємо дати в базі? Бо ми у Львові, а дати в UTC.", "дати"),
        ("Γιατί το αρχείο δεν έχει τις μέρες; Το αρχείο με το όνομα.", "αρχείο"),
    ],
)
def test_short_words_of_any_alphabet_are_no_keywords(text: str, subject: str) -> None:
    found = found_in(text)
    assert subject in found
    assert all(len(word) > 2 for word in found)
    assert not {"для", "чтобы"} & set(found)
