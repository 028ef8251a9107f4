"""The status of installed hooks, and running the installed commands."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memtui.capture.formats import hooks as formats_hooks
from memtui.capture.spool import Spool
from memtui.integrations import agents, config_files
from memtui.integrations.agents import HookStatus
from memtui.integrations.config_files import Machine
from memtui.model.events import Event

OUTDATED = "outdated: another command, or other events, than this memtui's"


def install(name: str, machine: Machine) -> Path:
    agent = agents.find_agent(name).hooks
    config_files.write(config_files.plan_installation(agent, machine))
    return agent.path(machine)


def status_of(name: str, machine: Machine) -> HookStatus:
    return agents.hook_status(agents.find_agent(name), machine)


def test_nothing_is_installed_at_first(machine: Machine) -> None:
    statuses = agents.hook_statuses(machine)
    assert [status.agent for status in statuses] == list(agents.AGENT_NAMES)
    assert not any(
        status.is_found or status.is_installed or status.problem for status in statuses
    )


def test_an_agent_is_found_by_its_folder_or_its_program(machine: Machine) -> None:
    (machine.home / ".gemini").mkdir()
    programs = machine.home / "bin"
    programs.mkdir()
    (programs / "codex").write_text("#!/bin/sh\n")
    (programs / "codex").chmod(0o755)
    machine = replace(machine, environment={"PATH": str(programs)})
    names = [agent.name for agent in agents.AGENTS if agent.is_found(machine)]
    assert names == ["codex", "gemini-cli"]


@pytest.mark.parametrize("name", agents.AGENT_NAMES)
def test_installed_hooks_run(name: str, machine: Machine) -> None:
    install(name, machine)
    status = status_of(name, machine)
    assert (status.is_installed, status.is_current, status.runs) == (True, True, True)
    assert not status.problem
    assert status.events == agents.find_agent(name).hooks.events


def test_a_missing_command_is_reported(machine: Machine) -> None:
    install("claude-code", replace(machine, python="/gone/python3"))
    problem = status_of("claude-code", machine).problem
    assert problem == "the command it names does not run"
    install("claude-code", replace(machine, hook=Path("/gone/memtui/hook.py")))
    assert status_of("claude-code", machine).runs is False


def test_an_older_installation_is_reported(machine: Machine, tmp_path: Path) -> None:
    older = tmp_path / "older" / "memtui" / "hook.py"
    older.parent.mkdir(parents=True)
    shutil.copy(machine.hook, older)
    install("codex", replace(machine, hook=older))
    status = status_of("codex", machine)
    assert (status.runs, status.is_current) == (True, False)
    assert status.problem == OUTDATED
    file = install("codex", machine)
    value = json.loads(file.read_bytes())
    del value["hooks"]["Stop"]
    file.write_text(json.dumps(value))
    assert status_of("codex", machine).problem == OUTDATED


@pytest.mark.parametrize(("value", "is_off"), [("true", True), ("false", False)])
def test_disabled_hooks_are_reported(
    value: str, is_off: bool, machine: Machine
) -> None:
    file = install("claude-code", machine)
    text = file.read_text("utf-8").replace("{", f'{{"disableAllHooks": {value}, ', 1)
    file.write_text(text)
    status = status_of("claude-code", machine)
    assert (status.is_installed, status.is_off) == (True, is_off)
    assert ("disableAllHooks" in status.problem) is is_off


def test_unreadable_settings_are_reported(machine: Machine) -> None:
    file = agents.find_agent("gemini-cli").hooks.path(machine)
    file.parent.mkdir()
    file.write_text("{\n// mine\n}")
    assert status_of("gemini-cli", machine).problem.startswith(f"{file}: line 2: ")


PAYLOADS = {
    "claude-code": {"session_id": "s", "hook_event_name": "Stop"},
    "codex": {"session_id": "s", "hook_event_name": "Stop"},
    "gemini-cli": {"session_id": "s", "hook_event_name": "AfterAgent"},
    "copilot-cli": {"sessionId": "s", "timestamp": 1_741_946_340_000},
}


@pytest.mark.parametrize("name", PAYLOADS)
def test_payloads_arrive_under_the_name_of_the_agent(
    name: str, machine: Machine
) -> None:
    file = install(name, machine)
    entries = agents.find_agent(name).hooks.existing(file.read_text("utf-8"))
    (entry,) = [e for e in entries if e.key in ("Stop", "AfterAgent", "agentStop")]
    payload = json.dumps(PAYLOADS[name]).encode()
    ended = subprocess.run(
        agents.command_words(entry.value),
        input=payload,
        env={},
        capture_output=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
    assert machine.spool is not None
    spool = Spool(machine.spool)
    spooled = spool.read(spool.names()[0])
    assert spooled is not None
    assert spooled.raw == payload
    event, _ = formats_hooks.read(
        spooled.raw,
        received_at=spooled.received_at,
        now=datetime.now(UTC),
        agent=spooled.agent,
        event=spooled.event,
    )
    assert isinstance(event, Event)
    assert (event.agent, event.session_id) == (name, "s")
    assert event.event_type == "assistant_stop"


TURN = """
import { Memtui } from PLUGIN
const on = await Memtui({ directory: "/home/ada/shop" })
const event = (type, properties) => on.event({ event: { type, properties } })
const text = (sessionID, messageID, id, text) => {
  const part = { type: "text", sessionID, messageID, id, text }
  return event("message.part.updated", { part })
}
await event("session.created", { info: { id: "s" } })
await on["chat.message"](
  { sessionID: "s" }, { message: {}, parts: [{ type: "text", text: "Why?" }] })
await event("session.created", { info: { id: "child", parentID: "s" } })
await on["chat.message"](
  { sessionID: "child" }, { message: {}, parts: [{ type: "text", text: "Look." }] })
await on["tool.execute.before"]({ callID: "c" }, { args: { command: "ls" } })
await on["tool.execute.after"](
  { tool: "bash", sessionID: "child", callID: "c" }, { output: "a.py" })
await event("session.idle", { sessionID: "child" })
await event("message.updated", { info: { id: "m", role: "assistant" } })
await text("s", "m", "p", "Beca")
await text("s", "m", "p", "Because.")
await event("session.idle", { sessionID: "s" })
await event("session.deleted", { info: { id: "s" } })
await event("something.new", undefined)
await on.event(undefined)
await on["chat.message"](undefined, undefined)
"""


def test_opencodes_plugin_writes_a_turn_and_never_throws(
    machine: Machine, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    plugin = tmp_path / "memtui.mjs"
    shutil.copy(install("opencode", machine), plugin)
    turn = tmp_path / "turn.mjs"
    turn.write_text(TURN.replace("PLUGIN", json.dumps(str(plugin))))
    subprocess.run([node, str(turn)], check=True, timeout=60)
    # The hooks outlive the agent, which does not wait for them.
    events = wait_for(machine, 7)
    assert sorted((e.event_type.value, e.text, e.subagent) for e in events) == [
        ("assistant_message", "Because.", ""),
        ("assistant_stop", "", ""),
        ("session_end", "", ""),
        ("session_start", "", ""),
        ("subagent_stop", "", ""),
        ("tool_result", "bash: ls\na.py", "child"),
        ("user_message", "Why?", ""),
    ]
    assert {(e.agent, e.session_id) for e in events} == {("opencode", "s")}


TURN_2 = """
import memtui from PLUGIN
const hooks = {}
const domain = (name) => ({
  hook: async (one, does) => { hooks[`${name}.${one}`] = does },
})
const events = []
const event = (type, data) => events.push({ type, data })
event("session.created", { sessionID: "s" })
event("session.created", { sessionID: "child", parentID: "s" })
event("something.new", undefined)
const text = { sessionID: "s", assistantMessageID: "m", ordinal: 0, text: "Because." }
event("session.text.ended", text)
event("session.idle", { sessionID: "child" })
event("session.idle", { sessionID: "s" })
event("session.deleted", { sessionID: "s" })
const subscribe = async function* () { yield* events }
await memtui.setup({
  location: { directory: "/home/ada/shop" },
  event: { subscribe },
  session: domain("session"),
  tool: domain("tool"),
})
await new Promise((done) => setTimeout(done, 100))
await hooks["session.prompt"]({ sessionID: "s", prompt: { text: "Why?" } })
await hooks["session.prompt"]({ sessionID: "child", prompt: { text: "Look." } })
await hooks["session.prompt"](undefined)
const call = { tool: "bash", sessionID: "child", id: "c", input: { command: "ls" } }
const content = [{ type: "text", text: "a.py" }]
await hooks["tool.execute.after"]({ ...call, status: "completed", result: { content } })
const error = { message: "no shell" }
await hooks["tool.execute.after"]({ ...call, id: "d", status: "error", error })
await memtui.setup({})
"""


def test_opencodes_plugin_writes_a_turn_of_version_2(
    machine: Machine, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    plugin = tmp_path / "memtui.mjs"
    shutil.copy(install("opencode", machine), plugin)
    turn = tmp_path / "turn.mjs"
    turn.write_text(TURN_2.replace("PLUGIN", json.dumps(str(plugin))))
    subprocess.run([node, str(turn)], check=True, timeout=60)
    events = wait_for(machine, 8)
    assert sorted((e.event_type.value, e.text, e.subagent) for e in events) == [
        ("assistant_message", "Because.", ""),
        ("assistant_stop", "", ""),
        ("session_end", "", ""),
        ("session_start", "", ""),
        ("subagent_stop", "", ""),
        ("tool_result", "bash: ls\na.py", "child"),
        ("tool_result", "bash: ls\nno shell", "child"),
        ("user_message", "Why?", ""),
    ]
    assert {(e.agent, e.session_id) for e in events} == {("opencode", "s")}


def wait_for(machine: Machine, count: int) -> list[Event]:
    """The events in the spool, once there are so many."""
    assert machine.spool is not None
    spool = Spool(machine.spool)
    ends = datetime.now(UTC).timestamp() + 60
    while datetime.now(UTC).timestamp() < ends:
        files = [spool.read(name) for name in spool.names()]
        events = [
            reading
            for file in files
            if file is not None
            for reading in formats_hooks.read(
                file.raw, received_at=file.received_at, now=file.received_at
            )
            if isinstance(reading, Event)
        ]
        if len(events) >= count:
            return events
        os.sched_yield()
    raise AssertionError("the hooks did not come")


def test_a_plugin_whose_hook_is_gone_disturbs_nothing(
    machine: Machine, tmp_path: Path
) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node")
    plugin = tmp_path / "memtui.mjs"
    shutil.copy(install("opencode", replace(machine, python="/gone/python3")), plugin)
    turn = tmp_path / "turn.mjs"
    turn.write_text(TURN.replace("PLUGIN", json.dumps(str(plugin))))
    ended = subprocess.run([node, str(turn)], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")
