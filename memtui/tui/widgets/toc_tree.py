"""The table of contents: a tree from years down to sessions and segments.

The newest rows come first. The tree opens at the newest days. Branches are read on a
worker thread when they are first expanded and when they change.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date, tzinfo
from functools import partial
from itertools import pairwise
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events, on
from textual.binding import BindingType
from textual.strip import Strip
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from memtui.model import calendar
from memtui.model.calendar import TocLevel
from memtui.model.filters import ALL, Scope
from memtui.model.nodes import DaySession, NodeStatus, TocEntry
from memtui.model.sessions import WorkState
from memtui.services import browse
from memtui.services.browse import YEARS, LoadedBranches, NodeRow, RowKey
from memtui.text import date_format
from memtui.tui import commands, format, messages, workers
from memtui.tui.widgets.panes import ScrollbarInStep

NOT_FOUND = "This node is not in the contents."
OUT_OF_SCOPE = "This node is outside {}. Press F F to show everything."

MAX_EXPANDED = 500

PARTLY_EXPANDED = (
    f"Only the first {MAX_EXPANDED} rows were expanded. Press * on a row to continue."
)

LOAD_GROUP = "toc-load"

NO_BRANCH = "Nothing to expand here. Press enter to open."
INDENT = 2  # The width of the expand mark and of one step of indentation, in cells.

OTHER_LINES = 6
"""The lines of the screen that are not filled with the newest days at the start."""


# Rows


TocRow = NodeRow | str
"""A node, or a note on a branch that is being read or could not be read."""

STATE_CELLS = max(map(len, WorkState))  # The width of the column of states.
PROJECT_CELLS = 12  # That of the column of projects; longer names are cut.
COUNT_WIDTH = 5  # The width of the column of counts with a space: "9,999".
MIN_HEADLINE = 28  # The cells that a headline keeps before a sparkline gets any.
BARS, EMPTY_BAR = "▁▂▃▄▅▆▇█", "·"

ColorOf = Callable[[str], Style]
"""Returns the style of a component class of the tree; each style only repeats what a
mark or a place says."""


def draw_line(
    line: TocEntry,
    *,
    width: int,
    zone: tzinfo,
    today: date,
    is_expanded: bool,
    color: ColorOf,
) -> Text:
    """Draw a node in a number of cells, the expand mark not included.

    All cells are filled. The rows below an expanded node say more than its headline.
    """
    is_segment = line.level is TocLevel.SEGMENT
    name = format.shared_label(line, zone, today)
    headline, count, mark = line.headline, "", " "
    if is_segment:
        name = f"{format.LIVE if line.is_live else ' '} {name}"
        headline = headline or line.title
        mark = format.node_mark(line)
    else:
        is_known = line.sessions or line.status is not NodeStatus.PENDING
        number = f"{line.sessions:,}" if is_known else ""
        count = f"{number:>{COUNT_WIDTH}}"
        mark = format.LIVE if line.is_live and not is_expanded else " "
    if not headline and line.status is NodeStatus.PENDING:
        headline = format.status_text(line.status)
    if is_expanded:
        headline = ""
    room = width - cell_len(name) - 2 - len(count) - 3
    bars = sparkline(line.activity)
    if bars and room - len(bars) - 2 >= min(MIN_HEADLINE, cell_len(headline)):
        count = f" {bars} {count}"
        room -= len(bars) + 2
    quiet, live = color("toc--quiet"), color("toc--live")
    text = Text(no_wrap=True, end="")
    text.append(name, live if is_segment and line.is_live else color("toc--name"))
    text.append("  ")
    has_own_text = line.level in (TocLevel.DAY, TocLevel.SEGMENT)
    text.append(format.fit(headline, room), None if has_own_text else quiet)
    text.append(f"{count} {_author_mark(line)}", quiet)
    text.append(mark, _mark_style(mark, color))
    text.truncate(width)
    return text


def draw_session(
    session: DaySession,
    *,
    width: int,
    zone: tzinfo,
    is_expanded: bool,
    has_projects: bool,
    color: ColorOf,
) -> Text:
    """Draw a session of a day in a number of cells, the expand mark not included.

    Time, name, project and state are columns; the project gives way to a longer name.
    """
    segments, work = session.segments, session.session.work
    is_live = session.is_live
    lead, mark = "", format.LIVE if is_live and not is_expanded else " "
    if not session.rows:
        lead, mark = f"{format.LIVE if is_live else ' '} ", " "
    verdicts = [format.node_mark(segment) for segment in segments]
    mark = _worst(verdicts, _VERDICTS) or mark
    author = _worst([_author_mark(segment) for segment in segments], _AUTHORS)
    is_pending = all(segment.status is NodeStatus.PENDING for segment in segments)
    waiting = format.status_text(NodeStatus.PENDING) if is_pending else ""
    name = " ".join((work.name or waiting).split())
    time = f"{date_format.clock(session.start_time, zone)} "
    state = f" {work.state or '':<{STATE_CELLS}}"
    author = f" {author or ' '}"
    room = width - len(lead) - len(time) - len(state) - len(author) - 1
    alike = f" (+{len(session.alike)} like this)" if session.alike else ""
    name = format.shorten(name, room - len(alike)) + alike
    project = ""
    if has_projects and cell_len(name) + PROJECT_CELLS + 2 <= room:
        project = f"  {format.fit(session.session.project, PROJECT_CELLS)}"
    quiet, live = color("toc--quiet"), color("toc--live")
    text = Text(no_wrap=True, end="")
    text.append(lead, live)
    text.append(time, quiet)
    text.append(format.fit(name, room - len(project)), live if is_live else None)
    text.append(project, quiet)
    if work.state is WorkState.FAILED:
        text.append(state, color("toc--wrong"))
    else:
        text.append(state, None if work.state in _UNSETTLED else quiet)
    text.append(author, quiet)
    text.append(mark, _mark_style(mark, color))
    text.truncate(width)
    return text


_UNSETTLED = (WorkState.OPEN, WorkState.FAILED, WorkState.ABANDONED)
"""The states of work that is not finished."""

_VERDICTS = (format.UNSUPPORTED, format.WEAK, format.SUPPORTED)
_AUTHORS = (format.STALE, format.PROVISIONAL, format.BY_MODEL)


def _worst(marks: Collection[str], ranked: Sequence[str]) -> str:
    """Return the first of the ranked marks that is among some; "" if none is."""
    return next((mark for mark in ranked if mark in marks), "")


def _author_mark(line: TocEntry) -> str:
    """Return the mark of a node that a model wrote, or that will change."""
    if line.status is NodeStatus.STALE and not line.is_pinned:
        return format.STALE
    if line.status is NodeStatus.PROVISIONAL:
        return format.PROVISIONAL
    return format.BY_MODEL if line.is_by_model else " "


def _mark_style(mark: str, color: ColorOf) -> Style:
    styles = {format.UNSUPPORTED: "toc--wrong", format.LIVE: "toc--live"}
    return color(styles.get(mark, "toc--quiet"))


def sparkline(counts: Sequence[int]) -> str:
    """Return a bar for each count, the highest for the largest, a dot for zero.

    Without two counts to compare there is none.
    """
    if sum(map(bool, counts)) < 2:
        return ""
    most, last = max(counts), len(BARS) - 1
    return "".join(
        BARS[min(last, count * len(BARS) // most)] if count else EMPTY_BAR
        for count in counts
    )


# The tree


class TocTree(Tree[TocRow], ScrollbarInStep, workers.AppNode, inherit_bindings=False):
    """The tree of the contents."""

    ICON_NODE = "▸ "
    ICON_NODE_EXPANDED = "▾ "
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "toc--name",
        "toc--quiet",
        "toc--wrong",
        "toc--live",
    }
    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "expand_all", *commands.LINES,
        open="Open the page of this row.",
        toggle_expanded="Expand or collapse this row.",
        deeper="Expand this row, go into it, or open its page.",
        outward="Collapse this row, or go to its parent.",
    )  # fmt: skip
    HELP_TITLE = "In the contents"

    def __init__(self, *, id: str) -> None:
        super().__init__(Text(), None, id=id)  # "" would load the table of emojis.
        self.scope = ALL
        self.session_count = 0  # The number of sessions in all years.
        self.show_root = False
        self.show_guides = False
        self.guide_depth = INDENT
        self.auto_expand = False
        self._rows: dict[RowKey, TreeNode[TocRow]] = {}
        # The branches that are or will be up to date.
        self._loaded: set[RowKey] = set()
        self._wanted: set[RowKey] = set()  # The branches to read next.
        self._reading: set[RowKey] = set()
        # True until the user acts: the newest days are kept expanded.
        self._follows_newest = True
        # The branches that were expanded because they were the newest.
        self._near: set[RowKey] = set()
        # The row that the cursor should stay on in another scope.
        self._kept: RowKey | None = None
        # The ids on the way to a node that is being revealed, and what to call there.
        self._path: list[str] = []
        self._arrive: Callable[[], object] = lambda: None
        self._reveals_whole = False
        # The node of the cursor, if that is to go to it in a row that others share.
        self._lost = ""
        self._is_recovering = False  # True while it goes there.
        # The row that was revealed for another node that shares it, and that node.
        self._shared: tuple[TreeNode[TocRow], TocEntry] | None = None

    def on_mount(self) -> None:
        self.root.expand()

    @property
    def current(self) -> NodeRow | None:
        """The row under the cursor; the segment of a session that has no other."""
        row = self.cursor_node
        if self._shared is not None and self._shared[0] is row:
            return self._shared[1]
        data = row.data if row is not None else None
        if isinstance(data, DaySession):
            return data.only_segment or data
        return data if isinstance(data, TocEntry) else None

    @property
    def session(self) -> DaySession | None:
        """The session of the row under the cursor, or of the row it belongs to."""
        row = self.cursor_node
        while row is not None:
            if isinstance(row.data, DaySession):
                return row.data
            row = row.parent
        return None

    # Reading branches

    def _read(self, keys: Iterable[RowKey]) -> None:
        """Read branches, after those that are being read."""
        self._wanted |= {*keys}
        self._loaded |= self._wanted
        if self._wanted and not self._reading:
            self._reading, self._wanted = self._wanted, set()
            finds_near = self._follows_newest and YEARS in self._reading
            lines = max(1, self.app.size.height - OTHER_LINES)
            read = partial(
                browse.read_branches,
                self.scope,
                self.zone,
                frozenset(self._reading),
                lines if finds_near else 0,
                is_first=not self._rows,
            )
            self.load(read, partial(self._show, self.scope), LOAD_GROUP)

    @on(Tree.NodeExpanded)
    def load_branch(self, event: Tree.NodeExpanded[TocRow]) -> None:
        key = _key_of(event.node)
        if key not in self._loaded and not isinstance(event.node.data, DaySession):
            self.set_timer(workers.SLOW_S, partial(self._show_loading, key))
            self._read({key})

    @on(Tree.NodeCollapsed)
    def load_headline(self, event: Tree.NodeCollapsed[TocRow]) -> None:
        """Read the headline of a row that was not read while it was expanded."""
        row, parent = event.node.data, event.node.parent
        if isinstance(row, TocEntry) and not row.headline and parent is not None:
            self._read({_key_of(parent)})

    def _show_loading(self, key: RowKey) -> None:
        branch = self._branch(key)
        if key in self._reading | self._wanted and branch and not branch.children:
            _add_note(branch, workers.LOADING)

    def _show(self, scope: Scope, loaded: LoadedBranches) -> None:
        """Show what was read; cursor and scroll position stay on their row."""
        self._reading = set()
        if scope == self.scope:
            cursor, entered = self.cursor_node, None
            is_first = not self._rows
            height = cursor.line - self.scroll_offset.y if cursor is not None else 0
            if is_first:
                self._follows_newest = True
            for key, lines in loaded.rows.items():
                self._loaded.add(key)
                if (branch := self._branch(key)) is not None:
                    if cursor is not None and cursor is _note(branch) and lines:
                        entered = _row_key(key[1], lines[0])
                    self._update_branch(branch, lines)
            self._loaded &= {YEARS, *self._rows}
            if loaded.sessions is not None:
                self.session_count = loaded.sessions
            lost, self._lost = self._lost, ""
            if lost and not self._follows_newest:
                self._kept = None
                self.reveal(lost)
                self._is_recovering = True
            elif self._follows_newest and loaded.newest in self._rows:
                self._show_newest(loaded)
                if is_first:
                    self.call_after_refresh(self._read, {YEARS})
            elif entered:
                self._move_to(self._rows[entered])
            elif self.cursor_node is None and self.root.children and not self._path:
                self._move_to(self.root.children[0])
            elif cursor is not None and cursor is self.cursor_node:
                _ = self.last_line
                self.scroll_to(y=cursor.line - height, animate=False, force=True)
            self._find_newest_if_lost()
            self._advance()
            self.post_message(messages.TocLoaded())
        self._read(())

    def _show_newest(self, loaded: LoadedBranches) -> None:
        """Expand the newest days, and put the cursor on the latest session."""
        near = {*loaded.near} - {YEARS}
        for key in self._near - near:
            if key in self._rows:
                self._rows[key].collapse()
        self._near = {key for key in near if key in self._rows}
        for key in self._near:
            self._rows[key].expand()
        if loaded.newest is not None:
            self._move_to(self._rows[loaded.newest])
            self.scroll_home(animate=False)

    def _find_newest_if_lost(self) -> None:
        """Go to the newest days if the row of the cursor is not in the new scope."""
        kept, self._kept = self._kept, None
        if kept is not None and kept not in self._rows:
            self._follows_newest = True
            self._read({YEARS})

    def show_error(self, error: BaseException, group: str) -> None:
        """Show in empty branches, or in a notice, why they could not be read."""
        self.post_message(messages.LoadFailed())
        reason = format.error_text(error)
        failed: set[RowKey] = set()
        if group == LOAD_GROUP:
            failed, self._reading = self._reading, set()
        empty = [
            branch
            for key in failed
            if (branch := self._branch(key)) is not None
            and all(isinstance(row.data, str) for row in branch.children)
        ]
        for branch in empty:
            has_cursor = self.cursor_node in (None, _note(branch))
            branch.remove_children()
            _add_note(branch, f"Not read (enter: retry): {reason}")
            if has_cursor:
                self._move_to(branch.children[-1])
        if not empty:
            text = f"The contents could not be read: {reason}"
            self.notify(text, severity="error")
        has_more = bool(self._wanted)
        self._wanted |= failed - {_key_of(branch) for branch in empty}
        if has_more:
            self._read(())

    # Rows

    def _branch(self, key: RowKey) -> TreeNode[TocRow] | None:
        return self.root if key == YEARS else self._rows.get(key)

    def _update_branch(
        self,
        branch: TreeNode[TocRow],
        lines: Sequence[NodeRow],
        listed_above: Collection[str] = (),
    ) -> None:
        """Show these lines in a branch; remaining rows stay expanded.

        The cursor follows a node to another row, there or in the branch above.
        """
        if (note := _note(branch)) is not None:
            note.remove()
        parent_id = _key_of(branch)[1]
        keys = [_row_key(parent_id, line) for line in lines]
        listed_ids = {node_id for line in lines for node_id in _ids_of(line)}
        listed_ids.update(listed_above)
        for child in list(branch.children):
            if _key_of(child) not in keys:
                here = self.cursor_node
                self._remove(child)
                is_in_other_row = not listed_ids.isdisjoint(_ids_of(child.data))
                if here is not None and here is not self.cursor_node:
                    lost = _key_of(here)[1] if is_in_other_row else ""
                    self._lost = self._lost or lost
        for index, (key, line) in enumerate(zip(keys, lines, strict=True)):
            row = self._rows.get(key)
            if row is None:
                row = branch.add(Text(), line, before=index)
                self._rows[key] = row
            elif row.data == line:
                continue
            row.data = line
            row.refresh()
            if isinstance(line, DaySession):
                row.allow_expand = bool(line.rows)
                self._update_branch(row, line.rows, listed_ids)
            else:
                row.allow_expand = line.level is not TocLevel.SEGMENT

    def _remove(self, row: TreeNode[TocRow]) -> None:
        """Remove a row and all below it; the cursor goes to its parent."""
        above = self.cursor_node
        while above is not None and above is not row:
            above = above.parent
        if above is row and row.parent is not None:
            self.move_cursor(row.parent if row.parent.parent is not None else None)
        self._forget(row)
        row.remove()

    def _forget(self, row: TreeNode[TocRow]) -> None:
        for child in row.children:
            self._forget(child)
        self._rows.pop(_key_of(row), None)

    def _move_to(self, row: TreeNode[TocRow]) -> None:
        """Put the cursor on a row that may have just been added."""
        _ = self.last_line  # Computes the lines: the row does not know its own yet.
        self.move_cursor(row)

    # Expanding all below a row

    def _expand_all(self, scope: Scope, loaded: LoadedBranches) -> None:
        """Expand what was read, and notify if that is not everything."""
        if scope != self.scope:
            return
        for key, lines in loaded.rows.items():
            if (branch := self._rows.get(key)) is not None:
                self._loaded.add(key)
                self._update_branch(branch, lines)
                branch.expand()
                for row in branch.children:
                    if isinstance(row.data, DaySession):
                        row.expand()
        if not loaded.is_all:
            self.notify(PARTLY_EXPANDED)

    # Going to a node

    def stop_following(self) -> None:
        self._follows_newest = False

    def on_key(self) -> None:
        self.stop_following()

    def reveal(
        self,
        node_id: str,
        then: Callable[[], object] = lambda: None,
        *,
        is_whole: bool = False,
    ) -> None:
        """Expand the path to a node, select it, and call `then`.

        A week across two months is that of the row's month, or whole.
        """
        self._reveals_whole, self._is_recovering = is_whole, False
        read = partial(browse.get_path_with_session, node_id)
        self.load(read, partial(self._follow, then), "toc-seek")

    def _follow(self, then: Callable[[], object], path: Sequence[str]) -> None:
        self.stop_following()
        self._path, self._arrive = list(path), then
        if not self._path:
            self.notify(NOT_FOUND)
        self._advance()

    def _advance(self) -> None:
        """Go as far down the path as is loaded; load the next branch, or arrive."""
        if not self._path:
            return
        row = self.root
        for key in pairwise(("", *self._path)):
            if _find_above(row, key[1]):
                continue
            if (child := self._find_child(row, key)) is None:
                if isinstance(row.data, DaySession):
                    break  # Its only segment has no row of its own.
                self._read_towards(row)
                return
            row = child
        entry = _find_above(row, self._path[-1])
        if self._reveals_whole and entry is None and isinstance(row.data, TocEntry):
            entry = row.data if row.data.is_part else None
        self._shared = None
        if entry is not None:
            month_id = "" if self._reveals_whole else entry.month_id
            self._shared = row, replace(entry, month_id=month_id)
        self._path = []
        above = row.parent
        while above is not None:
            above.expand()
            above = above.parent
        self._move_to(row)
        middle = self.scrollable_content_region.height // 2
        self.scroll_to(y=row.line - middle, animate=False, force=True)
        self._arrive()

    def _find_child(
        self, row: TreeNode[TocRow], key: RowKey
    ) -> TreeNode[TocRow] | None:
        """Return the row with a key, the one it shares, or the one it is folded in."""
        for child in row.children if key not in self._rows else ():
            if _find_above(child, key[1]):
                return child
            if isinstance(child.data, DaySession) and key[1] in _ids_of(child.data):
                return self._rows.get((child.data.node_id, key[1]))
        return self._rows.get(key)

    def _read_towards(self, branch: TreeNode[TocRow]) -> None:
        """Read a branch that lacks a node of the path."""
        key = _key_of(branch)
        if key not in self._loaded:
            self._read({key})
        elif key not in self._reading | self._wanted:
            self._path = []
            if self._is_recovering:  # It is not in the new scope.
                self._follows_newest, self._is_recovering = True, False
                self._read({YEARS})
                return
            is_all = not self.scope.is_narrow
            text = NOT_FOUND if is_all else OUT_OF_SCOPE.format(self.scope)
            self.notify(text)

    def seek_sibling(self, step: int, then: Callable[[], object]) -> None:
        """Go to the next older (1) or newer (-1) row of this level, and call `then`."""
        row = self.cursor_node
        if row is None or self.current is None:
            self.notify("Choose a row of the contents first.")
            return
        path: list[str] = []
        while row is not None and row is not self.root:
            above = row.data.above if isinstance(row.data, TocEntry) else ()
            path = [*(entry.node_id for entry in above), _key_of(row)[1], *path]
            row = row.parent
        find = partial(browse.find_sibling, path, step, self.scope, self.zone)
        self.load(find, partial(self._go_to_sibling, step, then), "toc-sibling")

    def _go_to_sibling(
        self, step: int, then: Callable[[], object], path: Sequence[str]
    ) -> None:
        if path:
            self._follow(then, path)
        else:
            end = "oldest" if step > 0 else "newest"
            self.notify(f"This is the {end} of its level.")

    # Changes of the scope and of the store

    def set_scope(self, scope: Scope) -> None:
        """Show another scope; branches stay expanded, and the cursor where it can."""
        if scope == self.scope:
            return
        self.scope = scope
        self._path = []
        self._kept = _key_of(self.cursor_node) if self.cursor_node else None
        expanded = {YEARS}
        for key, row in list(self._rows.items()):
            if key in self._loaded and row.is_expanded:
                expanded.add(key)
            elif key in self._loaded:
                for child in row.children:
                    self._forget(child)
                row.remove_children()
                self._loaded.discard(key)
        self._reading = set()
        self._read(expanded)

    def refresh_nodes(self, changed: Collection[str]) -> None:
        """Read again the expanded branches with changed nodes, and those below them.

        A day changes with the names of its sessions.
        """
        # All nodes above, since these may share a row.
        parents = {
            above_id
            for node_id in changed
            for parent_id in (node_id, *calendar.parent_ids(node_id))
            for above_id in calendar.path(parent_id)
        } | {""}
        expanded = set()
        for key in [key for key in self._loaded if key[1] in parents]:
            branch = self._branch(key)
            if branch is not None and branch.is_expanded:
                expanded.add(key)
            else:
                self._loaded.discard(key)
        self._read(expanded)

    # Keys and mouse

    def action_open(self) -> None:
        """Open the page of the node, or read the branch of a note again."""
        row = self.cursor_node
        if row is not None and isinstance(row.data, str) and row.parent is not None:
            self._read({_key_of(row.parent)})
        elif row is not None:
            self.post_message(messages.NodeSelected())

    def action_deeper(self) -> None:
        row = self.cursor_node
        if row is None or not row.allow_expand:
            self.action_open()
        elif not row.is_expanded:
            row.expand()
        elif row.children:
            self._move_to(row.children[0])

    def action_outward(self) -> None:
        row = self.cursor_node
        if row is None:
            return
        if row.is_expanded and row.allow_expand:
            row.collapse()
        elif row.parent is not None and row.parent is not self.root:
            self._move_to(row.parent)

    def action_toggle_expanded(self) -> None:
        row = self.cursor_node
        if row is not None and row.allow_expand:
            row.toggle()
        elif row is not None:
            self.notify(NO_BRANCH)

    def action_expand_all(self) -> None:
        row = self.cursor_node
        if row is not None and isinstance(row.data, DaySession) and row.allow_expand:
            row.expand()
        elif row is not None and row.allow_expand:
            find = partial(
                browse.read_below, _key_of(row), self.scope, self.zone, MAX_EXPANDED
            )
            show = partial(self._expand_all, self.scope)
            self.load(find, show, "toc-expand")
        else:
            self.notify(NO_BRANCH)

    def action_half_page_down(self) -> None:
        self._move_lines(self.scrollable_content_region.height // 2)

    def action_half_page_up(self) -> None:
        self._move_lines(-(self.scrollable_content_region.height // 2))

    def _move_lines(self, lines: int) -> None:
        self.cursor_line = min(max(self.cursor_line + lines, 0), self.last_line)
        self.scroll_to_line(self.cursor_line, animate=False)

    def action_first(self) -> None:
        if self.root.children:
            self._move_to(self.root.children[0])

    def action_last(self) -> None:
        self.cursor_line = self.last_line
        self.scroll_to_line(self.last_line, animate=False)

    @on(Tree.NodeSelected)
    def retry(self, event: Tree.NodeSelected[TocRow]) -> None:
        if isinstance(event.node.data, str):
            self.action_open()

    def on_click(self, event: events.Click) -> None:
        self.stop_following()
        if event.chain == 2:
            self.action_open()

    @on(Tree.NodeHighlighted)
    def announce(self, event: Tree.NodeHighlighted[TocRow]) -> None:
        if self._shared is not None and event.node is not self._shared[0]:
            self._shared = None
        if self.current is not None and event.node is self.cursor_node:
            self.post_message(messages.NodeHighlighted())

    def on_resize(self) -> None:
        """Keep the row under the cursor in view."""
        self.call_after_refresh(self._show_cursor)

    def _show_cursor(self) -> None:
        self.scroll_to_line(self.cursor_line, animate=False)

    # Drawing

    def render_line(self, y: int) -> Strip:
        """Draw a line; the background of the cursor is that of the whole line."""
        strip = super().render_line(y)
        if y + self.scroll_offset.y != self.cursor_line:
            return strip
        cursor = self.get_component_rich_style("tree--cursor", partial=True)
        background = Style(bgcolor=cursor.bgcolor)
        return Strip(
            [
                Segment(text, (style or Style()) + background)
                for text, style, _ in strip
            ],
            strip.cell_length,
        )

    def get_label_width(self, node: TreeNode[TocRow]) -> int:
        """Return 0: rows are as wide as the tree, which never scrolls sideways."""
        return 0

    def render_label(
        self, node: TreeNode[TocRow], base_style: Style, style: Style
    ) -> Text:
        """Draw a row in columns that end at the right edge of the tree."""
        row, text, mark = node.data, Text(end=""), ""
        color = partial(self.get_component_rich_style, partial=True)
        if node.allow_expand:
            mark = self.ICON_NODE_EXPANDED if node.is_expanded else self.ICON_NODE
            text.append(mark, base_style + Style(meta={"toggle": True}))
        depth, above = 0, node.parent
        while above is not None and above is not self.root:
            depth, above = depth + 1, above.parent
        room = self.scrollable_content_region.width - depth * INDENT - len(mark) - 1
        if isinstance(row, TocEntry):
            line = draw_line(
                row,
                width=room,
                zone=self.zone,
                today=calendar.local_day(self.now(), self.zone),
                is_expanded=node.is_expanded,
                color=color,
            )
            text.append_text(line)
        elif isinstance(row, DaySession):
            line = draw_session(
                row,
                width=room,
                zone=self.zone,
                is_expanded=node.is_expanded,
                has_projects=self._has_projects,
                color=color,
            )
            text.append_text(line)
        elif row is not None:
            text.append(f"  {row}", color("toc--quiet"))
        text.stylize_before(style, len(mark))
        return text

    @property
    def _has_projects(self) -> bool:
        years = (row.data for row in self.root.children)
        names = (year.projects for year in years if isinstance(year, TocEntry))
        return len({name for projects in names for name in projects}) > 1


def _key_of(row: TreeNode[TocRow]) -> RowKey:
    """Return the key of a row; that of the years for the root and for a note."""
    parent = row.parent.data if row.parent is not None else None
    if row.data is None or isinstance(row.data, str):
        return YEARS
    parent_id = "" if parent is None or isinstance(parent, str) else parent.node_id
    return _row_key(parent_id, row.data)


def _row_key(parent_id: str, row: NodeRow) -> RowKey:
    """Return the key of a row; its parent may share its row."""
    if isinstance(row, TocEntry) and row.above:
        parent_id = row.above[-1].node_id
    return parent_id, row.node_id


def _ids_of(row: TocRow | None) -> set[str]:
    """Return the ids of the nodes that share a row."""
    if row is None or isinstance(row, str):
        return set()
    others = row.above if isinstance(row, TocEntry) else row.alike
    return {entry.node_id for entry in (*others, row)}


def _find_above(row: TreeNode[TocRow], node_id: str) -> TocEntry | None:
    """Return the node with an id that shares a row with one below it."""
    above = row.data.above if isinstance(row.data, TocEntry) else ()
    return next((entry for entry in above if entry.node_id == node_id), None)


def _add_note(branch: TreeNode[TocRow], text: str) -> None:
    branch.add_leaf(Text(text), text)


def _note(branch: TreeNode[TocRow]) -> TreeNode[TocRow] | None:
    row = branch.children[0] if branch.children else None
    return row if row is not None and isinstance(row.data, str) else None
