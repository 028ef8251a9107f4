"""After any sequence of operations all lines lead to their sources, and what was said
of them counts."""

import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtui.errors import MemtuiError
from memtui.model import calendar
from memtui.model.audit import AuditQuery
from memtui.model.calendar import TocLevel
from memtui.model.events import Event, EventRole
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.judgements import HIDING, Judgement, Ruling
from memtui.model.nodes import Bullet, BulletKind, DraftBullet, Summary
from memtui.model.sessions import PeriodWork
from memtui.model.verdicts import SUPPORTED
from memtui.model.work import Facts
from memtui.paths import in_home
from memtui.services import judging, versions
from memtui.services.forget import Forget
from memtui.services.integrity import Audit
from memtui.services.redact import Redaction
from memtui.services.sessions import read_card
from memtui.store import database, judgements, nodes, segments, sessions
from memtui.store.database import fetch, fetch_column, fetch_value
from memtui.store.tombstones import TombstoneKind
from memtui.summarize import rollup
from memtui.workspace import Workspace
from tests import process_state
from tests.conftest import OWN, often
from tests.message_factory import (
    AT,
    make_commit,
    make_edit,
    make_message,
    make_run,
    name_session,
    store_messages,
)
from tests.model_versions import STATS

SESSIONS = ("s0", "s1", "s2")

SECRET = "The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a"
"""What is removed by a redaction; messages are stored here without one."""

NOW = AT + timedelta(days=90)


class PlayedModel:
    """Quotes a sentence of each message, another one at each attempt."""

    identity = "ollama-1 played 123"

    def health(self) -> ModelHealth:
        return ModelHealth(ModelCondition.READY)

    def cancel(self) -> None:
        pass

    def summarize_events(
        self,
        events: Sequence[Event],
        facts: Facts,
        *,
        earlier_request: str = "",
        attempt: int = 0,
    ) -> Summary:
        bullets = []
        for event in events:
            lines = event.text.splitlines()
            text = lines[attempt % len(lines)]
            bullets.append(DraftBullet(text, (event.event_id,), BulletKind.DECISION))
        return Summary(bullets[0].text, tuple(bullets[:6]), (), STATS)

    def summarize_children(
        self, level: TocLevel, works: Sequence[PeriodWork], *, attempt: int = 0
    ) -> Summary:
        draft = rollup.summarize_period(level, works)
        return Summary(draft.title, draft.bullets, (), STATS)


@dataclass
class Sequences:
    """A store to which operations are applied."""

    workspace: Workspace
    said: int = 0
    allowed: set[str] = field(default_factory=set)
    """The segments and periods that may be made again by the operation."""
    last_version: int = 0
    made: int = 0

    # Operations; each number chooses what it is about.

    def say(self, number: int) -> None:
        session = SESSIONS[number % 3]
        day = timedelta(days=number // 3 % 5 * 9, minutes=self.said)
        at_s = day.total_seconds()
        texts = [
            (f"Please build part{self.said} of the mill.", EventRole.USER),
            (
                f"The part{number % 5} turns now.\nWheel{self.said} was greased."
                if number % 4
                else "All of it is done, as you wanted.",
                EventRole.ASSISTANT,
            ),
            (SECRET if number % 7 == 0 else "Thank you.", EventRole.USER),
        ]
        calls = [
            make_edit(f"/mill/wheel{self.said}.py", number, at_s + 0.1, session),
            make_run(f"make part{number % 3}", "Error: no mill", at_s + 0.2, session),
            make_commit(f"Mend part{self.said}", at_s + 0.3, session),
            make_run("pytest", f"{number + 1} passed in 1s", at_s + 0.4, session),
        ]
        self.said += 1
        store_messages(
            *(
                make_message(text, at_s + n, role=role, session=session)
                for n, (text, role) in enumerate(texts)
            ),
            *calls[: number % 6],
        )
        name_session(session, project=("mill", "farm")[number % 2])
        self._allow([session])

    def judge(self, number: int, ruling: Ruling) -> None:
        line = self._choose_line(number)
        if line is None:
            return
        page, bullet = line
        details = {}
        if ruling is Ruling.CORRECTED:
            details = {"words": f"Corrected{number} by hand"}
        elif ruling in (Ruling.MOVED, Ruling.ADDED):
            names = self._list_events(page)
            details = {"event_id": names[number % len(names)]}
        if ruling is Ruling.ADDED:
            bullet = Bullet(f"Added{number}", (), SUPPORTED, BulletKind.ADDED)
        with suppress(MemtuiError):  # A composed line or a title cannot be judged.
            judging.judge(page, bullet, ruling, NOW, **details)
            self._allow([page.rpartition("/")[2]])

    def undo(self, number: int) -> None:
        with database.connection():
            current = judgements.list_current("1")
        if current:
            judgement = current[number % len(current)]
            judging.undo(judgement, NOW)
            self._allow([judgement.claim.subject.split(":")[1]])

    def forget(self, number: int) -> None:
        events = self._list_events()
        if events:
            session = self._find_session(events[number % len(events)])
            words = [events[number % len(events)]]
            kind = TombstoneKind.EVENT
            if number % 5 == 0:
                kind, words = TombstoneKind.SESSION, [session]
            self._allow([session])
            workspace = self.workspace
            Forget(workspace.paths, workspace.zone, lambda: NOW).run(kind, words)

    def regenerate(self, number: int) -> None:
        if names := self._list_nodes():
            name = names[number % len(names)]
            versions.request(name, NOW)
            self._allow_above(name)
            # A model is asked for the session of a period that has only one.
            self._allow(
                self._list_sessions("n.parent_id >= ? AND n.parent_id < ?", name)
            )
            self.workspace.write_version(name, PlayedModel())

    def pin(self, number: int) -> None:
        if names := self._list_nodes():
            name = names[number % len(names)]
            history = versions.find_history(name)
            version = history.versions[number % len(history.versions)].version
            zone = self.workspace.zone
            versions.pin(name, version, zone, NOW, even_rejected=True)
            self._allow_above(name)

    def unpin(self, number: int) -> None:
        for name in self._list_nodes():
            with suppress(MemtuiError):
                versions.unpin(name, self.workspace.zone, NOW)
                self._allow_above(name)

    def redact(self, _number: int) -> None:
        workspace = self.workspace
        with database.connection():
            sql = "SELECT DISTINCT s.name FROM events e JOIN sessions s"
            rows = f"{sql} ON s.id = e.session_id WHERE e.text LIKE '%ghp_%'"
            names = fetch_column(rows)
        self._allow(names)
        Redaction(workspace.paths, workspace.zone, workspace.counter, lambda: NOW).run()

    # What they are about

    def _list_events(self, page: str = "") -> list[str]:
        name = page.rpartition("/")[2]
        with database.connection():
            return fetch_column(
                "SELECT e.id FROM events e JOIN sessions s ON s.id = e.session_id"
                " WHERE ? IN ('', s.name) ORDER BY e.id",
                name,
            )

    def _find_session(self, event_id: str) -> str:
        with database.connection():
            return str(
                fetch_value(
                    "SELECT s.name FROM events e JOIN sessions s"
                    " ON s.id = e.session_id WHERE e.id = ?",
                    event_id,
                )
            )

    def _list_nodes(self) -> list[str]:
        with database.connection():
            return nodes.list_ids()

    def _choose_line(self, number: int) -> tuple[str, Bullet] | None:
        lines = []
        for session in SESSIONS:
            with suppress(MemtuiError):
                page = judging.read_page(f"claude-code:{session}")
                lines += [(page.node_id, bullet) for bullet in page.bullets]
        return lines[number % len(lines)] if lines else None

    # What may be made again: the segments of a session and what is above them

    def _allow(self, names: Sequence[str]) -> None:
        self.allowed.update(names)
        # Its segments may be gone afterwards.
        self.allowed |= {name for name in self._allowed_nodes() if "segment" in name}

    def _list_sessions(self, condition: str, name: str) -> list[str]:
        with database.connection():
            return fetch_column(
                "SELECT s.name FROM segments g JOIN sessions s ON s.id = g.session_id"
                f" JOIN nodes n ON n.node_id = g.id WHERE {condition}",
                *calendar.day_range(name),
            )

    def _allow_above(self, name: str) -> None:
        with database.connection():
            rows = sessions.get_many(segments.get_sessions([name]).values())
        self._allow([row.session_id for row in rows.values()])
        self.allowed.update(self._ancestors(name))

    def _ancestors(self, name: str) -> set[str]:
        first, end = calendar.day_range(name)
        with database.connection():
            days = fetch_column(
                "SELECT node_id FROM nodes WHERE node_id >= ? AND node_id < ?",
                first,
                end,
            )
        above = {parent for day in {first, *days} for parent in calendar.path(day)}
        return {*above, name}

    # What holds after each operation

    def check(self) -> None:
        before = self._allowed_nodes()
        errors = self.workspace.pipeline.run_until_idle(lambda _: None)
        assert errors == []
        allowed = before | self._allowed_nodes()
        with database.connection():
            sql = "SELECT DISTINCT node_id FROM node_versions WHERE id > ?"
            made = set(fetch_column(sql, self.last_version))
            last = fetch_value("SELECT max(id) FROM node_versions")
            self.last_version = max(self.last_version, last or 0)
        assert made <= allowed
        self.made += len(made)
        self.allowed.clear()
        found = Audit(AuditQuery(), self.workspace.paths, with_tools=False).run(
            has_worker=False
        )
        assert found.damages == []
        assert found.resolved == found.lines and not found.waiting
        for session in SESSIONS:
            card = read_card("claude-code", session)
            assert [b.labelled for b in card.bullets if not b.grip_ids] == []
        self._check_judgements()

    def _allowed_nodes(self) -> set[str]:
        with database.connection():
            names = {name for name in self.allowed if name.startswith("toc:")}
            for session in self.allowed - names:
                number = sessions.get_number("claude-code", session)
                of_session = segments.list_ids(number) if number is not None else []
                names.update(of_session)
        return {above for name in names for above in self._ancestors(name)}

    def _check_judgements(self) -> None:
        with database.connection():
            current = judgements.list_current("1")
            stored = set(fetch_column("SELECT id FROM events"))
            texts = fetch("SELECT name, '— ' || outcome FROM sessions")
            for page in nodes.get_many(nodes.list_ids()):
                if page.level is not TocLevel.SEGMENT:
                    texts += [(b.session_id, b.text) for b in page.bullets]
        for judgement in current:
            assert stored.issuperset(judgement.event_ids)
            shown = self._shown_lines(judgement)
            if judgement.ruling in HIDING:
                assert (judgement.claim.kind, judgement.claim.text) not in shown
                is_fact = not judgement.is_by_model
                if judgement.claim.kind == BulletKind.OUTCOME and is_fact:
                    _, _, session = judgement.claim.subject.partition(":")
                    said = f"— {judgement.claim.text}"
                    assert not [t for name, t in texts if name == session and said in t]
                if judgement.claim.kind in (BulletKind.COMMIT, BulletKind.FILES):
                    # Each name is of one event: other lines do not have it either.
                    names = re.findall(r"part\d+|wheel\d+", judgement.claim.text)
                    of_kind = [t for kind, t in shown if kind == judgement.claim.kind]
                    said_names = re.findall(r"part\d+|wheel\d+", " ".join(of_kind))
                    assert set(names).isdisjoint(said_names)
            elif judgement.is_by_model or judgement.claim.kind == BulletKind.ADDED:
                assert (judgement.claim.kind, judgement.claim.text) in shown

    def _shown_lines(self, judgement: Judgement) -> list[tuple[str, str]]:
        card = read_card(*judgement.claim.subject.split(":", 1))
        pages = [card.bullets, *((*s.bullets, *s.further) for s in card.segments)]
        return [(b.kind, b.claim_text) for page in pages for b in page]


OPERATIONS = {
    "say": Sequences.say,
    "forget": Sequences.forget,
    "undo": Sequences.undo,
    "regenerate": Sequences.regenerate,
    "pin": Sequences.pin,
    "unpin": Sequences.unpin,
    "redact": Sequences.redact,
}

RULINGS = ("accepted", "rejected", "rejected", "corrected", "moved", "added", "done")

operations = st.lists(
    st.tuples(
        st.sampled_from(("say", "say", *RULINGS, "regenerate", *OPERATIONS)),
        st.integers(0, 60),
    ),
    min_size=4,
    max_size=12,
)


def apply(sequences: Sequences, name: str, number: int) -> None:
    if name in OPERATIONS:
        OPERATIONS[name](sequences, number)
    else:
        sequences.judge(number, Ruling(name))


MOVED_AND_REJECTED = [("moved", 1), ("rejected", 1)]

OUTCOME_SAID_BEFORE = [("say", 36), ("rejected", 1)]

FORGOTTEN = [("say", 0), ("say", 0), ("say", 0), ("forget", 0)]


@pytest.mark.fuzz
# Two stores, so that neither test takes as long as a test may.
@pytest.mark.parametrize("said", [(0, 4, 21), (5, 11, 28)])
@often(20)
@example(MOVED_AND_REJECTED)
@example(OUTCOME_SAID_BEFORE)
@example(FORGOTTEN)
@given(operations)
def test_any_sequence_keeps_what_an_audit_checks(
    said: tuple[int, ...], steps: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(in_home(Path(folder)), OWN)
        sequences = Sequences(workspace)
        try:
            for name, number in [*(("say", number) for number in said), *steps]:
                apply(sequences, name, number)
                sequences.check()
        finally:
            workspace.stop()
            process_state.close_store()
        assert sequences.made
