"""Write stored text as Markdown, in which it never becomes markup, and quote it."""

import re
from collections.abc import Iterable
from datetime import datetime, tzinfo

from memtui.model import citations
from memtui.model.events import plain_line
from memtui.model.sessions import Session
from memtui.text import date_format
from memtui.text.plain import shorten

TITLE_CHARS = 60
"""The most that is quoted of the title of a session."""

_INLINE_MARKUP = re.compile(
    r"[\\`*\[\]<>~|]|&(?=[#\w])|(?<!\w)_|_(?!\w)|:(?=//)|(?<=www)\.", re.IGNORECASE
)
"""Signs that begin or end markup within a line, or make a link of an address."""

_BLOCK_MARKUP = re.compile(r"^(?:(?=[#+=-])|(\d{1,9})(?=[.)]))")
"""Signs that make the beginning of a line a heading, an item of a list or a rule."""


def escape(text: str) -> str:
    """Return a text in one line, in which nothing is markup."""
    line = _INLINE_MARKUP.sub(r"\\\g<0>", plain_line(text))
    return _BLOCK_MARKUP.sub(r"\1\\", line)


def literal(text: str) -> str:
    """Return a text in one line, in which nothing is markup, and which stays as it is:
    as code if it has markup."""
    line = plain_line(text)
    if escape(line) == line:
        return line
    runs = re.findall("`+", line)
    fence = "`" * (1 + max(map(len, runs), default=0))
    space = " " if "`" in (line[0], line[-1]) else ""
    return f"{fence}{space}{line}{space}{fence}"


def heading(text: str, level: int) -> str:
    return f"{'#' * level} {escape(text)}"


def list_item(text: str, sources: Iterable[object]) -> str:
    """Return an item of a list with its sources: "- It compiles. [1] [2]"."""
    return " ".join(["-", escape(text), *(f"[{source}]" for source in sources)])


def quotation(
    quote: str, session: Session | None, at: datetime, cited_id: str, zone: tzinfo
) -> str:
    """Return a quotation and its source: a session, a time, and an event, a grip or a
    node, as far as they are known. It is plain text."""
    title = shorten(session.title, TITLE_CHARS) if session else ""
    name = f"{title} ({session.full_name})" if session else ""
    when = date_format.moment(at, zone)
    source = ", ".join(filter(None, (name, when, citations.cite(cited_id))))
    return f"“{quote}” — {source}"
