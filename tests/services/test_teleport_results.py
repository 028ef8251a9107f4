"""Teleport results: filters, phrases, advice and suggestions."""

import gc
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from memtui.model.calendar import TocLevel
from memtui.model.hit import Hit, HitKind, ScoreBand
from memtui.paths import in_home
from memtui.search import teleport
from memtui.search.node_index import NodeMatch
from memtui.search.query import NO_WORD, Query
from memtui.search.teleport import Teleport
from memtui.services import browse
from memtui.settings import Settings
from memtui.workspace import Workspace
from tests.message_factory import clock

FILTERED = [
    "logsift agent:codex",
    "session project:shop",
    "token level:day,week",
    "token after:2024-01-16",
    "token before:2024-01-19",
    "session after:2024-01-15",
    "token by:extractive",
    "session session:shop-1",
    "session session:shop",
    "token -logsift",
]


def hits(workspace: Workspace, query: str, limit: int = 500) -> tuple[Hit, ...]:
    return workspace.teleport.find(query, limit=limit).hits


@pytest.mark.parametrize("is_indexed", [True, False])
def test_filters_select_hits(
    full_workspace: Workspace,
    tmp_path: Path,
    is_indexed: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Merging depends on which hits are left: without it, filters alone decide.
    monkeypatch.setattr(teleport, "merge_repeated", iter)
    place = full_workspace.paths.index if is_indexed else tmp_path / "none"
    finder = Teleport(place, full_workspace.zone, clock)
    for query in FILTERED:
        words = query.split()
        plain = " ".join(w for w in words if ":" not in w and w[0] != "-")
        targets = {hit.target_id for hit in finder.find(query, limit=900).hits}
        wide = finder.find(plain, limit=900).hits
        assert targets <= {hit.target_id for hit in wide}
        assert targets, query
        for hit in wide:
            if hit.kind is HitKind.NODE:
                assert (hit.target_id in targets) == _passes(hit, query), (hit, query)
    assert finder.find("token by:model").hits == ()
    finder.close()


def test_filter_by_verdict_finds_bullets(
    full_workspace: Workspace,
) -> None:
    bullets = full_workspace.teleport.find("token has:supported,weak").hits
    assert bullets
    for hit in bullets:
        node = browse.get_node(hit.node_id)
        assert node is not None
        assert hit.snippet.text in {bullet.text for bullet in node.bullets}
        assert "token" in hit.snippet.text.lower()
    assert full_workspace.teleport.find("token has:unsupported").hits == ()


def _passes(hit: Hit, query: str) -> bool:
    node = browse.get_node(hit.node_id)
    assert node is not None
    texts = [
        node.title,
        node.headline,
        *node.keyword_texts,
        *(b.text for b in node.bullets),
    ]
    text = "\n".join(texts).lower()
    segment = hit.level is TocLevel.SEGMENT
    day = node.start_time.date().isoformat()
    last = node.end_time.date().isoformat()
    name, _, value = query.split()[-1].partition(":")
    passes = {
        "agent": value in node.agents,
        "project": value in node.projects,
        "level": str(hit.level) in value,
        "after": last > value or (segment and last >= value),
        "before": day < value,
        "by": node.is_by_model is (value == "model"),
        "session": segment and value.split("-")[0] in node.projects,
        "-logsift": "logsift" not in text,
    }
    if value == "shop-1":
        return segment and "2024-01-15" in node.node_id
    return passes[name]


def test_filter_by_role_has_a_note(
    full_workspace: Workspace,
) -> None:
    answer = full_workspace.teleport.find("token role:user")
    assert answer.hits == ()
    assert answer.notes == (teleport.MESSAGES_ONLY,)


def test_query_without_a_word_has_a_note(full_workspace: Workspace) -> None:
    for query in ["", "   ", '""', "!?", "-session"]:
        answer = full_workspace.teleport.find(query)
        assert answer.hits == ()
        assert NO_WORD in answer.notes


def test_stop_words_have_a_note(
    full_workspace: Workspace,
) -> None:
    answer = full_workspace.teleport.find("the of and ")
    assert answer.notes == (teleport.ONLY_STOP_WORDS,)
    assert full_workspace.teleport.find("the token of ").notes == ()


def test_what_cannot_be_understood_is_said(full_workspace: Workspace) -> None:
    answer = full_workspace.teleport.find("token level:decade")
    assert answer.hits
    assert "level: takes" in answer.notes[0]


def test_a_rare_phrase_of_common_words_is_found(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many others hold its words better."""
    bullet = next(
        bullet.text
        for hit in hits(full_workspace, "level:segment session token")
        for bullet in getattr(browse.get_node(hit.node_id), "bullets", ())
        if "token" in bullet.text
    )
    cut = bullet[bullet.index("token") :][:30].rsplit(" ", 1)[0]
    first = hits(full_workspace, f'"{cut}"', 1)
    assert cut.lower() in first[0].snippet.text.lower()
    assert hits(full_workspace, f'"{cut}"', 500)[0] == first[0]


def test_phrase_is_checked_in_a_limited_number_of_matches(
    full_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(teleport, "MAX_CHECKED", 8)
    monkeypatch.setattr(teleport, "CHECKED_AT_ONCE", 3)
    monkeypatch.setattr(teleport, "REPEATED", 0)
    read: list[str] = []
    read_hits = teleport.read_hits

    def read_and_record(matches: Sequence[NodeMatch], query: Query) -> Iterator[Hit]:
        read.extend(match.grip_id or match.node_id for match in matches)
        return read_hits(matches, query)

    monkeypatch.setattr(teleport, "read_hits", read_and_record)
    assert hits(full_workspace, '"zzz token refreshing"', 3) == ()
    assert len(read) == len(set(read)) == 8


def test_phrase_may_begin_within_a_word(full_workspace: Workspace) -> None:
    assert hits(full_workspace, '"liding window"')
    assert hits(full_workspace, '"window sliding"') == ()


def test_hit_has_a_band(full_workspace: Workspace) -> None:
    best = hits(full_workspace, "sliding window token refresh ")[0]
    assert best.band in (ScoreBand.EXCELLENT, ScoreBand.GOOD)
    (weak, *_) = hits(full_workspace, "zeppelin quokka marmalade token ")
    assert weak.band is ScoreBand.WEAK


def test_wide_node_opens_a_segment(full_workspace: Workspace) -> None:
    wide_hits = hits(full_workspace, "level:year,month,week,day token")
    assert wide_hits
    for hit in wide_hits:
        assert hit.node_id in browse.get_path(hit.opens)
        assert hit.opens.startswith("toc:segment:")
        node = browse.get_node(hit.opens)
        assert node is not None
        assert (
            "token" in f"{node.keyword_texts}{[b.text for b in node.bullets]}".lower()
        )
    for hit in hits(full_workspace, "level:segment token"):
        assert hit.opens == hit.node_id


def test_misspelt_word_is_corrected(full_workspace: Workspace) -> None:
    answer = full_workspace.teleport.find("mutxe tabs ")
    assert answer.suggestion == "mutex tabs "
    assert hits(full_workspace, answer.suggestion)
    assert full_workspace.teleport.find("mutex tabs").suggestion == ""
    timed = full_workspace.teleport.find("mutxe tabs in January 2024")
    assert timed.suggestion == "mutex tabs in January 2024"


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut short": lambda raw: raw[: len(raw) // 2],
    "emptied": lambda raw: b"",
    "garbled": lambda raw: raw[:40] + bytes(255 - byte for byte in raw[40:]),
}


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_damaged_index_is_replaced_by_the_store_and_rebuilt(
    full_workspace: Workspace,
    settings: Settings,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: str,
) -> None:
    whole = {hit.target_id for hit in hits(full_workspace, "mutex")}
    full_workspace.stop()
    home, kept = tmp_path / "home", tmp_path / "kept"
    shutil.copytree(full_workspace.paths.index, kept)
    for name in sorted(path.name for path in kept.iterdir()):
        shutil.rmtree(full_workspace.paths.index)
        shutil.copytree(kept, full_workspace.paths.index)
        broken = full_workspace.paths.index / name
        broken.write_bytes(DAMAGES[damage](broken.read_bytes()))
        workspace = Workspace(in_home(home), settings)
        answer = workspace.teleport.find("mutex", limit=500)
        assert answer.hits, name
        assert answer.notes in ((), (teleport.NO_INDEX,))
        assert workspace.pipeline.run_until_idle(lambda _: None) == []
        answer = workspace.teleport.find("mutex", limit=500)
        assert {hit.target_id for hit in answer.hits} == whole, name
        assert answer.notes == (), name
        workspace.stop()
    caplog.clear()
    gc.collect()


def test_damage_met_by_a_search_is_repaired(
    full_workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    whole = {hit.target_id for hit in hits(full_workspace, "mutex")}
    full_workspace.teleport.close()
    for segment in full_workspace.paths.index.glob("*.seg"):
        segment.write_bytes(segment.read_bytes()[:40])
    assert full_workspace.teleport.find("mutex").notes == (teleport.NO_INDEX,)
    assert full_workspace.pipeline.run_until_idle(lambda _: None) == []
    answer = full_workspace.teleport.find("mutex", limit=500)
    assert answer.notes == ()
    assert {hit.target_id for hit in answer.hits} == whole
    caplog.clear()
    gc.collect()
