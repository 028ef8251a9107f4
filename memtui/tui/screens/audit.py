"""The audit: claims of summaries as a list, the worst first, with their sources.

A key says of the selected claim that it is right, wrong, or what it should say, and the
cursor goes on to the next one.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from functools import partial
from threading import Lock
from typing import ClassVar, TypeVar

from rich.cells import cell_len
from textual import getters, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from memtui.model import calendar
from memtui.model.audit import AuditQuery, ClaimGroup, ClaimRow
from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.filters import Scope
from memtui.model.judgements import PERSON, Judgement, Ruling
from memtui.model.nodes import BulletKind
from memtui.model.quantities import plural
from memtui.services import audit, coverage, judging, opinions, versions
from memtui.services.audit import AuditTotals, ClaimDetails
from memtui.services.conversation import ConversationKey
from memtui.services.outline import Outline, read_outline
from memtui.text import analyzer, date_format
from memtui.tui import commands, format
from memtui.tui.messages import (
    ProgressReported,
    SessionRequested,
    SourceRequested,
)
from memtui.tui.screens.base import CHANGE, ListDetailScreen, LoadingScreen
from memtui.tui.screens.dialogs import ChoiceScreen, LineScreen, TypedLine
from memtui.tui.screens.session_actions import (
    ACTIONS,
    ALL_CITED,
    NO_SESSION,
    SessionActions,
)
from memtui.tui.widgets.panes import ItemList, PaneTitle
from memtui.tui.widgets.source_pane import SourcePane
from memtui.workspace import create_ollama

T = TypeVar("T")

GROUPS = {
    ClaimGroup.WITHHELD: "withheld",
    ClaimGroup.WEAK: "weak",
    ClaimGroup.REJECTED_VERSION: "in rejected versions",
    ClaimGroup.BY_MODEL: "by a model",
    ClaimGroup.FACT: "quotations and facts",
}

_MARKS = {
    ClaimGroup.WITHHELD: (format.UNSUPPORTED, "$error"),
    ClaimGroup.WEAK: (format.WEAK, "$warning"),
    ClaimGroup.REJECTED_VERSION: (format.UNSUPPORTED, "$context"),
    ClaimGroup.BY_MODEL: (format.SUPPORTED, "$context"),
    ClaimGroup.FACT: (" ", ""),
}
"""The mark of a group, and its color."""

WHEN_CELLS = 11
"""The width of the column with the day, or with what was said of a claim."""

NOTHING = "Nothing to audit here yet. Summaries are made while memtui runs."
NO_MATCH = "No claim is left with this filter. Press K to choose another one."
NO_CLAIM = "There is no claim to judge."
REJECTED = "Rejected. u takes it back; on its line, x gives the reason."
PLACEHOLDER = "The selected claim is shown here."


class ClaimList(ItemList[ClaimRow]):
    """Moves through the claims."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        open="Open the session at the source of this claim."
    )
    HELP_TITLE = "In the list of claims"

    def __init__(self, zone: tzinfo, now: Callable[[], datetime]) -> None:
        super().__init__(id="claims")
        self._zone, self._now = zone, now
        self._unlabelled: set[str] = {"", BulletKind.OUTCOME}

    def show(self, rows: Sequence[ClaimRow], kind: str = "") -> None:
        """List other claims; all are of a kind if one is given."""
        self._unlabelled = {"", BulletKind.OUTCOME, kind}
        items = {_name(row): row for row in rows}
        options = [Option(self._draw(row), id=name) for name, row in items.items()]
        self.show_items(items, options)

    def extend(self, rows: Sequence[ClaimRow]) -> None:
        """List more claims behind those that are listed."""
        items = {_name(row): row for row in rows if _name(row) not in self.items}
        self.items |= items
        self.add_options(
            Option(self._draw(row), id=name) for name, row in items.items()
        )

    def replace_row(self, row: ClaimRow) -> None:
        name = _name(row)
        if name in self.items:
            self.items[name] = row
            self.replace_option_prompt(name, self._draw(row))

    def go_on(self) -> None:
        """Go to the next claim without a judgement, if there is one below."""
        here = self.highlighted
        rows = list(self.items.values())
        if here is not None:
            below = range(here + 1, len(rows))
            is_left = (i for i in below if not (rows[i].is_judged or rows[i].later))
            self.highlighted = next(is_left, here)

    def _draw(self, row: ClaimRow) -> Content:
        mark, style = _MARKS[row.group]
        label = "" if row.kind in self._unlabelled else f"{row.kind}: "
        text = Content.styled(label, "$context")
        text += " ".join((row.words or row.text).split())
        when = self._day(row.at)
        if row.later:
            mark, style = format.SUPPORTED, "$context"
            text = text.stylize("strike").stylize_before("$context")
            done = f" — finished {self._day(row.later.at)}: {row.later.session_name}"
            text += Content.styled(done, "$context")
        elif about := " · ".join(filter(None, (row.session_name, row.project))):
            text += Content.styled(f" — {about}", "$context")
        if row.ruling:
            mark, style, when = " ", "", row.ruling.value
            text = text.stylize_before("$context")
        when = f"{when:<{WHEN_CELLS}} "
        when_style = "$accent" if row.ruling else "$context"
        return Content.assemble((f"{mark} ", style), (when, when_style)) + text

    def _day(self, at: datetime) -> str:
        days = (calendar.local_day(time, self._zone) for time in (at, self._now()))
        return date_format.near_day(*days)


def _name(row: ClaimRow) -> str:
    return f"{row.node_id} {row.kind} {row.text}"


def describe_totals(totals: AuditTotals) -> str:
    """Return how much of an audit is done: "23 of 140 judged · ✓ 88 · ~ 31 · ✗ 21"."""
    if not totals.total:
        return ""
    groups = totals.sum_by("group")
    withheld = groups[ClaimGroup.WITHHELD] + groups[ClaimGroup.REJECTED_VERSION]
    supported = groups[ClaimGroup.BY_MODEL] + groups[ClaimGroup.FACT]
    counts = (
        (format.SUPPORTED, supported),
        (format.WEAK, groups[ClaimGroup.WEAK]),
        (format.UNSUPPORTED, withheld),
    )
    marks = [f"{mark} {count:,}" for mark, count in counts if count]
    return " · ".join([f"{totals.judged:,} of {totals.total:,} judged", *marks])


def draw_claim(details: ClaimDetails, zone: tzinfo, now: datetime) -> Content:
    """Draw a claim, with what its source lacks underlined, and what was said of it."""
    bullet = details.bullet
    label = bullet.labelled.removesuffix(bullet.text)
    text = Content(" ".join(bullet.text.split()))
    for word in bullet.verdict.features.missing:
        for start, end in analyzer.find_word(text.plain, word):
            text = text.stylize("underline $error", start, end)
    is_judged = any(row.ruling is not Ruling.OPINION for row in details.history)
    why = "" if is_judged or details.event_id else versions.explain_verdict(bullet)
    parts = [details.title, bullet.project, details.model, why]
    lines = [
        Content.styled(label, "$context") + text,
        Content.styled(" · ".join(filter(None, parts)), "$context"),
        *(_draw_judgement(judgement, zone, now) for judgement in details.history[:3]),
    ]
    return Content("\n").join(lines)


def _draw_judgement(judgement: Judgement, zone: tzinfo, now: datetime) -> Content:
    author = "" if judgement.author == PERSON else f" by {judgement.author}"
    at = date_format.near_moment(judgement.at, now, zone) if judgement.at else ""
    if judgement.ruling is Ruling.OPINION:
        _, model, _ = judgement.author.split()
        words = f"“{judgement.words}”" if judgement.words else "no words of the source"
        head = Content.styled(f"{model}: {judgement.reason}", "$accent")
        return head + Content.styled(f" — {words} · {at}", "$context")
    before = f": “{judgement.claim.text}” before" if judgement.words else ""
    reason = f" — {judgement.reason}" if judgement.reason else ""
    head = Content.styled(f"{judgement.ruling}{author}", "$accent")
    return head + Content.styled(f" {at}{before}{reason}", "$context")


def _describe(name: str) -> str:
    try:
        is_segment = calendar.period(name).level is TocLevel.SEGMENT
    except ValueError:
        is_segment = True
    return "this session" if is_segment else calendar.title(name)


def claim_bindings(*names: str, **help: str) -> list[BindingType]:
    """Return the bindings of a list of claims, with those in the footer."""
    return [
        *commands.bindings(
            *names, in_footer=True, back="Go back to the list, or leave it.", **help
        ),
        *commands.bindings(
            "more_context",
            "less_context",
            *ACTIONS,
            next_source="Show the next source of this claim, then the first one again.",
            regenerate="Ask a model for a new version of this page.",
            copy="Copy this quote with its source.",
        ),
    ]


class ClaimsScreen(SessionActions[None], ListDetailScreen[None]):
    """Lists claims to be judged, and shows the selected one with its source."""

    FILTERS_BY_SCOPE = True
    DETAIL_TITLE = "Claim"

    _list = getters.query_one(ClaimList)
    _source = getters.query_one(SourcePane)

    kind = ""
    """The kind of all claims that are listed, if there is only one."""

    def __init__(self) -> None:
        super().__init__()
        self._sources: list[SourceRequested] = []  # Those of the selected claim.
        self._place = 0
        self._last: ClaimRow | None = None  # The claim that was judged last.
        self._changes = Lock()  # Judgements are stored one after another.

    def compose_list(self) -> ComposeResult:
        yield PaneTitle()
        yield Static(id="coverage", markup=False)
        yield ClaimList(self.zone, self.now)
        yield Static(id="nothing", markup=False)

    def compose_details(self) -> ComposeResult:
        yield Static(id="claim", markup=False)
        yield SourcePane(id="source")

    # The list

    @property
    def rows(self) -> Sequence[ClaimRow]:
        return list(self._list.items.values())

    def show_rows(self, rows: Sequence[ClaimRow], nothing: str) -> None:
        """List claims, or say why there are none."""
        self.remove_class("-empty")
        self._list.show(rows, self.kind)
        if not rows:
            self.show_instead(nothing)
        elif self.focused is None:
            self._list.focus()  # It lost the focus while it was hidden.
        self._show_selected()

    def read_totals(self) -> None:
        """Show how many claims there are, and how many of them are judged."""
        raise NotImplementedError

    def show_progress(self, message: ProgressReported) -> None:
        pass  # The list stays as it is while it is worked through.

    def show_error(self, error: BaseException, group: str) -> None:
        LoadingScreen.show_error(self, error, group)
        if group == "claims":
            self.retry_reload()

    # The selected claim

    @on(OptionList.OptionHighlighted)
    def _show_selected(self) -> None:
        row = self._list.current
        if row is None:
            self.query_one("#claim", Static).update(PLACEHOLDER)
            self._source.clear()
        else:
            read = partial(audit.read_claim, row)
            self.load(read, partial(self._show_claim, row), "claim")

    def _show_claim(self, row: ClaimRow, details: ClaimDetails | None) -> None:
        if row != self._list.current:
            return
        self._sources, self._place = [], 0
        claim = self.query_one("#claim", Static)
        if details is None:
            claim.update("This claim does not exist any more.")
            self._source.clear()
            return
        text = draw_claim(details, self.zone, self.now())
        self._sources = _list_sources(details)
        if row.later:
            at = date_format.near_moment(row.later.at, self.now(), self.zone)
            done = f"finished {at}: {row.later.session_name}; n shows where"
            text += Content.styled(f"\n{done}", "$accent")
            self._sources.append(SourceRequested(event_id=row.later.event_id))
        claim.update(text)
        self._source.request(self._sources[0])

    def action_next_source(self) -> None:
        if len(self._sources) > 1:
            self._place = (self._place + 1) % len(self._sources)
            self._source.request(self._sources[self._place])
        else:
            self.notify("There is no other source of this claim.")

    def action_more_context(self) -> None:
        self._source.change_context(more=True)

    def action_less_context(self) -> None:
        self._source.change_context(more=False)

    def open_option(self) -> None:
        # A message that the screen sends itself would not reach the app.
        self._source.call_later(self._source.action_open)

    @property
    def selected_session(self) -> ConversationKey | None:
        row = self._list.current
        if row is None or row.subject.startswith("toc:"):
            return None
        agent, _, session_id = row.subject.partition(":")
        return ConversationKey(agent, session_id)

    @property
    def page_id(self) -> str:
        row = self._list.current
        return row.subject if row else ""

    def show_renamed(self) -> None:
        self._show_selected()

    def action_copy(self) -> None:
        if citation := self._source.citation():
            self.copy(citation)
        else:
            self.notify("There is no source to copy.")

    # Judgements

    def action_accept(self) -> None:
        self.judge(Ruling.ACCEPTED)

    def action_reject(self) -> None:
        """Reject the claim; of one that is rejected already, ask for the reason."""
        row = self._list.current
        if row is not None and row.ruling is Ruling.REJECTED:
            ask = LineScreen("", "Why it is wrong. Enter saves it.")
            reject = partial(self.judge, Ruling.REJECTED, row)
            self.memtui.ask(ask, lambda line: reject(reason=line.text))
        else:
            self.judge(Ruling.REJECTED)

    def action_correct(self) -> None:
        if (row := self._list.current) is None:
            self.notify(NO_CLAIM)
            return
        hint = "What it should say. Enter saves it; it is marked as yours."
        before = row.words or row.text

        def correct(line: TypedLine) -> None:
            if line.text != before:
                self.judge(Ruling.CORRECTED, row, words=line.text)

        self.memtui.ask(LineScreen(before, hint), correct)

    def action_move_source(self) -> None:
        if (row := self._list.current) is None:
            self.notify(NO_CLAIM)
            return
        move = partial(self.judge, Ruling.MOVED, row)

        def read() -> Sequence[Event]:
            details = audit.find_claim(row)
            return judging.list_sources(details.page, details.bullet)

        def ask(events: Sequence[Event]) -> None:
            if events:
                choices = [(e.event_id, _draw_event(e, self.zone)) for e in events]
                screen = ChoiceScreen("Which message says it?", choices)
                self.memtui.ask(screen, lambda name: move(event_id=name))
            else:
                self.notify("No other message has words of this claim.")

        self.load(read, ask, CHANGE)

    def judge(
        self, ruling: Ruling, row: ClaimRow | None = None, **details: str
    ) -> None:
        """Judge a claim, by default the selected one, and go on to the next."""
        current = self._list.current
        row = row or current
        if row is None:
            self.notify(NO_CLAIM)
            return
        action = partial(_judge, row, ruling, self.now(), details)
        self._change(action, self._show_change)
        self._last = row
        # The next key is for the next claim, also before this one is stored.
        if row == current:
            self._list.go_on()
        if ruling is Ruling.REJECTED and not details:
            self.notify(REJECTED)

    def _change(self, action: Callable[[], T], done: Callable[[T], object]) -> None:
        """Execute a change of judgements after those that were started before."""

        def change() -> T:
            with self._changes:
                return action()

        self.execute(change, done, CHANGE)

    def _show_change(self, row: ClaimRow) -> None:
        """Show a claim as it is judged now."""
        self._list.replace_row(row)
        if self._list.current == row:
            self._show_selected()
        self.read_totals()

    def action_undo_judgement(self) -> None:
        """Take back what was said of this claim, or else the last judgement."""
        row = self._list.current
        row = row if row is not None and row.is_judged else self._last
        if row is None:
            self.notify("Nothing was judged here.")
            return
        self._last = None

        def show(undone: ClaimRow) -> None:
            if (name := _name(undone)) in self._list.items:
                self._list.highlighted = self._list.get_option_index(name)
            self._show_change(undone)

        self._change(partial(_undo, row, self.now()), show)

    def action_regenerate(self) -> None:
        row = self._list.current
        if row is None or not row.version:
            self.notify("There is no summary to make again here.")
            return

        def done(_: object) -> None:
            self.notify(f"Requested. {self.memtui.rewrite_forecast().message}")

        request = partial(versions.request, row.node_id, self.now())
        self.execute(request, done, CHANGE)


class AuditScreen(ClaimsScreen):
    """Lists the claims of a page and of all below it, the worst first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *claim_bindings("accept", "reject", "correct", "move_source", "undo_judgement"),
        *commands.bindings(
            "filter_claims",
            in_footer=True,
            next_part="Open this session at the first part that no bullet cites.",
        ),
        *commands.bindings("ask_model", "ask_weak"),
    ]

    def __init__(self, name: str, scope: Scope) -> None:
        """Make the screen of a node, of a session (``agent:id``), or of all."""
        super().__init__()
        self._audited = name
        self._audited_title = f"Claims · {_describe(name)}" if name else "All claims"
        self._query = AuditQuery(scope)
        self._total = 0  # The claims, of which a part is listed at first.
        self._is_counting = False
        self._is_outdated = False  # Something changed after the count began.
        self._asked: dict[str, ClaimRow] = {}  # The model is asked about the first.

    def on_mount(self) -> None:
        self._model = create_ollama(self.workspace.settings, lambda _: None)

    def reload(self) -> None:
        query = self._query
        self.load(
            lambda: self._list_claims(query, audit.PAGE_SIZE), self._show, "claims"
        )
        self._show_query("")
        self.read_totals()

    def _narrow(self, query: AuditQuery) -> AuditQuery:
        name = self._audited
        return audit.narrow(query, name, self.zone) if name else query

    def _list_claims(self, query: AuditQuery, limit: int) -> list[ClaimRow]:
        return audit.list_claims(self._narrow(query), limit)

    def _show(self, rows: Sequence[ClaimRow]) -> None:
        is_filtered = self._query != AuditQuery(self._query.scope)
        self.show_rows(rows, NO_MATCH if is_filtered else NOTHING)

    @on(OptionList.OptionHighlighted)
    def _read_more(self) -> None:
        count, query = len(self._list.items), self._query
        is_last = self._list.highlighted == self._list.option_count - 1
        if is_last and count < self._total:
            # Those that are listed come first, or last if they were judged meanwhile.
            limit = count + audit.PAGE_SIZE
            read = partial(self._list_claims, query, limit)
            self.load(read, partial(self._show_more, query), "more")

    def _show_more(self, query: AuditQuery, rows: Sequence[ClaimRow]) -> None:
        if query == self._query:
            self._list.extend(rows)

    def read_totals(self) -> None:
        # Of a large store a count takes seconds: never two of them at once.
        self._is_outdated = self._is_counting
        if self._is_counting:
            return
        self._is_counting = True
        query = self._query

        def count() -> tuple[AuditTotals, str]:
            narrowed = self._narrow(query)
            cited = coverage.describe(coverage.count(narrowed))
            return audit.count_claims(narrowed), cited

        self.load(count, partial(self._show_totals, query), "totals")

    def _show_totals(self, query: AuditQuery, counts: tuple[AuditTotals, str]) -> None:
        self._is_counting = False
        if query == self._query:
            totals, cited = counts
            self._total = totals.total
            self._show_query(describe_totals(totals))
            self.query_one("#coverage", Static).update(cited)
        if self._is_outdated or query != self._query:
            self.read_totals()

    def _show_query(self, info: str) -> None:
        query = self._query
        groups = [GROUPS[group] for group in query.groups]
        named = groups if len(groups) == 1 else []
        parts = [self._audited_title, *named, query.kind, query.model]
        self._list_title.show(" · ".join(filter(None, parts)), info)

    def show_scope(self, scope: Scope) -> None:
        self._query = replace(self._query, scope=scope)
        self.reload()

    def action_next_part(self) -> None:
        """Open the session of this claim at the first part that no bullet cites."""
        if (key := self.selected_session) is None:
            self.notify(NO_SESSION)
            return

        def open_part(outline: Outline) -> None:
            if outline.uncited:
                _, (*_, event_id) = outline.uncited[0]
                request = SessionRequested(key.agent, key.session_id, event_id)
                self.post_message(request)
            else:
                self.notify(ALL_CITED)

        self.load(partial(read_outline, key), open_part, CHANGE)

    def action_filter_claims(self) -> None:
        """Choose which claims are listed."""

        def read() -> AuditTotals:
            return audit.count_claims(self._narrow(AuditQuery(self._query.scope)))

        def ask(totals: AuditTotals) -> None:
            filters = _filters(totals, self._query.scope)
            self.memtui.ask(ChoiceScreen("Which claims?", filters), self._set_query)

        self.load(read, ask, CHANGE)

    def _set_query(self, query: AuditQuery) -> None:
        self._query = query
        self.reload()

    # Opinions of a model

    def action_ask_model(self) -> None:
        self._ask([self._list.current])

    def action_ask_weak(self) -> None:
        rows = self._list.items.values()
        weak = [r for r in rows if r.group is ClaimGroup.WEAK and not r.is_judged]
        is_asking = bool(self._asked)
        self._asked = dict([*self._asked.items()][:1])
        self._ask([] if is_asking else weak)

    def _ask(self, rows: Sequence[ClaimRow | None]) -> None:
        if reason := self.workspace.why_no_model:
            self.notify(reason)
            return
        if not any((*rows, *self._asked)):
            self.notify("There is no such claim to ask the model about.")
            return
        is_asking = bool(self._asked)
        self._asked |= {_name(row): row for row in rows if row is not None}
        self._show_asked()
        if not is_asking:
            self._ask_next()

    def _ask_next(self) -> None:
        if row := next(iter(self._asked.values()), None):
            ask = partial(opinions.ask, row, self._model, self.now())
            self.load(ask, partial(self._show_opinion, row), "opinion")

    def _show_opinion(self, row: ClaimRow, before: str) -> None:
        del self._asked[_name(row)]
        if before and row == self._list.current and not self._asked:
            self.notify(f"The model was asked about this claim already: {before}.")
        self._show_asked()
        if row == self._list.current:
            self._show_selected()
        self._ask_next()

    def _show_asked(self) -> None:
        count = plural(len(self._asked), "claim")
        info = f"asking the model about {count}" if self._asked else ""
        self._detail_title.show(self.DETAIL_TITLE, info)

    def show_error(self, error: BaseException, group: str) -> None:
        super().show_error(error, group)
        if group == "totals":
            self._is_counting = False
        if group == "opinion":
            self._asked.clear()
            self._show_asked()

    def on_unmount(self) -> None:
        self._model.cancel()


def _list_sources(details: ClaimDetails) -> list[SourceRequested]:
    """Return the sources of a claim, or why there is none."""
    grip_ids = details.bullet.grip_ids
    if not grip_ids and details.event_id:
        return [SourceRequested(event_id=details.event_id)]
    return [
        SourceRequested(
            why_none="" if grip_id else "Nothing was found that supports it.",
            grip_id=grip_id,
            number=number,
            total=len(grip_ids),
            verdict=details.bullet.verdict if grip_id else None,
            node_id=details.page,
            bullet=1,
        )
        for number, grip_id in enumerate(grip_ids or [""], 1)
    ]


def _judge(
    row: ClaimRow, ruling: Ruling, now: datetime, details: dict[str, str]
) -> ClaimRow:
    """Judge a claim; return its row as it is then."""
    for claim in map(audit.find_claim, (*row.earlier, row)):
        judgement = judging.judge(claim.page, claim.bullet, ruling, now, **details)
        row = replace(row, ruling=judgement.ruling, words=judgement.words)
    return row


def _undo(row: ClaimRow, now: datetime) -> ClaimRow:
    """Take the judgement about a claim back; return its row as it is then."""
    for claim in map(audit.find_claim, (row, *row.earlier)):
        if claim.bullet.judgement is not None:
            judging.undo(claim.bullet.judgement, now)
    details = audit.read_claim(row)  # Only that judgement may have kept it.
    before = details.bullet.judgement if details else None
    ruling, words = (before.ruling, before.words) if before else (None, "")
    return replace(row, ruling=ruling, words=words)


def _draw_event(event: Event, zone: tzinfo) -> Content:
    time = date_format.clock(event.timestamp, zone)
    head = Content.styled(f"{time} {format.speaker(event)}  ", "$context")
    room = max(20, 74 - cell_len(head.plain))
    return head + format.shorten(" ".join(event.text.split()), room)


def _filters(totals: AuditTotals, scope: Scope) -> list[tuple[AuditQuery, Content]]:
    every = AuditQuery(scope)
    filters = [(every, f"all {plural(totals.total, 'claim')}")]
    for group, label in GROUPS.items():
        if count := totals.sum_by("group")[group]:
            narrowed = replace(every, groups=frozenset([group]))
            filters.append((narrowed, f"{label}  {count:,}"))
    for kind, count in totals.sum_by("kind").most_common():
        if kind:
            filters.append((replace(every, kind=kind), f"kind: {kind}  {count:,}"))
    for model, count in totals.sum_by("model").most_common():
        filters.append((replace(every, model=model), f"model: {model}  {count:,}"))
    return [(query, Content(label)) for query, label in filters]
