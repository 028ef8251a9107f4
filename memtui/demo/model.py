"""The lines of a model about the demo's sessions, true or not."""

from collections.abc import Sequence

from memtui.model.calendar import TocLevel
from memtui.model.events import Event
from memtui.model.jobs import ModelCondition, ModelHealth
from memtui.model.nodes import BulletKind, DraftBullet, GenerationStats, Summary
from memtui.model.sessions import PeriodWork
from memtui.model.work import Facts

NAME = "demo-model"

PUSHES, CHECKOUT = "reconcile stock pushes", "describe checkout new colleague"

DRAFTS = (
    (
        PUSHES,
        "Stock pushes compared with the nightly sync",
        (
            "Six products differ by 1, which is the clock skew that was expected.",
            "Five products differ by more, since the supplier counts trays.",
        ),
    ),
    (
        PUSHES,
        "Stock pushes reconciled with the nightly sync",
        (
            "The quantity of a push is multiplied by pack_size.",
            "pack_size is 2 when absent.",
            "The switch to last_order_id and turning off the nightly job are open.",
            "The warehouse in Rotterdam confirmed all 3,991 products.",
        ),
    ),
    (
        CHECKOUT,
        "Migration of the checkout to Kubernetes",
        ("The checkout was moved to a Kubernetes cluster in Helsinki.",),
    ),
)
"""For each version a query that finds its session, a title, and lines. Some are wrong:
another number, a name that nobody mentioned; the last version is rejected."""


class ScriptedModel:
    """A summarizer that writes one draft."""

    def __init__(self, title: str, lines: Sequence[str]) -> None:
        self._title, self._lines = title, lines

    @property
    def identity(self) -> str:
        return NAME

    def health(self) -> ModelHealth:
        return ModelHealth(ModelCondition.READY, model=NAME)

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
        bullets = [DraftBullet(line, kind=BulletKind.OUTCOME) for line in self._lines]
        return Summary(self._title, tuple(bullets), (), GenerationStats(model=NAME))

    def summarize_children(
        self,
        level: TocLevel,
        works: Sequence[PeriodWork],
        *,
        attempt: int = 0,
    ) -> Summary:
        return Summary("", ())
