"""``audit``: check that all lines of summaries lead to their sources; total them."""

from argparse import Namespace
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum

from memtui.cli import output
from memtui.cli.command import Context, Parser, add_number, add_scope
from memtui.errors import UsageError
from memtui.model.audit import AuditQuery, Damage
from memtui.model.filters import Scope
from memtui.model.quantities import plural
from memtui.services import audit, browse, coverage, report
from memtui.services.integrity import Audit, IntegrityReport
from memtui.workspace import Workspace

TOTALS = ("group", "ruling", "level", "model", "project", "period")
"""The fields by which claims are summed up."""

LISTED = 20
"""The most that is printed of each list; JSON has all."""


def add_options(parser: Parser, _command: str) -> None:
    text = "a node, AGENT:SESSION, or a period: last week, 2026-11"
    parser.add_argument("scope", nargs="*", metavar="SCOPE", help=text)
    add_scope(parser)
    text = (
        "the exit code is 1 if less than N percent of all claims are supported or were"
        " accepted; weak, withheld and rejected ones are not"
    )
    add_number(parser, "--fail-under", 0, text, maximum=100)


def run(args: Namespace, context: Context) -> int:
    with context.workspace() as workspace:
        query = _read_query(args, workspace)
        checks = Audit(query, workspace.paths, workspace.settings.search_include_tools)
        integrity = checks.run(has_worker=workspace.has_worker is not False)
        cited = coverage.count(query)
    totals, percent = integrity.totals, integrity.totals.supported_percent
    sums = {
        name: Counter({_name(key): n for key, n in totals.sum_by(name).items()})
        for name in TOTALS
    }
    counted = {"total": totals.total, "supported": totals.supported, **sums}
    data = {
        **output.to_plain(integrity),
        "totals": counted,
        "supported_percent": percent,
    }
    data["cited"] = {kind: list(numbers) for kind, numbers in cited.items()}
    lines = [*_list_damages(integrity.damages), *_list_totals(integrity, sums)]
    lines += filter(None, [coverage.describe(cited)])
    if percent < args.fail_under:
        lines.append(f"✗ That is less than {args.fail_under} %.")
    code = int(bool(integrity.damages) or percent < args.fail_under)
    return output.print_result(args, data, lines, code=code)


def _name(key: object) -> str:
    return key.name.lower().replace("_", " ") if isinstance(key, Enum) else str(key)


def _read_query(args: Namespace, workspace: Workspace) -> AuditQuery:
    scope, unknown_names = browse.resolve_scope(Scope(args.agent, args.project))
    if unknown_names:
        raise UsageError(" ".join(unknown_names))
    query, zone = AuditQuery(scope), workspace.zone
    if not (words := " ".join(args.scope)):
        return query
    try:
        words = report.find_period(words, workspace.now().astimezone(zone), zone)
    except UsageError:
        if ":" not in words:
            text = f"{words!r} is no past period, no node and no session AGENT:SESSION"
            raise UsageError(text) from None
    return audit.narrow(query, words, zone)


def _list_damages(damages: Sequence[Damage]) -> Iterator[str]:
    for subject in dict.fromkeys(damage.subject for damage in damages):
        of_subject = [damage for damage in damages if damage.subject == subject]
        for damage in of_subject[:LISTED]:
            yield f"✗ {subject} {' · '.join(damage.ids)}: {damage.message}"
        if more := of_subject[LISTED:]:
            yield f"  and {len(more):,} more"
        for remedy in dict.fromkeys(damage.remedy for damage in of_subject):
            yield f"  → {remedy}"
    if not damages:
        yield "Nothing is damaged: all that is shown leads to what is stored."


def _list_totals(
    integrity: IntegrityReport, sums: Mapping[str, Counter[str]]
) -> Iterator[str]:
    lines, claims = (
        plural(integrity.lines, "line"),
        plural(integrity.totals.total, "claim"),
    )
    share = integrity.resolved / integrity.lines if integrity.lines else 1
    yield f"{lines} shown: {share:.1%} lead to stored messages"
    if integrity.waiting:
        yield f"{plural(integrity.waiting, 'change')} not indexed yet"
    yield f"{claims}: {integrity.totals.supported_percent:.1f}% supported or accepted"
    for name, counts in sums.items():
        largest = [f"{key} {n:,}" for key, n in counts.most_common(LISTED)]
        if len(counts) > LISTED:
            largest.append(f"{len(counts) - LISTED:,} more")
        if largest:
            yield f"  {name:<8} {' · '.join(largest)}"
