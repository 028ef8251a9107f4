"""Asking: one summary from its first request to its last, whatever goes wrong between.

What is done about each fault stands with it in ``llm.faults``. No prompt is sent again
as it was, unless the server never read it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from memtui.llm import budgets, languages, prompts, replies
from memtui.llm.faults import (
    BadReply,
    Busy,
    Fault,
    ModelMissing,
    ModeRefused,
    NothingToSay,
    OutOfMemory,
    Overflow,
    TooLong,
    Unwell,
)
from memtui.llm.prompts import Log, Turn
from memtui.llm.replies import Reply
from memtui.llm.serving import Serving
from memtui.llm.standing import SEED, Tries
from memtui.model.summaries import Summary

WARM = 0.3
"""The temperature of the one other try after a bad reply, and of further attempts."""


APART = 100
"""How far apart the seeds of attempts are, more than one of them ever uses."""


HALVES = 3
"""How often a part is made smaller before it is given up."""


SHRINKS = 0.6
"""To what share of themselves the parts' bullets must come down by being summarised
again; else they are joined as they are."""


class _Smaller(Exception):
    """The same text must be asked about in smaller parts; ``fault`` says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__()
        self.fault = fault


class _NotAccepted(BadReply):
    """A draft that can be read, and would not be shown."""


class SummaryRequest:
    """One summary's requests.

    A log's parts are judged together: one of them may hold little that can be said with
    its source's words, so that its second draft is taken as it is.
    """

    def __init__(self, serving: Serving, attempt: int = 0) -> None:
        """Remember whom to ask, and how often the same was asked before."""
        self._serving, self._attempt = serving, attempt
        self._was_short = self._was_refused = False

    async def summary(self, log: Log) -> Summary:
        """Summarise a log.

        Raises:
            Fault: It cannot be done now, or not with this model.
        """
        if not log.turns:
            raise NothingToSay("there is no text to summarise")
        serving = self._serving
        began = serving.tools.clock()
        await serving.choose()
        try:
            summary = await self._whole(log)
            if serving.facts.parts > 1 and (why := serving.tools.accept(summary, log)):
                serving.memory.record.add(serving.found.model, BadReply(why))
                raise BadReply(why, summary)
        except BadReply as fault:
            fault.summary = fault.summary and self._measured(fault.summary, began)
            raise
        return self._measured(summary, began)

    def _measured(self, summary: Summary, began: float) -> Summary:
        """A summary with what was measured since then while it was written."""
        serving = self._serving
        model = serving.found.model
        took_ms = round((serving.tools.clock() - began) * 1000)
        facts = replace(
            serving.facts,
            model=model.name,
            digest=model.digest,
            server=serving.found.server,
            prompt=prompts.VERSION,
            mode=serving.mode.value,
            total_ms=took_ms,
        )
        return replace(summary, generation=facts)

    async def _whole(self, log: Log) -> Summary:
        """The summary of a log of any length: part by part, then merged."""
        serving, done = self._serving, list[Summary]()
        before = serving.facts.parts
        waiting = deque((part, 0) for part in serving.cut(log))
        while waiting:
            part, depth = waiting.popleft()
            if len(anew := serving.cut(part)) > 1:
                waiting.extendleft((piece, depth) for piece in reversed(anew))
                continue
            serving.part = before + len(done) + 1
            serving.parts = serving.part + len(waiting)
            is_part, was_counted = bool(depth or waiting or done), serving.is_counted
            try:
                done.append(await self._asked(part, is_part=is_part))
                if waiting and serving.is_counted is not was_counted:
                    waiting = self._anew(waiting)
            except _Smaller as smaller:
                pieces = budgets.halves(part)
                if isinstance(smaller.fault, Overflow) and len(serving.cut(part)) > 1:
                    pieces = serving.cut(part)
                if depth >= HALVES or pieces == [part]:
                    raise smaller.fault from None
                waiting.extendleft((piece, depth + 1) for piece in reversed(pieces))
        facts = serving.facts
        serving.facts = replace(facts, parts=facts.parts + len(done))
        return done[0] if len(done) == 1 else await self._merged(log, done)

    def _anew(self, waiting: Sequence[tuple[Log, int]]) -> deque[tuple[Log, int]]:
        """What is left of a log in fewer parts, if the model now allows for that."""
        parts = [part for part, _ in waiting]
        turns = tuple(turn for part in parts for turn in part.turns)
        cut = self._serving.cut(replace(parts[0], turns=turns))
        depth = max(depth for _, depth in waiting)
        return deque((part, depth) for part in min(cut, parts, key=len))

    async def _merged(self, log: Log, done: Sequence[Summary]) -> Summary:
        """The summaries of a log's parts as one; joined as they are where few."""
        most, places = log.bullets[1], dict[str, set[int]]()
        joined = replies.joined(done, most)
        for claim in (claim for one in done for claim in one.bullets):
            places.setdefault(claim.text, set()).update(claim.refs)
        notes = [Turn(tuple(sorted(at)), "note", note) for note, at in places.items()]
        merged = prompts.of_notes(log, notes)
        parts = len(self._serving.cut(merged))
        if len(notes) <= most or (parts > 1 and parts * most > len(notes) * SHRINKS):
            return joined
        try:
            return await self._whole(merged)
        except (BadReply, TooLong):
            return joined

    async def _asked(self, log: Log, *, is_part: bool) -> Summary:
        """The summary of one part, after as many tries as the faults allow.

        Args:
            log: What is asked about.
            is_part: Whether it is a part of a longer log.

        Raises:
            _Smaller: It must be asked about in smaller parts.
            Fault: There is none.
        """
        serving, tries = self._serving, Tries()
        if self._attempt:
            tries.temperature, tries.seed = WARM, SEED + APART * self._attempt
        was_warmed, spare = False, None
        while True:
            try:
                return self._read(await serving.write(log, tries), log)
            except (Busy, Unwell) as fault:
                await serving.rest(tries, fault)
            except BadReply as fault:
                if is_part and isinstance(fault, _NotAccepted):
                    spare = fault.summary
                else:
                    serving.memory.record.add(serving.found.model, fault)
                if was_warmed and spare:
                    return spare
                if was_warmed:
                    raise
                was_warmed = True
                tries.temperature, tries.seed = WARM, tries.seed + 1
            except TooLong as fault:
                return self._salvaged(fault, log)
            except Overflow as fault:
                raise _Smaller(fault) from fault
            except (OutOfMemory, ModelMissing, ModeRefused) as fault:
                await self._changed(fault)

    async def _changed(self, fault: Fault) -> None:
        """Ask differently: half the text, another model, another mode.

        Raises:
            _Smaller: Half the text is to be tried first.
            Fault: There is no other way to ask.
        """
        if isinstance(fault, OutOfMemory):
            if not self._was_short:
                self._was_short = True
                raise _Smaller(fault)
            await self._serving.smaller(fault)
        elif isinstance(fault, ModelMissing):
            await self._serving.without(fault)
        else:
            if self._was_refused:
                raise fault
            self._was_refused = True
            await self._serving.relearn()

    def _read(self, text: str, log: Log, *, is_whole: bool = True) -> Summary:
        """What a model wrote, as a draft that may be taken.

        Raises:
            BadReply: It may not.
        """
        serving = self._serving
        reply: Reply = replies.read(text, log, is_whole=is_whole)
        said = " ".join(claim.text for claim in reply.summary.bullets)
        spoken = [turn.text for turn in log.turns if turn.role != "tool"]
        if languages.is_foreign(said, "\n".join(spoken)):
            why = "the reply is in another language than the log"
            raise BadReply(why, reply.summary)
        if reason := serving.tools.accept(reply.summary, log):
            raise _NotAccepted(reason, reply.summary)
        serving.memory.record.add(serving.found.model, None)
        left_out = serving.facts.dropped_bullets + reply.left_out
        serving.facts = replace(
            serving.facts, dropped_bullets=left_out, surprise=reply.surprise
        )
        return reply.summary

    def _salvaged(self, fault: TooLong, log: Log) -> Summary:
        """The whole bullets of a reply that reached its limit.

        Raises:
            _Smaller: It has none.
        """
        try:
            summary = self._read(fault.text, log, is_whole=False)
        except BadReply:
            raise _Smaller(fault) from fault
        self._serving.facts = replace(self._serving.facts, was_truncated=True)
        return summary
