"""Command lines and the simple commands in them."""

import pytest

from memtui.summarize.shell import split_commands


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a -x 'b c' && d; e | f\ng &", ["a|-x|b c", "d", "e", "f", "g"]),
        ('a "it\'s \\"b\\" $x" c\\ d', ['a|it\'s "b" $x|c d']),
        ("a 2>&1 &> log # b; c", ["a|2>&1|&>|log"]),
        ("a#b '#c'", ["a#b|#c"]),
        ("X=1 sudo -n timeout 60 env Y=2 a", ["a"]),
        ("if a; then b; fi", ["a", "b", "fi"]),
        ("x=$(a b) (c)", ["a|b", "c"]),
        ("a \\\n  b", ["a|b"]),
        ("bash -lc 'a && b' && zsh -c \"c 'd e'\"", ["a", "b", "c|d e"]),
        ("eval 'a; b'", ["a", "b"]),
        ("cat > f <<'EOF'\na; b\nEOF\nc", ["cat|>|f", "c"]),
        ('a "$(cat <<EOF\nit\'s "b"\nEOF\n)"', ['a|it\'s "b"']),
        ("a <<< 'b c'", ["a|<<<|b c"]),
        ("echo 'a && b'", ["echo|a && b"]),
        ("a 'never closed", ["a|never|closed"]),
        ("", []),
    ],
)
def test_a_line_is_split_into_simple_commands(line: str, commands: list[str]) -> None:
    assert ["|".join(command.words) for command in split_commands(line)] == commands


def test_arguments_are_not_split() -> None:
    (command,) = split_commands(["/usr/bin/git", "commit", "-m", "a && b"])
    assert (command.program, command.words[-1]) == ("git", "a && b")


def test_a_here_document_is_the_input_of_its_command() -> None:
    first, second = split_commands("cat <<-EOF | a -\n\tb\n\tEOF")
    assert (first.input, second.input) == ("\tb\n", "")


@pytest.mark.parametrize(
    ("line", "conditional"),
    [("a && b", False), ("a || b", True), ("if a; then b; fi", True), ("a; b", False)],
)
def test_a_command_may_depend_on_another_one(line: str, conditional: bool) -> None:
    _, command, *_ = split_commands(line)
    assert command.is_conditional is conditional


def test_commands_after_a_success_are_told_apart() -> None:
    line = "a && b; c | d || e && bash -c 'f && g'"
    after = {c.words[0]: c.is_after_success for c in split_commands(line)}
    assert [name for name, is_after in after.items() if is_after] == ["b", "g"]
