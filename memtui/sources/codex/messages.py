"""What a Codex rollout says: prompts, replies, thoughts, and what the program put in.

Most of it stands there twice; what is told first is taken.
"""

from collections.abc import Iterator, Mapping

from memtui.memory.events import EventRole, EventType
from memtui.sources.codex import kinds as kinds
from memtui.sources.codex import texts as texts
from memtui.sources.records import Left, Reading, text_of
from memtui.sources.telling import Place, Teller
from memtui.sources.twins import Twins

Readings = Iterator[Reading]


class Messages:
    """What is said in one rollout."""

    def __init__(self, teller: Teller, state: object = None) -> None:
        """Go on with what an earlier reading was told."""
        kept = state if isinstance(state, Mapping) else {}
        self._teller = teller
        self._twins = Twins(kept.get("twins"))
        self._has_reply = kept.get("has_reply") is True

    def state(self) -> Mapping[str, object]:
        """What another reading must know of it."""
        return {"twins": self._twins.state(), "has_reply": self._has_reply}

    def is_first(self, place: Place, what: str, text: str, told: kinds.Told) -> bool:
        """Whether this was not told before by a record of another kind."""
        teller = "item" if told.is_item else told.kind
        return self._twins.is_first(what, text, teller, place.at)

    def message(self, place: Place, told: kinds.Told) -> Readings:
        """An item of the history, by its role."""
        role = told.payload.get("role")
        if role == "assistant":
            yield from self.reply(place, told)
        elif role == "user":
            yield from self.prompt(place, told)
        elif text := texts.plain(told.payload.get("content")).strip():
            kind = role if isinstance(role, str) else "message"
            yield self._teller.injected(place, text, kind, key=told.name)

    def prompt(self, place: Place, told: kinds.Told) -> Readings:
        """What the person said, and what the program said in the person's name."""
        payload = told.payload
        content = payload.get("message", payload.get("content"))
        images = [
            one
            for name in ("images", "local_images")
            if isinstance(some := payload.get(name), list)
            for one in some
        ]
        said = texts.of_person(content, images)
        if said.injected and self.is_first(
            place, *_marked(said.kind, said.injected), told
        ):
            yield self._teller.injected(place, said.injected, said.kind)
        if said.text and self.is_first(place, "prompt", said.words, told):
            yield self._teller.event(
                place,
                EventType.USER_MESSAGE,
                said.text,
                role=EventRole.USER,
                key=told.name,
                context=said.context,
            )

    def reply(self, place: Place, told: kinds.Told) -> Readings:
        """What the assistant said."""
        payload = told.payload
        content = payload.get("message", payload.get("content", payload.get("text")))
        for number, said in enumerate(texts.of_assistant(content)):
            if self.is_first(place, "reply", said.words, told):
                self._has_reply = True
                yield self._teller.event(
                    place,
                    EventType.ASSISTANT_MESSAGE,
                    said.text,
                    key=f"{told.name}/{number}" if told.name and number else told.name,
                    kind="plan" if told.kind == "Plan" else said.kind,
                    phase=text_of(payload.get("phase")),
                )

    def reasoning(self, place: Place, told: kinds.Told) -> Readings:
        """What the assistant thought."""
        found = [
            text
            for name in ("summary", "content", "text", "summary_text", "raw_content")
            if name in told.payload
            for text in kinds.texts_of(told.payload[name])
            if text.strip()
        ]
        for text in found:
            if self.is_first(place, "thought", text, told):
                yield self._teller.thought(place, text)
        if not found and told.payload.get("encrypted_content"):
            yield Left(f"{told.label}, encrypted", place.line)

    def ended(self, place: Place, told: kinds.Told) -> Readings:
        """The end of a turn; its last words count where they stand nowhere else."""
        if not self._has_reply:
            last = {"message": told.payload.get("last_agent_message")}
            yield from self.reply(place, told.with_payload(last))
        self._has_reply = False
        if error := told.payload.get("error"):
            about = error if isinstance(error, Mapping) else {"message": error}
            yield from self.error(place, told.with_payload(about))

    def error(self, place: Place, told: kinds.Told) -> Readings:
        """What went wrong."""
        about = told.payload.get("error")
        within = about if isinstance(about, Mapping) else told.payload
        text = text_of(within.get("message"))
        if text.strip() and self.is_first(place, "error", text, told):
            yield self._teller.injected(place, text, "error")

    def review(self, place: Place, told: kinds.Told) -> Readings:
        """A review was asked for."""
        if hint := text_of(told.payload.get("user_facing_hint")).strip():
            yield self._teller.injected(place, f"Review {hint}", "review")

    def letter(self, place: Place, told: kinds.Told) -> Readings:
        """What another agent wrote to this one."""
        text = texts.plain(told.payload.get("content")).strip()
        if told.is_item and text:
            author = text_of(told.payload.get("author"))
            said = f"{author}: {text}" if author else text
            yield self._teller.injected(place, said, "agent", key=told.name)
        elif told.is_item:
            yield Left(f"{told.label}, encrypted", place.line)
        else:
            yield from self.reply(place, told)

    def compacted(self, place: Place, told: kinds.Told) -> Readings:
        """The history was replaced by a summary."""
        if self.is_first(place, "compacted", "", told):
            text = text_of(told.payload.get("message"))
            start = EventType.SESSION_START
            yield self._teller.event(place, start, text, source="compact")

    def interrupted(self, place: Place, told: kinds.Told) -> Readings:
        """The turn was ended, by the person mostly."""
        self._has_reply = False
        why = text_of(told.payload.get("reason")) or "interrupted"
        if self.is_first(place, *_marked("interruption", ""), told):
            text = f"[turn aborted: {why}]"
            yield self._teller.injected(place, text, "interruption")


def _marked(kind: str, text: str) -> tuple[str, str]:
    """What an injected text is known by: a turn is aborted once, in whatever words."""
    return ("interruption", "") if kind == "interruption" else ("injected", text)
