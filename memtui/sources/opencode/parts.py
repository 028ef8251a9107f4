"""What an OpenCode message is made of: its parts, and when it is finished."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from memtui.memory import events
from memtui.sources.records import text_of, time_of

PATIENCE = timedelta(seconds=20)
"""How long after the last word of a prompt its parts are waited for."""

ABANDONED = timedelta(hours=1)
"""How long after its last change an uncompleted message is given as it is."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message; its fields are None where they are no JSON object."""

    name: str
    fields: dict[str, object] | None

    @property
    def kind(self) -> str:
        """What part it is: a ``text``, a ``tool``, a ``file`` and so on."""
        return text_of((self.fields or {}).get("type"))


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its parts, in their order."""

    name: str
    session_id: str
    fields: dict[str, object] | None
    parts: list[Part]
    created: object = None
    """When it was made, in milliseconds, if its fields do not say so."""
    changed_ms: int = 0
    """When it or a part of it was written last."""

    @property
    def at(self) -> datetime | None:
        """When it was made."""
        made = inner(self.fields, "time").get("created")
        return time_of(self.created if made is None else made)

    def is_finished(self, now: datetime) -> bool:
        """Whether nothing more of it is awaited."""
        fields = self.fields
        silence_ms = events.to_ms(now) - self.changed_ms
        if fields is None or silence_ms > ABANDONED / timedelta(milliseconds=1):
            return True
        if self.is_prompt:
            return silence_ms > PATIENCE / timedelta(milliseconds=1)
        return bool(inner(fields, "time").get("completed") or fields.get("error"))

    @property
    def is_prompt(self) -> bool:
        """Whether it will be whole a little later, though nothing should change."""
        return (self.fields or {}).get("role") != "assistant"


def file(fields: Mapping[str, object]) -> str:
    """What stands for a file: its type, name and size, never its bytes."""
    mime = text_of(fields.get("mime")) or "unknown type"
    url = text_of(fields.get("url"))
    size = ""
    if url.startswith("data:"):
        size = f"{len(url.partition(',')[2]) * 3 // 4 // 1024 or 1} kB"
    about = (mime, text_of(fields.get("filename")), size)
    kind = "image" if mime.startswith("image/") else "file"
    return f"[{kind}: {', '.join(filter(None, about))}]"


def joined(texts: list[str]) -> str:
    """Texts as one, without those that say nothing."""
    return "\n\n".join(text for text in texts if text.strip())


def inner(fields: Mapping[str, object] | None, name: str) -> Mapping[str, object]:
    """An object within an object; an empty one where it is missing or no object."""
    held = (fields or {}).get(name)
    return held if isinstance(held, dict) else {}
