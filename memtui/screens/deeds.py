"""What is done with a session beside reading it: resumed, exported, cited, placed.

A screen that shows a session does these; whatever takes time is done on a thread.
"""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from datetime import datetime, tzinfo
from functools import partial
from pathlib import Path

from textual import on
from textual.notifications import SeverityLevel

from memtui.memory import resuming
from memtui.memory.resuming import Resume
from memtui.messages.reader import Exported, PlaceFound
from memtui.messages.sessions import NodeWanted
from memtui.recall import landing, markdown
from memtui.recall.conversation import About, Turn, Whose
from memtui.screens import lending
from memtui.screens.export import ExportScreen
from memtui.screens.following import Following
from memtui.screens.resume import ResumeScreen
from memtui.widgets import wording
from memtui.widgets.turn_view import TurnView

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
        text = " ".join(wording.said(event).split())
        said = text if len(text) <= CITED else f"{text[:CITED]}…"
        at = event.timestamp.astimezone(self.zone)
        told = (
            wording.speaker(event),
            one.agent,
            one.project,
            f"session {one.session_id}",
        )
        where = ", ".join(part for part in told if part)
        citation = f"“{said}” — {where}, {at:%Y-%m-%d %H:%M} ({event.event_id})"
        self.app.copy_to_clipboard(citation)
        self.notify(wording.glimpse(citation), title="Copied", markup=False)

    # To the contents

    def action_see_place(self) -> None:
        """Go to the stretch of the contents that the cursor's turn belongs to."""
        if (turn := self._pointed_at()) is not None:
            self.ask(partial(self._find_place, turn), PLACE)

    def _find_place(self, turn: Turn) -> None:
        event = turn.event
        found = landing.node_at(event.agent, event.session_id, event.timestamp)
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
        resume = resuming.of(about.session)

        def answer(is_yes: bool | None) -> None:
            if is_yes:
                self._resume(resume)

        self.app.push_screen(ResumeScreen(resume), answer)

    def _resume(self, resume: Resume) -> None:
        why = lending.run(self.app, resume.argv, resume.folder)
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

        file = _here() / markdown.name(about, self.zone)
        self.app.push_screen(ExportScreen(file), answer)

    def _export(self, file: Path) -> None:
        # The question was whether it may be replaced.
        markdown.write(self.whose, self.zone, file, may_replace=True)
        self.post_message(Exported(str(file), to_edit=False))

    def action_edit(self) -> None:
        """Open the session as Markdown in the person's editor."""
        if not lending.editor():
            self.notify(NO_EDITOR, markup=False)
        elif (about := self._known()) is not None:
            name = markdown.name(about, self.zone)
            self.do(partial(self._export_aside, name, self._written), WRITE)

    def _export_aside(self, name: str, written: Path | None) -> None:
        if written is not None and written.is_file():
            self.post_message(Exported(str(written), to_edit=True))
            return
        folder = tempfile.mkdtemp(prefix="memtui-")
        # Some editors return at once and read it later.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        file = Path(folder) / name
        markdown.write(self.whose, self.zone, file, may_replace=False)
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
        why = lending.run(self.app, [*lending.editor(), str(file)])
        if why:
            self.notify(why, severity="warning", markup=False)


def _here() -> Path:
    """The folder memtui was started in, or one's own where that is gone."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()
