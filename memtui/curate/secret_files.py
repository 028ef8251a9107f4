"""Secrets in the files of the hooks directory: news, drafts, quarantine."""

from collections import Counter as Tally
from datetime import datetime, timedelta

from memtui.memory import secrets
from memtui.sources import remnants
from memtui.sources.spool import DRAFTS, Spool

WRITTEN_FOR = timedelta(minutes=1)
"""How long a hook may take to write its file; nobody touches a draft before."""


def clean(
    spool: Spool, now: datetime, *, is_tried: bool = False
) -> tuple[int, Tally[str]]:
    """Take the secrets out of all files.

    Args:
        spool: The hooks directory.
        now: The time: a draft that may still be written to is left to its hook.
        is_tried: Only count.

    Returns:
        How many files held a secret, and how many secrets of each kind there were.
    """
    count, all_kinds = 0, Tally[str]()
    for box, letter in spool.everything():
        if box == DRAFTS and now - letter.received_at < WRITTEN_FOR:
            continue
        raw, found = remnants.without_secrets(letter.raw)
        kinds = Tally(found)
        said = [secrets.redact(line) for line in spool.said(box, letter.name)]
        for line in said:
            kinds.update(line.kinds)
        if not kinds:
            continue
        count += 1
        all_kinds += kinds
        if not is_tried:
            spool.rewrite(box, letter, raw, [line.text for line in said])
    return count, all_kinds
