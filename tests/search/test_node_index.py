"""The index on disk: what is added is found, and damage is reported."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh.filedb.filestore import FileStorage

from memtui.errors import SearchError
from memtui.model.calendar import TocLevel
from memtui.search import node_index, node_scoring
from memtui.search.node_index import Document, NodeIndex, NodeMatch
from memtui.search.node_scoring import NodeField
from memtui.text.analyzer import inverse_document_frequency
from tests.conftest import often
from tests.search.documents import find, find_ids, make_word

TEXTS = {
    "cache": "The cache of src/auth/token.rs is emptied when getUserName fails",
    "redirect": "The redirect drops the session cookie; cookies are kept now",
    "invoices": "Invoices are rounded twice in the ledger",
    "review": "评审会议的纪要 was moved to the wiki",
}


def document(name: str, text: str, *, part: NodeField = NodeField.BULLETS) -> Document:
    return Document(name, ((part, text),))


def best(index: NodeIndex, query: str) -> NodeMatch:
    return find(index, query, 10)[0]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NodeIndex]:
    """An index of four texts."""
    texts_index = NodeIndex(tmp_path / "index")
    texts_index.create("test")
    texts_index.update([document(name, text) for name, text in TEXTS.items()], [])
    yield texts_index
    texts_index.close()


def test_update_does_not_look_for_a_file_at_each_posting(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought: list[str] = []

    def file_exists(storage: FileStorage, name: str) -> bool:
        sought.append(name)
        return (Path(storage.folder) / name).exists()

    monkeypatch.setattr(FileStorage, "file_exists", file_exists)
    words = [f"word{number}" for number in range(100)]
    index.update([document("many", " ".join(words))], [])
    assert len(sought) < len(words)
    assert find_ids(index, "word99") == ["many"]


def test_large_update_is_sorted_on_disk(
    index: NodeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_index, "MEMORY_MB", 1)
    words = [make_word(number) for number in range(600)]
    documents = [document(f"n{n}", " ".join(words[n * 5 :])) for n in range(60)]
    index.update(documents, [])
    assert len(find_ids(index, f"{words[100]} ", 100)) == 21
    assert index.count() == 64


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("invoice", "invoices"),
        ("rounding the ledgers", "invoices"),
        ("token.rs", "cache"),
        ("user name", "cache"),
        ("纪要", "review"),
        ("COOKIE", "redirect"),
    ],
)
def test_words_find_their_text(index: NodeIndex, query: str, name: str) -> None:
    assert find_ids(index, query)[0] == name


def test_last_word_is_completed(index: NodeIndex) -> None:
    assert find_ids(index, "redir") == ["redirect"]
    assert find_ids(index, "session cook") == ["redirect"]


def test_word_before_a_space_is_not_completed(index: NodeIndex) -> None:
    assert find_ids(index, "redir ") == []


def test_document_with_more_words_comes_first(index: NodeIndex) -> None:
    assert find_ids(index, "cookie ledger rounded") == ["invoices", "redirect"]


def test_full_match_scores_above_partial_match(index: NodeIndex) -> None:
    full = best(index, "session cookie ").score
    partial = best(index, "session zeppelin ").score
    assert 0 < partial < full <= 1


def test_word_in_title_ranks_above_word_in_bullet(index: NodeIndex) -> None:
    index.update(
        [
            document("light", "zeppelin"),
            document("heavy", "zeppelin", part=NodeField.TITLE),
        ],
        [],
    )
    assert find_ids(index, "zeppelin") == ["heavy", "light"]


def test_score_is_the_share_of_the_upper_bound_and_of_the_terms(
    index: NodeIndex,
) -> None:
    texts = {"two": "zeppelin quay", "one": "zeppelin mast"}
    index.update([document(name, text) for name, text in texts.items()], [])
    weights = {
        name: node_scoring.term_weights([(NodeField.BULLETS, text)], TocLevel.SEGMENT)
        for name, text in texts.items()
    }
    zeppelin, quay = (inverse_document_frequency(6, count) for count in (2, 1))
    both = zeppelin * weights["two"]["zeppelin"] + quay * weights["two"]["quay"]
    scores = {match.node_id: match.score for match in find(index, "zeppelin quay ")}
    assert scores["two"] == pytest.approx(both / (zeppelin + quay), rel=1e-5)
    half = zeppelin * weights["one"]["zeppelin"] / 2
    assert scores["one"] == pytest.approx(half / (zeppelin + quay), rel=1e-5)


def test_limit_holds(index: NodeIndex) -> None:
    assert len(find(index, "the session cookie ledger", 2)) == 2


@pytest.mark.parametrize(
    "query",
    [
        "",
        " \n",
        "the of",
        '"unclosed (AND OR NOT [x TO y] *? ~2 ^9 field:value',
        "!?…—“”",
        "*",
        "a*",
        "猫",
        "ภาษา",
        "🙂",
        "\x00",
        "\ud800",
        "x" * 10_000,
        "word " * 2_000,
        "評" * 10_000,
    ],
)
def test_any_string_is_a_query(index: NodeIndex, query: str) -> None:
    assert all(0 <= match.score <= 1 for match in find(index, query, 10))


@often(60)
@given(st.text(max_size=60), st.sampled_from(sorted(TEXTS.values())))
def test_scores_are_from_0_to_1(index: NodeIndex, query: str, text: str) -> None:
    matches = find(index, f"{query} {text[: len(query)]}", 10)
    assert all(0 <= match.score <= 1 for match in matches)
    assert len({match.node_id for match in matches}) == len(matches)


def test_update_replaces_documents_of_a_node(index: NodeIndex) -> None:
    index.update([document("cache", "A zeppelin over the harbour")], ["cache"])
    assert find_ids(index, "zeppelin") == ["cache"]
    assert find_ids(index, "getUserName") == []


def test_removed_node_is_not_found(index: NodeIndex) -> None:
    index.update([], ["redirect"])
    assert find_ids(index, "cookie") == []
    assert find_ids(index, "ledger") == ["invoices"]


def test_grips_are_removed_with_their_node(index: NodeIndex) -> None:
    texts = ((NodeField.EXCERPT, "a zeppelin"),)
    index.update([Document("cache", texts, grip_id="grip:1:x")], [])
    assert best(index, "zeppelin").grip_id == "grip:1:x"
    index.update([], ["cache"])
    assert find_ids(index, "zeppelin") == []


def test_second_reader_sees_the_latest_commit(index: NodeIndex, tmp_path: Path) -> None:
    reader = NodeIndex(tmp_path / "index")
    assert find_ids(reader, "zeppelin") == []
    index.update([document("new", "zeppelin")], [])
    assert find_ids(reader, "zeppelin") == ["new"]
    reader.close()


def test_documents_of_many_commits_are_found(index: NodeIndex) -> None:
    for number in range(12):
        index.update([document(f"n{number}", f"zeppelin number{number}")], [])
    assert len(find_ids(index, "zeppelin", 10)) == 10
    assert find_ids(index, "number7 ") == ["n7"]


def test_empty_index_has_no_matches(tmp_path: Path) -> None:
    empty = NodeIndex(tmp_path / "empty")
    empty.create("test")
    assert find_ids(empty, "cookie jar") == []
    empty.close()


def test_missing_index_is_an_error(tmp_path: Path) -> None:
    nowhere = NodeIndex(tmp_path / "nowhere")
    assert nowhere.name() == ""
    with pytest.raises(SearchError, match="holds no index"):
        find_ids(nowhere, "cookie")
    with pytest.raises(SearchError, match="holds no index"):
        nowhere.update([], ["cache"])


def test_broken_index_is_an_error_until_it_is_created_again(
    index: NodeIndex, tmp_path: Path
) -> None:
    index.close()
    for file in (tmp_path / "index").glob("_*"):
        file.write_bytes(b"not an index" * 1000)
    broken = NodeIndex(tmp_path / "index")
    with pytest.raises(SearchError):
        find_ids(broken, "cookie")
    broken.create("again")
    assert (broken.name(), find_ids(broken, "cookie")) == ("again", [])
    broken.close()


def test_index_deleted_while_open_is_an_error(index: NodeIndex, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(SearchError):
        find_ids(NodeIndex(tmp_path / "index"), "cookie")


def test_index_of_another_version_is_an_error(index: NodeIndex, tmp_path: Path) -> None:
    assert index.name() == "test"
    (tmp_path / "index" / "memtui-index").write_text("0 test\n")
    other = NodeIndex(tmp_path / "index")
    assert other.name() == ""
    with pytest.raises(SearchError):
        find_ids(other, "cookie")


def test_unwritable_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SearchError):
        NodeIndex(tmp_path / "file" / "index").create("test")


def test_failed_commit_changes_nothing(index: NodeIndex) -> None:
    def documents() -> Iterator[Document]:
        yield document("two", "zeppelin")
        raise OSError("no such luck")

    with pytest.raises(SearchError):
        index.update(documents(), ["cache"])  # type: ignore[arg-type]
    assert find_ids(index, "zeppelin") == []
    index.update([document("three", "zeppelin")], [])
    assert find_ids(index, "zeppelin") == ["three"]
    assert find_ids(index, "getUserName") == ["cache"]
