"""The hook, run as an agent runs it: in a process of its own."""

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import memtui
from memtui.capture.spool import Spool

ROOT = Path(memtui.__file__).parents[1]
HOOK = ROOT / "memtui" / "hook.py"
COMMAND = [sys.executable, "-m", "memtui.hook"]
INSTALLED = [sys.executable, "-I", "-S", str(HOOK)]
SHELL = ["/bin/sh", str(ROOT / "scripts" / "memtui-hook.sh")]
WAYS = pytest.mark.parametrize(
    "command", [COMMAND, INSTALLED, SHELL], ids=["module", "installed", "shell"]
)
PAYLOAD = b'{"hook_event_name": "Stop", "session_id": "s1"}\n'
PATIENCE_S = 60


def environment(**more: str) -> dict[str, str]:
    """Return an environment without the HOME of whoever runs the tests."""
    return {"PYTHONPATH": str(ROOT), **more}


def hook(
    payload: bytes,
    env: dict[str, str],
    cwd: Path,
    given: str = ":",
    command: Sequence[str] = COMMAND,
) -> None:
    """Run the hook; whatever happens it must be silent and succeed.

    Args:
        payload: What it is told.
        env: Its whole environment.
        cwd: Where it runs.
        given: What the shell that starts it does first.
        command: The way it is run.
    """
    ended = subprocess.run(
        ["/bin/sh", "-c", f'{given}; exec "$@"', "sh", *command],
        input=payload,
        env=env,
        cwd=cwd,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def read_spool(spool: Path) -> dict[str, list[bytes]]:
    """Return the contents of the files in each folder of the spool."""
    return {
        box: [file.read_bytes() for file in sorted(spool.glob(f"{box}/*"))]
        for box in ("tmp", "new", "bad")
    }


@WAYS
@pytest.mark.parametrize(
    "payload",
    [
        PAYLOAD,
        b"not json at all",
        b"\x00\xff\xfe\r\n\x1b[31m \n\n",
        json.dumps({"text": "x" * 20_000_000}).encode(),
    ],
    ids=["json", "words", "bytes", "20 MB"],
)
def test_event_is_stored_byte_for_byte(
    payload: bytes, command: list[str], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    env = {"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(spool))}
    hook(payload, env, tmp_path, command=command)
    assert read_spool(spool) == {"tmp": [], "new": [payload], "bad": []}


def test_empty_input_leaves_nothing(tmp_path: Path) -> None:
    hook(b"", environment(MEMTUI_SPOOL=str(tmp_path / "spool")), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_files_are_readable_by_the_owner_only(tmp_path: Path) -> None:
    spool = tmp_path / "home" / "spool"
    hook(PAYLOAD, environment(MEMTUI_SPOOL=str(spool)), tmp_path, "umask 000")
    made = [spool.parent, spool, *spool.rglob("*")]
    assert len(made) == 6
    for path in made:
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_file_names_sort_by_arrival(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    payloads = [b"first", b"second", b"third"]
    for payload in payloads:
        hook(payload, environment(MEMTUI_SPOOL=str(spool)), tmp_path)
    assert read_spool(spool)["new"] == payloads


@pytest.mark.parametrize(
    ("env", "spool"),
    [
        ({"MEMTUI_SPOOL": "{}/a", "MEMTUI_HOME": "{}/b", "HOME": "{}/c"}, "a"),
        ({"MEMTUI_HOME": "{}/b", "XDG_DATA_HOME": "{}/d", "HOME": "{}/c"}, "b/spool"),
        ({"XDG_DATA_HOME": "{}/d", "HOME": "{}/c"}, "d/memtui/spool"),
        ({"XDG_DATA_HOME": "d", "HOME": "{}/c"}, "c/.local/share/memtui/spool"),
        ({"MEMTUI_SPOOL": "", "HOME": "{}/c"}, "c/.local/share/memtui/spool"),
        ({"MEMTUI_SPOOL": "~/e", "HOME": "{}/c"}, "c/e"),
    ],
)
def test_folder_of_the_spool(env: dict[str, str], spool: str, tmp_path: Path) -> None:
    filled = {name: value.format(tmp_path) for name, value in env.items()}
    hook(PAYLOAD, environment(**filled), tmp_path)
    assert read_spool(tmp_path / spool)["new"] == [PAYLOAD]


def test_a_homeless_user_has_no_spool(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['pwd'] = None\n"
        "from memtui import hook\n"
        "try: hook.spool_folder()\n"
        "except OSError as error: print(error)"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.stdout == "no home folder\n"
    assert list(tmp_path.iterdir()) == []


@WAYS
def test_64_concurrent_hooks_lose_nothing(command: list[str], tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    payloads = sorted(b"event %02d" % number * 1000 for number in range(64))
    running = []
    for payload in payloads:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            env={"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(spool))},
        )
        assert process.stdin is not None
        process.stdin.write(payload)
        running.append(process)
    for process in running:
        process.communicate(timeout=PATIENCE_S)
    assert [process.returncode for process in running] == [0] * 64
    kept = read_spool(spool)
    assert sorted(kept["new"]) == payloads
    assert kept["tmp"] == []


def test_file_in_place_of_the_spool_is_unchanged(tmp_path: Path) -> None:
    blocked = tmp_path / "spool"
    blocked.write_text("mine")
    hook(PAYLOAD, environment(MEMTUI_SPOOL=str(blocked)), tmp_path)
    assert blocked.read_text() == "mine"


@WAYS
@pytest.mark.parametrize(
    "env",
    [
        {"MEMTUI_SPOOL": "/dev/null/spool"},
        {"MEMTUI_SPOOL": "/proc/memtui"},
        {"HOME": "/dev/null"},
    ],
)
def test_hook_succeeds_without_a_spool(
    env: dict[str, str], command: list[str], tmp_path: Path
) -> None:
    # More than a pipe buffers: the hook must read all of it.
    env = {"PATH": os.defpath, **environment(**env)}
    hook(PAYLOAD * 10_000, env, tmp_path, command=command)
    assert list(tmp_path.iterdir()) == []


@WAYS
@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where it may not")
def test_hook_succeeds_with_a_read_only_spool(
    command: list[str], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    for box in ("tmp", "new", "bad"):
        (spool / box).mkdir(parents=True)
    (spool / "tmp").chmod(0o500)
    env = {"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(spool))}
    hook(PAYLOAD, env, tmp_path, command=command)
    assert read_spool(spool)["new"] == []


@WAYS
@pytest.mark.parametrize("mounted", ["size=64k", "size=64k,nr_inodes=3", "ro"])
def test_hook_succeeds_on_a_full_disk(
    mounted: str, command: list[str], tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", mounted, "none", str(disk)]
    if subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("cannot mount a tmpfs")
    try:
        spool = disk / "spool"
        env = {"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(spool))}
        hook(b"x" * 200_000, env, tmp_path, command=command)
        assert [file for box in read_spool(spool).values() for file in box] == []
        if mounted == "size=64k":
            hook(PAYLOAD, env, tmp_path, command=command)
            assert read_spool(spool)["new"] == [PAYLOAD]
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@WAYS
def test_a_full_disk_leaves_no_half_an_event(
    command: list[str], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    # No byte code either: its cache would be cut short by the same limit.
    env = environment(MEMTUI_SPOOL=str(spool), PYTHONDONTWRITEBYTECODE="1")
    env["PATH"] = os.defpath
    hook(b"x" * 5000, env, tmp_path, "ulimit -f 1", command)
    assert read_spool(spool) == {"tmp": [], "new": [], "bad": []}
    hook(b"x" * 500, env, tmp_path, "ulimit -f 1", command)
    assert read_spool(spool)["new"] == [b"x" * 500]


def test_unusable_folder_for_new_files_leaves_no_event(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "gone").mkdir()
    (spool / "new").symlink_to(spool / "gone")
    (spool / "gone").rmdir()
    hook(PAYLOAD, environment(MEMTUI_SPOOL=str(spool)), tmp_path)
    assert not list(spool.rglob("*.json"))


@WAYS
@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_descriptors_are_no_failure(
    closed: str, command: list[str], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    ended = subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *command],
        input=PAYLOAD,
        env={"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(spool))},
        capture_output=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    if "<" not in closed:
        assert read_spool(spool)["new"] == [PAYLOAD]


@WAYS
def test_closed_output_does_not_fail(command: list[str], tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        command,
        input=PAYLOAD,
        stdout=writing,
        stderr=writing,
        env={"PATH": os.defpath, **environment(MEMTUI_SPOOL=str(tmp_path / "spool"))},
    )
    os.close(writing)
    assert ended.returncode == 0
    assert read_spool(tmp_path / "spool")["new"] == [PAYLOAD]


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        (["--agent", "copilot-cli", "--event", "agentStop"], ".copilot-cli.agentStop"),
        (["--event", "agentStop"], "..agentStop"),
        (["--agent", "codex"], ".codex."),
        (["--agent", "../../etc", "--event", "a.b"], ""),
        (["--agent", "x" * 41, "--event", "\u00e9t\u00e9"], ""),
        (["--event", "stop", "--agent", "codex"], ".codex.stop"),
        (["--agent"], ""),
        (["anything", "--else", "-h"], ""),
    ],
)
def test_the_source_is_part_of_the_name(
    words: list[str], ending: str, tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    env = environment(MEMTUI_SPOOL=str(spool))
    hook(PAYLOAD, env, tmp_path, command=[*INSTALLED, *words])
    (kept,) = (spool / "new").iterdir()
    assert re.fullmatch(rf"\d+\.\d+\.[0-9a-f]+{re.escape(ending)}\.json", kept.name)
    assert kept.read_bytes() == PAYLOAD


def test_the_manual_shows_the_shell_script_as_it_is() -> None:
    manual = (ROOT / "docs" / "hooks.md").read_text("utf-8")
    assert f"```sh\n{Path(SHELL[1]).read_text('utf-8')}```" in manual


def test_the_folder_of_the_spool_can_be_chosen_at_installation(tmp_path: Path) -> None:
    spool = tmp_path / "told"
    env = environment(MEMTUI_SPOOL=str(tmp_path / "not this one"))
    command = [*INSTALLED, "--spool", str(spool), "--agent", "codex"]
    hook(PAYLOAD, env, tmp_path, command=command)
    assert read_spool(spool)["new"] == [PAYLOAD]
    assert [entry.name for entry in tmp_path.iterdir()] == ["told"]


def test_the_shell_names_the_agent_in_the_same_way(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    env = {"PATH": os.defpath, "MEMTUI_SPOOL": str(spool)}
    hook(PAYLOAD, env, tmp_path, command=[*SHELL, "copilot-cli", "agentStop"])
    letter = Spool(spool).read(Spool(spool).names()[0])
    assert letter is not None
    assert (letter.agent, letter.event) == ("copilot-cli", "agentStop")


def test_fsync_can_be_requested(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    env = environment(MEMTUI_SPOOL=str(spool), MEMTUI_HOOK_FSYNC="1")
    hook(PAYLOAD, env, tmp_path)
    assert read_spool(spool) == {"tmp": [], "new": [PAYLOAD], "bad": []}


def test_an_interrupted_hook_succeeds_silently(tmp_path: Path) -> None:
    ready = (
        "import os; from memtui import hook; os.write(1, b'ready'); hook.main();"
        "os._exit(0)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", ready],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(MEMTUI_SPOOL=str(tmp_path / "spool")),
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.read(5) == b"ready"
    process.stdin.write(b"half of an ev")
    process.stdin.flush()
    wait_until_read(process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, errors) == (0, b"")
    assert not (tmp_path / "spool").exists()


def wait_until_read(process: "subprocess.Popen[bytes]") -> None:
    """Return when the process sleeps in a read, where a signal reaches it."""
    if not Path("/proc/self/wchan").exists():
        pytest.skip("needs /proc")
    status = Path(f"/proc/{process.pid}/stat")
    # The first read gets half of it; the second blocks.
    while status.read_text().rpartition(")")[2].split()[0] != "S":
        assert process.poll() is None
        os.sched_yield()


def test_hook_imports_nothing_more() -> None:
    code = (
        "import sys; before = set(sys.modules); import memtui.hook;"
        "print(sorted(set(sys.modules) - before))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True
    )
    assert process.stdout == "['memtui', 'memtui.hook']\n"


def console_script(folder: Path) -> str:
    """Create the command as an installer does."""
    script = folder / "memtui-hook"
    text = (ROOT / "scripts" / "memtui-hook").read_text("utf-8")
    script.write_text(text.replace("#!python", f"#!{sys.executable}", 1), "utf-8")
    script.chmod(0o700)
    return str(script)


def test_console_script_stores_an_event(tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    env = environment(MEMTUI_SPOOL=str(spool))
    hook(PAYLOAD, env, tmp_path, command=[console_script(tmp_path)])
    assert read_spool(spool)["new"] == [PAYLOAD]


def test_command_is_silent_if_memtui_is_gone(tmp_path: Path) -> None:
    env = {"MEMTUI_SPOOL": str(tmp_path / "spool")}
    script = Path(console_script(tmp_path))
    text = script.read_text("utf-8").replace("memtui.hook", "memtui_gone.hook")
    script.write_text(text, "utf-8")
    hook(PAYLOAD, env, tmp_path, command=[str(script)])


def test_installed_command_needs_no_other_module(tmp_path: Path) -> None:
    package = tmp_path / "site" / "memtui"
    package.mkdir(parents=True)
    for name in ("__init__", "errors", "paths", "os", "time"):
        (package / f"{name}.py").write_text("raise SystemExit('broken')")
    (package.parent / "sitecustomize.py").write_text("raise SystemExit('broken')")
    (package / "hook.py").write_bytes(HOOK.read_bytes())
    spool = tmp_path / "spool"
    env = {
        "PYTHONPATH": str(package.parent),
        "PYTHONSTARTUP": "/broken",
        "PYTHONINSPECT": "1",
        "MEMTUI_SPOOL": str(spool),
    }
    command = [*INSTALLED[:-1], str(package / "hook.py")]
    hook(PAYLOAD, env, package, command=command)
    assert read_spool(spool)["new"] == [PAYLOAD]


def test_hook_file_runs_alone(tmp_path: Path) -> None:
    package = tmp_path / "memtui"
    package.mkdir()
    (package / "hook.py").write_bytes((ROOT / "memtui" / "hook.py").read_bytes())
    spool = tmp_path / "spool"
    env = {"PYTHONPATH": str(tmp_path), "MEMTUI_SPOOL": str(spool)}
    hook(PAYLOAD, env, tmp_path)
    assert read_spool(spool)["new"] == [PAYLOAD]
