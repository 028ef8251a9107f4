"""Writes sections of bullets as a document: Markdown, or a page of HTML.

Lines cite their sources by number: "A mutex serialises them [1] [2]". They are listed
at the end, each with its session, its time, its id and a quote.
"""

import html
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import tzinfo
from typing import NamedTuple

from memtui.model.events import plain_line
from memtui.model.nodes import Bullet
from memtui.model.verdicts import Support
from memtui.services import conversation, versions
from memtui.text import markdown
from memtui.text.plain import shorten

QUOTE_CHARS = 200
"""The most that is quoted of a source."""

_VERDICTS = {Support.WEAK: " (weak)", Support.UNSUPPORTED: " (no source)"}

_STYLE = """\
:root { color-scheme: light dark }
body { font: 16px/1.5 sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem;
  overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.25; break-after: avoid }
li { margin: .25rem 0; break-inside: avoid }
ol, footer { font-size: smaller }
:target { outline: 2px solid; outline-offset: 4px }
@media print { body { max-width: none; font-size: 11pt } a { color: inherit } }
"""


class Section(NamedTuple):
    """A part of a document: a heading, a paragraph and bullets."""

    heading: str
    level: int = 1
    """The level of the heading, from 1."""
    text: str = ""
    bullets: Sequence[Bullet] = ()


def describe(bullet: Bullet) -> str:
    """Return the text of a bullet, with who judged it, or with its verdict unless it is
    supported."""
    if bullet.judgement:
        return f"{bullet.text} ({versions.explain_verdict(bullet)})"
    return bullet.text + _VERDICTS.get(bullet.support, "")


def write_markdown(sections: Sequence[Section], zone: tzinfo, footer: str = "") -> str:
    """Return a document as Markdown, in which no text is markup."""
    parts, numbers = list[str](), _number_sources(sections)
    for section in sections:
        parts.append(markdown.heading(section.heading, section.level))
        parts.append(markdown.escape(section.text))
        items = (
            markdown.list_item(describe(bullet), map(numbers.get, bullet.grip_ids))
            for bullet in section.bullets
        )
        parts.append("\n".join(items))
    parts.append("## Sources" if numbers else "")
    for number, text in enumerate(_describe_sources(numbers, zone), 1):
        parts.append(f"[{number}] {markdown.escape(text)}")
    parts.append(f"---\n\n{markdown.escape(footer)}" if footer else "")
    return "\n\n".join(filter(None, parts))


def write_html(sections: Sequence[Section], zone: tzinfo, footer: str = "") -> str:
    """Return a document as a page of HTML. It has no links but those to its sources."""
    numbers = _number_sources(sections)
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>{_escape(sections[0].heading)}</title>",
        f"<style>\n{_STYLE}</style>",
    ]
    for section in sections:
        lines.append(f"<h{section.level}>{_escape(section.heading)}</h{section.level}>")
        lines += [f"<p>{_escape(section.text)}</p>"] if section.text else []
        lines += ["<ul>"] if section.bullets else []
        for bullet in section.bullets:
            marks = (
                f'<a href="#source-{number}">[{number}]</a>'
                for number in map(numbers.get, bullet.grip_ids)
            )
            lines.append(f"<li>{' '.join([_escape(describe(bullet)), *marks])}</li>")
        lines += ["</ul>"] if section.bullets else []
    lines += ["<h2>Sources</h2>", "<ol>"] if numbers else []
    for number, text in enumerate(_describe_sources(numbers, zone), 1):
        lines.append(f'<li id="source-{number}">{_escape(text)}</li>')
    lines += ["</ol>"] if numbers else []
    lines += [f"<hr>\n<footer>{_escape(footer)}</footer>"] if footer else []
    return "\n".join([*lines, "</html>\n"])


def _escape(text: str) -> str:
    return html.escape(plain_line(text))


def _number_sources(sections: Iterable[Section]) -> dict[str, int]:
    """Return the numbers of the cited grips and events, in the order of the lines."""
    bullets = (bullet for section in sections for bullet in section.bullets)
    names = dict.fromkeys(name for bullet in bullets for name in bullet.grip_ids)
    return {name: number for number, name in enumerate(names, 1)}


def _describe_sources(names: Collection[str], zone: tzinfo) -> Iterator[str]:
    """Yield a quotation of each source."""
    sources = conversation.read_sources(names)
    for name in names:
        source = sources.get(name)
        if source and (text := source.excerpt or source.text):
            quote = shorten(text, QUOTE_CHARS)
            yield markdown.quotation(quote, source.session, source.at, name, zone)
        else:
            yield "no longer stored"
