"""What others wrote about real conversations, each with what it is about.

No rule of ours made these bullets, and nobody says which of them are right: a subject
of a commit, sentences of summaries of meetings and of whole sessions.
"""

import json
from collections.abc import Iterator, Sequence

from benchmarks import grips, transcripts
from benchmarks.transcripts import Stretch
from memtui.model.summaries import DraftBullet
from memtui.summarize import tool_actions
from memtui.text import prose

FEWEST_WORDS = 5
"""A field of fewer words is a name, not a sentence."""


def commits(stretches: Sequence[Stretch]) -> list[grips.Asked]:
    """Subjects of commits, and what else their segment says of the work."""
    return [
        grips.Asked(
            [DraftBullet(commit.text)],
            [],
            ["" if commit.text in text else text for text in one.texts],
            one.is_held_out,
        )
        for one in stretches
        for commit in tool_actions.find_commits(one.events)
    ]


def meetings() -> list[grips.Asked]:
    """QMSum's meetings, each with the sentences of all its specific queries."""
    found: dict[str, grips.Asked] = {}
    for one in grips.meetings():
        key = "\n".join(one.turns)
        empty = grips.Asked([], [], one.turns, one.is_held_out)
        found.setdefault(key, empty).claims.extend(one.claims)
    return list(found.values())


def sessions(stretches: Sequence[Stretch]) -> list[grips.Asked]:
    """Entire's summaries of sessions, written by a model and checked by nobody."""
    found = []
    for path in sorted((transcripts.DATA / "summaries" / "entire").rglob("*.json")):
        told = json.loads(path.read_text("utf-8"))
        of_it = [one for one in stretches if one.session == told["session_id"]]
        texts = [text for one in of_it for text in one.texts]
        claims = [
            DraftBullet(part)
            for line in _lines(told["summary"])
            for part in prose.split_paragraph(line)
        ]
        if texts:
            held_out = transcripts.is_held_out(told["session_id"])
            found.append(grips.Asked(claims, [], texts, held_out))
    return found


def _lines(value: object) -> Iterator[str]:
    """The texts of a summary's fields that are sentences."""
    if isinstance(value, str) and len(value.split()) >= FEWEST_WORDS:
        yield value
    elif isinstance(value, dict | list):
        for held in value.values() if isinstance(value, dict) else value:
            yield from _lines(held)
