"""Commands on the selected session, on each screen that lists or shows sessions."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from textual.content import Content
from textual.screen import ScreenResultType

from memtui.model.filters import Scope
from memtui.model.sessions import Session
from memtui.services import conversation, export, resume, sessions
from memtui.services.conversation import ConversationKey
from memtui.services.resume import ResumeCommand
from memtui.tui import terminal
from memtui.tui.screens.base import LoadingScreen
from memtui.tui.screens.dialogs import (
    CONVERSATION,
    PACK,
    REPORT,
    ChoiceScreen,
    ExportScreen,
    LineScreen,
    ResumeScreen,
    TypedLine,
)

T = TypeVar("T")

PAGE_ACTIONS = ("export", "copy_page", "hand_over")
"""The names of the commands that periods have, too."""

ACTIONS = ("resume", "edit", "rename", *PAGE_ACTIONS)
"""The names of the commands."""

SESSION = "session"  # The group of threads whose errors are shown as notices.

NO_EDITOR = "No editor is set. Quit, run `export EDITOR=nano`, and start memtui again."
NO_SESSION = "Select a session first."
OWN_NAME = "An empty name takes this one back."
GIVEN_NAME = "The name of this session, everywhere from now on."
ALL_CITED = "Bullets cite every message of this session."

HAND_OVER = "A context pack: what to do with it?"
CLIPBOARD, FILE = "clipboard", "file"
PACK_FILE = "handover.md"


class SessionActions(LoadingScreen[ScreenResultType]):
    """Resumes, exports, opens, renames and hands over the selected session; exports,
    copies and hands over the selected period, too."""

    @property
    def selected_session(self) -> ConversationKey | None:
        raise NotImplementedError

    @property
    def page_id(self) -> str:
        """The id of the selected session or node; "" if there is none."""
        key = self.selected_session
        return f"{key.agent}:{key.session_id}" if key else ""

    @property
    def source_id(self) -> str:
        """The id of the selected source, which is handed over with its session."""
        return ""

    @property
    def report_scope(self) -> Scope:
        """The scope of a report of the selected period."""
        return self.memtui.scope

    def show_renamed(self) -> None:
        """Show the new name of a session."""
        raise NotImplementedError

    def _read_selected(
        self, read: Callable[[ConversationKey], T], then: Callable[[T], object]
    ) -> None:
        """Call `then` with what is read of the selected session on a thread."""
        if (key := self.selected_session) is None:
            self.notify(NO_SESSION)
        else:
            self.load(partial(read, key), then, SESSION)

    def copy_session(self, session: Session) -> None:
        """Copy the name of a session, and how to find it again."""
        parts = [session.title, session.project, f"session {session.full_name}"]
        self.copy(" — ".join(filter(None, parts)))

    def action_resume(self) -> None:
        def read(key: ConversationKey) -> ResumeCommand:
            return resume.check(resume.resume_command(_read_session(key)))

        def ask(command: ResumeCommand) -> None:
            run = partial(self._run, command.argv, command.folder)
            self.memtui.ask(ResumeScreen(command), lambda _: run())

        self._read_selected(read, ask)

    def _run(self, argv: Sequence[str], folder: str = "") -> None:
        if problem := terminal.run(self.app, argv, folder):
            self.notify(problem, severity="warning")

    def action_copy_page(self) -> None:
        from memtui.services import documents, report

        def write(name: str) -> str:
            page = report.read_page(name, self.zone, self.memtui.scope)
            return documents.write_markdown([page], self.zone)

        if name := self.page_id:
            self.load(partial(write, name), self.copy, SESSION)
        else:
            self.notify(NO_SESSION)

    def action_hand_over(self) -> None:
        from memtui.tools import handover

        name, key = self.source_id or self.page_id, self.selected_session
        scope = self.memtui.scope

        def make() -> str:
            return handover.make_pack(self.workspace, [name], scope=scope).text

        def prepare(program: str) -> tuple[Sequence[str], str]:
            file = _write_temporary(PACK_FILE, [make()])
            folder = _read_session(key).cwd if key else ""
            argv = resume.list_start_commands(file)[program]
            return argv, folder if Path(folder).is_dir() else ""

        def give(place: str) -> None:
            if place == CLIPBOARD:
                self.load(make, self.copy, SESSION)
            elif place == FILE:
                self._ask_for_file(PACK_FILE, PACK, lambda _: [make()])
            else:
                start = partial(prepare, place)
                self.execute(start, lambda command: self._run(*command), SESSION)

        def ask(programs: Iterable[str]) -> None:
            labels = {CLIPBOARD: "Copy it to the clipboard", FILE: "Write it to a file"}
            labels |= {program: f"Start {program} with it" for program in programs}
            places = [(place, Content(label)) for place, label in labels.items()]
            self.memtui.ask(ChoiceScreen(HAND_OVER, places), give)

        if name:
            # On a thread: the programs may be on a slow disk.
            self.load(partial(resume.list_start_commands, Path()), ask, SESSION)
        else:
            self.notify(NO_SESSION)

    def _ask_for_file(
        self, name: str, hint: str, make: Callable[[Path], Iterable[str]]
    ) -> None:
        """Ask for the name of a file, and write lines that are made for it."""

        def write(typed: str) -> None:
            file = Path(typed)
            # The dialog has asked before a file is replaced.
            save = partial(export.write_lines, may_replace=True)
            show = partial(self.notify, typed, title="Exported")
            self.execute(lambda: save(file, make(file)), lambda _: show(), SESSION)

        self.memtui.ask(ExportScreen(_working_folder() / name, hint), write)

    def action_export(self) -> None:
        key, node_id, scope = self.selected_session, self.page_id, self.report_scope

        def make_report(file: Path) -> Iterable[str]:
            from memtui.services import report

            as_html = report.is_html(file)
            yield report.make_report(node_id, self.zone, scope, as_html=as_html)

        def ask(name: str) -> None:
            assert key is not None
            make = partial(export.write_conversation, key, self.zone)
            self._ask_for_file(name, CONVERSATION, lambda _: make())

        if key is None and node_id:
            name = f"report-{node_id.rpartition(':')[2]}.md"
            self._ask_for_file(name, REPORT, make_report)
        else:
            self._read_selected(self._name_file, ask)

    def _name_file(self, key: ConversationKey) -> str:
        return export.file_name(_read_session(key), self.zone)

    def action_edit(self) -> None:
        selected = self.source_id.removeprefix("evt:")

        def write(key: ConversationKey) -> Sequence[str]:
            number, lines = 0, list[str]()
            for event_id, line in export.list_lines(key, self.zone):
                if event_id == selected and not number:
                    number = 1 + sum(1 + line.count("\n") for line in lines)
                lines.append(line)
            file = _write_temporary(self._name_file(key), lines)
            return terminal.open_at(file, max(number, 1))

        if self.selected_session is not None and not terminal.editor():
            self.notify(NO_EDITOR)
        else:
            self._read_selected(write, self._run)

    def action_rename(self) -> None:
        def ask(session: Session) -> None:
            def rename(line: TypedLine) -> None:
                if line.text != session.title and (line.text or session.own_name):
                    self._rename(session, line.text)

            hint = OWN_NAME if session.own_name else GIVEN_NAME
            self.memtui.ask(LineScreen(session.title, hint), rename)

        self._read_selected(_read_session, ask)

    def _rename(self, session: Session, name: str) -> None:
        mine = session.agent, session.session_id
        if name:
            rename = partial(sessions.rename, *mine, name, self.zone)
        else:
            rename = partial(sessions.undo_rename, *mine, self.zone)
        self.execute(rename, self._confirm_name, SESSION)

    def _confirm_name(self, session: Session) -> None:
        self.notify(session.title, title="Renamed")
        self.show_renamed()


def _read_session(key: ConversationKey) -> Session:
    return conversation.get_info(key).session


def _write_temporary(name: str, lines: Iterable[str]) -> Path:
    """Write a file that is deleted when the app ends, and return it."""
    folder = tempfile.mkdtemp(prefix="memtui-")
    # Not earlier: some editors return at once and read the file later.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    file = Path(folder) / name
    export.write_lines(file, lines, may_replace=False)
    return file


def _working_folder() -> Path:
    """Return the current folder, or the home folder if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()
