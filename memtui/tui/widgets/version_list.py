"""The list of versions of a node, and the text of a version."""

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets.option_list import Option

from memtui.model.model_state import RewriteForecast
from memtui.model.nodes import Bullet, NodeStatus, TocHistory, TocNode, TocVersion
from memtui.model.summaries import GenerationStats
from memtui.model.verdicts import Support
from memtui.services import explain
from memtui.text import date_format
from memtui.tui import commands, format
from memtui.tui.widgets import bullet_list
from memtui.tui.widgets.item_list import ItemList
from memtui.tui.widgets.text_block import Paragraph, TextBlock

DIGEST_CHARS = 12
"""The shown length of a model's digest."""

NOT_SUMMARIZED = "Not summarized yet. memtui will do this in the background."
WITHHELD = "Withheld, because no source supports it:"
BLANK = Content("")


class VersionList(ItemList[TocVersion]):
    """Moves through the versions, the latest first."""

    BINDINGS: ClassVar[list[BindingType]] = commands.bindings(open="Read this version.")
    HELP_TITLE = "In the list of versions"

    def __init__(self, zone: tzinfo) -> None:
        super().__init__(id="versions")
        self._zone = zone

    def show(self, history: TocHistory) -> None:
        """List versions, with the cursor at first on the shown one."""
        status = history.entry.status
        items = {str(one.version): one for one in history.versions}
        rows = [
            Option(_draw_version(one, status, self._zone), id=name)
            for name, one in items.items()
        ]
        current = self.current or history.shown
        self.show_items(items, rows, str(current.version) if current else "")


def _draw_version(version: TocVersion, status: NodeStatus, zone: tzinfo) -> Paragraph:
    mark = Content.styled(f"{version.version:>3}  ", "bold")
    state = Content.styled(", ".join(states(version, status)), "$accent")
    created = date_format.moment(version.created_at, zone)
    under = [Content.styled(f"{created} · {_support_counts(version)}", "$context")]
    if version.rejection:
        under.append(Content.styled(f"rejected: {version.rejection}", "$error"))
    return Paragraph(mark, Content(_author(version)), state, under)


def _author(version: TocVersion) -> str:
    model = version.generation
    if not model.model:
        return f"extract ({version.summarizer})"
    return f"{model.model} {model.digest[:DIGEST_CHARS]}".strip()


def states(version: TocVersion, status: NodeStatus) -> Iterator[str]:
    """Yield whether a version is shown or pinned, and whether it will change."""
    if not version.is_shown:
        return
    yield "pinned" if version.is_pinned else "shown"
    if status is NodeStatus.STALE:
        yield "out of date"
    elif status is NodeStatus.PROVISIONAL:
        yield "provisional"


def _support_counts(version: TocVersion) -> str:
    counts = [
        (version.supported, Support.SUPPORTED),
        (version.weak, Support.WEAK),
        (version.unsupported, Support.UNSUPPORTED),
    ]
    texts = [
        f"{format.bullet_mark(support)} {count} {support.value}"
        for count, support in counts
        if count
    ]
    return " · ".join(texts) or "no bullets"


def describe_choice(
    history: TocHistory, now: datetime, outlook: RewriteForecast, *, is_written: bool
) -> str:
    """Describe which version is shown, and how to get another one.

    Args:
        history: The versions.
        now: The current time.
        outlook: Whether and when a new version can be written.
        is_written: Whether a model is writing one at the moment.
    """
    shown = history.shown
    if shown is None:
        return NOT_SUMMARIZED
    texts = []
    if shown.is_pinned:
        texts.append(f"You pinned version {shown.version} (P: unpin).")
        if history.entry.status is NodeStatus.STALE:
            texts.append("The conversation has changed since.")
    elif len(history.versions) == 1:
        texts.append("This is the only version.")
    if is_written:
        texts.append("A model is writing a new one.")
    elif history.requested_at:
        age = date_format.age(history.requested_at, now)
        texts.append(f"You requested a new one {age}. {outlook.message}")
    elif not any(version.is_by_model for version in history.versions):
        hint = "Press R to request one." if outlook.is_possible else outlook.message
        texts.append(f"There is none by a model yet. {hint}")
    return " ".join(texts)


class VersionText(TextBlock):
    """A version: its head, bullets, and what was withheld."""

    def __init__(
        self, node: TocNode, version: TocVersion, zone: tzinfo, now: datetime
    ) -> None:
        self.node, self.version, self.zone, self.now = node, version, zone, now

    def compose_lines(self, width: int) -> Content:
        lines = [line for part in self._head() for line in part.wrap(width)]
        lines += [BLANK]
        lines += [_draw_bullet(one).lay_out(width) for one in self.node.bullets]
        if self.node.withheld:
            lines += [BLANK, Content.styled(WITHHELD, "$context")]
        lines += [_draw_bullet(one).lay_out(width) for one in self.node.withheld]
        return Content("\n").join(lines)

    def _head(self) -> Iterator[Content]:
        version = self.version
        if headline := self.node.headline:
            yield Content.styled(headline, "bold")
        created = date_format.moment(version.created_at, self.zone)
        age = date_format.age(version.created_at, self.now)
        yield Content.styled(f"{_author(version)} · {created} ({age})", "$context")
        if cost := _cost(version.generation):
            yield Content.styled(cost, "$context")
        if version.rejection:
            yield Content.styled(f"Rejected: {version.rejection}", "$error")
        if not (self.node.bullets or self.node.withheld):
            yield Content("There was nothing worth a bullet here.")


def _cost(stats: GenerationStats) -> str:
    if not stats.model:
        return ""
    read = format.quantity(stats.prompt_tokens, "token")
    written = format.number(stats.reply_tokens)
    seconds = stats.total_ms / 1000
    return f"{read} read, {written} written, {seconds:.1f} s · Ollama {stats.server}"


def _draw_bullet(bullet: Bullet) -> Paragraph:
    reason = explain.explain_verdict(bullet)
    under = [Content.styled(reason, "$context")] if reason else []
    text = Content(" ".join(bullet.text.split()))
    return Paragraph(bullet_list.draw_mark(bullet), text, under=under)
