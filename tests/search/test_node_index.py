"""The index on disk: what is added is found, and damage is reported."""

import shutil
from collections.abc import Iterator
from datetime import UTC
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from whoosh.filedb.filestore import FileStorage

from memtui.errors import SearchError
from memtui.model.hits import HitKind, IndexMatch
from memtui.search import query as search_query
from memtui.search.node_index import Document, NodeIndex
from memtui.search.query import Query
from memtui.search.scoring import NodeField
from tests.conftest import often
from tests.search.documents import ask

TEXTS = {
    "cache": "The cache of src/auth/token.rs is emptied when getUserName fails",
    "redirect": "The redirect drops the session cookie; cookies are kept now",
    "invoices": "Invoices are rounded twice in the ledger",
    "review": "评审会议的纪要 was moved to the wiki",
}


def document(name: str, text: str, *, part: NodeField = NodeField.BULLETS) -> Document:
    return Document(HitKind.NODE, name, name, ((part, text),))


def read(text: str) -> Query:
    return search_query.parse(text, UTC)


def best(index: NodeIndex, query: str) -> IndexMatch:
    return ask(index, read(query), 10).matches[0]


@pytest.fixture
def index(tmp_path: Path) -> Iterator[NodeIndex]:
    """An index of four texts."""
    made = NodeIndex(tmp_path / "index")
    made.create("fed")
    made.update([document(name, text) for name, text in TEXTS.items()], [])
    yield made
    made.close()


def found(index: NodeIndex, query: str) -> list[str]:
    return [match.target_id for match in ask(index, read(query), 10).matches]


def test_an_update_looks_for_no_file_at_each_posting(
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
    assert found(index, "word99") == ["many"]


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
def test_a_text_is_found_by_its_words(index: NodeIndex, query: str, name: str) -> None:
    assert found(index, query)[0] == name


def test_the_last_word_may_be_unfinished(index: NodeIndex) -> None:
    assert found(index, "redir") == ["redirect"]
    assert found(index, "session cook") == ["redirect"]


def test_a_blank_after_it_says_that_a_word_is_finished(index: NodeIndex) -> None:
    assert found(index, "redir ") == []


def test_every_word_counts_and_the_best_comes_first(index: NodeIndex) -> None:
    assert found(index, "cookie ledger rounded") == ["invoices", "redirect"]


def test_a_full_match_scores_above_a_partial_one(index: NodeIndex) -> None:
    full = best(index, "session cookie ").score
    partial = best(index, "session zeppelin ").score
    assert 0 < partial < full <= 1


def test_a_weightier_part_lifts_its_document(index: NodeIndex) -> None:
    index.update(
        [
            document("light", "zeppelin"),
            document("heavy", "zeppelin", part=NodeField.TITLE),
        ],
        [],
    )
    assert found(index, "zeppelin") == ["heavy", "light"]


def test_no_more_are_found_than_asked_for(index: NodeIndex) -> None:
    assert len(ask(index, read("the session cookie ledger"), 2).matches) == 2


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
def test_any_string_may_be_asked_for(index: NodeIndex, query: str) -> None:
    assert all(0 <= match.score <= 1 for match in ask(index, read(query), 10).matches)


@often(60)
@given(st.text(max_size=60), st.sampled_from(sorted(TEXTS.values())))
def test_scores_lie_between_nothing_and_one(
    index: NodeIndex, query: str, text: str
) -> None:
    matches = ask(index, read(f"{query} {text[: len(query)]}"), 10).matches
    assert all(0 <= match.score <= 1 for match in matches)
    assert len({match.target_id for match in matches}) == len(matches)


def test_a_document_put_again_is_replaced(index: NodeIndex) -> None:
    index.update([document("cache", "A zeppelin over the harbour")], ["cache"])
    assert found(index, "zeppelin") == ["cache"]
    assert found(index, "getUserName") == []


def test_what_is_gone_is_not_found_and_others_stay(index: NodeIndex) -> None:
    index.update([], ["redirect"])
    assert found(index, "cookie") == []
    assert found(index, "ledger") == ["invoices"]


def test_the_grips_of_a_node_go_with_it(index: NodeIndex) -> None:
    grip = Document(
        HitKind.GRIP, "grip:1:x", "cache", ((NodeField.EXCERPT, "a zeppelin"),)
    )
    index.update([grip], [])
    assert best(index, "zeppelin").kind is HitKind.GRIP
    index.update([], ["cache"])
    assert found(index, "zeppelin") == []


def test_another_reader_sees_the_latest_commit(
    index: NodeIndex, tmp_path: Path
) -> None:
    reader = NodeIndex(tmp_path / "index")
    assert found(reader, "zeppelin") == []
    index.update([document("new", "zeppelin")], [])
    assert found(reader, "zeppelin") == ["new"]
    reader.close()


def test_many_commits_are_one_index(index: NodeIndex) -> None:
    for number in range(12):
        index.update([document(f"n{number}", f"zeppelin number{number}")], [])
    assert len(found(index, "zeppelin")) == 10
    assert found(index, "number7 ") == ["n7"]


def test_nothing_is_found_in_an_index_without_documents(tmp_path: Path) -> None:
    empty = NodeIndex(tmp_path / "empty")
    empty.create("fed")
    assert found(empty, "cookie jar") == []
    empty.close()


def test_a_missing_index_is_an_error(tmp_path: Path) -> None:
    nowhere = NodeIndex(tmp_path / "nowhere")
    assert nowhere.name() == ""
    with pytest.raises(SearchError, match="holds no index"):
        found(nowhere, "cookie")
    with pytest.raises(SearchError, match="holds no index"):
        nowhere.update([], ["cache"])


def test_a_broken_index_is_an_error_until_it_is_made_anew(
    index: NodeIndex, tmp_path: Path
) -> None:
    index.close()
    for file in (tmp_path / "index").glob("_*"):
        file.write_bytes(b"not an index" * 1000)
    broken = NodeIndex(tmp_path / "index")
    with pytest.raises(SearchError):
        found(broken, "cookie")
    broken.create("again")
    assert (broken.name(), found(broken, "cookie")) == ("again", [])
    broken.close()


def test_an_index_that_vanishes_is_an_error(index: NodeIndex, tmp_path: Path) -> None:
    shutil.rmtree(tmp_path / "index")
    with pytest.raises(SearchError):
        found(NodeIndex(tmp_path / "index"), "cookie")


def test_an_index_of_another_schema_is_refused(
    index: NodeIndex, tmp_path: Path
) -> None:
    assert index.name() == "fed"
    (tmp_path / "index" / "memtui-index").write_text("0 fed\n")
    other = NodeIndex(tmp_path / "index")
    assert other.name() == ""
    with pytest.raises(SearchError):
        found(other, "cookie")


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SearchError):
        NodeIndex(tmp_path / "file" / "index").create("fed")


def test_a_commit_that_fails_changes_nothing(index: NodeIndex) -> None:
    def documents() -> Iterator[Document]:
        yield document("two", "zeppelin")
        raise OSError("no such luck")

    with pytest.raises(SearchError):
        index.update(documents(), ["cache"])  # type: ignore[arg-type]
    assert found(index, "zeppelin") == []
    index.update([document("three", "zeppelin")], [])
    assert found(index, "zeppelin") == ["three"]
    assert found(index, "getUserName") == ["cache"]
