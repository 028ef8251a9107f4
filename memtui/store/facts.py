"""What holds for the whole store."""

from memtui.store.tables import MetaRow

_INDEX, _ZONE = "index_name", "time_zone"


def time_zone() -> str:
    """The IANA name of the calendar's zone, fixed when the store was made."""
    return str(MetaRow.get_by_id(_ZONE).value)


def index_name() -> str:
    """The name of the index this store has fed; "" if there is none yet."""
    row = MetaRow.get_or_none(MetaRow.name == _INDEX)
    return str(row.value) if row else ""


def set_index_name(name: str) -> None:
    """Remember which index this store feeds."""
    MetaRow.insert(name=_INDEX, value=name).on_conflict_replace().execute()
