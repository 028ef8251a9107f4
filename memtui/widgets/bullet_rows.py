"""How bullets, their quotes and the claims that are hidden are drawn."""

from textual.content import Content

from memtui.memory.audit import reasons
from memtui.memory.toc import Bullet
from memtui.widgets import wording
from memtui.widgets.hanging import Hanging

NO_SOURCE = "no source says this"
"""What stands beside a bullet without a grip."""

CLOSEST = "closest words"
"""What stands beside an unsupported bullet, before the number of its grips."""


def row(
    bullet: Bullet, *, is_open: bool, is_explained: bool, is_withheld: bool
) -> Hanging:
    """A bullet: its mark, its text and its sources.

    Args:
        bullet: What to draw.
        is_open: Whether its quotes are shown under it.
        is_explained: Whether to say why it has its mark, where there is more to say
            than the mark does.
        is_withheld: Whether it is hidden unless a person wants to see it.
    """
    ink = "$context" if is_withheld and not is_explained else ""
    text = Content.styled(" ".join(bullet.text.split()), ink)
    why = reasons.of(bullet) if is_explained else ""
    under = [Content.styled(why, "not bold")] if why else []
    return Hanging(mark(bullet), text, _end(bullet, is_open=is_open), under)


def quote(words: str) -> Hanging:
    """An excerpt, under its bullet."""
    told = f"“{' '.join(words.split())}”" if words else "no longer kept"
    return Hanging(Content("    "), Content.styled(told, "italic $evidence"))


def hidden(count: int, *, is_shown: bool) -> Hanging:
    """The line about what a model claimed and no source says.

    Args:
        count: How many claims; at least one.
        is_shown: Whether they follow it.
    """
    claims = wording.counted(count, "claim")
    one, it = ("is", "it") if count == 1 else ("are", "them")
    told = f"{claims} of the model {one} hidden: no source says {it} (u shows {it})"
    if is_shown:
        told = f"{claims} of the model that no source says (u hides {it} again)"
    return Hanging(Content("  "), Content.styled(told, "italic $context"))


def mark(bullet: Bullet) -> Content:
    """What stands before a bullet."""
    ink = "" if bullet.stands else "$error"
    if bullet.stands and wording.mark(bullet.support) == wording.SUPPORTED:
        ink = "$context"
    return Content.styled(f"{wording.mark(bullet.support)} ", ink)


def _end(bullet: Bullet, *, is_open: bool) -> Content:
    if not bullet.grip_ids:
        return Content.styled(NO_SOURCE, "$error")
    fold = f"{len(bullet.grip_ids)} {'▾' if is_open else '▸'}"
    told = fold if bullet.stands else f"{CLOSEST} {fold}"
    return Content.styled(told, "$context")
