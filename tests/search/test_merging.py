"""Which segments of the index are merged, and which are not."""

from dataclasses import dataclass

import pytest

from memtui.search import node_index


@dataclass(frozen=True)
class Piece:
    """A piece as Whoosh describes it."""

    name: int
    alive: int
    gone: int = 0

    def doc_count(self) -> int:
        return self.alive

    def doc_count_all(self) -> int:
        return self.alive + self.gone


def chosen(sizes: list[int], largest: int = node_index.LARGE) -> list[int]:
    pieces = [Piece(place, size) for place, size in enumerate(sizes)]
    return sorted(piece.alive for piece in node_index.parts_to_merge(pieces, largest))


def test_few_pieces_are_left_as_they_are() -> None:
    assert chosen([1] * (node_index.MANY_PARTS - 1)) == []
    assert chosen([1] * node_index.MANY_PARTS) == [1] * node_index.MANY_PARTS


def test_a_piece_is_merged_with_others_of_about_its_size() -> None:
    assert chosen([5] * 7 + [10_000]) == [5] * 7
    assert chosen([5] * 7 + [70]) == [5] * 7 + [70]
    assert chosen([5] * 7 + [71]) == [5] * 7


def test_a_large_piece_is_never_merged() -> None:
    large = node_index.LARGE + 1
    assert chosen([large] * 20) == []
    assert (
        chosen([large] * 20 + [3] * node_index.MANY_PARTS)
        == [3] * node_index.MANY_PARTS
    )


def test_a_single_change_waits_for_no_large_merge() -> None:
    sizes = [node_index.SMALL + 1] * 20 + [node_index.SMALL] * 20
    found = chosen(sizes, node_index.SMALL)
    assert 0 < sum(found) <= 2 * node_index.SMALL


@pytest.mark.parametrize(("gone", "is_chosen"), [(10, False), (11, True)])
def test_a_piece_most_of_which_is_gone_is_written_again(
    gone: int, is_chosen: bool
) -> None:
    piece = Piece(0, 10, gone)
    assert (piece in node_index.parts_to_merge([piece], node_index.LARGE)) is is_chosen


def test_however_many_commits_there_are_the_pieces_stay_few() -> None:
    pieces: list[Piece] = []
    written = 0
    for number in range(2000):
        fresh = 1 + number % 3
        old = node_index.parts_to_merge(pieces, node_index.LARGE)
        size = fresh + sum(piece.alive for piece in old)
        written += size
        pieces = [piece for piece in pieces if piece not in old]
        pieces.append(Piece(number, size))
        assert len(pieces) <= 2 * node_index.MANY_PARTS
    assert written < 12 * sum(piece.alive for piece in pieces)
