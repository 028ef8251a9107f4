"""What a source tells twice: two records of one text, of which the first is taken.

The two may stand in any order and on both sides of a cursor; where only one of them
stands, it is taken. Records of one kind are never twins of each other, so a person who
says "yes" twice has said it twice.
"""

import hashlib
from datetime import datetime

from memtui.memory.events import to_ms

TWINS_WITHIN_MS = 60_000
"""How far apart two records of one text may stand."""

REMEMBERED = 60
"""How many texts are remembered."""


class Twins:
    """The texts of one file that may be told again."""

    def __init__(self, state: object = ()) -> None:
        """Go on with what an earlier reading was told."""
        kept = state if isinstance(state, list) else []
        self._told: list[tuple[str, int, list[str]]] = [
            (name, at_ms, list(tellers)) for name, at_ms, tellers in kept
        ]

    def is_first(self, what: str, text: str, teller: str, at: datetime) -> bool:
        """Whether this text is told for the first time; remembers that it was told.

        Args:
            what: What it is: a prompt, a reply, a thought.
            text: What is said; only its letters and digits are compared.
            teller: The kind of record that tells it.
            at: When.
        """
        name, at_ms = _print(what, text), to_ms(at)
        for known, told_ms, tellers in self._told:
            is_near = abs(at_ms - told_ms) <= TWINS_WITHIN_MS
            if known == name and is_near and teller not in tellers:
                tellers.append(teller)
                return False
        self._told = [*self._told[1 - REMEMBERED :], (name, at_ms, [teller])]
        return True

    def state(self) -> list[list[object]]:
        """What another reading must know of them."""
        return [[name, at_ms, list(tellers)] for name, at_ms, tellers in self._told]


def _print(what: str, text: str) -> str:
    said = "".join(filter(str.isalnum, text)) or text.strip()
    raw = f"{what}\x1f{said}".encode("utf-8", "replace")
    return hashlib.blake2b(raw, digest_size=10).hexdigest()
