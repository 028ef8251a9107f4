"""``judge``: accept, reject or correct a line of a summary, or take that back."""

from argparse import Namespace
from datetime import UTC, datetime

from memtui.cli import output, work
from memtui.cli.command import Context, Parser
from memtui.model.judgements import Ruling
from memtui.services import judging


def add_options(parser: Parser, _command: str) -> None:
    parser.add_argument("name", metavar="NODE", help="a node, or AGENT:SESSION")
    parser.add_argument("line", metavar="LINE", help="how the line begins")
    rulings = parser.add_mutually_exclusive_group(required=True)
    rulings.add_argument("--accept", action="store_true", help="it is right")
    rulings.add_argument("--reject", action="store_true", help="do not show it again")
    rulings.add_argument("--correct", metavar="WORDS", help="what it should say")
    rulings.add_argument("--source", metavar="EVENT", help="the message that says it")
    rulings.add_argument("--undo", action="store_true", help="take it back")
    parser.add_argument("--reason", metavar="WORDS", default="", help="why")


def run(args: Namespace, context: Context) -> int:
    now = datetime.now(UTC)
    with context.workspace() as workspace:
        if args.undo:
            node_id, bullet = judging.undo_line(args.name, args.line, now)
            done = "taken back"
        else:
            node_id, bullet = judging.find_line(args.name, args.line)
            ruling = Ruling.ACCEPTED if args.accept else Ruling.REJECTED
            ruling = Ruling.CORRECTED if args.correct is not None else ruling
            ruling = Ruling.MOVED if args.source is not None else ruling
            judgement = judging.judge(
                node_id,
                bullet,
                ruling,
                now,
                words=args.correct or "",
                event_id=args.source or "",
                reason=args.reason,
            )
            done = judgement.ruling.value
        errors = work.run_pipeline(workspace) or []
        data = {"node": node_id, "line": bullet.claim_text, "judgement": done}
        line = f"{done}: {bullet.claim_text}"
        return output.print_result(args, data, [line], errors=errors)
