"""Search results made by hand, for the store of ``full_workspace``."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from textual.app import App

from memtui.errors import MemtuiError
from memtui.model.events import EventRole
from memtui.model.hits import (
    CombinedHit,
    Hits,
    MessageHit,
    ReadDate,
    Snippet,
    WindowMessage,
)
from memtui.model.sessions import Session, SessionWork
from memtui.tui.screens.search import SearchHistory, SearchScreen
from memtui.tui.themes import DARK, THEMES, stylesheets
from memtui.tui.widgets.result_list import SearchFunction, SearchView
from tests.conftest import NOW

AT = datetime(2024, 2, 29, 9, 41, tzinfo=UTC)
"""The day before the screens' today."""


def marked(text: str, *words: str) -> Snippet:
    """A text with these words in it marked."""
    spans = [(text.index(word), text.index(word) + len(word)) for word in words]
    return Snippet(text, tuple(spans))


LONG = (
    "We looked at it from every side yesterday and found nothing at all in the logs of"
    " the proxy, and then the session timeout turned out to be 600 seconds, counted"
    " from the login, so that everybody was thrown out in the middle of paying."
)


def combined_hit(**others: object) -> CombinedHit:
    """A moment of which a summary and a message tell."""
    shown: dict[str, object] = {
        "agent": "claude-code",
        "session_id": "shop-1",
        "subagent": "",
        "project": "shop",
        "title": "Session timeout in the checkout",
        "at": AT,
        "node_id": "toc:day:2024-01-15",
        "event_id": "",
        "grip_id": "",
        "role": None,
        "snippet": marked(LONG, "session", "timeout"),
        "score": 0.91,
        "is_unsummarized": False,
    }
    return CombinedHit(**(shown | others))  # type: ignore[arg-type]


def session(**others: object) -> Session:
    """A session of the shop."""
    shown: dict[str, object] = {
        "agent": "claude-code",
        "session_id": "shop-1",
        "project": "shop",
        "cwd": "/srv/shop",
        "branch": "main",
        "title": "Session timeout in the checkout",
        "model": "",
        "created_at": AT,
        "updated_at": AT,
        "message_count": 12,
        "event_count": 20,
    }
    return Session(**(shown | others))  # type: ignore[arg-type]


def window_message(
    place: int, role: EventRole, snippet: Snippet, *, is_match: bool = False
) -> WindowMessage:
    """A message of a window."""
    return WindowMessage(
        f"{place:026}", place, role, AT, snippet, False, is_match=is_match
    )


def window(match: str, *words: str) -> tuple[WindowMessage, ...]:
    """A message that matches, and what was said around it."""
    before = "Why am I logged out in the middle of paying?"
    after = "Every request renews it now: SESSION_TTL in shop/settings.py."
    return (
        window_message(3, EventRole.USER, Snippet(before)),
        window_message(4, EventRole.ASSISTANT, marked(match, *words), is_match=True),
        window_message(5, EventRole.ASSISTANT, Snippet(after)),
        window_message(6, EventRole.USER, Snippet("Thank you.")),
    )


def message_hit(match: str, *words: str, **others: object) -> MessageHit:
    """A message that was found."""
    around = window(match, *words)
    shown: dict[str, object] = {
        "session": session(),
        "subagent": "",
        "event_id": around[1].event_id,
        "msg_idx": 4,
        "score": 0.62,
        "window": around,
    }
    return MessageHit(**(shown | others))  # type: ignore[arg-type]


FINDINGS = Hits(
    "session timeout",
    (
        combined_hit(
            work=SessionWork(
                "Customers are logged out while they pay",
                "pushed",
                "Every request renews the session: SESSION_TTL in shop/settings.py.",
            ),
            more=38,
        ),
        combined_hit(
            at=datetime(2024, 2, 19, 14, 5, tzinfo=UTC),
            title="Does the parquet export keep the time zone",
            event_id=f"{4:026}",
            role=EventRole.USER,
            snippet=marked("does the session timeout rotate?", "session", "timeout"),
            score=0.58,
            is_unsummarized=True,
        ),
        combined_hit(
            at=datetime(2023, 12, 19, 10, 0, tzinfo=UTC),
            title="[/b] 评审会议 list[int]",
            agent="codex",
            project="etl",
            snippet=marked("评审会议 session 在 timeout 之后 [red]x[/red]", "session"),
            grip_id="grip:1:00",
            score=0.34,
        ),
    ),
    times=(ReadDate("last month: February 2024", has_hits=True),),
    took_ms=6.0,
)

MESSAGES = Hits(
    "session timeout",
    (
        message_hit(
            f"{LONG}\n\n    def renew(session):\n        return 600", "session timeout"
        ),
        message_hit("The session timeout is 600 seconds.", "session", "timeout"),
        message_hit("", event_id="", msg_idx=-1, window=(), score=0.31),
    ),
    took_ms=4.0,
)


@dataclass
class FakeSearch:
    """Finds what it is told to find, and remembers what it was asked."""

    answer: Callable[[str], Hits[Any]]
    asked: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> Hits[Any]:
        """Answer."""
        self.asked.append(text)
        return self.answer(text)


class SearchApp(App[str | MemtuiError]):
    """A terminal with nothing in it but the search bar."""

    CSS_PATH = stylesheets()

    def __init__(
        self, asked: SearchHistory | None = None, **finders: SearchFunction
    ) -> None:
        super().__init__()
        self._finders = {SearchView(name): finder for name, finder in finders.items()}
        self._asked = asked or SearchHistory()
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name

    def on_mount(self) -> None:
        """Open the bar."""
        self.push_screen(
            SearchScreen(self._finders, UTC, lambda: NOW, self._asked),
            lambda landing: self.exit(landing.node_id if landing else ""),
        )
