"""Budgets: how much text fits a request, in tokens that only the model can count.

The estimate is corrected by what the server counted, quickly upwards and slowly
downwards, since a prompt that is too long costs a whole request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memtui.llm.prompts import Log, Turn, messages, pieces
from memtui.text.tokens import estimate

PROMPT_TOKENS = 3000
"""The longest prompt, however large the window: longer ones are read worse."""


SHARE = 0.9
"""How much of the window a prompt and its reply may fill together."""


REPLY_TOKENS, THOUGHT_TOKENS = 700, 1800
"""The longest reply, and what a model may think before it."""


OVERHEAD_TOKENS = 60
"""What the model's own template adds to a prompt."""


CAUTION = 1.15
"""How much higher the estimate is set before the model has counted anything."""


COARSEST = 3.5
"""How many times the estimate a prompt can come to, as some models count one token a
byte: before a model has counted anything, this much is left room for."""


MARGIN = 1.03
"""How far above a count the estimate is kept."""


EASING = 0.2
"""How quickly an estimate that was too high comes down."""


LOWEST = 1.0
"""Below this the estimate never comes: texts differ more than models do."""


MOST, LEAST = 4.0, 0.6
"""Between what a count can be, as a share of the estimate; else it tells nothing."""


LEAST_ROOM_TOKENS = 400
"""A window that leaves less than this for a log is too small to be of use."""


EVENLY = 1.1
"""How much larger than the others a part may be: a small rest summarises badly."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How the tokens of one model compare with the estimate."""

    factor: float = CAUTION

    def tokens(self, text: str) -> int:
        """How long a text is for this model, estimated."""
        raw = max(estimate(text), -(-len(text.encode(errors="replace")) // 4))
        return round(raw * self.factor)

    def prompt(self, log: Log, *, with_schema: bool) -> int:
        """How long the prompt about a log is, estimated."""
        said = "\n".join(m["content"] for m in messages(log, with_schema=with_schema))
        return self.tokens(said) + OVERHEAD_TOKENS

    def after(self, estimated: int, counted: int) -> "Scale":
        """The scale after the server has counted a prompt.

        Args:
            estimated: What this scale made of the prompt.
            counted: The server's count; 0 if it did not tell. A count of a prompt
                that was partly remembered is too low, so it is believed slowly.
        """
        if counted <= 0 or estimated <= 0:
            return self
        share = counted / estimated
        if not LEAST <= share <= MOST:
            return self
        target = self.factor * share * MARGIN
        if target > self.factor:
            return replace(self, factor=target)
        eased = self.factor + EASING * (target - self.factor)
        return replace(self, factor=max(eased, min(self.factor, LOWEST)))


FIRST_TOKENS = 1000
"""How long a first prompt may be all the same: less would not hold a few turns."""


def room(window_tokens: int, reply_tokens: int, *, is_counted: bool = True) -> int:
    """How long a prompt may be in a window that must hold the reply too.

    Args:
        window_tokens: The window.
        reply_tokens: How long the reply may be.
        is_counted: Whether the model has counted a prompt already.
    """
    whole = int(SHARE * window_tokens) - reply_tokens
    if not is_counted:
        whole = min(whole, max(int(whole / COARSEST), FIRST_TOKENS))
    return min(PROMPT_TOKENS, whole)


def reply_tokens(window_tokens: int, *, thinks: bool) -> int:
    """How long a reply may be: at most a third of the window."""
    wanted = REPLY_TOKENS + (THOUGHT_TOKENS if thinks else 0)
    return min(wanted, window_tokens // 3)


def is_large_enough(window_tokens: int) -> bool:
    """Whether a window leaves room for a log beside the prompt's own words."""
    frame = Scale().prompt(Log(()), with_schema=False)
    left = room(window_tokens, reply_tokens(window_tokens, thinks=False))
    return left - frame >= LEAST_ROOM_TOKENS


def was_cut(estimated: int, counted: int, window_tokens: int) -> bool:
    """Whether the server seems to have cut a prompt without saying so.

    It keeps half the window and two tokens, or fills the window to its end.
    """
    halved = abs(counted - (window_tokens // 2 + 2)) <= 8 and estimated > counted * 1.25
    return halved or counted >= window_tokens - 1


def parts(
    log: Log, room_tokens: int, scale: Scale, turns: int, *, with_schema: bool
) -> list[Log]:
    """Cut a log into logs that each fit a request; the log itself if it does.

    Args:
        log: What is asked about.
        room_tokens: How long a prompt may be.
        scale: How the model counts.
        turns: The most turns of a part.
        with_schema: Whether the prompt goes without the shape.
    """
    frame = scale.prompt(replace(log, turns=()), with_schema=with_schema)
    context = log.context
    if frame > room_tokens // 2:
        context, log = (), replace(log, context=())
        frame = scale.prompt(replace(log, turns=()), with_schema=with_schema)
    left = max(room_tokens - frame, 100)
    sized = [(turn, _size(turn, scale)) for turn in _small(log.turns, left // 2, scale)]
    found = _packed(sized, left, turns)
    even = sum(size for _, size in sized) * EVENLY / len(found)
    fewer = min(turns, -(-len(sized) // len(found)) + 1)
    evenly = _packed(sized, min(left, round(even)), fewer)
    return [
        replace(log, turns=part, context=context if place == 0 else ())
        for place, part in enumerate(evenly if len(evenly) == len(found) else found)
    ]


def _packed(
    sized: Sequence[tuple[Turn, int]], limit: int, turns: int
) -> list[tuple[Turn, ...]]:
    """Turns in parts of at most so many tokens and so many turns."""
    found: list[list[Turn]] = [[]]
    used = 0
    for turn, size in sized:
        if found[-1] and (used + size > limit or len(found[-1]) >= turns):
            found.append([])
            used = 0
        found[-1].append(turn)
        used += size
    return [tuple(part) for part in found if part] or [()]


def _small(turns: Sequence[Turn], limit: int, scale: Scale) -> list[Turn]:
    """Turns that are each at most so long: longer ones in pieces."""
    return [
        replace(turn, text=piece)
        for turn in turns
        for piece in (
            [turn.text]
            if _size(turn, scale) <= limit
            else pieces(
                turn.text, max(80, len(turn.text) * limit // _size(turn, scale))
            )
        )
    ]


def _size(turn: Turn, scale: Scale) -> int:
    """How long a turn is with the marks on each of its lines."""
    mark = f"40|{turn.role}| "
    return scale.tokens(mark + turn.text.replace("\n", f"\n{mark}")) + 2


def halves(log: Log) -> list[Log]:
    """A log in two; one turn alone is cut in its middle."""
    turns = log.turns
    if len(turns) == 1:
        (turn,) = turns
        texts = pieces(turn.text, max(1, -(-len(turn.text) // 2)))
        turns = tuple(replace(turn, text=text) for text in texts) or turns
    middle = -(-len(turns) // 2)
    first = replace(log, turns=turns[:middle])
    second = replace(log, turns=turns[middle:], context=())
    return [half for half in (first, second) if half.turns]
