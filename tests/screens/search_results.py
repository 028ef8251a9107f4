"""Search results made by hand, for the store of ``full_workspace``."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from textual.app import App

from memtui.errors import MemtuiError
from memtui.model import events
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole, EventType
from memtui.model.hit import (
    NO_SNIPPET,
    Hit,
    HitKind,
    Hits,
    Snippet,
    WindowMessage,
)
from memtui.model.nodes import NodeCounts, NodeStatus, TocEntry
from memtui.model.sessions import NO_WORK, Session, SessionWork, WorkState
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


def session(**others: object) -> Session:
    """Return a session of the shop."""
    fields: dict[str, object] = {
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
    return Session(**(fields | others))  # type: ignore[arg-type]


def node(node_id: str, title: str) -> TocEntry:
    """Return a node of a list."""
    return TocEntry(
        node_id=node_id,
        level=TocLevel.SEGMENT,
        title=title,
        headline=title,
        start_time=AT,
        end_time=AT,
        status=NodeStatus.CURRENT,
        is_live=False,
        counts=NodeCounts(1, 1, 1),
        supported_count=1,
        weak_count=0,
        bullet_count=1,
        is_by_model=False,
        is_pinned=False,
        agents=(),
        projects=(),
    )


def message(
    text: str,
    role: EventRole = EventRole.USER,
    *,
    number: int = 4,
    event_id: str = "",
    subagent: str = "",
) -> Event:
    """Return a message of the shop's session."""
    is_user = role is EventRole.USER
    event = events.make(
        agent="claude-code",
        session_id="shop-1",
        timestamp=AT,
        event_type=EventType.USER_MESSAGE if is_user else EventType.ASSISTANT_MESSAGE,
        role=role,
        text=text,
        source_key=str(number),
        subagent=subagent,
    )
    return replace(event, event_id=event_id or f"{number:026}")


def session_hit(
    *,
    title: str = "Session timeout in the checkout",
    node_id: str = "toc:day:2024-01-15",
    role: EventRole | None = None,
    event_id: str = "",
    agent: str = "claude-code",
    project: str = "shop",
    work: SessionWork = NO_WORK,
    snippet: Snippet | None = None,
    **others: object,
) -> Hit:
    """Return the hit of a session: a message if there is a role, else a summary."""
    snippet = snippet or marked(LONG, "session", "timeout")
    fields: dict[str, object] = {
        "kind": HitKind.MESSAGE if role else HitKind.SESSION,
        "session": session(agent=agent, project=project, work=work),
        "node": node(node_id, title),
        "event": message(snippet.text, role, event_id=event_id) if role else None,
        "at": AT,
        "snippet": snippet,
        "score": 0.91,
        "opens": node_id,
    }
    return Hit(**(fields | others))  # type: ignore[arg-type]


def window(match: str, *words: str, subagent: str = "") -> tuple[WindowMessage, ...]:
    """Return a message that matches, with those around it."""
    user, assistant = EventRole.USER, EventRole.ASSISTANT
    texts = (
        (user, Snippet("Why am I logged out in the middle of paying?")),
        (assistant, marked(match, *words)),
        (
            assistant,
            Snippet("Every request renews it now: SESSION_TTL in shop/settings.py."),
        ),
        (user, Snippet("Thank you.")),
    )
    return tuple(
        WindowMessage(
            message(snippet.text, role, number=number, subagent=subagent),
            number,
            snippet,
            is_match=number == 4,
        )
        for number, (role, snippet) in enumerate(texts, 3)
    )


def message_hit(match: str, *words: str, subagent: str = "", **others: object) -> Hit:
    """Return a message that was found, with those around it."""
    around = window(match, *words, subagent=subagent)
    fields: dict[str, object] = {
        "kind": HitKind.MESSAGE,
        "session": session(),
        "node": None,
        "event": around[1].event,
        "at": AT,
        "snippet": around[1].snippet,
        "score": 0.62,
        "window": around,
    }
    return Hit(**(fields | others))  # type: ignore[arg-type]


def title_hit(**others: object) -> Hit:
    """Return a session whose title matches."""
    fields: dict[str, object] = {
        "kind": HitKind.SESSION,
        "event": None,
        "snippet": NO_SNIPPET,
        "score": 0.31,
        "window": (),
    }
    return replace(message_hit("."), **(fields | others))  # type: ignore[arg-type]


FINDINGS = Hits(
    "session timeout",
    (
        session_hit(
            work=SessionWork(
                "Customers are logged out while they pay",
                WorkState.PUSHED,
                "Every request renews the session: SESSION_TTL in shop/settings.py.",
            ),
            more=38,
        ),
        session_hit(
            at=datetime(2024, 2, 19, 14, 5, tzinfo=UTC),
            title="Does the parquet export keep the time zone",
            event_id=f"{4:026}",
            role=EventRole.USER,
            snippet=marked("does the session timeout rotate?", "session", "timeout"),
            score=0.58,
        ),
        session_hit(
            at=datetime(2023, 12, 19, 10, 0, tzinfo=UTC),
            title="[/b] 评审会议 list[int]",
            agent="codex",
            project="etl",
            snippet=marked("评审会议 session 在 timeout 之后 [red]x[/red]", "session"),
            kind=HitKind.GRIP,
            grip_id="grip:1:00",
            score=0.34,
        ),
    ),
    dates=("last month: February 2024 comes first.",),
    took_ms=6.0,
)

MESSAGES = Hits(
    "session timeout",
    (
        message_hit(
            f"{LONG}\n\n    def renew(session):\n        return 600", "session timeout"
        ),
        message_hit("The session timeout is 600 seconds.", "session", "timeout"),
        title_hit(),
    ),
    took_ms=4.0,
)


@dataclass
class FakeSearch:
    """Returns given results, and remembers the queries."""

    answer: Callable[[str], Hits]
    asked: list[str] = field(default_factory=list)

    def __call__(self, text: str) -> Hits:
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
