"""Which parts of the node index are merged."""

from dataclasses import dataclass

from memtui.search import node_index


@dataclass(frozen=True)
class Part:
    """A part of an index, as Whoosh describes it."""

    name: int
    documents: int
    deleted: int = 0

    def doc_count(self) -> int:
        return self.documents

    def doc_count_all(self) -> int:
        return self.documents + self.deleted


def merged_sizes(sizes: list[int], largest: int = node_index.LARGE) -> list[int]:
    parts = [Part(name, size) for name, size in enumerate(sizes)]
    return sorted(part.documents for part in node_index.parts_to_merge(parts, largest))


def test_few_parts_are_not_merged() -> None:
    assert merged_sizes([1] * (node_index.MANY_PARTS - 1)) == []
    assert merged_sizes([1] * node_index.MANY_PARTS) == [1] * node_index.MANY_PARTS


def test_part_is_merged_with_parts_of_similar_size() -> None:
    assert merged_sizes([5] * 7 + [10_000]) == [5] * 7
    assert merged_sizes([5] * 7 + [70]) == [5] * 7 + [70]
    assert merged_sizes([5] * 7 + [71]) == [5] * 7


def test_large_part_is_never_merged() -> None:
    large = node_index.LARGE + 1
    assert merged_sizes([large] * 20) == []
    assert (
        merged_sizes([large] * 20 + [3] * node_index.MANY_PARTS)
        == [3] * node_index.MANY_PARTS
    )


def test_small_update_merges_little() -> None:
    sizes = [node_index.SMALL + 1] * 20 + [node_index.SMALL] * 20
    assert 0 < sum(merged_sizes(sizes, node_index.SMALL)) <= 2 * node_index.SMALL


def test_deleted_documents_do_not_make_a_part_large() -> None:
    parts = [Part(0, 5, deleted=1000), *(Part(n, 5) for n in range(1, 8))]
    assert node_index.parts_to_merge(parts, node_index.SMALL) == parts


def test_parts_stay_few_after_many_commits() -> None:
    parts: list[Part] = []
    written = 0
    for number in range(2000):
        merged = node_index.parts_to_merge(parts, node_index.LARGE)
        size = 1 + number % 3 + sum(part.documents for part in merged)
        written += size
        parts = [part for part in parts if part not in merged]
        parts.append(Part(number, size))
        assert len(parts) <= 2 * node_index.MANY_PARTS
    assert written < 12 * sum(part.documents for part in parts)
