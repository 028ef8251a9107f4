"""Markdown as lines: nothing is lost but its signs, and marks stay where they are."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content, Span

from memtui.tui.widgets import markdown

MARK = "reverse"


def draw(text: str, width: int = 40) -> list[str]:
    lines = markdown.lay_out(markdown.style(text), width)
    return [line.plain.rstrip() for line in lines]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("## Plan: `a` **b**\n#hash", ["Plan: a b", "#hash"]),
        ("- [ ] a **b**\n  * c\n\n2) d", ["• [ ] a b", "  • c", "", "2) d"]),
        ("> said\n> > - *more*", ["│ said", "│ │ • more"]),
        ("a\n---\nb", ["a", "─" * 40, "b"]),
        ("1. Do:\n   ```sh\n   make all\n   ```", ["1. Do:", "    sh", "    make all"]),
        ("[a](b_c_d.py) ~~old~~", ["a (b_c_d.py) old"]),
        ("``a`b`` `**kwargs`", ["a`b **kwargs"]),
        ("_so_ __init__ snake_case *.py, *.js", ["so __init__ snake_case *.py, *.js"]),
        ("https://a.org/_b_/", ["https://a.org/_b_/"]),
        ("[/b] <b> &amp; [bold]", ["[/b] <b> &amp; [bold]"]),
        (
            "| a | n |\n|---|--:|\n| `x|y` | 12 |\nend",
            ["a   │  n", "────┼───", "x|y │ 12", "end"],
        ),
        ("a | b\nc", ["a | b", "c"]),
    ],
)
def test_signs_are_drawn(text: str, lines: list[str]) -> None:
    assert draw(text) == lines


def test_wrapped_lines_hang_below_their_text() -> None:
    assert draw("> - one two three four", 16) == ["│ • one two", "│   three four"]
    table = "| name | text |\n|-|-|\n| a | one two three |\n|" + "b" * 30 + "|"
    assert draw(table, 20)[2:4] == ["a         │ one two", "          │ three"]


def test_wide_table_stays_as_it_is_written() -> None:
    table = "\n".join(["|abcdefgh" * 9, "|-" * 9, "|1" * 9])
    assert "|1|1|1|1|1|1|1|1|1" in draw(table)


def test_code_is_highlighted_and_not_read_as_markdown() -> None:
    text = markdown.style("```py\ndef f(): **x\n# y\n```")
    lines = [*markdown.lay_out(text, 20)]
    assert [line.plain.rstrip() for line in lines] == [" py", " def f(): **x", " # y"]
    assert any("$text-accent" in str(span.style) for span in lines[1].spans)


LINES = st.lists(
    st.text(st.sampled_from("ab1 -*_`~#>|[]()\\.:é漢"), max_size=24)
    | st.sampled_from(["```py", "```", "|-|-|", "---", "| a | **b** |", "- a", "> b"]),
    max_size=8,
)


@given(LINES, st.integers(1, 60))
def test_no_word_is_lost(lines: list[str], width: int) -> None:
    text = "\n".join(lines)
    drawn = "".join(draw(text, width))
    assert [c for c in sorted(drawn) if c.isalnum()] == [
        c for c in sorted(text) if c.isalnum()
    ]


@given(LINES, st.integers(0, 99), st.integers(1, 30))
def test_mark_stays_on_its_characters(lines: list[str], start: int, size: int) -> None:
    text = "\n".join(lines)
    quote = text[start : start + size]
    if not quote.strip():
        return
    styled = markdown.style(text).add_spans([Span(start, start + size, MARK)])
    marked = "".join(
        line.plain[span.start : span.end]
        for line in markdown.lay_out(styled, 30)
        for span in line.spans
        if span.style == MARK
    )
    assert sorted(c for c in marked if c.isalnum()) == sorted(
        c for c in quote if c.isalnum()
    )


@pytest.mark.parametrize(
    "part",
    ["[", "[a](", "*a_ ", "**a", "``a`", "|-" * 18 + "|\n", "```\n", "- ", "> ", "a\n"],
)
def test_hostile_text_is_drawn_in_time(part: str) -> None:
    text = part * (20_000 // len(part))
    started = time.perf_counter()
    assert [*markdown.lay_out(markdown.style(text + " " * 20_000), 80)]
    assert time.perf_counter() - started < 5


def test_plain_content_is_not_changed() -> None:
    assert [*markdown.lay_out(Content("a *b"), 40)] == [Content("a *b")]
