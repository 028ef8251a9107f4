"""``rename``: give a session a name, or take it back."""

from argparse import Namespace

from memtui.cli import output, work
from memtui.cli.command import Context, Parser
from memtui.errors import UsageError
from memtui.search.query import find_session
from memtui.services import sessions


def add_options(parser: Parser, _command: str) -> None:
    parser.add_argument("session", metavar="SESSION", help="[AGENT:]SESSION")
    parser.add_argument("words", nargs="*", metavar="NAME", help="its name")
    parser.flag("--undo", "take its name back")


def run(args: Namespace, context: Context) -> int:
    if bool(args.words) == args.undo:
        raise UsageError("give the session a name, or say --undo")
    with context.workspace() as workspace:
        key = find_session(args.session)
        if args.undo:
            session = sessions.undo_rename(*key, workspace.zone)
        else:
            session = sessions.rename(*key, " ".join(args.words), workspace.zone)
        errors = work.run_pipeline(workspace) or []
        data = {"session": session.full_name, "name": session.title}
        line = f"{session.full_name} is called: {session.title}"
        return output.print_result(args, data, [line], errors=errors)
