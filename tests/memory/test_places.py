"""Places: where bullets stand, each alone and beside the others."""

import pytest

from memtui.model.summaries import DraftBullet
from memtui.summarize.grounding import anchoring
from memtui.summarize.grounding.anchoring import NeighbourIndex

FILLER = ["so we went on", "nothing of note", "and on it went", "well then"] * 3
TALK = [
    "The parser loses the last comma.",
    "We changed the approach.",
    *FILLER,
    "The lexer is slow on long strings: it copies each one.",
    "We changed the approach there.",
    "Buffers are shared now.",
]
EARLY, LATE = 1, len(TALK) - 2


def standing(*bullets: str, texts: list[str] = TALK) -> list[int | None]:
    found = anchoring.nearest_anchors(
        [DraftBullet(bullet) for bullet in bullets], NeighbourIndex(texts)
    )
    return [place.best if place else None for place in found]


@pytest.mark.parametrize(
    ("beside", "place"),
    [("The parser lost a comma", EARLY), ("Sharing buffers", LATE)],
)
def test_a_bullet_said_in_two_places_stands_near_the_one_beside_it(
    beside: str, place: int
) -> None:
    assert standing(beside, "The approach was changed")[1] == place


def test_neighbours_do_not_move_a_bullet_from_where_its_words_are() -> None:
    assert standing("Sharing buffers", "The last comma is lost by the parser") == [
        len(TALK) - 1,
        0,
    ]


def test_a_cited_event_is_taken_where_it_fits_about_as_well_but_not_elsewhere() -> None:
    fits = NeighbourIndex(TALK)
    for cited, place in ((LATE, LATE), (EARLY, EARLY), (0, EARLY)):
        (found,) = anchoring.nearest_anchors(
            [DraftBullet("We changed the approach", (cited,))], fits
        )
        assert found is not None
        assert found.best == place


def test_a_bullet_without_a_word_in_common_stands_nowhere() -> None:
    assert standing("Kubernetes", "") == [None, None]


def test_a_place_tells_how_much_of_the_bullet_it_holds() -> None:
    whole, half, little = anchoring.nearest_anchors(
        [
            DraftBullet("buffers shared"),
            DraftBullet("buffers zeppelin"),
            DraftBullet("buffers a b c d e"),
        ],
        NeighbourIndex(TALK),
    )
    assert whole is not None
    assert half is not None
    assert little is not None
    assert whole.coverage == 1.0
    assert little.coverage < half.coverage < 0.55


@pytest.mark.parametrize(
    ("away", "place"),
    [(anchoring.NEIGHBOUR_EVENTS, 30), (anchoring.NEIGHBOUR_EVENTS + 1, 0)],
)
def test_a_neighbour_counts_as_far_as_it_reaches(away: int, place: int) -> None:
    texts = [f"filler{at}" for at in range(31)]
    texts[0] = texts[30] = "the approach was changed"
    texts[30 - away] = "buffers are shared"
    found = standing("Changed the approach", "Shared buffers", texts=texts)
    assert found == [place, 30 - away]
