"""Make the bullets of a summary of its draft: clean them, or join those of children."""

from collections.abc import Sequence
from dataclasses import replace

from memtui.model.events import clean
from memtui.model.nodes import Bullet
from memtui.model.summaries import BULLET_CHARS, TITLE_CHARS, DraftBullet, Summary
from memtui.model.verdicts import Support, Verdict, VerdictFeatures, worst
from memtui.text import analyzer, prose


def sanitize(draft: Summary, title_chars: int = TITLE_CHARS) -> Summary:
    """Return a draft without control characters, line ends, empty or long bullets."""
    bullets = tuple(
        replace(bullet, text=text)
        for bullet in draft.bullets
        if (text := _to_line(bullet.text, BULLET_CHARS))
    )
    keywords = (_to_line(word, TITLE_CHARS) for word in draft.keywords)
    return replace(
        draft,
        title=_to_line(draft.title, title_chars) or "Untitled",
        bullets=bullets,
        keywords=tuple(dict.fromkeys(word for word in keywords if word)),
    )


def _to_line(text: str, limit: int) -> str:
    return prose.shorten_to_sentences(" ".join(clean(text).split()), limit)


def join_children(draft: Summary, row: Sequence[Bullet]) -> tuple[Bullet, ...]:
    """Return bullets that are composed of children's, with the grips of all of these.

    Args:
        draft: The draft; ``refs`` are indexes into ``row``.
        row: All children's bullets, in order.
    """
    bullets = []
    for claim in draft.bullets:
        below = [row[at] for at in claim.refs if 0 <= at < len(row)]
        grip_ids = dict.fromkeys(name for one in below for name in one.grip_ids)
        support = worst([one.support for one in below]) if below else Support.SUPPORTED
        features = VerdictFeatures(1.0)
        spans = tuple(dict.fromkeys(s for one in below for s in one.verdict.spans))
        matched = tuple(sorted(set(analyzer.query_terms(claim.text))))
        verdict = Verdict(support, features, matched, spans=spans)
        bullets.append(create_bullet(claim, tuple(grip_ids), verdict))
    return tuple(bullets)


def create_bullet(
    claim: DraftBullet, grip_ids: tuple[str, ...], verdict: Verdict
) -> Bullet:
    return Bullet(
        claim.text,
        grip_ids,
        verdict,
        claim.kind,
        claim.project,
        claim.session_id,
        claim.effort,
    )
