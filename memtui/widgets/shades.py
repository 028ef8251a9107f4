"""Five steps of shade: how much was said on a day, told by glyph and not by colour."""

from collections.abc import Iterable
from dataclasses import dataclass

GLYPHS = "·░▒▓█"
"""From nothing to most; their twins in plain letters are five as well."""


@dataclass(frozen=True, slots=True)
class Shades:
    """Which step a number of messages is, among those in sight."""

    cuts: tuple[int, int, int]
    """From how many on the second, the third and the fourth step begin."""

    @classmethod
    def among(cls, counts: Iterable[int]) -> "Shades":
        """Steps that hold a quarter of these counts each.

        Args:
            counts: The messages of the days on which anything was said.
        """
        ordered = sorted(max(1, count) for count in counts) or [1]
        one, two, three = (ordered[len(ordered) * part // 4] for part in (1, 2, 3))
        return cls((one, two, three))

    def step(self, count: int) -> int:
        """The step of a day on which something was said, 1 to 4."""
        return 1 + sum(max(1, count) >= cut for cut in self.cuts)

    def ranges(self) -> list[tuple[int, str]]:
        """The steps there are, from 0, and what each stands for."""
        said = [(0, "none")]
        least = 1
        for step, cut in enumerate(self.cuts, 1):
            if cut > least:
                most = cut - 1
                range_ = f"{least:,}" if least == most else f"{least:,}–{most:,}"
                said.append((step, range_))
                least = cut
        said.append((4, f"{least:,} or more"))
        return said
