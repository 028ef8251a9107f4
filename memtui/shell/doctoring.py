"""``doctor``: what is wrong, and what to do about it; what was not taken, and why."""

from dataclasses import dataclass

from memtui import tokenizer
from memtui.house import House
from memtui.recall import health
from memtui.recall.health import Kind
from memtui.search.index import Index
from memtui.shell import output
from memtui.sources.spool import Spool
from memtui.stages.claim import Claim


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    name: str
    is_well: bool
    says: str
    cure: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Records that were not taken, for one reason."""

    reason: str
    kind: Kind
    count: int


TITLES = {
    Kind.FAULT: "Records that could not be taken:",
    Kind.AWAITED: "Records that are not whole yet:",
    Kind.LEFT: "Records that are not kept:",
}
"""What is said of records that were not taken."""


def doctor(house: House, *, as_json: bool) -> int:
    """Look at everything; the exit code is 1 if anything is wrong."""
    findings = [_store(), _spool(house), _index(house), _work(house), _tokens(house)]
    reasons = [Reason(*row) for row in health.left_out()]
    faults = health.latest_problems(limit=20)
    if as_json:
        output.as_json({"findings": findings, "not_taken": reasons, "latest": faults})
    else:
        output.lines(_told(findings, reasons))
        for fault in faults:
            where = f"{fault.source}:{fault.line}" if fault.line else fault.source
            output.lines([f"    {where}: {fault.reason} ({fault.count:,})"])
    return 0 if all(finding.is_well for finding in findings) else 1


def _told(findings: list[Finding], reasons: list[Reason]) -> list[str]:
    told = [
        f"{'✓' if found.is_well else '✗'} {found.name:<8} {found.says}"
        + (f"\n             {found.cure}" if found.cure else "")
        for found in findings
    ]
    for kind, title in TITLES.items():
        rows = [row for row in reasons if row.kind == kind]
        if rows:
            told += ["", title]
            told += [f"    {row.count:>8,}  {row.reason}" for row in rows]
    return told


def _store() -> Finding:
    damages = health.damages()
    if damages:
        cure = "memtui restore FILE, or import the histories into a new store"
        return Finding("store", False, "; ".join(damages), cure)
    kept = health.stats()
    says = f"{kept.events:,} events in {output.number_of(kept.sessions, 'session')}"
    return Finding("store", True, says)


def _spool(house: House) -> Finding:
    spool = Spool(house.paths.spool)
    waiting, bad = len(spool.names()), spool.bad()
    says = f"{house.paths.spool}: {waiting:,} waiting, {bad:,} quarantined"
    if not bad:
        return Finding("spool", True, says)
    return Finding("spool", False, says, f"see {house.paths.spool / 'bad'}/*.reason")


def _index(house: House) -> Finding:
    if Index(house.paths.index).name():
        return Finding("index", True, str(house.paths.index))
    kept = health.stats()
    cure = "memtui reindex" if kept.nodes else "it is made with the first node"
    return Finding("index", not kept.nodes, "there is no index", cure)


def _work(house: House) -> Finding:
    queued = health.stats().queued
    claim = Claim(house.paths.claim)
    is_worked = not claim.take()
    claim.drop()
    says = f"{queued:,} waiting" + (" · a memtui is at work" if is_worked else "")
    is_well = is_worked or not queued
    return Finding("work", is_well, says, "" if is_well else "memtui work --until-idle")


def _tokens(house: House) -> Finding:
    says = f"counted by {tokenizer.counter(house.paths.vocabulary).name}"
    return Finding("tokens", True, says)
