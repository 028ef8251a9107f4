"""The beginnings of messages without markup."""

import pytest

from memtui.text.plain import plain_beginning, plain_lines, shorten, shorten_addresses


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("## Done\n\nAll **38** tests *pass*.", "Done All 38 tests pass."),
        ("- [x] `a_b*c*` is ~~old~~ new\n3. next", "a_b*c* is old new next"),
        ("See [the log](https://x.y/z) ![plot](a.png)", "See the log plot"),
        ("Before\n```py\ncode()\n```\nafter", "Before after"),
        ("Before\n~~~\nnever closed", "Before"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nafter", "after"),
        ("<b>bold</b> and List<int> <!-- hidden -->", "bold and List<int>"),
        ("> quoted\n>\n> more", "quoted more"),
        ("---\n***\n│ box │\nafter", "after"),
        ("__init__.py and *args, **kwargs", "__init__.py and *args, **kwargs"),
        ("```\nonly code\n```", "only code"),
        ("", ""),
        ("<image>\n</image>", ""),
    ],
)
def test_markup_code_and_tables_are_left_out(text: str, plain: str) -> None:
    assert plain_beginning(text, 200) == plain


def test_lines_are_separate() -> None:
    assert list(plain_lines("# Fix it\n\n* now\n")) == ["Fix it", "now"]


def test_long_text_is_shortened_at_a_word() -> None:
    assert shorten("one two, three", 10) == "one two…"
    assert shorten("一二三四五六七八", 5) == "一二三四…"
    assert shorten("one", 3) == "one"
    assert len(plain_beginning("word " * 10_000, 100)) <= 100


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("https://github.com/ada/shop/pull/12.", "pull/12."),
        ("(https://example.org/a/guide?x=1)", "(guide)"),
        ("https://example.org", "example.org"),
        ("/home/ada/shop/src/prices.py:12", "prices.py:12"),
        ("C:\\Users\\ada\\shop\\prices.py", "prices.py"),
        ("src/prices.py and/or /tmp", "src/prices.py and/or /tmp"),
    ],
)
def test_addresses_are_shortened_to_their_last_part(text: str, short: str) -> None:
    assert shorten_addresses(text) == short
