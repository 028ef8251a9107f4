"""The words of the commands by which a person changes what is kept."""

from pathlib import Path

from memtui.shell.options import AddCommand

CURATING = frozenset({"forget", "redact"})
"""The commands that change what is kept."""

VERSIONING = frozenset({"versions", "pin", "unpin", "anew"})
"""The commands that tell and choose which version of a node is shown."""

COPYING = frozenset({"backup", "export"})
"""The commands that copy what is kept."""

STANDARD_OUTPUT = Path("-")
"""The name of no file."""


def add(command: AddCommand) -> None:
    """Add the commands."""
    forget = command("forget", "forget events, sessions, projects, or all before a day")
    forget.add_argument(
        "kind", nargs="?", choices=("event", "session", "project", "before")
    )
    forget.add_argument(
        "subjects",
        nargs="*",
        metavar="NAME",
        help="events' ids, [AGENT:]SESSION names, projects' names or folders, or one"
        " date",
    )
    forget.add_argument(
        "--dry-run", action="store_true", help="say what would go, and change nothing"
    )
    forget.add_argument("--yes", action="store_true", help="do not ask")
    forget.add_argument(
        "--list", action="store_true", help="list what was forgotten so far"
    )
    forget.add_argument(
        "--undo", action="store_true", help="let it be imported again after all"
    )
    redact = command("redact", "take secrets out of what is kept, by today's rules")
    redact.add_argument(
        "--dry-run", action="store_true", help="count them, and change nothing"
    )
    _add_versioning(command)
    _add_copying(command)


def _add_versioning(command: AddCommand) -> None:
    listing = command("versions", "list the versions of a node, the latest first")
    pin = command("pin", "show one version of a node, whatever comes after it")
    unpin = command("unpin", "show the newest version of a node again")
    anew = command("anew", "ask for a new version of a node by a model")
    for one in (listing, pin, unpin, anew):
        one.add_argument("node_id", metavar="NODE_ID", help="a node's id")
    pin.add_argument(
        "number",
        nargs="?",
        type=int,
        metavar="N",
        help="which, as versions lists them; without it: the one that is shown",
    )
    pin.add_argument(
        "--even-rejected",
        action="store_true",
        help="also a model's version that was rejected",
    )


def _add_copying(command: AddCommand) -> None:
    backup = command("backup", "copy the memory into one file, while it is in use")
    backup.add_argument("file", type=Path, metavar="FILE")
    backup.add_argument(
        "--force", action="store_true", help="write over a file of this name"
    )
    restore = command("restore", "put a copy made by backup in the memory's place")
    restore.add_argument("file", type=Path, metavar="FILE")
    restore.add_argument("--yes", action="store_true", help="do not ask")
    restore.add_argument(
        "--dry-run",
        action="store_true",
        help="see whether the copy is whole and what it would replace",
    )
    export = command("export", "write what was said as plain JSON lines")
    export.add_argument(
        "--events",
        nargs="?",
        type=Path,
        const=STANDARD_OUTPUT,
        required=True,
        metavar="FILE",
        help="every event, session, subagent and thought; - or nothing: standard"
        " output",
    )
    export.add_argument(
        "--force", action="store_true", help="write over a file of this name"
    )
