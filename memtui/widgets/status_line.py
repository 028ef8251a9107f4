"""The line at the top: whose memory this is, and what the workers do."""

from typing import TYPE_CHECKING

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from memtui.widgets import wording

if TYPE_CHECKING:
    from memtui.stages.progress import Progress

DOING = {
    "ingest": "reading new events",
    "tail": "reading transcripts",
    "segment": "cutting segments",
    "summarize": "summarising",
    "rollup": "rolling up",
    "index": "indexing",
    "import": "importing",
}
"""What each stage does, as the reader would say it."""

READ_ONLY = "read-only: another memtui is at work"


def state(progress: "Progress") -> Content:
    """What the workers do, in a few words; red for what went wrong alone."""
    doing = DOING.get(progress.stage, "working")
    parts: list[Content] = []
    if not progress.is_ours:
        parts.append(Content(READ_ONLY))
    elif progress.error:
        parts.append(Content.styled(f"✗ {doing}: {progress.error}", "$error"))
    elif progress.stage == "import" and progress.done < progress.total:
        of = f"{wording.count(progress.done)} of {wording.count(progress.total)}"
        parts.append(Content(f"● {doing} {of}"))
    elif progress.queued:
        parts.append(Content(f"● {doing}"))
        parts.append(Content(f"{wording.count(progress.queued)} queued"))
    else:
        parts.append(Content("idle"))
    if progress.problems:
        words = f"{wording.count(progress.problems)} not taken: press Q"
        parts.append(Content.styled(words, "$error"))
    return Content(" · ").join(parts)


class StatusLine(Widget):
    """Name at the left, work at the right."""

    work = reactive(Content("starting"))
    """What the workers do."""

    def __init__(self, *, is_demo: bool) -> None:
        super().__init__()
        self._is_demo = is_demo

    def say(self, progress: "Progress") -> None:
        """Show what a worker has reported."""
        self.work = state(progress)

    def render(self) -> Content:
        """Both ends of the line."""
        name = Content.styled("memtui", "bold $accent")
        if self._is_demo:
            name += Content.styled("   demo: a made-up memory", "$context")
        room = self.size.width - name.cell_length - 3
        work = self.work.first_line.truncate(max(0, room), ellipsis=True)
        gap = self.size.width - name.cell_length - work.cell_length
        return name + " " * max(0, gap) + work.stylize_before("$context")
