"""Read how a call ended: from fields, or a fixed place of the result.

What a program printed decides nothing: an exit status is read only from where the agent
writes it, and only of a tool that runs commands. ``tool_calls.decide_ending`` decides
what follows from it.
"""

import re
from collections.abc import Mapping

from memtui.model.tool_calls import (
    WAITING_TOOLS,
    Ending,
    decide_ending,
    is_command,
    is_running,
)

_ERROR_OF_COMMAND = re.compile(r"\A(?:Error: )?Exit code (-?\d+)$", re.MULTILINE)
"""The beginning of Claude Code's error results of commands."""

_ELEMENTS = r"\A(?:<(?!output|std)(\w+)>[^<\n]*</\1>\s*)*?"
_BACKGROUND_STATUS = re.compile(rf"{_ELEMENTS}<status>(\w+)</status>")
_BACKGROUND_EXIT_STATUS = re.compile(rf"{_ELEMENTS}<exit_code>(-?\d+)</exit_code>")
"""The beginning of Claude Code's results of commands in the background::

    <status>failed</status>

    <exit_code>1</exit_code>
"""

_CODEX_LINES = (
    r"\A(?:(?:Warning|Command|Chunk ID|Wall time|Original token count"
    r"|Total output lines)\b[^\n]*\n)*"
)

_GEMINI_END = (
    r"(?:\n(?:Background PIDs|Process Group PGID):[^\n]*)*\s*"
    r"(?:</untrusted_context>\s*)?\Z"
)
_GEMINI_PREVIEW = r"^\[Exit Code: (-?\d+)\](?:\n\[Error: [^\n]*)?\n\nOutput too large\."
"""How Gemini CLI's results end, and the previews of results that it took out."""

_EXIT_STATUS_PLACES = {
    # Chunk ID: 1
    # Wall time: 1.0 seconds
    # Process exited with code 1
    # Output:
    # FAIL src/cart.test.js
    "codex": re.compile(
        rf"{_CODEX_LINES}(?:Process exited with code|Exit code:) (-?\d+)[ \t]*$",
        re.MULTILINE,
    ),
    # FAIL src/cart.test.js
    # <shellId: 51 completed with exit code 1>
    "copilot-cli": re.compile(r"<[^<>\n]{1,80} with exit code (-?\d+)>\s*\Z"),
    # Output: FAIL src/cart.test.js
    # Exit Code: 1
    # Process Group PGID: 77
    "gemini-cli": re.compile(
        rf"^Exit Code: (-?\d+)(?:\nSignal:[^\n]*)?{_GEMINI_END}|{_GEMINI_PREVIEW}",
        re.MULTILINE,
    ),
    # FAIL src/cart.test.js
    # Command exited with code 1.
    "opencode": re.compile(r"^Command exited with code (-?\d+)\.\s*\Z", re.MULTILINE),
    # The command failed with exit code: 2
    # Output:
    # FAIL src/cart.test.js
    "antigravity-cli": re.compile(
        r"\A\s*The command (?:failed|exited|completed) with exit code:? (-?\d+)"
    ),
}
"""The place of the exit status in results of commands, by agent."""


def _find_exit_status(
    agent: str, tool_name: str, text: str, has_failed: object
) -> str | None:
    place = _EXIT_STATUS_PLACES.get(agent)
    if agent == "claude-code" and tool_name in WAITING_TOOLS:
        place = _BACKGROUND_EXIT_STATUS
    elif agent == "claude-code" and has_failed is True:
        place = _ERROR_OF_COMMAND
    match = place.search(text) if place else None
    return match[match.lastindex or 0] if match else None


_PATCHING_COMMAND = "apply_patch"
"""Codex's editing tool, whose results are those of a command."""

_REFUSALS = {
    "claude-code": ((re.compile(r"\A\[Request interrupted by user"), "interrupted"),),
    "codex": (
        (
            re.compile(r"\A(?:Wall time: [^\n]*\n)?aborted(?: by user\b|\s*\Z)"),
            "aborted",
        ),
        (re.compile(r"\A[^\n]{0,80}\brejected by user\b"), "rejected"),
        (
            re.compile(
                r"\A(?:unsupported (?:custom tool )?call: "
                r"|failed to parse function arguments: )"
            ),
            "failed",
        ),
    ),
}
"""The beginnings of results of any tool that the user stopped or did not allow."""

_STATUS_PLACES = {
    "claude-code": (
        (
            re.compile(r"<error>Command was aborted before completion</error>\s*\Z"),
            "aborted",
        ),
        (
            re.compile(
                r"^Command (?:running in background with ID: "
                r"|was manually backgrounded by user with ID: |[^\n]{0,80}"
                r"\bwas moved to the background \(ID: )[^\n]*\s*\Z",
                re.MULTILINE,
            ),
            "background",
        ),
    ),
    "codex": (
        (
            re.compile(
                rf"{_CODEX_LINES}"
                r"(?:Process running with session|Script running with cell) ID \S+$",
                re.MULTILINE,
            ),
            "background",
        ),
        (re.compile(r"\AScript (failed|terminated)\n"), "failed"),
        (
            re.compile(
                r"\A(?:exec_command failed for `|execution error: |failed in sandbox: "
                r"|write_stdin failed: |apply_patch verification failed: )"
            ),
            "failed",
        ),
    ),
    "copilot-cli": (
        (
            re.compile(
                r"<(?:command with (?:shell|session)Id: [^<>\n]{1,80} is still running"
                r"|command started in (?:detached )?background"
                r"|waiting for command [^<>\n]{1,80} timed out)\b[^<>]*>\s*\Z"
            ),
            "background",
        ),
        (re.compile(r"<[^<>\n]{1,80} by signal\b[^<>\n]*>\s*\Z"), "killed"),
    ),
    "gemini-cli": (
        (re.compile(r"\ACommand moved to background \(PID: "), "background"),
        (re.compile(r"\ACommand was cancelled by user"), "cancelled"),
        (re.compile(r"\ACommand was automatically cancelled"), "timed out"),
        (
            re.compile(rf"^Signal: (?!\(none\))[^\n]+{_GEMINI_END}", re.MULTILINE),
            "killed",
        ),
    ),
    "antigravity-cli": (
        (re.compile(r"\A\s*The command completed successfully"), "completed"),
        (re.compile(r"\A\s*The command was cancell?ed"), "cancelled"),
        (re.compile(r"\A\s*The command (?:timed out|was terminated)"), "timed out"),
    ),
    "opencode": (
        (
            re.compile(
                r"<(?:bash|shell)_metadata>\s*(?:bash|shell) tool terminated command"
                r" after exceeding timeout[^<]*</(?:bash|shell)_metadata>\s*\Z"
            ),
            "timed out",
        ),
        (
            re.compile(
                r"<((?:(?:bash|shell)_)?metadata)>\s*User aborted the command\s*</\1>"
                r"\s*\Z"
            ),
            "aborted",
        ),
        (
            re.compile(
                r"^Command (?:exited with code (?:unknown|undefined)|stopped by user)\."
                r"[^\n]*\Z",
                re.MULTILINE,
            ),
            "killed",
        ),
        (
            re.compile(r"^Command timed out before completion\.\Z", re.MULTILINE),
            "timed out",
        ),
    ),
}
"""The beginnings or ends of results of commands that did not come to their end."""

EXIT_STATUS_FIELDS = ("exit_code", "exitCode", "exit_status", "exit")
_FAILURE_FIELDS = ("is_error", "isError")
_INTERRUPTION_FIELDS = ("interrupted", "wasInterrupted")
_TIMEOUT_FIELDS = ("timeout", "timed_out", "timedOut")
_INNER_FIELDS = ("metadata", "shellExecution", "structured", "task")


def read_ending(
    agent: str,
    tool_name: str,
    text: str,
    *,
    exit_status: object = None,
    status: object = None,
    has_failed: object = None,
) -> Ending:
    """Return how a call ended, by what its record states and by its result's text."""
    text = text.replace("\r\n", "\n")
    places = [*_REFUSALS.get(agent, ())]
    if not tool_name or is_command(tool_name) or tool_name == _PATCHING_COMMAND:
        places += _STATUS_PLACES.get(agent, ())
        if exit_status is None:
            exit_status = _find_exit_status(agent, tool_name, text, has_failed)
        if tool_name in WAITING_TOOLS:
            if match := _BACKGROUND_STATUS.search(text):
                status = match[2]
            if is_running(status):
                status = "background"
    status = next((word for place, word in places if place.search(text)), status)
    return decide_ending(exit_status=exit_status, status=status, has_failed=has_failed)


_UNTRUSTED = re.compile(
    r"\A<untrusted_context>\n(.*)\n</untrusted_context>\s*\Z", re.DOTALL
)


def unwrapped(text: str) -> str:
    """Return a result without the element that Gemini CLI puts it in."""
    match = _UNTRUSTED.match(text)
    return match[1] if match else text


def without_output(text: str, display: object) -> str:
    """Return a result of Gemini CLI without what its command printed.

    The user is shown just that, and the model is told the exit status after it.
    """
    if not isinstance(display, str) or not display:
        return text
    return text.replace(f"Output: {display}", "", 1)


def read_flags(fields: Mapping[str, object]) -> dict[str, object]:
    """Return what the flags of a result state, as arguments of ``read_ending``."""
    stated: dict[str, object] = {}
    if any(fields.get(name) is True for name in _INTERRUPTION_FIELDS):
        stated["status"] = "interrupted"
    flags = [fields.get(name) for name in _FAILURE_FIELDS]
    if True in flags or False in flags:
        stated["has_failed"] = True in flags
    is_launched = fields.get("status") == "async_launched"  # a subagent of Claude Code
    if is_launched or fields.get("backgroundTaskId"):
        stated["status"] = "background"
    return stated


def read_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return what a result states of a command, as arguments of ``read_ending``."""
    stated: dict[str, object] = {}
    inner = (fields.get(name) for name in _INNER_FIELDS)
    for holder in (*inner, fields):
        if isinstance(holder, Mapping):
            stated |= read_flags(holder)
            if isinstance(holder.get("status"), str):
                stated.setdefault("status", holder["status"])
            for name in EXIT_STATUS_FIELDS:
                if holder.get(name) is not None:
                    stated["exit_status"] = holder[name]
            if any(holder.get(name) is True for name in _TIMEOUT_FIELDS):
                stated["status"] = "timed out"
            elif holder.get("signal") or ("exit" in holder and holder["exit"] is None):
                # OpenCode writes null for the status if a signal ended the command.
                stated["status"] = "killed"
            elif holder.get("shellID") and "exit" not in holder:
                stated["status"] = "background"
    outer = fields.get("status")
    if outer and is_running(stated.get("status")) and not is_running(outer):
        stated["status"] = "background"
    success = fields.get("success")
    if isinstance(success, bool):
        stated["has_failed"] = stated.get("has_failed", False) or not success
    return stated
