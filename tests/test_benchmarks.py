"""The parts of the benchmarks that figures depend on."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import (
    conversations,
    generate,
    generated_bullets,
    import_minimum,
    questions,
    search,
    start,
    tail,
    teleport,
    zipf,
)


def lines(folder: Path) -> dict[str, list[str]]:
    return {
        str(path.relative_to(folder)): path.read_text("utf-8").splitlines()
        for path in folder.rglob("*.jsonl")
    }


def test_transcripts_hold_as_many_messages_as_asked_for(tmp_path: Path) -> None:
    files = generate.write(tmp_path, 1234)
    written = lines(tmp_path)
    assert len(written) == files
    assert sum(map(len, written.values())) == 1234
    assert import_minimum.keep(tmp_path, tmp_path / "floor.db") == 1234


def test_transcripts_are_the_same_each_time(tmp_path: Path) -> None:
    generate.write(tmp_path / "a", 500)
    generate.write(tmp_path / "b", 500)
    assert lines(tmp_path / "a") == lines(tmp_path / "b")


def test_messages_are_about_92_words_and_calls_have_results(tmp_path: Path) -> None:
    generate.write(tmp_path, 6000)
    calls, results, words = [], [], 0
    for records in lines(tmp_path).values():
        # The last call of a file may be cut off from its result.
        for record in map(json.loads, records[:-1]):
            content = record["message"]["content"]
            words += len(import_minimum.text_of(content).split())
            if not isinstance(content, str):
                calls += [part["id"] for part in content if "input" in part]
                results += [p["tool_use_id"] for p in content if "tool_use_id" in p]
    assert 85 < words / 6000 < 99
    assert len(calls) > 1500
    assert set(results) <= set(calls)
    assert len(calls) - len(results) < len(calls) / 50


@pytest.mark.parametrize(
    ("output", "shows"),
    [
        (b"", False),
        (b"\x1b[?1049h\x1b[?25l\x1b[?2026$p\x1b[>1u", False),
        (b"\x1b]0;memtui\x07 \r\n", False),
        (b"\x1bP+q544e\x1b\\\x1b(B\x1b7\x1b8\x1b=", False),
        (b"\x1b[38;2;12", False),
        (b"\x1b[38;2;12;3;4m  \x1b[0m", False),
        (b"\x1b[38;2;12;3;4mT\x1b[0m", True),
        (b"\x1b[2J\xe2\x94\x80", True),
    ],
)
def test_only_what_can_be_seen_is_a_first_paint(output: bytes, shows: bool) -> None:
    assert start.has_text(output) is shows


@pytest.mark.full
def test_reading_on_is_measured_on_what_was_stored(tmp_path: Path) -> None:
    runs = 2
    with tail.opened(tmp_path / "growing"):
        measured = tail.growing(tmp_path, [50_000, 400_000], runs)
    for taken in measured:
        names = {"first": 1, "parsed": runs, "kept": runs, "taken": runs}
        assert {name: len(each) for name, each in taken.items()} == names
        assert min(*taken["taken"], *taken["parsed"]) > 0
    with tail.opened(tmp_path / "home"):
        idle = tail.idle(tmp_path / "unchanged", 20, runs)
    assert min(*idle["looked"], *idle["walked"]) > 0
    (waited,) = tail.waited(tmp_path / "waited", 1, is_told=True)
    assert waited > 0


def test_a_long_transcript_is_sparse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "MB", 1000)
    number = tail.transcript(tmp_path / "s1.jsonl", 3_000_000)
    raw = (tmp_path / "s1.jsonl").read_bytes()
    assert len(raw) == 3_000_001
    assert raw.count(b"\n") == number + 1
    assert raw.rstrip(b"\n").endswith(b"\0" * 2_900_000)


def test_a_sentence_made_wrong_differs_in_what_it_is_said_to() -> None:
    chance = random.Random(0)
    path = "The login is checked in src/auth/token.py before each request"
    numbers = "All 14 tests pass in 3 s and three are slow"
    assert generated_bullets.exchange_numbers(numbers, chance) == (
        "All 3 tests pass in 14 s and three are slow"
    )
    assert (
        generated_bullets.change_unit("All 14 tests pass", chance)
        == "All 14 errors pass"
    )
    for _ in range(20):
        moved = generated_bullets.change_directory(path, chance)
        assert moved not in (None, path)
        assert moved is not None
        assert moved.endswith("/token.py before each request")
        spelled = generated_bullets.change_number_word(numbers, chance)
        assert spelled is not None
        assert "three" not in spelled
    assert generated_bullets.join_halves("a b c d e f", "u v w x y z") == "a b c x y z"
    assert generated_bullets.deny_nearly("It was done", chance) != "It was done"
    assert generated_bullets.change_directory("Nothing to move here", chance) is None


def test_words_come_back_as_they_do_in_conversations() -> None:
    drawn = zipf.words(random.Random(1), 20_000)
    assert drawn == zipf.words(random.Random(1), 20_000)
    counts = [count for _, count in Counter(drawn).most_common()]
    assert counts[0] > 400
    assert counts[0] > 5 * counts[20] > 20 * counts[200]
    assert counts.count(1) > len(counts) / 2
    lengths = [len(zipf.text(random.Random(seed)).split()) for seed in range(200)]
    assert 20 < sorted(lengths)[100] < 40


def test_conversations_are_the_same_each_time() -> None:
    first, again = (list(conversations.all_of(300)) for _ in range(2))
    assert first == again
    said = [event for _, events in first for event in events]
    assert len(said) == len({event.event_id for event in said}) == 300
    assert 70 < sum(len(event.text.split()) for event in said) / 300 < 110


@pytest.mark.full
def test_searches_are_measured_on_every_kind_of_question(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(search, "OPENED", 1)
    search.measure(conversations.home(tmp_path, 400), 400, each=1, runs=2, rounds=1)
    output = capsys.readouterr().out
    assert "\n400 messages of " in output
    for kind in (*questions.of(["said"], 1), "all of them", "plain FTS5"):
        (line,) = [
            line for line in output.splitlines() if line.startswith(f"  {kind}  ")
        ]
        p50, *_, most = map(float, line.removeprefix(f"  {kind}").split())
        assert 0 < p50 <= most
    for way in (
        "without the index",
        "index updated by a thread",
        "index updated by a process",
    ):
        assert f"\n  {way}  " in output


@pytest.mark.full
def test_the_teleport_is_measured_on_every_prefix_of_what_is_typed(
    tmp_path: Path,
) -> None:
    asked = teleport.generate_queries(random.Random(5), 4)
    assert [len(query.split()) for query in asked] == [1, 2, 3, 4]
    taken = teleport.measure(tmp_path / "index", 300, 4)
    assert len(taken["keystroke ms"]) == sum(map(len, asked))
    assert len(taken["update ms"]) == teleport.UPDATES
    assert all(value > 0 for name in taken for value in taken[name] if "ms" in name)
    assert taken["indexed a second"][0] > 1
