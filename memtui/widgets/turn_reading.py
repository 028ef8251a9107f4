"""Reading what a transcript lacks, and laying it out: what threads do for it."""

from collections.abc import Mapping, Sequence

from memtui.messages.reader import TurnsWanted, Where
from memtui.recall import conversation
from memtui.recall.conversation import Stretch, Turn, Whose
from memtui.widgets import turn_lines
from memtui.widgets.turn_lines import Laid, Look

Known = Mapping[str, tuple[Turn, Laid]]
"""Turns that are laid out, by their events' ids."""


def stretch(whose: Whose, wanted: TurnsWanted) -> Stretch:
    """What is wanted of a conversation."""
    place = wanted.place
    match wanted.where:
        case Where.BEGINNING:
            return conversation.beginning(whose)
        case Where.END:
            return conversation.end(whose)
        case Where.BEFORE if place:
            return conversation.before(whose, place)
        case Where.AFTER if place:
            return conversation.after(whose, place)
        case _:
            here = place or conversation.nth(whose, wanted.rank)
            if here is None:
                return conversation.end(whose)
            return conversation.around(whose, here)


def lay(
    turns: Sequence[Turn],
    look: Look,
    unfolded: frozenset[str],
    known: Known | None = None,
) -> list[Laid]:
    """Turns laid out.

    Args:
        turns: The turns.
        look: How they look.
        unfolded: The events that are to be unfolded.
        known: Those that are laid out so already.
    """
    laid = []
    for turn in turns:
        name = turn.event.event_id
        before, is_laid = (known or {}).get(name, (None, None))
        if is_laid is None or before != turn:
            is_laid = turn_lines.lay(turn, look, is_unfolded=name in unfolded)
        laid.append(is_laid)
    return laid
