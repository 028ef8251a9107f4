"""The passage of a text that contains most of a phrase."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import work
from memtui.model.verdicts import hash_quote
from memtui.model.work import Commit, Facts, FileChange, Line, PullRequest
from memtui.summarize.grounding import passages
from memtui.summarize.grounding.passages import PASSAGE_CHARS, Evidence, TextIndex

TALK = [
    "The login page is blank. I read src/router.py. The redirect drops the cookie.",
    "Totals are rounded twice.\nAll 1,290 tests passed in three runs.",
    "我们修复了登录页面的重定向问题，会话 cookie 不再丢失。",
]
LONG = "The importer reads each file twice because of a lost cursor; that was slow."


def passage(phrase: str, texts: list[str] = TALK, *preferred: int) -> str:
    index = TextIndex(texts)
    passage = index.best_passage(phrase, preferred=preferred)
    return index.text_of(passage) if passage is not None else ""


@pytest.mark.parametrize(
    ("phrase", "quoted"),
    [
        ("cookies were dropped by a redirect", "The redirect drops the cookie."),
        ("1290 tests passed", "All 1,290 tests passed in three runs."),
        ("tests in 3 runs", "All 1,290 tests passed in three runs."),
        ("router.py is blank", "The login page is blank. I read src/router.py."),
        ("修复登录页面的重定向问题", TALK[2]),
        ("Kubernetes", ""),
        ("", ""),
    ],
)
def test_the_passage_contains_most_of_a_phrase(phrase: str, quoted: str) -> None:
    assert passage(phrase) == quoted


def test_preferred_texts_are_quoted_if_they_have_as_much() -> None:
    index = TextIndex(["Rotate the keys.", "x", "Rotate the keys."])
    for place in (0, 2):
        passage = index.best_passage("keys rotate", preferred=[place])
        assert passage is not None
        assert passage.text_index == place


def test_passages_are_short() -> None:
    texts = ["word " * 900, "rare needle here " * 100]
    assert 0 < len(passage("needle", texts)) <= PASSAGE_CHARS


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("1,290 tests in forty-eight hours", "1290 tests in 48 hours"),
        ("Twelve of ninety", "12 of 90"),
        ("one ten-year-old, often", "one 10-year-old, often"),
    ],
)
def test_numbers_are_written_in_figures(text: str, figures: str) -> None:
    assert passages.to_figures(text) == figures


def test_facts_are_evidence_in_words() -> None:
    facts = Facts(
        commits=(Commit("Fix the cursor", "e1", "abc1234", "main"),),
        pull_requests=(PullRequest("Faster import", "e2", 12),),
        merges=(Line("#12", "e3"),),
        test_runs=(work.TestRun(40, 2, "e4", "pytest"),),
        files=(FileChange("src/import.py", 5, 1, "e5"),),
    )
    lower = Evidence([], facts=facts).lower_text
    for words in ("abc1234", "fix the cursor", "#12", "40 of 42", "src/import.py"):
        assert words in lower


@given(st.lists(st.text(max_size=80), max_size=5), st.text(max_size=80))
def test_passages_are_quoted_as_they_are(texts: list[str], phrase: str) -> None:
    index = TextIndex(texts)
    passage = index.best_passage(phrase)
    if passage is not None:
        quote = index.quote(passage.text_index, passage.start, passage.end)
        assert index.text_of(passage) in texts[passage.text_index]
        assert quote.text_hash == hash_quote(index.text_of(passage))
        assert 0.0 <= passage.coverage <= 1.0001
