"""The reader: one session, of any length, opened anywhere in it.

How it is read is in ``reading``, how it is laid out in ``laying``, and what is done
with a session beside that in ``deeds``.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta, tzinfo
from functools import partial
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.content import Content
from textual.events import DescendantFocus
from textual.notifications import SeverityLevel
from textual.widgets import Static
from textual.worker import Worker, WorkerState

from memtui.model import sessions
from memtui.model.events import Place
from memtui.model.sessions import Resume
from memtui.search import combined
from memtui.services import conversation, export
from memtui.services.conversation import (
    About,
    Forgotten,
    Measure,
    Shown,
    Turn,
    TurnRange,
    Whose,
)
from memtui.tui import commands, format, terminal, workers
from memtui.tui.messages import (
    AboutRead,
    CursorMoved,
    Exported,
    Measured,
    NewsRead,
    NodeWanted,
    PlaceFound,
    QuestionFound,
    SessionWanted,
    TurnOpened,
    TurnsLaid,
    TurnsRead,
    TurnsWanted,
    ViewResized,
    Where,
    WordsAsked,
    WordsFound,
    WorkReported,
)
from memtui.tui.screens.base import AGAIN, LAYOUTS, Following
from memtui.tui.screens.export import ExportScreen
from memtui.tui.screens.resume import ResumeScreen
from memtui.tui.widgets import turn_lines, turn_view
from memtui.tui.widgets.find_line import FindLine
from memtui.tui.widgets.key_line import KeyLine
from memtui.tui.widgets.pane_title import PaneTitle
from memtui.tui.widgets.status_line import StatusLine
from memtui.tui.widgets.turn_lines import Look
from memtui.tui.widgets.turn_view import MOST, Known, Spot, TurnView

CITED = 300
"""How much of a turn is cited, in characters."""


PLACE, WRITE = "place", "write"
"""What threads do for these, beside reading."""


NO_EDITOR = "No editor is set: quit, export EDITOR=nano, and start memtui again."


class Deeds(Following[None]):
    """A screen of one session."""

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        is_demo: bool,
    ) -> None:
        super().__init__()
        self.whose, self.zone, self.now, self.is_demo = whose, zone, now, is_demo
        self.about: About | None = None
        self._written: Path | None = None

    @property
    def view(self) -> TurnView:
        """The transcript."""
        return self.query_one(TurnView)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """Say something in place of what was said before: of keys the last counts."""
        self.app.clear_notifications()
        super().notify(
            message, title=title, severity=severity, timeout=timeout, markup=markup
        )

    def _known(self) -> About | None:
        if self.about is None:
            words = "This session has not been read: there is nothing to do with it."
            self.notify(words, markup=False)
        return self.about

    def _pointed_at(self) -> Turn | None:
        turn = self.view.pointed_at
        if turn is None:
            self.notify("Choose a message first.", markup=False)
        return turn

    def action_copy_citation(self) -> None:
        """Copy the message the cursor is on, and where it stands."""
        if (turn := self._pointed_at()) is None or self.about is None:
            return
        event, one = turn.event, self.about.session
        text = " ".join(format.said(event).split())
        said = text if len(text) <= CITED else f"{text[:CITED]}…"
        at = event.timestamp.astimezone(self.zone)
        told = (
            format.speaker(event),
            one.agent,
            one.project,
            f"session {one.session_id}",
        )
        where = ", ".join(part for part in told if part)
        citation = f"“{said}” — {where}, {at:%Y-%m-%d %H:%M} ({event.event_id})"
        self.app.copy_to_clipboard(citation)
        self.notify(format.glimpse(citation), title="Copied", markup=False)

    # To the contents

    def action_see_place(self) -> None:
        """Go to the stretch of the contents that the cursor's turn belongs to."""
        if (turn := self._pointed_at()) is not None:
            self.ask(partial(self._find_place, turn), PLACE)

    def _find_place(self, turn: Turn) -> None:
        event = turn.event
        found = combined.node_at(event.agent, event.session_id, event.timestamp)
        self.tell(PlaceFound(found))

    @on(PlaceFound)
    def go_to_place(self, message: PlaceFound) -> None:
        """Go there."""
        if message.node_id:
            self.post_message(NodeWanted(message.node_id))
        else:
            self.notify("The contents do not hold this yet.", markup=False)

    # Resuming

    def action_resume(self) -> None:
        """Ask whether to take the session up in its agent."""
        if (about := self._known()) is None:
            return
        resume = sessions.of(about.session)

        def answer(is_yes: bool | None) -> None:
            if is_yes:
                self._resume(resume)

        self.app.push_screen(ResumeScreen(resume), answer)

    def _resume(self, resume: Resume) -> None:
        why = terminal.run(self.app, resume.argv, resume.folder)
        if why:
            self.notify(why, severity="warning", markup=False)

    # Exporting and editing

    def action_export(self) -> None:
        """Ask where to write the session as Markdown."""
        if (about := self._known()) is None:
            return

        def answer(file: Path | None) -> None:
            if file is not None:
                self.do(partial(self._export, file), WRITE)

        file = _here() / export.name(about, self.zone)
        self.app.push_screen(ExportScreen(file), answer)

    def _export(self, file: Path) -> None:
        # The question was whether it may be replaced.
        export.write(self.whose, self.zone, file, may_replace=True)
        self.post_message(Exported(str(file), to_edit=False))

    def action_edit(self) -> None:
        """Open the session as Markdown in the person's editor."""
        if not terminal.editor():
            self.notify(NO_EDITOR, markup=False)
        elif (about := self._known()) is not None:
            name = export.name(about, self.zone)
            self.do(partial(self._export_aside, name, self._written), WRITE)

    def _export_aside(self, name: str, written: Path | None) -> None:
        if written is not None and written.is_file():
            self.post_message(Exported(str(written), to_edit=True))
            return
        folder = tempfile.mkdtemp(prefix="memtui-")
        # Some editors return at once and read it later.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        file = Path(folder) / name
        export.write(self.whose, self.zone, file, may_replace=False)
        self.post_message(Exported(str(file), to_edit=True))

    @on(Exported)
    def say_exported(self, message: Exported) -> None:
        """Say where it is, or open it; a copy to look at goes when memtui does."""
        file = Path(message.file)
        if not message.to_edit:
            self._written = file
            self.notify(str(file), title="Written", markup=False)
            return
        self._edit(file)

    def _edit(self, file: Path) -> None:
        why = terminal.run(self.app, [*terminal.editor(), str(file)])
        if why:
            self.notify(why, severity="warning", markup=False)


def _here() -> Path:
    """The folder memtui was started in, or one's own where that is gone."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()


class Laying(Deeds):
    """A screen that lays a session out."""

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        is_demo: bool,
    ) -> None:
        super().__init__(whose, zone, now, is_demo=is_demo)
        self._with_thoughts = False
        self._unfolded: set[str] = set()
        self._to_lay: set[str] = set()
        self._lays_all = False

    @property
    def _finding(self) -> FindLine:
        return self.query_one(FindLine)

    def _look(self) -> Look:
        calls = tuple(
            (one.started_by, one.subagent)
            for one in (self.about.helpers if self.about else ())
            if one.started_by
        )
        width = self.view.width
        words = self._finding.words
        return Look(width, self.zone, self.now(), self._with_thoughts, words, calls)

    @on(ViewResized)
    def lay_out(self) -> None:
        """Lay out anew what is shown, at the new width."""
        if self.view.window.turns:
            self._lay_anew()

    def _catch_up(self, look: Look, unfolded: frozenset[str]) -> None:
        """Lay out anew what was read before it was to look as it is now."""
        if look != self._look():
            self._lay_anew()
        elif changed := unfolded ^ self._unfolded:
            self._lay_anew(changed)

    def _lay_anew(self, event_ids: Collection[str] = ()) -> None:
        """Lay out anew what is shown, or some of it, and what was not laid out yet."""
        self._lays_all |= not event_ids
        self._to_lay.update(event_ids)
        turns = [
            turn
            for turn in self.view.window.turns
            if self._lays_all or turn.event.event_id in self._to_lay
        ]
        args = turns, self._look(), frozenset(self._unfolded)
        self.ask(partial(self._lay, *args), "lay")

    def _lay(self, turns: Sequence[Turn], look: Look, unfolded: frozenset[str]) -> None:
        names = [turn.event.event_id for turn in turns]
        laid = dict(zip(names, turn_view.lay(turns, look, unfolded), strict=True))
        self.tell(TurnsLaid(laid, look))

    @on(TurnsLaid)
    def show_laid(self, message: TurnsLaid) -> None:
        """Show it, unless it is to look otherwise by now."""
        if message.look == self._look():
            self._to_lay, self._lays_all = set(), False
            self.view.lay(message.laid)
            self._show_match()

    def _show_match(self) -> None:
        """Bring the words that were found on the cursor's turn into sight."""
        at = self.view.at
        if at is None:
            return
        turn, laid = self.view.window.turns[at], self.view.window.laid[at]
        if laid.found:
            self.view.go_to(turn.place, line=min(laid.found))
            return
        name = turn.event.event_id
        can_open = turn_lines.is_foldable(turn.event) and name not in self._unfolded
        if laid.is_found and can_open:
            self._unfolded.add(name)
            self._lay_anew([name])


LIVE = timedelta(minutes=30)
"""A session that was heard of since is opened at its end: it may still go on."""


TURNS, MEASURE, NEWS, FIND = "turns", "measure", "news", "find"
"""What threads read; of each the last answer counts."""


EMPTY = "Nothing of this session is kept but its name."


GONE = "This session is no longer kept: it was forgotten meanwhile.\n\nesc goes back."


class Reading(Laying):
    """A screen that reads a session."""

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        event_id: str,
        is_demo: bool,
    ) -> None:
        super().__init__(whose, zone, now, is_demo=is_demo)
        self._event_id = event_id
        self._total = 0
        self._is_jumping = False

    def _open(self) -> None:
        self._is_jumping = True
        self.ask(partial(self._begin, self._look()), TURNS)

    def _begin(self, look: Look) -> None:
        about = conversation.about(self.whose)
        self.tell(AboutRead(about))
        known = conversation.of_event(self._event_id) if self._event_id else None
        is_live = self.now() - about.session.updated_at < LIVE
        where = Where.END if is_live else Where.BEGINNING
        wanted = TurnsWanted(where) if known is None else around(known[1])
        self._load(wanted, look, frozenset())

    @on(TurnsWanted)
    def read(self, message: TurnsWanted) -> None:
        """Read what is lacking; what is jumped to comes before all else."""
        if self._is_jumping and not message.is_jump:
            return
        self._is_jumping = message.is_jump
        args = message, self._look(), frozenset(self._unfolded)
        self.ask(partial(self._load, *args), TURNS)

    def _load(self, wanted: TurnsWanted, look: Look, unfolded: frozenset[str]) -> None:
        stretch = turn_view.stretch(self.whose, wanted)
        laid = turn_view.lay(stretch.turns, look, unfolded)
        self.tell(TurnsRead(wanted, stretch, laid, look, unfolded))

    @on(TurnsRead)
    def show(self, message: TurnsRead) -> None:
        """Show what was read, if it still belongs there."""
        view, wanted = self.view, message.wanted
        turns = view.window.turns
        if wanted.is_jump:
            self._is_jumping = False
            is_there = wanted.followed_from in (None, view.cursor)
            if is_there and wanted.number == view.jumps:
                self._show_anew(message)
            else:
                view.missed(is_sought=True)
        elif not turns:
            return  # It is gone meanwhile.
        elif wanted.where is Where.BEFORE and turns[0].place == wanted.place:
            view.put_before(message.stretch, message.laid)
        elif wanted.where is Where.AFTER and turns[-1].place == wanted.place:
            view.put_behind(message.stretch, message.laid)
        self._catch_up(message.look, message.unfolded)
        self.set_class(not view.window.turns, "-empty")
        if not view.window.turns:
            self.say(Content(EMPTY))

    def _show_anew(self, message: TurnsRead) -> None:
        stretch, wanted = message.stretch, message.wanted
        place = wanted.place
        if wanted.where is Where.AROUND and place is None and stretch.turns:
            place = stretch.turns[len(stretch.turns) // 2].place
        guess = Measure(self._total, self._guess(wanted, stretch))
        self.view.show(stretch, message.laid, guess, place)
        if wanted.spot is not None:
            self.view.return_to(wanted.spot)
        self._show_match()
        self._ask_measure()

    def _guess(self, wanted: TurnsWanted, stretch: TurnRange) -> int:
        """About how many turns stand before a stretch, until they are counted."""
        if wanted.where is Where.END:
            return self._total - len(stretch.turns)
        if wanted.rank:
            return max(0, wanted.rank - len(stretch.turns) // 2)
        if self.about is None or not stretch.turns:
            return 0
        one = self.about.session
        lasted = one.updated_at - one.created_at
        since = stretch.turns[0].event.timestamp - one.created_at
        return round(self._total * (since / lasted)) if lasted else 0

    def _ask_measure(self) -> None:
        turns = self.view.window.turns
        first = turns[0].place if turns else None
        self.ask(partial(self._measure, first), MEASURE)

    def _measure(self, place: Place | None) -> None:
        measure = conversation.measure(self.whose, place)
        self.tell(Measured(place, measure))

    @on(Measured)
    def take_measure(self, message: Measured) -> None:
        """Have the scrollbar say how long it is, and where this is."""
        self._total = message.measure.total
        self.view.measure(message.measure, message.place)

    @on(AboutRead)
    def entitle(self, message: AboutRead) -> None:
        """Say which session this is."""
        before, self.about = self.about, message.about
        self._total = self._total or message.about.session.event_count
        self._entitle(message.about)
        if before is not None and before.helpers != message.about.helpers:
            self._lay_anew()

    def _entitle(self, about: About) -> None:
        one = about.session
        title = one.title or "(without a title)"
        whose = f"subagent {self.whose.subagent}" if self.whose.subagent else ""
        said = format.counted(one.message_count, "message") if not whose else ""
        hidden = "" if self._with_thoughts else " hidden: t"
        thoughts = format.counted(about.thoughts, "thought") + hidden
        parts = [one.agent, one.project, said, thoughts if about.thoughts else ""]
        what = f"{whose} of {title}" if whose else title
        measure = " · ".join(part for part in parts if part)
        self.query_one(PaneTitle).say(what, measure)

    @on(Worker.StateChanged)
    def say_why(self, event: Worker.StateChanged) -> None:
        """Say why something could not be read or done."""
        if event.state is not WorkerState.ERROR:
            return
        error, group = event.worker.error, event.worker.group
        if group == TURNS:
            self._is_jumping = False
            self.view.missed()
        if group == FIND:
            self._finding.fail()
            self._lay_anew()
        if group in (PLACE, WRITE):
            self.notify(format.why(error), severity="error", markup=False)
        elif isinstance(error, Forgotten):
            self.say(Content(GONE))
        elif not self.view.window.turns:
            why = f"✗ This session could not be read: {format.why(error)}"
            self.say(Content.styled(why, "$error") + f"\n\n{AGAIN}")
            self.look_soon()
        elif group not in (NEWS, MEASURE):
            why = f"✗ Not read: {format.why(error)}."
            self.notify(why, severity="error", markup=False)

    def say(self, words: Content) -> None:
        """Say why there is no transcript."""
        self.query_one("#nothing", Static).update(words)
        self.set_class(True, "-empty")

    # What is new

    def look_for_news(self) -> None:
        """Read what has come since, wherever it belongs."""
        window, here = self.view.window, self.view.here
        if here is None:
            self._open()
            return
        places = tuple(turn.place for turn in window.turns)
        shown = Shown(places, window.is_first, window.is_last)
        known = {
            turn.event.event_id: (turn, laid)
            for turn, laid in zip(window.turns, window.laid, strict=True)
        }
        args = window.edition, shown, here, known, self.about, self._look()
        self.ask(partial(self._load_news, *args, frozenset(self._unfolded)), NEWS)

    def _load_news(
        self,
        edition: int,
        shown: Shown,
        here: Place,
        known: Known,
        before: About | None,
        look: Look,
        unfolded: frozenset[str],
    ) -> None:
        about = conversation.about(self.whose)
        if about != before:
            self.tell(AboutRead(about))
        news = conversation.news(self.whose, shown, here, MOST)
        turns = news.stretch.turns if news else ()
        laid = turn_view.lay(turns, look, unfolded, known)
        self.tell(NewsRead(edition, news, laid, look))

    @on(NewsRead)
    def show_news(self, message: NewsRead) -> None:
        """Show it, unless something else is shown meanwhile: then look again."""
        view, news = self.view, message.news
        if message.edition != view.window.edition:
            self.look_again()
        elif news is not None:
            put = view.put_anew if news.is_anew else view.put_behind
            put(news.stretch, message.laid)
            self._catch_up(message.look, frozenset(self._unfolded))
            self._ask_measure()


def around(place: Place, number: int = 0, spot: Spot | None = None) -> TurnsWanted:
    """What is wanted to go to a place, and to see it as it was."""
    return TurnsWanted(Where.AROUND, place, number=number, spot=spot)


class ReaderScreen(Reading):
    """Shows a conversation; its transcript moves, and this reads for it."""

    AUTO_FOCUS = ""
    LEADS_BACK = True
    HORIZONTAL_BREAKPOINTS = LAYOUTS
    BINDINGS: ClassVar[list[BindingType]] = [
        *commands.bindings(
            "next_match", "previous_match", "next_question", "previous_question",
            "show_thinking", "see_place", "resume", "export", "edit",
            copy_citation="Copy what is said here, and where, to the clipboard.",
            fold="Fold or unfold this tool call or note.",
        ),
        *commands.bindings(
            in_footer=True,
            find_here="Find words in this session.",
            back="Stop finding, or leave the session.",
        ),
    ]  # fmt: skip

    def __init__(
        self,
        whose: Whose,
        zone: tzinfo,
        now: Callable[[], datetime],
        *,
        event_id: str = "",
        is_demo: bool = False,
    ) -> None:
        """Make the screen.

        Args:
            whose: Which conversation.
            zone: The store's time zone.
            now: The time, aware.
            event_id: At which event it is opened; at its beginning if empty, or at
                its end while it goes on.
            is_demo: Whether this is the made-up memory.
        """
        super().__init__(whose, zone, now, event_id=event_id, is_demo=is_demo)
        self._left: tuple[Spot | None, frozenset[str]] = None, frozenset()

    def compose(self) -> ComposeResult:
        """The transcript, and under it the line to type in."""
        yield StatusLine(is_demo=self.is_demo)
        yield PaneTitle("Session")
        yield TurnView()
        yield Static(id="nothing", markup=False)
        yield FindLine()
        yield KeyLine()

    @property
    def here(self) -> SessionWanted:
        """What would open this conversation again at the message the cursor is on."""
        mine, turn = self.whose, self.view.pointed_at
        event_id = turn.event.event_id if turn else ""
        return SessionWanted(
            mine.agent, mine.session_id, event_id, subagent=mine.subagent
        )

    def on_mount(self) -> None:
        """Read what is known of the session, and its first stretch."""
        self.view.focus()
        # Not before it is known how wide the lines are.
        self.call_after_refresh(self._open)
        self.set_timer(workers.SLOW_S, self._say_slow)

    def _say_slow(self) -> None:
        if self.about is None and not self.has_class("-empty"):
            self.query_one(PaneTitle).measure = workers.READING

    # Folding and thinking

    def action_fold(self) -> None:
        """Fold or unfold what the cursor is on."""
        turn = self.view.pointed_at
        if turn is None or not turn_lines.is_foldable(turn.event):
            self.notify("Tool calls and notes can be folded, not this.", markup=False)
            return
        self._unfolded ^= {turn.event.event_id}
        self._lay_anew([turn.event.event_id])

    @on(TurnOpened)
    def open_turn(self) -> None:
        """Go to the subagent that was started here, or unfold."""
        turn = self.view.pointed_at
        calls = dict(self._look().subagents)
        name = turn and calls.get(turn.event.metadata.get("tool_use_id", ""))
        if name:
            mine = self.whose
            wanted = SessionWanted(mine.agent, mine.session_id, subagent=name)
            self.post_message(wanted)
        else:
            self.action_fold()

    def action_show_thinking(self) -> None:
        """Show what the model thought, or hide it again."""
        if self.about is None or not self.about.thoughts:
            self.notify("No thinking of this session is kept.", markup=False)
            return
        self._with_thoughts = not self._with_thoughts
        self._entitle(self.about)
        self._lay_anew()

    # From question to question

    def action_next_question(self) -> None:
        """Go to the next thing you said."""
        self._seek(1)

    def action_previous_question(self) -> None:
        """Go to what you said before."""
        self._seek(-1)

    def _seek(self, step: int) -> None:
        if self.view.cursor is not None:
            self.ask(partial(self._find_question, self.view.cursor, step), "question")

    def _find_question(self, place: Place, step: int) -> None:
        found = conversation.question(self.whose, place, step)
        self.tell(QuestionFound(found, step))

    @on(QuestionFound)
    def go_to_question(self, message: QuestionFound) -> None:
        """Go there."""
        if message.place is not None:
            self._go_to(message.place)
        else:
            which = "last" if message.step > 0 else "first"
            self.notify(f"This is the {which} thing you said here.", markup=False)

    def _go_to(self, place: Place) -> None:
        number = self.view.set_out()
        if not self.view.go_to(place):
            self.post_message(around(place, number))

    # Finding

    def action_find_here(self) -> None:
        """Type words to find in this session."""
        self._left = self.view.spot, frozenset(self._unfolded)
        self.app.clear_notifications()  # They would lie over what is found.
        self.set_class(True, "-finding")
        self._finding.ask()

    @on(WordsAsked)
    def find(self, message: WordsAsked) -> None:
        """Look for them in the whole session."""
        self.ask(partial(self._find, message.words), FIND)

    def _find(self, words: str) -> None:
        found = conversation.holding(self.whose, words) if words else ()
        self.tell(WordsFound(words, found))

    @on(WordsFound)
    def show_found(self, message: WordsFound) -> None:
        """Mark them, and go to the first from where one was."""
        finding = self._finding
        if not finding.takes(message.words, message.places):
            return
        spot, _ = self._left
        here = spot.cursor if spot else None
        self._return(finding.first(here) if finding.found else None)
        self.number()

    def _return(self, place: Place | None = None) -> None:
        """See all as it was when finding began, or a place from there."""
        spot, unfolded = self._left
        self._unfolded = {*unfolded}
        self._lay_anew()
        number = self.view.set_out()
        is_seen = spot is None or self.view.return_to(spot)
        if place is not None:
            self._go_to(place)
        elif spot is not None and not is_seen:
            self.post_message(around(spot.anchor[0], number, spot))

    def action_keep_words(self) -> None:
        """Go on from what is found; without words, look for nothing any more."""
        self._finding.look()
        if self._finding.typed:
            self.set_focus(self.view)
        else:
            self._let_go()

    def action_next_match(self) -> None:
        """Go to the next match."""
        self._step_match(1)

    def action_previous_match(self) -> None:
        """Go to the match before."""
        self._step_match(-1)

    def _step_match(self, by: int) -> None:
        here, finding = self.view.cursor, self._finding
        if finding.is_looking:
            self.notify("One moment: these words are being looked for.", markup=False)
        elif finding.words and not finding.found:
            self.notify("These words are nowhere in this session.", markup=False)
        elif not finding.found or here is None:
            self.notify("Look for something first: press /.", markup=False)
        elif place := finding.beyond(here, by):
            self._go_to(place)
            self._show_match()
        else:
            which = "last" if by > 0 else "first"
            self.notify(f"This is the {which} match.", markup=False)

    @on(CursorMoved)
    @on(DescendantFocus)
    def number(self) -> None:
        """Say which of the matches the cursor is on."""
        self._finding.number(self.view.cursor)

    def _let_go(self) -> None:
        """Look for nothing any more."""
        self.set_class(False, "-finding")
        self._finding.let_go()
        self._lay_anew()
        self.set_focus(self.view)

    # What changes by itself

    @on(WorkReported)
    def follow_work(self, message: WorkReported) -> None:
        """Say what the workers do, and look for what was said since."""
        self.query_one(StatusLine).say(message.progress)
        self.look_again()

    def read_anew(self) -> None:
        """Read what is new; what is jumped to comes first."""
        if self._is_jumping:
            self._is_due = True
        else:
            self.look_for_news()

    def action_back(self) -> None:
        """Stop finding, and be again where one was while typing; or leave."""
        if self.has_class("-finding"):
            if self._finding.is_typed_in:
                self._return()
            self._let_go()
        else:
            self.dismiss(None)
