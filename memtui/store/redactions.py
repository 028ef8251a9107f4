"""How many secrets were taken out, by kind: the secrets themselves are kept nowhere."""

from collections.abc import Mapping

from memtui.store.tables.keeping import RedactionRow


def count_up(kinds: Mapping[str, int], now_ms: int) -> None:
    """Count secrets that were taken out before they were stored."""
    for kind, number in kinds.items():
        RedactionRow.insert(kind=kind, count=number, last_ms=now_ms).on_conflict(
            conflict_target=[RedactionRow.kind],
            update={
                RedactionRow.count: RedactionRow.count + number,
                RedactionRow.last_ms: now_ms,
            },
        ).execute()


def by_kind() -> list[tuple[str, int]]:
    """Each kind of secret and how often it was taken out, most first."""
    rows = RedactionRow.select(RedactionRow.kind, RedactionRow.count)
    return list(rows.order_by(RedactionRow.count.desc(), RedactionRow.kind).tuples())
