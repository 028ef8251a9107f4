"""Command lines and the simple commands in them."""

import pytest

from memtui.summarize.shell import split_commands


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a -x 'b c' && d; e | f\ng &", ["a|-x|b c", "d", "e", "f", "g"]),
        ('a "it\'s \\"b\\" $x" c\\ d', ['a|it\'s "b" $x|c d']),
        ("a 2>&1 &> log <in b # c; d", ["a|b"]),
        ("a#b '#c'", ["a#b|#c"]),
        ("X=1 sudo -n timeout 60 env Y=2 a", ["a"]),
        ("if a; then b; fi", ["a", "b", "fi"]),
        ("x=$(a b) (c)", ["a|b", "c"]),
        ("a \\\n  b", ["a|b"]),
        ("bash -lc 'a && b' && zsh -c \"c 'd e'\"", ["a", "b", "c|d e"]),
        ("eval 'a; b'", ["a", "b"]),
        ("cat > f <<'EOF'\na; b\nEOF\nc", ["cat", "c"]),
        ('a "$(cat <<EOF\nit\'s "b"\nEOF\n)"', ['a|it\'s "b"']),
        ("a <<< 'b c' d", ["a|d"]),
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


@pytest.mark.parametrize(
    ("line", "outputs"),
    [
        ("a > b; c >>'d e' 2> f; g >| h", ["b", "d e", "h"]),
        ("a &> b; c &>> d; e 1>f", ["b", "d", "f"]),
        ("a 2>&1 >&2 < b; echo 'c > d' \">\" e", []),
        ("cat <<EOF > a\nb > c\nEOF", ["a"]),
        (f"cat > a <<'EOF'\n{'b => c > d' * 1_000}\nEOF", ["a"]),
        ("a > >(tee b)", []),
    ],
)
def test_files_of_redirections_are_outputs(line: str, outputs: list[str]) -> None:
    written = [name for command in split_commands(line) for name in command.outputs]
    assert written == outputs


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("a; cd b && c; cd d; e", ["", "", "b", "b", "b/d"]),
        ("cd /a; (cd b; c); d", ["", "/a", "/a/b", "/a"]),
        ("cd a; cd /b; c; cd ~/d; e", ["", "a", "/b", "/b", "~/d"]),
        (
            r"cd 'C:\a'; b; bash -c 'cd c; d'; e",
            ["", "C:\\a", "C:\\a", "C:\\a/c", "C:\\a"],
        ),
    ],
)
def test_folder_of_each_command_is_known(line: str, folders: list[str]) -> None:
    assert [command.folder for command in split_commands(line)] == folders


def test_all_commands_of_a_block_are_conditional() -> None:
    line = "if a; then b; c; elif d; then e; fi; f\nfor x in y; do g; h; done; i"
    unconditional = [
        command.words[0]
        for command in split_commands(line)
        if not command.is_conditional
    ]
    assert unconditional == ["a", "f", "for", "i"]


def test_programs_that_run_a_command_are_kept() -> None:
    (command,) = split_commands("A=1 sudo -n timeout 60 rtk make all")
    assert command.runner == ("sudo", "-n", "timeout", "60", "rtk")
