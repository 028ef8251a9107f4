"""What a terminal answers by itself, between keys."""

import pytest
from textual import constants, events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser

from memtui.tui.keys import LATE_S, Parser


def read(parser: XTermParser, *chunks: str) -> list[str]:
    return [str(event) for chunk in chunks for event in parser.feed(chunk)]


@pytest.mark.parametrize(
    "reply",
    [
        "\x1b[?1;2c",
        "\x1b[>0;276;0c",
        "\x1b[?1u",
        "\x1b[0n",
        "\x1b[4;600;800t",
        "\x1b]11;rgb:0000/0000/0000\x1b\\",
        "\x1b]11;rgb:0000/0000/0000\x07",
        "\x1bP>|tmux 3.4\x1b\\",
        "\x1bP+q544e\x1b\\",
        "\x1b_Gi=1;OK\x1b\\",
        "\x1b[<0;10",
    ],
)
def test_an_answer_of_the_terminal_is_no_key(reply: str) -> None:
    assert not read(Parser(), reply)
    keys = [e.key for e in Parser().feed(f"a{reply}b") if isinstance(e, events.Key)]
    assert keys == ["a", "b"]


@pytest.mark.parametrize(
    "reply",
    ["\x1b]11;rgb:0000/0000/0000\x1b\\", "\x1bP>|tmux 3.4\x1b\\", "\x1b[?1;2c"],
)
def test_an_answer_in_parts_is_no_key(reply: str) -> None:
    for at in range(1, len(reply)):
        parser = Parser()
        assert not read(parser, reply[:at], reply[at:])
        assert not [*parser.tick()] and len(read(parser, "a")) == 1
    assert not read(Parser(), *reply)


def test_an_answer_whose_end_never_comes_is_let_go_of_and_holds_up_no_key(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 0.0
    monkeypatch.setattr("memtui.tui.keys.time.monotonic", lambda: now_s)
    parser = Parser()
    assert not read(parser, "\x1b]11;rgb:00")
    now_s += LATE_S
    assert not [*parser.tick()] and len(read(parser, "a")) == 1
    for held in ("\x1b", "\x1b]", "\x1b["):
        assert not read(parser, held)
        now_s += constants.ESCAPE_DELAY
        assert [*parser.tick()], f"{held!r} is a key, after as long as ever"


def test_a_paste_that_ends_in_parts_has_ended() -> None:
    parser = Parser()
    assert len(read(parser, "\x1b[200~one\x1b[20", "1~a")) == 2
    assert not read(parser, "\x1b[?1;2c")


def test_every_key_is_read_as_before() -> None:
    more = ["\x1b]", "\x1bP", "\x1b_", "\x1b[97;5u", "\x1b[48;24;80;480;800t"]
    sent = [*ANSI_SEQUENCES_KEYS, *more, "\x1b[?2026;1$y", "\x1b[3;7R", "\x1b[I"]
    for each in sent:
        assert read(Parser(), each, "a") == read(XTermParser(), each, "a")


@pytest.mark.parametrize("at", range(1, 8))
def test_what_the_mouse_sends_in_two_parts_is_read_whole(at: int) -> None:
    clicked = "\x1b[<0;10;5M"
    assert read(Parser(), clicked[:at], clicked[at:]) == read(XTermParser(), clicked)


def test_a_paste_stays_as_it_is() -> None:
    parts = ("\x1b[200~one ", "\x1b[?1;2c", " two\x1b[201~a")
    assert read(Parser(), *parts) == read(XTermParser(), *parts)
