"""The tool that lists what sessions left open, and what was decided in them."""

from typing import TYPE_CHECKING

from memtui.model import citations
from memtui.model.audit import ClaimRow
from memtui.model.filters import ALL, Scope
from memtui.services import browse, points
from memtui.text import date_format
from memtui.tools.formatting import LineWriter
from memtui.tools.replies import Item, Reply, as_page

if TYPE_CHECKING:
    from memtui.workspace import Workspace

NOTHING_OPEN = "Nothing was left open."

NO_DECISION = (
    "No decisions are stored. They are the user's answers to questions that an agent"
    " asks by a tool, and what a model finds: memtui doctor says whether there is one."
)


def list_points(
    workspace: "Workspace",
    *,
    kind: str = "open",
    scope: Scope = ALL,
    offset: int = 0,
    limit: int = 20,
) -> Reply:
    """List a page of what was left open, or decided, the latest first."""
    scope, notes = browse.resolve_scope(scope)
    is_open = kind != "decided"
    read = points.list_left_open if is_open else points.list_decisions
    rows = read(scope)
    counting = [row for row in rows if not row.later]
    nothing = NOTHING_OPEN if is_open else NO_DECISION
    if finished := len(rows) - len(counting):
        notes = [*notes, f"Later sessions finished {finished:,} more."]
    writer = LineWriter(workspace.zone)

    def write(item: Item) -> str:
        about = " · ".join(filter(None, (item["session_name"], item["project"])))
        return f"{item['id']} {writer.minute(item['at'])} {item['text']} | {about}"

    items = list(map(_describe, counting[offset : offset + limit]))
    reply = Reply({"points": items}, write, notes=notes)
    none = "" if notes and not counting else nothing
    return as_page(reply, offset, len(counting), none, noun="lines")


def _describe(row: ClaimRow) -> Item:
    return {
        "id": citations.cite(row.event_id or row.node_id),
        "at": date_format.iso_utc(row.at),
        "text": row.words or row.text,
        "node": row.node_id,
        "session_name": row.session_name,
        "project": row.project,
    }
