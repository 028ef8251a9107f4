"""Tool calls and their answers: two records of a transcript, one event of a memory.

A call waits for its answer, in the cursor's state too where a file ends between them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

from memtui.memory import calls
from memtui.sources.records import Awaited


@dataclass(frozen=True, slots=True)
class Call:
    """A call whose answer has not been read yet."""

    key: str
    """What the agent calls it: its ``tool_use_id`` or ``call_id``."""
    tool_name: str = ""
    said: str = ""
    """The call in a line."""
    tool_input: str = ""
    """All it was given, as compact JSON."""
    session_id: str = ""
    subagent: str = ""
    uuid: str = ""
    line: int = 0
    at_ms: int = 0

    def text(self, answer: str) -> str:
        """What the event of this call says: the call in a line, then the answer."""
        return f"{self.said or 'tool'}\n{answer}".rstrip()

    def metadata(self, **more: str) -> dict[str, str]:
        """What the event of this call tells beside its text; nothing that is empty."""
        about = {
            "tool_name": self.tool_name,
            "tool_input": self.tool_input,
            "tool_use_id": self.key,
        }
        return {name: value for name, value in (about | more).items() if value}


def call(key: str, tool_name: str, given: object, **about: str | int) -> Call:
    """A call of a tool.

    Args:
        key: What the agent calls it.
        tool_name: Which tool.
        given: What it was given.
        about: The fields of ``Call`` that say where it stands.
    """
    said, compact = calls.describe(tool_name, given), calls.compact(given)
    return Call(key, tool_name, said, compact, **about)  # type: ignore[arg-type]


class Waiting:
    """The calls of one file that wait for their answers."""

    def __init__(self, state: object = ()) -> None:
        """Go on with the calls of an earlier reading's state."""
        kept = state if isinstance(state, list) else []
        known = [Call(**fields) for fields in kept if isinstance(fields, Mapping)]
        self._calls = {call.key: call for call in known}

    def add(self, call: Call) -> None:
        """A call was made."""
        self._calls[call.key] = call

    def replaced(self, call: Call) -> Call | None:
        """A call was made, or is told again.

        Returns:
            Another call that waited under the same name; it will have no answer.
        """
        before = self._calls.get(call.key)
        told = call.said, call.tool_input
        if before and call.key and (before.said, before.tool_input) == told:
            return None
        self._calls[call.key] = call
        return before

    def answered(self, key: str) -> Call:
        """The call that has this answer now; of one never met only its key is known."""
        return self._calls.pop(key, None) or Call(key)

    def broken_off(self, session_id: str, subagent: str) -> list[Call]:
        """The calls of a conversation that will have no answer: it was interrupted."""
        mine = [
            call
            for call in self._calls.values()
            if (call.session_id, call.subagent) == (session_id, subagent)
        ]
        for call in mine:
            del self._calls[call.key]
        return mine

    def has(self, key: str) -> bool:
        """Whether a call waits for its answer."""
        return key in self._calls

    def awaited(self) -> Iterator[Awaited]:
        """Say of each that its answer is awaited."""
        for call in self._calls.values():
            yield Awaited("tool call without an answer yet", call.line)

    def state(self) -> list[dict[str, object]]:
        """What another reading must know of them."""
        return [asdict(call) for call in self._calls.values()]
