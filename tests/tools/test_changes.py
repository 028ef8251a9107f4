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
from memtui.integrations.config_entries import JsonHooks, OwnFile
from memtui.integrations.config_files import ConfigEntry, Machine
from tests.conftest import often

CLAUDE = agents.find_agent("claude-code").hooks
EACH_AGENT = pytest.mark.parametrize(
    "hooks", [agent.hooks for agent in agents.AGENTS], ids=agents.AGENT_NAMES
)
OTHER_HANDLER = {"type": "command", "command": "notify-send done", "timeout": 5}

UNUSUAL_FILES = {
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
    "other hooks": json.dumps(
        {
            "hooks": {
                "Stop": [{"hooks": [OTHER_HANDLER]}],
                "Mine": 3,
                "enabled": True,
            }
        },
        indent=1,
    ),
    "a brace in a string": '{"a": "}{\\"hooks\\": [", "b": "\\\\"}',
    "our name in a string": '{"note": "memtui-hook", "z": ["memtui/hook.py"]}',
    "a lone surrogate": '{"a": "\\ud800", "b": "é"}',
    "big numbers": '{"a": 1E40, "b": 12345678901234567890123, "c": -0.0}',
}


def install(entry: ConfigEntry, machine: Machine) -> Path:
    change = config_files.plan_installation(entry, machine)
    config_files.write(change)
    assert config_files.plan_installation(entry, machine).is_empty
    return entry.path(machine)


def uninstall(entry: ConfigEntry, machine: Machine) -> None:
    config_files.write(config_files.plan_removal(entry, machine))
    assert config_files.plan_removal(entry, machine).is_empty


def write_settings(
    machine: Machine, content: str | bytes, entry: ConfigEntry = CLAUDE
) -> Path:
    file = entry.path(machine)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


@EACH_AGENT
def test_uninstalling_leaves_nothing_of_a_new_file(
    hooks: JsonHooks | OwnFile, machine: Machine
) -> None:
    file = install(hooks, machine)
    existing = hooks.existing(file.read_text("utf-8"))
    assert [item.key for item in existing] == list(hooks.events)
    uninstall(hooks, machine)
    assert not [path for path in machine.home.rglob("*") if path.is_file()]


@EACH_AGENT
def test_settings_of_a_project_are_separate(
    hooks: ConfigEntry, machine: Machine
) -> None:
    project = machine.home / "shop"
    project.mkdir()
    in_project = replace(machine, project=project)
    file = install(hooks, in_project)
    assert file.is_relative_to(project)
    assert config_files.plan_removal(hooks, machine).is_empty
    uninstall(hooks, in_project)
    assert not [path for path in project.rglob("*") if path.is_file()]


@pytest.mark.parametrize("content", UNUSUAL_FILES.values(), ids=UNUSUAL_FILES)
def test_other_settings_keep_their_values(content: str, machine: Machine) -> None:
    file = write_settings(machine, content)
    before = json.loads(content.strip("\ufeff")) if content.strip() else {}
    install(CLAUDE, machine)
    installed = json.loads(file.read_bytes().decode("utf-8-sig"))
    assert list(without_hooks(installed).items()) == list(without_hooks(before).items())
    for event, others in before.get("hooks", {}).items():
        elements = installed["hooks"][event]
        kept = elements[: len(others)] if isinstance(others, list) else elements
        assert kept == others
    uninstall(CLAUDE, machine)
    if without_hooks(before):
        assert without_empty_events(file.read_bytes()) == without_empty_events(
            content.encode()
        )


def without_hooks(settings: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if key != "hooks"}


@pytest.mark.parametrize(
    "name", ["tabs", "four spaces", "byte order mark", "other hooks"]
)
def test_style_of_a_file_is_kept(name: str, machine: Machine) -> None:
    content = UNUSUAL_FILES[name]
    file = write_settings(machine, content)
    install(CLAUDE, machine)
    uninstall(CLAUDE, machine)
    assert file.read_bytes() == content.encode()


def test_line_ends_of_windows_are_kept(machine: Machine) -> None:
    file = write_settings(machine, UNUSUAL_FILES["windows"])
    install(CLAUDE, machine)
    lines = file.read_bytes().split(b"\n")
    assert len(lines) > 20
    assert all(line.endswith(b"\r") for line in lines[:-1])


NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(st.just(OTHER_HANDLER), max_size=2)},
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
).filter(lambda settings: isinstance(settings.get("hooks", {}), dict))


@often(60)
@given(
    OBJECTS,
    st.sampled_from([None, 0, 1, 2, 4, "\t"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
def test_uninstalling_is_the_opposite_of_installing(
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
        machine = Machine(home, {}, "/usr/bin/python3", home / "memtui/hook.py")
        hooks = value.get("hooks", {})
        assert isinstance(hooks, dict)
        file = write_settings(machine, content)
        if any(not isinstance(v, list) for k, v in hooks.items() if k in CLAUDE.events):
            with pytest.raises(HooksError):
                config_files.plan_installation(CLAUDE, machine)
            return
        install(CLAUDE, machine)
        uninstall(CLAUDE, machine)
        after = file.read_bytes() if file.exists() else b"{}"
        assert without_empty_events(after) == without_empty_events(content)


def without_empty_events(content: bytes) -> object:
    """Return what settings mean: an event without hooks has no meaning."""
    settings = json.loads(content.decode("utf-8-sig"))
    hooks = {k: v for k, v in settings.pop("hooks", {}).items() if v != []}
    return repr((settings, hooks))


def test_changes_made_after_installing_stay(machine: Machine) -> None:
    file = write_settings(machine, '{\n  "model": "opus"\n}\n')
    install(CLAUDE, machine)
    text = file.read_text("utf-8")
    file.write_text(text.replace('"opus"', '"sonnet",   "theme":"dark"'), "utf-8")
    uninstall(CLAUDE, machine)
    assert file.read_text("utf-8") == (
        '{\n  "model": "sonnet",\n  "theme": "dark"\n}\n'
    )


def test_other_handlers_beside_ours_stay(machine: Machine) -> None:
    file = install(CLAUDE, machine)
    value = json.loads(file.read_bytes())
    value["hooks"]["Stop"][0]["hooks"].insert(0, OTHER_HANDLER)
    value["hooks"]["Stop"].insert(0, {"matcher": "", "hooks": [OTHER_HANDLER]})
    file.write_text(json.dumps(value, indent=3), "utf-8")
    uninstall(CLAUDE, machine)
    assert json.loads(file.read_bytes()) == {
        "hooks": {
            "Stop": [
                {"matcher": "", "hooks": [OTHER_HANDLER]},
                {"hooks": [OTHER_HANDLER]},
            ]
        }
    }


@pytest.mark.parametrize(
    "line",
    [
        "memtui-hook",
        "/home/ada/.local/bin/memtui-hook --agent codex",
        "python3 -m memtui.hook",
        "'/a b/bin/python3.12' -I -S '/a b/memtui/hook.py'",
    ],
)
def test_hooks_installed_by_hand_are_replaced(line: str, machine: Machine) -> None:
    handler = {"type": "command", "command": line, "async": True}
    settings = {"hooks": {"Stop": [{"hooks": [handler]}]}}
    file = write_settings(machine, json.dumps(settings))
    install(CLAUDE, machine)
    assert len(json.loads(file.read_bytes())["hooks"]["Stop"]) == 1
    uninstall(CLAUDE, machine)
    assert not file.exists()


@pytest.mark.parametrize(
    "line",
    [
        *("memtui-hook; other", "memtui-hook | tee log", "other memtui-hook"),
        "'unclosed",
        "python3 /x/other.py /y/memtui/hook.py",
        "python3 -c 'print(1)' memtui/hook.py",
        "python3 -m other memtui.hook",
        "sha256sum /x/memtui/hook.py",
        "python3 -I",
    ],
)
def test_a_command_that_does_more_stays(line: str, machine: Machine) -> None:
    settings = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}}
    file = write_settings(machine, json.dumps(settings))
    assert config_files.plan_removal(CLAUDE, machine).is_empty
    install(CLAUDE, machine)
    uninstall(CLAUDE, machine)
    assert json.loads(file.read_bytes()) == settings


def test_hooks_of_another_memtui_are_replaced(machine: Machine) -> None:
    file = write_settings(machine, '{"model": "opus"}')
    install(CLAUDE, replace(machine, python="/old/bin/python"))
    install(CLAUDE, machine)
    assert b"/old/bin" not in file.read_bytes()
    uninstall(CLAUDE, machine)
    assert json.loads(file.read_bytes()) == {"model": "opus"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2: expecting property name"),
        ('{"a": 1,}', "line 1: "),
        ('{\n"a": 1', "line 2: expecting ',' delimiter"),
        ("[]", "line 1: it is not an object"),
        ("{} {}", "line 1: extra data"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": 1E400}', "a number is too large"),
        ('{"a": ' + "1" * 5000 + "}", "a number is too large"),
        ('{"hooks": []}', "hooks is not an object"),
        ('{\n"hooks": {\n"Stop": {}}}', "hooks.Stop is not a list"),
        ('{"hooks": {},\n"hooks": {}}', '"hooks" occurs a second time'),
        ('{"a": {"b": 1, "b": 2}}', '"b" occurs a second time'),
        (b'{\n"a": "\xff"}', "line 2: not UTF-8"),
        ('{"a": ' + "[" * 100_000, "it is nested too deeply"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_invalid_settings_are_refused_and_not_changed(
    content: str | bytes, reason: str, machine: Machine
) -> None:
    file = write_settings(machine, content)
    before = file.read_bytes()
    with pytest.raises(HooksError) as refused:
        config_files.plan_installation(CLAUDE, machine)
    assert str(refused.value).startswith(f"{file}: {reason}")
    assert "the file was not changed" in str(refused.value)
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]


def test_plugin_of_somebody_else_is_not_changed(machine: Machine) -> None:
    opencode = agents.find_agent("opencode").hooks
    file = write_settings(machine, "export const Memtui = 1\n", opencode)
    with pytest.raises(HooksError, match="not a file that memtui wrote"):
        config_files.plan_installation(opencode, machine)
    assert file.read_text("utf-8") == "export const Memtui = 1\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o444])
def test_the_mode_is_kept(mode: int, machine: Machine) -> None:
    file = write_settings(machine, '{"model": "opus"}')
    file.chmod(mode)
    install(CLAUDE, machine)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    uninstall(CLAUDE, machine)
    assert stat.S_IMODE(file.stat().st_mode) == mode


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_stays_and_its_target_is_written(exists: bool, machine: Machine) -> None:
    target = machine.home / "dotfiles" / "claude.json"
    target.parent.mkdir()
    (target.parent / "other").touch()
    if exists:
        target.write_text('{"model": "opus"}')
    file = CLAUDE.path(machine)
    file.parent.mkdir()
    file.symlink_to(Path("../dotfiles/claude.json"))
    install(CLAUDE, machine)
    assert file.is_symlink()
    assert CLAUDE.existing(target.read_text("utf-8"))
    uninstall(CLAUDE, machine)
    assert file.is_symlink()
    names = sorted(entry.name for entry in target.parent.iterdir())
    assert names == (["claude.json", "other"] if exists else ["other"])


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


def test_a_copy_of_the_old_file_is_kept_until_uninstalling(machine: Machine) -> None:
    content = '{"env": {"KEY": "secret"}}'
    file = write_settings(machine, content)
    file.chmod(0o644)
    copy = config_files.write(config_files.plan_installation(CLAUDE, machine))
    assert copy == file.with_name("settings.json.before-memtui")
    assert copy.read_text("utf-8") == content
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    uninstall(CLAUDE, machine)
    assert list(file.parent.iterdir()) == [file]


def test_a_copy_that_cannot_be_written_stops_the_change(machine: Machine) -> None:
    file = write_settings(machine, '{"model": "opus"}')
    elsewhere = machine.home / "elsewhere"
    file.with_name("settings.json.before-memtui").symlink_to(elsewhere)
    with pytest.raises(HooksError, match="not a regular file"):
        config_files.write(config_files.plan_installation(CLAUDE, machine))
    assert file.read_text("utf-8") == '{"model": "opus"}'
    assert not elsewhere.exists()


def test_a_file_changed_after_planning_is_not_written(machine: Machine) -> None:
    file = write_settings(machine, "{}")
    planned = config_files.plan_installation(CLAUDE, machine)
    file.write_text('{"model": "opus"}')
    with pytest.raises(HooksError, match="has changed; it was not"):
        config_files.write(planned)
    assert file.read_text("utf-8") == '{"model": "opus"}'


def test_the_diff_is_what_is_written(machine: Machine) -> None:
    copilot = agents.find_agent("copilot-cli").hooks
    diff = config_files.plan_installation(copilot, machine).diff()
    assert diff[:2] == ["--- /dev/null", f"+++ {copilot.path(machine)}"]
    assert "\n".join(line[1:] for line in diff[3:]) + "\n" == (
        install(copilot, machine).read_text("utf-8")
    )


def test_variables_set_the_folders_of_agents(machine: Machine) -> None:
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
