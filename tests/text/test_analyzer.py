"""The analyzer gives the same terms for texts, queries and highlighting."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.text import analyzer, stems
from memtui.text.stems import stem
from memtui.text.stopwords import STOP_WORDS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Running tests", {"running", "run", "tests", "test"}),
        ("getUserName", {"getusername", "user", "name"}),
        ("HTTPServerError", {"httpservererror", "http", "server", "error"}),
        ("token_refresh", {"tokenrefresh", "token", "refresh"}),
        ("dry-run", {"dryrun", "dry", "run"}),
        ("get_user_name", {"get_user_name", "username", "user", "name"}),
        ("std::vec", {"std::vec", "std", "vec"}),
        ("#123", {"#123", "123"}),
        ("v1.2.3", {"v1.2.3", "1.2.3"}),
        ("E0308", {"e0308"}),
        ("C++", {"c++"}),
        ("naïve", {"naïve", "naive"}),
        ("Ｆｕｌｌ", {"full"}),
        ("修复登录", {"修复", "复登", "登录"}),
        ("token修复", {"token", "修复"}),
        ("ภาษา", {"ภา", "าษ", "ษา"}),
    ],
)
def test_terms_are_the_forms_and_parts_of_words(text: str, expected: set[str]) -> None:
    assert expected <= set(analyzer.terms(text))


def test_terms_of_a_path_are_its_suffixes_and_directories() -> None:
    terms = set(analyzer.terms("see src/auth/token.rs:42"))
    assert {"src/auth/token.rs", "auth/token.rs", "token.rs", "auth", "42"} <= terms


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("getUserName", "get_user_name"),
        ("sha256", "SHA-256"),
        ("refresh token", "tokenRefresh in token_refresh.py"),
        ("running", "it runs"),
        ("Strasse", "Straße"),
        ("naive", "naïve"),
        ("登录", "修复登录失败"),
        ("token.rs", "src/auth/token.rs"),
        ("follow-up", "to follow up"),
        ("GitHub", "github"),
        ("github", "GitHub/actions"),
        ("SQLite", "sqlite"),
        ("sqlite", "SQLite"),
        ("FastAPI", "the fastapi app"),
        ("youtube", "YouTube"),
        ("getusername", "getUserName"),
        ("TokenStore", "useTokenStore"),
        ("TokenStore", "token_store"),
        ("TokenStores", "my_token_store_test"),
        ("TokenStore", "TOKEN_STORE"),
        ("TokenRefresh", "the token-refresh branch"),
        ("TokenRefresh", "src/token-refresh.ts"),
        ("token_refresh", "TokenRefresh"),
        ("token-refresh", "TokenRefresh and token_refresh"),
        ("FastAPI", "fast-api"),
        ("email", "E-mail"),
        ("APIs", "the API"),
        ("API", "both APIs"),
    ],
)
def test_query_matches_other_spellings(query: str, text: str) -> None:
    assert set(analyzer.query_terms(query)) <= set(analyzer.terms(text))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("MySQL", "PostgreSQL and SQL"),
        ("GitHub", "Open the hub page and pull from git"),
        ("JavaScript", "the script of the java build"),
        ("MySQL", "my own SQL, my.sql and my/sql"),
        ("TokenRefresh", "refresh the token; the token, refresh it"),
    ],
)
def test_name_is_not_matched_by_its_parts(query: str, text: str) -> None:
    assert not set(analyzer.query_terms(query)) <= set(analyzer.terms(text))


def test_number_with_a_hash_does_not_match_plain_numbers() -> None:
    assert not set(analyzer.query_terms("#123")) <= set(
        analyzer.terms("123 tests passed")
    )


def test_stop_words_are_left_out() -> None:
    assert analyzer.terms("the token is in the cache") == ["token", "cache", "cach"]


def test_text_of_stop_words_alone_keeps_them() -> None:
    assert analyzer.terms("To be or not") == ["to", "be", "or", "not"]
    assert analyzer.query_terms("To be or not") == ["to", "be", "or", "not"]


def test_matching_words_are_highlighted() -> None:
    text = "Running src/auth/token.rs 修复登录"
    terms = analyzer.terms("run auth 登录")
    assert [text[a:b] for a, b in analyzer.find_spans(text, terms)] == [
        "Running",
        "auth",
        "登录",
    ]


@given(st.text(alphabet="cCfF1_#@.+:/'- \n’é\u0301猫ภ…—✓", max_size=20))
def test_punctuation_does_not_change_the_words(text: str) -> None:
    assert analyzer.words(f"{text} …") == analyzer.words(f"{text} é")[:-1]


def test_text_beyond_the_limit_is_not_read() -> None:
    text = "a-b " * (analyzer.MAX_TEXT_CHARS // 4) + "needle"
    assert "needle" not in analyzer.terms(text)
    assert "needle" in analyzer.terms(text[-100:])


@pytest.mark.parametrize("part", ["x", "ab ", "a.b-", "猫", "🙂", "A1"])
def test_very_long_text_does_not_hang(part: str) -> None:
    analyzer.terms(part * 10_000_000)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("fixes", "fixed"),
        ("hopping", "hop"),
        ("queries", "query"),
        ("caching", "cache"),
        ("deployments", "deploy"),
        ("failed", "fails"),
    ],
)
def test_forms_of_a_word_share_their_stem(word: str, other: str) -> None:
    assert stem(word) == stem(other)


@pytest.mark.parametrize(("word", "other"), [("status", "state"), ("passed", "paste")])
def test_different_words_have_different_stems(word: str, other: str) -> None:
    assert stem(word) != stem(other)


@given(st.text())
def test_query_terms_are_among_the_terms(text: str) -> None:
    assert set(analyzer.query_terms(text)) <= set(analyzer.terms(text))


@given(st.text(), st.text())
def test_spans_are_inside_the_text_in_order(text: str, query: str) -> None:
    spans = analyzer.find_spans(text, analyzer.terms(query))
    ends = [-1, *(offset for span in spans for offset in span)]
    assert all(a < b for a, b in pairwise(ends))
    assert ends[-1] <= len(text)


@given(st.text(min_size=1))
def test_terms_of_a_text_are_found_in_it(text: str) -> None:
    terms = analyzer.terms(text)
    assert bool(terms) == bool(analyzer.find_spans(text, terms))


def test_every_stop_word_is_folded() -> None:
    assert {word for word in STOP_WORDS if analyzer.fold(word) != word} == set()


def test_redaction_marks_are_not_words() -> None:
    text = "login with password=[redacted: password] and [redacted: aws key] fails"
    assert analyzer.words(text) == ["login", "with", "password", "and", "fails"]
    assert analyzer.find_spans(text, ["password"]) == [(11, 19)]


@pytest.mark.parametrize(
    "text",
    [
        "She wrote the retries of getUserById in src/auth/token_refresh.py",
        "the of a",
        "重跑gen-itgc后 评审会议 naïve Robin's don’t",
        "went children indices running flies tries used C++ #123 v1.2.3",
    ],
)
def test_matching_terms_are_terms_of_the_text(text: str) -> None:
    own = analyzer.terms(text)
    other = analyzer.terms("write go child index run fly user token café the 会议")
    for terms in (own, other, own[:1], own[-1:], []):
        matching = analyzer.matching_terms(text, terms, [])
        assert matching == set(own) & set(terms)
    for start in {term[:size] for term in own + other for size in (1, 2, 3)}:
        matching = analyzer.matching_terms(text, [], [start])
        assert matching == {term for term in own if term.startswith(start)}


@pytest.mark.parametrize(
    "text",
    [
        "organising organizations retries carried happily sizing relational made mice",
        "useful hopefulness activators agreed hopping possibly decisions statements",
        "src/auth_token.rs #231 v1.2.3 getUserNames c++ deadbeef42 E8763 std::vec",
        "token_stores token-refresh my_token_store",
    ],
)
def test_every_word_contains_a_prefix_of_its_terms(text: str) -> None:
    for word in analyzer.words(text):
        letters = f"{word} {word.replace('_', '').replace('-', '')}".lower()
        for term in analyzer.word_terms(word):
            for end in range(1, len(term) + 1):
                prefixes = stems.word_prefixes(term[:end])
                assert any(prefix in letters for prefix in prefixes)
    assert stems.word_prefixes("#231") == {"#231"}
    assert stems.word_prefixes("reindeer") == {"reindee"}


@given(st.text())
def test_term_text_has_the_terms_in_order(text: str) -> None:
    terms = analyzer.terms(text)
    assert analyzer.term_text(text) == "".join(f"{term} " for term in terms)


def test_word_cache_keeps_recent_words() -> None:
    calls: list[str] = []

    def work_out(word: str) -> str:
        calls.append(word)
        return word.upper()

    cache = analyzer._WordCache(work_out, 20)
    for number in range(200):
        assert cache["often"] == "OFTEN"
        assert cache[f"w{number}"] == f"W{number}"
    assert calls.count("often") == 1 and len(calls) == 201
    assert len(cache) + len(cache._earlier) <= 20


@pytest.mark.parametrize(
    ("text", "word", "places"),
    [
        ("Start 1200 parts, 2 of them, 2.5 and 1.2 and 2", "2", [18, 45]),
        ("Use Redis，没有Redis的 redis", "Redis", [4, 12, 19]),
        ("xpayments.py, payments.py", "payments.py", [14]),
        ("Римский Рим", "Рим", [8]),
        ("用户没有缓存", "缓存", [4]),
        ("2 parts of 12 parts", "2 parts", [0]),
    ],
)
def test_word_is_found_but_not_within_another_one(
    text: str, word: str, places: list[int]
) -> None:
    spans = list(analyzer.find_word(text, word))
    assert spans == [(start, start + len(word)) for start in places]
