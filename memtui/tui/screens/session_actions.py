"""Commands on the selected session, on each screen that lists or shows sessions."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from textual.screen import ScreenResultType

from memtui.model.sessions import Session
from memtui.services import conversation, export, sessions
from memtui.services.conversation import ConversationInfo, ConversationKey
from memtui.services.resume import ResumeCommand, resume_command
from memtui.tui import terminal
from memtui.tui.screens.base import LoadingScreen
from memtui.tui.screens.dialogs import (
    ExportScreen,
    RenameScreen,
    ResumeScreen,
    check_resume,
)

ACTIONS = ("resume", "export", "edit", "rename")
"""The names of the commands."""

SESSION = "session"  # The group of threads whose errors are shown as notices.

NO_EDITOR = "No editor is set. Quit, run `export EDITOR=nano`, and start memtui again."
NO_SESSION = "Select a session first."


class SessionActions(LoadingScreen[ScreenResultType]):
    """Resumes, exports, opens and renames the selected session."""

    @property
    def selected_session(self) -> ConversationKey | None:
        raise NotImplementedError

    def show_renamed(self) -> None:
        """Show the new name of a session."""
        raise NotImplementedError

    def _read_selected(self, then: Callable[[ConversationInfo], object]) -> None:
        """Call `then` with what is known of the selected session."""
        if (key := self.selected_session) is None:
            self.notify(NO_SESSION)
        else:
            self.load(partial(conversation.get_info, key), then, SESSION)

    def copy_session(self, session: Session) -> None:
        """Copy the name of a session, and how to find it again."""
        parts = [session.title, session.project, f"session {session.full_name}"]
        self.copy(" — ".join(filter(None, parts)))

    def action_resume(self) -> None:
        def ask(checked: tuple[str, ResumeCommand]) -> None:
            problem, resume = checked
            self.memtui.ask(
                ResumeScreen(problem, resume),
                lambda _: self._run(resume.argv, resume.folder),
            )

        def check(about: ConversationInfo) -> None:
            # On a thread: the folder may be on a slow disk.
            command = resume_command(about.session)
            self.load(partial(check_resume, command), ask, SESSION)

        self._read_selected(check)

    def _run(self, argv: Sequence[str], folder: str = "") -> None:
        if problem := terminal.run(self.app, argv, folder):
            self.notify(problem, severity="warning")

    def action_export(self) -> None:
        key = self.selected_session

        def write_to(file: Path) -> None:
            assert key is not None
            # The dialog has asked before an existing file is replaced.
            write = partial(
                export.export_markdown, key, self.zone, file, may_replace=True
            )
            self.execute(
                write, lambda _: self.notify(str(file), title="Exported"), SESSION
            )

        def ask(about: ConversationInfo) -> None:
            file = _working_folder() / export.file_name(about, self.zone)
            self.memtui.ask(ExportScreen(file), write_to)

        self._read_selected(ask)

    def action_edit(self) -> None:
        if (key := self.selected_session) is not None and not terminal.editor():
            self.notify(NO_EDITOR)
            return

        def edit(about: ConversationInfo) -> None:
            assert key is not None
            write = partial(self._write_to_edit, key, about)
            self.execute(
                write, lambda file: self._run([*terminal.editor(), str(file)]), SESSION
            )

        self._read_selected(edit)

    def _write_to_edit(self, key: ConversationKey, about: ConversationInfo) -> Path:
        folder = tempfile.mkdtemp(prefix="memtui-")
        # Not earlier: some editors return at once and read the file later.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        file = Path(folder) / export.file_name(about, self.zone)
        export.export_markdown(key, self.zone, file, may_replace=False)
        return file

    def action_rename(self) -> None:
        def ask(about: ConversationInfo) -> None:
            session = about.session
            rename = partial(self._rename, session)
            self.memtui.ask(RenameScreen(session), lambda answer: rename(answer.name))

        self._read_selected(ask)

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


def _working_folder() -> Path:
    """Return the current folder, or the home folder if it was deleted."""
    try:
        return Path.cwd()
    except OSError:
        return Path.home()
