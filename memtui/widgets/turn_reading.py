"""Reading what a transcript lacks, and laying it out: what threads do for it."""

from collections.abc import Sequence

from memtui.messages.reader import TurnsWanted, Where
from memtui.recall import conversation
from memtui.recall.conversation import Stretch, Turn, Whose
from memtui.widgets import turn_lines
from memtui.widgets.turn_lines import Laid, Look


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


def lay(turns: Sequence[Turn], look: Look, unfolded: frozenset[str]) -> list[Laid]:
    """Turns laid out, those unfolded that are to be."""
    return [
        turn_lines.lay(turn, look, is_unfolded=turn.event.event_id in unfolded)
        for turn in turns
    ]
