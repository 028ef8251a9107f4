"""The versions of a node, the latest first, a few lines for each."""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from memtui.model.model_state import RewriteOutlook
from memtui.model.nodes import Bullet, NodeStatus, TocHistory, TocNode, TocVersion
from memtui.model.summaries import GenerationStats
from memtui.model.verdicts import Support
from memtui.summarize.grounding import explain
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.widgets import bullet_list
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph, TextBlock

DIGEST_CHARS = 12
"""How much of a model's digest is shown."""


NOT_SUMMARIZED = "Not summarised yet: that happens by itself, in a while."


WITHHELD = "Withheld, since no source says it:"


_BLANK = Content("")


def row(edition: TocVersion, status: NodeStatus, zone: tzinfo) -> Paragraph:
    """A version in a few lines: who wrote it and how it stands, when, and what holds.

    Args:
        edition: The version.
        status: How the node stands.
        zone: The store's time zone.
    """
    mark = Content.styled(f"{edition.version:>3}  ", "bold")
    how = Content.styled(", ".join(states(edition, status)), "$accent")
    at = date_format.moment(edition.created_at, zone)
    under = [Content.styled(f"{at} · {counts(edition)}", "$context")]
    if edition.rejection:
        under.append(Content.styled(f"rejected: {edition.rejection}", "$error"))
    return Paragraph(mark, Content(who(edition)), how, under)


def who(edition: TocVersion) -> str:
    """Who wrote a version."""
    facts = edition.generation
    if not facts.model:
        return f"quoted ({edition.summarizer})"
    return f"{facts.model} {facts.digest[:DIGEST_CHARS]}".strip()


def states(edition: TocVersion, status: NodeStatus) -> Iterator[str]:
    """Whether a version is shown, by whose wish, and whether it is the last word."""
    if not edition.is_shown:
        return
    yield "pinned" if edition.is_pinned else "shown"
    if status is NodeStatus.STALE:
        yield "out of date"
    elif status is NodeStatus.PROVISIONAL:
        yield "provisional"


def counts(edition: TocVersion) -> str:
    """How many of its bullets are supported, weak, unsupported."""
    said = [
        (edition.supported, Support.SUPPORTED),
        (edition.weak, Support.WEAK),
        (edition.unsupported, Support.UNSUPPORTED),
    ]
    told = [
        f"{format.bullet_mark(kind)} {count} {kind.value}"
        for count, kind in said
        if count
    ]
    return " · ".join(told) or "no bullets"


def describe_choice(
    history: TocHistory, now: datetime, promise: RewriteOutlook, *, is_written: bool
) -> str:
    """What there is to know before choosing among the versions of a node.

    Args:
        history: The versions.
        now: The time.
        promise: Who makes new versions, and when; or why nobody does.
        is_written: Whether a model writes one at this moment.
    """
    shown = history.shown
    if shown is None:
        return NOT_SUMMARIZED
    said = []
    if shown.is_pinned:
        said.append(f"You pinned version {shown.version}: P on it lets it go.")
        if history.entry.status is NodeStatus.STALE:
            said.append("Something has changed since it was made.")
    elif len(history.versions) == 1:
        said.append("There is only this version.")
    if is_written:
        said.append("A model writes a new one now.")
    elif history.requested_at:
        ago = date_format.age(history.requested_at, now)
        said.append(f"You asked for a new one {ago}. {promise.message}")
    elif not any(one.is_by_model for one in history.versions):
        how = "R asks a model for one." if promise.is_possible else promise.message
        said.append(f"No model has written one yet. {how}")
    return " ".join(said)


class VersionText(TextBlock):
    """A version whole, at any width: what it says, and what is known of its making."""

    def __init__(
        self, node: TocNode, edition: TocVersion, zone: tzinfo, now: datetime
    ) -> None:
        self.node, self.edition, self.zone, self.now = node, edition, zone, now
        self._laid: tuple[int, Content] | None = None

    def lay_out(self, width: int) -> Content:
        """The lines at a width, in cells."""
        if self._laid is None or self._laid[0] != width:
            lines = [line for part in self._head() for line in part.wrap(width)]
            lines += [_BLANK]
            lines += [_bullet(bullet).lay_out(width) for bullet in self.node.bullets]
            if self.node.withheld:
                lines += [_BLANK, Content.styled(WITHHELD, "$context")]
            lines += [_bullet(bullet).lay_out(width) for bullet in self.node.withheld]
            self._laid = width, Content("\n").join(lines)
        return self._laid[1]

    def _head(self) -> Iterator[Content]:
        edition = self.edition
        if said := self.node.headline:
            yield Content.styled(said, "bold")
        at = edition.created_at
        moment = date_format.moment(at, self.zone)
        when = f"{moment} ({date_format.age(at, self.now)})"
        yield Content.styled(f"{who(edition)} · {when}", "$context")
        if cost := _cost(edition.generation):
            yield Content.styled(cost, "$context")
        if edition.rejection:
            yield Content.styled(f"Rejected: {edition.rejection}", "$error")
        if not (self.node.bullets or self.node.withheld):
            yield Content("Nothing worth a bullet was said here.")


def _cost(facts: GenerationStats) -> str:
    """What it took; "" where no model was asked."""
    if not facts.model:
        return ""
    read = format.quantity(facts.prompt_tokens, "token")
    said = f"{read} read, {format.number(facts.reply_tokens)} written"
    return f"{said}, {facts.total_ms / 1000:.1f} s · Ollama {facts.server}"


def _bullet(bullet: Bullet) -> Paragraph:
    why = explain.of(bullet)
    under = [Content.styled(why, "$context")] if why else []
    text = Content(" ".join(bullet.text.split()))
    return Paragraph(bullet_list.draw_mark(bullet), text, under=under)


class VersionList(ItemList, inherit_bindings=False):
    """Moves through the versions."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(
        "first", "last", "cursor_up", "cursor_down", "page_up", "page_down",
        open="Read this version.",
    )  # fmt: skip
    HELP_TITLE = "In the list of versions"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="editions")
        self._zone = zone
        self.versions: tuple[TocVersion, ...] = ()

    @property
    def current(self) -> TocVersion | None:
        """The version the cursor is on."""
        at = self.highlighted
        return None if at is None or at >= len(self.versions) else self.versions[at]

    def show(self, history: TocHistory) -> None:
        """List these; the cursor stays on its version, at first on the one shown."""
        before = self.current or history.shown
        self.versions = history.versions
        status = history.entry.status
        rows = [row(one, status, self._zone) for one in history.versions]
        with self.prevent(OptionList.OptionHighlighted):
            self.set_options(Option(row) for row in rows)
        numbers = [one.version for one in history.versions]
        if before is not None and before.version in numbers:
            self.highlighted = numbers.index(before.version)
        elif numbers:
            self.highlighted = 0

    def action_open(self) -> None:
        """Go to what the version says."""
        self.action_select()
