"""Installing and uninstalling hooks in real settings files."""

import json
import os
import stat
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.errors import HooksError
from memtui.integrations import agents, config_files
from memtui.integrations.config_files import ConfigEntry, JsonHooks, Machine, OwnFile
from tests.conftest import often

CLAUDE = agents.find_agent("claude-code").hooks
EVERY = pytest.mark.parametrize(
    "agent", [one.hooks for one in agents.AGENTS], ids=agents.AGENT_NAMES
)
OTHERS = {"type": "command", "command": "notify-send done", "timeout": 5}

ODD = {
    "nothing": "",
    "white space": "\n\n",
    "bare": "{}",
    "roomy": "{ }\n",
    "one line": '{"model":"opus","hooks":{"Stop":[]}}',
    "one line with spaces": '{"model": "opus", "permissions": {"allow": ["Read"]}}',
    "tabs": '{\n\t"model": "opus",\n\t"env": {\n\t\t"A": "\\u00e9"\n\t}\n}',
    "four spaces": '{\n    "model": "opus"\n}\n\n',
    "windows": '{\r\n  "model": "opus",\r\n  "hooks": {}\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "commas in front": '{\n  "model": "opus"\n, "hooks" : { "Stop" : [ ] }\n}\n',
    "others' hooks": json.dumps(
        {"hooks": {"Stop": [{"hooks": [OTHERS]}], "Mine": 3, "enabled": True}}, indent=1
    ),
    "a brace in a string": '{"a": "}{\\"hooks\\": [", "b": "\\\\"}',
    "a name of ours in a string": '{"note": "memtui-hook", "z": ["memtui/hook.py"]}',
    "twice the same elsewhere": '{"a": 1, "a": 2}',
    "big numbers": '{"a": 1E400, "b": 12345678901234567890123, "c": -0.0}',
}


def put(agent: ConfigEntry, machine: Machine) -> Path:
    change = config_files.plan_installation(agent, machine)
    config_files.write(change, machine)
    assert config_files.plan_installation(agent, machine).is_empty
    return agent.path(machine)


def take(agent: ConfigEntry, machine: Machine) -> None:
    config_files.write(config_files.plan_removal(agent, machine), machine)
    assert config_files.plan_removal(agent, machine).is_empty


def settings(
    machine: Machine, content: str | bytes, agent: ConfigEntry = CLAUDE
) -> Path:
    file = agent.path(machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@EVERY
def test_what_was_not_there_is_gone_again(
    agent: JsonHooks | OwnFile, machine: Machine
) -> None:
    file = put(agent, machine)
    assert [entry.key for entry in agent.existing(file.read_text("utf-8"))] == list(
        agent.events
    )
    take(agent, machine)
    assert list(machine.home.iterdir()) == []
    assert list(machine.backups.iterdir()) == []


@EVERY
def test_a_projects_settings_are_its_own(agent: ConfigEntry, machine: Machine) -> None:
    project = machine.home / "shop"
    project.mkdir()
    here = replace(machine, project=project)
    file = put(agent, here)
    assert file.is_relative_to(project)
    assert config_files.plan_removal(agent, machine).is_empty
    take(agent, here)
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("content", ODD.values(), ids=ODD)
def test_installing_and_undoing_leaves_every_byte(
    content: str, machine: Machine
) -> None:
    file = settings(machine, content)
    put(CLAUDE, machine)
    installed = json.loads(file.read_bytes().decode("utf-8-sig"))
    before = json.loads(content.strip("\ufeff") or "{}") if content.strip() else {}
    assert {k: v for k, v in installed.items() if k != "hooks"} == {
        k: v for k, v in before.items() if k != "hooks"
    }
    for event, others in before.get("hooks", {}).items():
        held = installed["hooks"][event]
        assert (held[: len(others)] if isinstance(others, list) else held) == others
    take(CLAUDE, machine)
    assert file.read_bytes() == content.encode()


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(st.just(OTHERS), max_size=2)},
    optional={"matcher": st.sampled_from(["", "Bash|Edit"])},
)
HOOKS = st.dictionaries(
    st.sampled_from(["Stop", "SessionStart", "Notification", "PreToolUse"]),
    st.lists(GROUPS | VALUES.filter(lambda value: not isinstance(value, list))),
)
OBJECTS = st.builds(
    lambda before, hooks, after: before | hooks | after,
    st.dictionaries(st.text(), VALUES, max_size=3),
    st.fixed_dictionaries({}, optional={"hooks": HOOKS}),
    st.dictionaries(st.text(), VALUES, max_size=3),
).filter(lambda found: isinstance(found.get("hooks", {}), dict))


@often(60)
@given(
    OBJECTS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_undoing_is_the_opposite_of_installing(
    value: dict[str, object],
    indent: int | str | None,
    is_ascii: bool,
    is_ended: bool,
    is_tight: bool,
) -> None:
    separators = (",", ":") if is_tight else None
    text = json.dumps(
        value, indent=indent, ensure_ascii=is_ascii, separators=separators
    )
    content = (text + "\n" * is_ended).encode("utf-8", "replace")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        here = Machine(
            home, {}, "/usr/bin/python3", home / "memtui/hook.py", home / "b"
        )
        hooks = value.get("hooks", {})
        assert isinstance(hooks, dict)
        file = settings(here, content)
        if any(not isinstance(v, list) for k, v in hooks.items() if k in CLAUDE.events):
            with pytest.raises(HooksError):
                config_files.plan_installation(CLAUDE, here)
            return
        put(CLAUDE, here)
        # Without what is remembered of the file its meaning is the same all the same.
        forgetful = replace(here, backups=home / "nothing")
        rest = config_files.plan_removal(CLAUDE, forgetful).after
        assert rest is not None
        assert meaning(rest) == meaning(content)
        take(CLAUDE, here)
        assert file.read_bytes() == content


def meaning(content: bytes) -> object:
    """What settings say; an event without hooks says nothing."""
    value = json.loads(content)
    hooks = {k: v for k, v in value.pop("hooks", {}).items() if v != []}
    return repr((value, hooks))


def test_what_others_wrote_in_between_stays(machine: Machine) -> None:
    file = settings(machine, '{\n  "model": "opus"\n}\n')
    put(CLAUDE, machine)
    text = file.read_text("utf-8")
    text = text.replace('"opus"', '"sonnet",   "theme":"dark"')
    file.write_text(text, "utf-8")
    take(CLAUDE, machine)
    assert file.read_text("utf-8") == ('{\n  "model": "sonnet",   "theme":"dark"\n}\n')


def test_a_handler_others_put_beside_ours_stays(machine: Machine) -> None:
    file = put(CLAUDE, machine)
    value = json.loads(file.read_bytes())
    value["hooks"]["Stop"][0]["hooks"].insert(0, OTHERS)
    value["hooks"]["Stop"].insert(0, {"matcher": "", "hooks": [OTHERS]})
    file.write_text(json.dumps(value, indent=3), "utf-8")
    take(CLAUDE, machine)
    assert json.loads(file.read_bytes()) == {
        "hooks": {"Stop": [{"matcher": "", "hooks": [OTHERS]}, {"hooks": [OTHERS]}]}
    }


@pytest.mark.parametrize(
    "line",
    [
        "memtui-hook",
        "/home/ada/.local/bin/memtui-hook --agent codex",
        "python3 -m memtui.hook",
        "'/a b/bin/python3.12' -I -S '/a b/memtui/hook.py'",
        "python3 -W ignore -Im memtui.hook --agent codex",
    ],
)
def test_what_was_installed_by_hand_is_put_right(line: str, machine: Machine) -> None:
    theirs = [{"hooks": [{"type": "command", "command": line, "async": True}]}]
    file = settings(machine, json.dumps({"hooks": {"Stop": theirs}}))
    put(CLAUDE, machine)
    assert len(json.loads(file.read_bytes())["hooks"]["Stop"]) == 1
    take(CLAUDE, machine)
    assert json.loads(file.read_bytes()) == {}


@pytest.mark.parametrize(
    "line",
    [
        *("memtui-hook; other", "memtui-hook | tee log", "other memtui-hook"),
        "'unclosed",
        "python3 /x/other.py /y/memtui/hook.py",
        "python3 -c 'print(1)' memtui/hook.py",
        "python3 -m other memtui.hook",
        "python3 -I",
    ],
)
def test_a_command_that_does_more_is_not_ours(line: str, machine: Machine) -> None:
    theirs = [{"hooks": [{"type": "command", "command": line}]}]
    content = json.dumps({"hooks": {"Stop": theirs}})
    file = settings(machine, content)
    assert config_files.plan_removal(CLAUDE, machine).is_empty
    put(CLAUDE, machine)
    take(CLAUDE, machine)
    assert file.read_text("utf-8") == content


def test_another_memtuis_hooks_make_way(machine: Machine) -> None:
    file = settings(machine, '{"model": "opus"}')
    put(CLAUDE, replace(machine, python="/old/bin/python"))
    put(CLAUDE, machine)
    assert b"/old/bin" not in file.read_bytes()
    take(CLAUDE, machine)
    assert file.read_text("utf-8") == '{"model": "opus"}'


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2: expecting property name"),
        ('{"a": 1,}', "line 1: "),
        ('{\n"a": 1', "line 2: expecting ',' delimiter"),
        ("[]", "line 1: it is not an object"),
        ("{} {}", "line 1: something follows the end"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"hooks": []}', "line 1: hooks is not an object"),
        ('{\n"hooks": {\n"Stop": {}}}', "line 3: hooks.Stop is not a list"),
        ('{"hooks": {},\n"hooks": {}}', 'line 2: "hooks" occurs a second time'),
        (b'{\n"a": "\xff"}', "line 2: not UTF-8"),
        ('{"a": ' + "[" * 100_000, "it is nested too deeply"),
    ],
)
def test_what_is_no_settings_is_refused_and_left_alone(
    content: str | bytes, reason: str, machine: Machine
) -> None:
    file = settings(machine, content)
    before = file.read_bytes()
    with pytest.raises(HooksError) as refused:
        config_files.plan_installation(CLAUDE, machine)
    assert str(refused.value).startswith(f"{file}: {reason}")
    assert "the file was not changed" in str(refused.value)
    assert file.read_bytes() == before
    assert not machine.backups.exists()


def test_somebody_elses_plugin_is_left_alone(machine: Machine) -> None:
    opencode = agents.find_agent("opencode").hooks
    file = settings(machine, "export const Memtui = 1\n", opencode)
    with pytest.raises(HooksError, match="not a file that memtui wrote"):
        config_files.plan_installation(opencode, machine)
    assert file.read_text("utf-8") == "export const Memtui = 1\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o444])
def test_the_mode_is_kept(mode: int, machine: Machine) -> None:
    file = settings(machine, "{}")
    file.chmod(mode)
    put(CLAUDE, machine)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    take(CLAUDE, machine)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_is_written_through(is_there: bool, machine: Machine) -> None:
    target = machine.home / "dotfiles" / "claude.json"
    target.parent.mkdir()
    if is_there:
        target.write_text('{"model": "opus"}')
    file = CLAUDE.path(machine)
    file.parent.mkdir()
    file.symlink_to(Path("../dotfiles/claude.json"))
    put(CLAUDE, machine)
    assert file.is_symlink()
    assert CLAUDE.existing(target.read_text("utf-8"))
    take(CLAUDE, machine)
    assert file.is_symlink()
    assert target.exists() is is_there
    assert [entry.name for entry in target.parent.iterdir()] == (
        ["claude.json"] if is_there else []
    )


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "circle"])
def test_only_regular_files_are_read_and_written(kind: str, machine: Machine) -> None:
    file = CLAUDE.path(machine)
    file.parent.mkdir()
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/null" if kind == "device" else file.name)
    reason = "leads to itself" if kind == "circle" else "not a regular file"
    with pytest.raises(HooksError, match=reason):
        config_files.plan_installation(CLAUDE, machine)


def test_a_copy_is_kept_for_its_owner_alone(machine: Machine) -> None:
    settings(machine, '{"env": {"KEY": "secret"}}')
    copy = config_files.write(config_files.plan_installation(CLAUDE, machine), machine)
    assert copy is not None
    assert copy.read_text("utf-8") == '{"env": {"KEY": "secret"}}'
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700


def test_what_changed_since_it_was_shown_is_not_written(machine: Machine) -> None:
    file = settings(machine, "{}")
    planned = config_files.plan_installation(CLAUDE, machine)
    file.write_text('{"model": "opus"}')
    with pytest.raises(HooksError, match="has changed; it was not"):
        config_files.write(planned, machine)
    assert file.read_text("utf-8") == '{"model": "opus"}'


def test_the_diff_is_what_becomes_of_the_file(machine: Machine) -> None:
    copilot = agents.find_agent("copilot-cli").hooks
    diff = config_files.plan_installation(copilot, machine).diff()
    assert diff[:2] == ["--- /dev/null", f"+++ {copilot.path(machine)}"]
    assert "\n".join(line[1:] for line in diff[3:]) + "\n" == (
        put(copilot, machine).read_text("utf-8")
    )


def test_variables_say_where_agents_keep_their_settings(machine: Machine) -> None:
    moved = replace(
        machine,
        environment={
            "CLAUDE_CONFIG_DIR": "/c",
            "CODEX_HOME": "~/x",
            "COPILOT_HOME": "/p",
            "XDG_CONFIG_HOME": "/xdg",
        },
    )
    assert [str(agent.hooks.path(moved)) for agent in agents.AGENTS] == [
        "/c/settings.json",
        f"{machine.home}/x/hooks.json",
        f"{machine.home}/.gemini/settings.json",
        "/p/hooks/memtui.json",
        "/xdg/opencode/plugins/memtui.js",
    ]
