"""A piece's vocabulary: one text, asked as though its terms were a sorted list."""

from array import array
from heapq import nlargest

from hypothesis import given
from hypothesis import strategies as st

from memtui.search.pieces import BLOCK, Vocabulary

terms = st.text(alphabet="abé", min_size=1, max_size=6).map(str.encode)


def vocabulary(known: dict[bytes, int]) -> Vocabulary:
    text = sorted(known)
    return Vocabulary(b"\n".join(text), array("I", map(known.__getitem__, text)))


@given(
    known=st.dictionaries(terms, st.integers(1, 9), max_size=4 * BLOCK),
    asked=st.one_of(terms, st.just(b"")),
)
def test_a_vocabulary_knows_its_terms(known: dict[bytes, int], asked: bytes) -> None:
    begun = sorted(term for term in known if term.startswith(asked))
    told = vocabulary(known)
    assert told.count(asked) == known.get(asked, 0)
    assert told.beginning(asked) == begun
    assert told.commonest(asked, 3) == nlargest(3, begun, key=known.__getitem__)


def test_the_ends_of_blocks_are_known() -> None:
    known = {f"{number:05}".encode(): number + 1 for number in range(3 * BLOCK)}
    told = vocabulary(known)
    assert [told.count(term) for term in known] == list(known.values())
    assert told.beginning(b"") == list(known)
    assert told.count(b"9") == told.count(b"") == 0
