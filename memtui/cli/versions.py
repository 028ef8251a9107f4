"""``versions``, ``pin``, ``unpin`` and ``regenerate``: the versions of a node."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo

from memtui.cli import output
from memtui.cli.command import Context, Parser, whole_number
from memtui.errors import MemtuiError
from memtui.model.nodes import NodeStatus, TocHistory, TocVersion
from memtui.services import versions
from memtui.services.jobs import describe_withheld
from memtui.text import date_format, fencing


def add_options(parser: Parser, command: str) -> None:
    parser.add_argument("node_id", metavar="NODE_ID", help="a node")
    if command == "pin":
        parser.add_argument(
            "number",
            nargs="?",
            type=whole_number(1),
            metavar="N",
            help="its version, as versions lists them; default: the one shown",
        )
        parser.flag("--even-rejected", "even a version of the model that was rejected")


def run(args: Namespace, context: Context) -> int:
    node_id, now = args.node_id, datetime.now(UTC)
    with context.workspace() as workspace:
        if args.command == "versions":
            turn = workspace.describe_when_due()
            return _print_versions(args, workspace.zone, turn)
        if args.command == "pin":
            notes = _pin(args, workspace.zone, now)
        elif args.command == "unpin":
            version = versions.unpin(node_id, workspace.zone, now)
            notes = [
                f"Version {version.version}, the newest, is shown, and newer ones once"
                " they come."
            ]
        else:
            version = versions.request(node_id, now)
            notes = ["A new version is requested.", workspace.describe_when_due()]
            if version.is_pinned:
                notes.append(f"Version {version.version} is pinned and stays shown.")
    history = versions.find_history(node_id)
    data = {
        "node": history.entry,
        "requested_at": history.requested_at,
        "shown": history.displayed,
        "note": " ".join(notes),
    }
    return output.print_result(args, data, notes)


def _print_versions(args: Namespace, zone: tzinfo, turn: str) -> int:
    history = versions.find_history(args.node_id)
    data = {
        "notice": fencing.NOTICE,
        "node": history.entry,
        "requested_at": history.requested_at,
        "versions": [
            {
                **output.to_plain(version),
                "unsupported": version.unsupported,
                "withheld_for": _count_reasons(args.node_id, version),
            }
            for version in history.versions
        ],
    }
    return output.print_result(args, data, _version_lines(history, zone, turn))


def _count_reasons(node_id: str, version: TocVersion) -> dict[str, int]:
    """Return how many lines of a version are withheld for each reason."""
    if not version.withheld:
        return {}
    withheld = versions.find_version(node_id, version.version).withheld
    return dict(Counter(str(bullet.verdict.objection) for bullet in withheld))


def _version_lines(history: TocHistory, zone: tzinfo, turn: str) -> Iterator[str]:
    yield history.entry.title
    if not history.versions:
        yield "Not summarized yet: that is automatic as soon as memtui runs."
    for version in history.versions:
        parts = [
            f"{version.version:>3}",
            f"{date_format.moment(version.created_at, zone):<21}",
            versions.describe_author(version),
            f"{version.supported} supported, {version.weak} weak,"
            f" {version.unsupported} unsupported",
            describe_withheld(_count_reasons(history.entry.node_id, version)),
            versions.describe_states(version, history.entry.status),
            f"rejected: {version.rejection}" if version.rejection else "",
            versions.describe_cost(version.generation),
        ]
        yield "  ".join(filter(None, parts))
    if history.requested_at:
        at = date_format.moment(history.requested_at, zone)
        yield f"A new version was requested at {at} and is not written yet. {turn}"


def _pin(args: Namespace, zone: tzinfo, now: datetime) -> list[str]:
    """Pin a version, and return the lines to print."""
    try:
        version = versions.pin(
            args.node_id, args.number, zone, now, even_rejected=args.even_rejected
        )
    except versions.VersionRejectedError as error:
        command = f"memtui pin {args.node_id} {error.version.version} --even-rejected"
        raise MemtuiError(f"{error}; to show it all the same: {command}") from None
    notes = [f"Version {version.version} is pinned and stays shown."]
    if version.rejection:
        notes.append(f"It was rejected: {version.rejection}.")
    if versions.find_history(args.node_id).entry.status is NodeStatus.STALE:
        notes.append("It is stale: something has changed since it was written.")
    return notes
