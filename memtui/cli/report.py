"""``report`` and ``handover``: a period, or chosen sessions, as one document."""

from argparse import Namespace
from pathlib import Path

from memtui.cli import output
from memtui.cli.command import Context, Parser, add_number, add_scope
from memtui.errors import UsageError
from memtui.model.filters import Scope
from memtui.services import browse, export, report
from memtui.tools import handover, replies
from memtui.workspace import Workspace


def add_options(parser: Parser, command: str) -> None:
    if command == "report":
        help_text = "last week, yesterday, 2026-11, or the id of a node"
        parser.add_argument("words", nargs="+", metavar="PERIOD", help=help_text)
        add_scope(parser)
        parser.text("--format", "default: by the file's name", choices=["md", "html"])
    else:
        help_text = "a session, a node, or a source: [AGENT:]ID, toc:…, grip:…, evt:…"
        parser.add_argument("words", nargs="+", metavar="ID", help=help_text)
        text = f"at most N tokens (default {handover.TOKENS:,})"
        limits = {"minimum": handover.MIN_TOKENS, "maximum": replies.MAX_TOKENS}
        add_number(parser, "--budget", handover.TOKENS, text, **limits)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write this file")
    parser.flag("--force", "overwrite an existing file")


def run(args: Namespace, context: Context) -> int:
    with context.workspace() as workspace:
        if args.command == "report":
            text = _write_report(args, workspace)
        else:
            text = handover.make_pack(workspace, args.words, args.budget).text
        data = {"text": text, "file": args.output}
        if args.output is None:
            return output.print_result(args, data, [text])
        export.write_lines(args.output, [text], may_replace=args.force)
    return output.print_result(args, data, [f"Written to {args.output}."])


def _write_report(args: Namespace, workspace: Workspace) -> str:
    scope, unknown_names = browse.resolve_scope(Scope(args.agent, args.project))
    if unknown_names:
        raise UsageError(" ".join(unknown_names))
    words, zone = " ".join(args.words), workspace.zone
    node_id = report.find_period(words, workspace.now().astimezone(zone), zone)
    as_html = args.format == "html"
    if not args.format and args.output:
        as_html = report.is_html(args.output)
    return report.make_report(node_id, zone, scope, as_html=as_html)
