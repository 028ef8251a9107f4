"""Make stores with summaries, roll-ups and both indexes.

They contain the conversations of ``benchmarks.conversations`` and one long session. All
stages run once, as in ``memtui work --until-idle``, with the extractive summarizer. In
large stores the summaries of segments only quote (see
``benchmarks.quick_summarizer``), which more than halves the time. A store is made once
and reused:

    python -m benchmarks.summarized_stores 10000 100000
"""

import argparse
import random
import shutil
import time
from datetime import UTC, datetime, timedelta
from itertools import islice

from benchmarks import conversations, quick_summarizer
from benchmarks.processes import CACHE
from memtui.model.events import to_ms
from memtui.paths import Paths, in_home
from memtui.settings import Settings
from memtui.store import database, events, queues, segments, sessions
from memtui.workspace import Workspace

VERSION = 1
"""Goes up when the same number of messages would give another store."""

LONG_SHARE, LONGEST = 10, 47_000
"""The long session has one message for so many others, and at most so many."""

LONG = "long-session"
"""What the long session is called."""

LARGE = 50_000
"""From so many messages on the summaries only quote."""

REST_S = 20.0
"""How often it is told how far a store is, in seconds."""


def settings() -> Settings:
    """What all these stores are opened with."""
    return Settings(store_time_zone="UTC", summaries_provider="extractive")


def home(messages: int) -> Paths:
    """The places of a digested store of so many messages; it is made where missing."""
    place = CACHE / f"ui-{VERSION}-{messages}"
    if not place.exists():
        made = conversations.home(CACHE, messages)
        draft = place.with_suffix(".part")
        shutil.rmtree(draft, ignore_errors=True)
        shutil.copytree(made.store.parent, draft)
        _digest(in_home(draft), messages)
        draft.rename(place)
    return in_home(place)


def _digest(paths: Paths, messages: int) -> None:
    if messages >= LARGE:
        quick_summarizer.use()
    workspace = Workspace(paths, settings())
    begun_s = told_s = time.monotonic()
    try:
        _keep_long(min(messages // LONG_SHARE, LONGEST))
        with database.transaction():
            _estimate()
            rows = database.db.execute_sql(
                "SELECT '', min(at_ms), session_id FROM events GROUP BY session_id"
            )
            queues.clear_rows(queues.UPDATE_TOC)
            queues.add_segment_updates(rows.fetchall())

        def tell(_: object) -> None:
            nonlocal told_s
            if (now_s := time.monotonic()) - told_s > REST_S:
                told_s = now_s
                left = {row.action: row.count for row in queues.count_rows_by_action()}
                print(f"{now_s - begun_s:.0f} s: {left}", flush=True)

        workspace.pipeline.lock.acquire()
        if errors := workspace.pipeline.run_until_idle(tell):
            raise errors[-1]
        with database.connection():
            assert not queues.count_rows()
            assert not segments.list_pending(to_ms(datetime.max.replace(tzinfo=UTC)), 1)
    finally:
        workspace.stop()
    print(f"{messages:,} messages digested in {time.monotonic() - begun_s:.0f} s")


def _estimate() -> None:
    """Give events about their tokens: sessions are cut by how much was said."""
    for said in (
        "INSERT INTO events_unlocked DEFAULT VALUES",
        "UPDATE events SET tokens = length(text) / 4",
        "DELETE FROM events_unlocked",
    ):
        database.db.execute_sql(said)


def _keep_long(length: int) -> None:
    """Keep a session that goes on for days, after all others."""
    long = conversations.Conversation(
        agent="claude-code",
        project="harbour",
        name=LONG,
        at=conversations.BEGIN + timedelta(days=conversations.DAYS),
        length=length,
        is_helped=False,
    )
    said = long.said(random.Random(conversations.SEED))
    while batch := list(islice(said, conversations.AT_ONCE)):
        with database.transaction():
            events.add(batch, route="transcript")
            sessions.update_metadata(long.facts)


def main() -> None:
    """Make those that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("messages", type=int, nargs="+")
    for messages in parser.parse_args().messages:
        home(messages)


if __name__ == "__main__":
    main()
