"""Uses: what sort of word a keyword is."""

import pytest

from memtui.model.summaries import KeywordOrigin
from memtui.summarize import keywords
from memtui.text import analyzer


def told(text: str, word: str) -> KeywordOrigin:
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
def test_a_word_shows_its_origin_in_its_shape(word: str, origin: KeywordOrigin) -> None:
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
def test_what_is_imported_or_installed_is_a_package(text: str, word: str) -> None:
    if word:
        assert told(text, word) is KeywordOrigin.PACKAGE
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
def test_prose_on_imports_and_installing_makes_no_package(text: str) -> None:
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
def test_what_is_called_or_defined_is_a_function(text: str, word: str) -> None:
    assert told(text, word) is KeywordOrigin.FUNCTION


@pytest.mark.parametrize(
    "text",
    ["the file(s) are gone", "feat(api): add notes", "Bash(git log)", "MCP (see)"],
)
def test_a_word_with_an_aside_in_brackets_is_no_function(text: str) -> None:
    assert KeywordOrigin.FUNCTION not in keywords.origins_from_usage([text]).values()


def test_a_word_alone_between_backticks_is_a_name() -> None:
    assert told("set `entire` and `git push` up", "entire") is KeywordOrigin.NAME
    assert told("set `entire` and `git push` up", "push") is KeywordOrigin.FREQUENCY


def test_what_says_more_of_a_word_counts() -> None:
    text = "`vitest` is called as vitest(), after npm install vitest"
    assert told(text, "vitest") is KeywordOrigin.PACKAGE
    assert told("`ferry.py` it is", "ferry.py") is KeywordOrigin.FILE
    assert set(keywords.origins_from_usage([text])) == {analyzer.fold("vitest")}
