"""How well search finds: labelled questions, asked of a store made as a person's is.

LoCoMo (Maharana et al., 2024): questions about long conversations, the sessions and the
turns that answer them; each conversation is imported as a project of its own and asked
within it, the adversarial questions left out. And questions over real coding sessions
(``coding_queries.md``), asked of all of them. Summaries are the extractive ones. Run it
from the checkout:

    python -m benchmarks.finding [--layers] [--misses]
"""

import argparse
import json
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.transcripts import DATA
from memtui import configuration
from memtui.house import House
from memtui.memory.filters import Filters
from memtui.memory.found import HITS, Layer
from memtui.memory.scopes import Scope
from memtui.paths import in_home
from memtui.recall import search as searching

LOCOMO = DATA / "retrieval" / "locomo"
CODING = Path(__file__).with_name("coding_queries.jsonl")
FOLDERS = ("claude_code", "codex", "copilot_cli")
APART = timedelta(seconds=30)
"""How far apart the turns of a LoCoMo session are set: it tells only when it began."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and what answers it."""

    text: str
    kind: str
    sessions: frozenset[str]
    turns: frozenset[str] = frozenset()
    project: str = ""


@dataclass(slots=True)
class Score:
    """How well the questions of a set were answered."""

    firsts: list[int] = field(default_factory=list)
    """The place of the first right session of each; -1 where there is none."""
    took_ms: list[float] = field(default_factory=list)

    def line(self) -> str:
        """The score in a line."""
        count = len(self.firsts)
        right = [place for place in self.firsts if place >= 0]
        hits = [sum(place < most for place in right) / count for most in (1, 3, 10)]
        rank = sum(1 / (place + 1) for place in right) / count
        took = sorted(self.took_ms)
        return (
            f"hit@1 {hits[0]:.3f}  hit@3 {hits[1]:.3f}  hit@10 {hits[2]:.3f}"
            f"  MRR {rank:.3f}  median {median(took):.0f} ms"
            f"  p95 {took[int(count * 0.95)]:.0f} ms  of {count}"
        )
