"""Verdicts as they are kept with their bullets: compact JSON."""

import json
from typing import Any

from memtui.memory.verdicts import Features, Span, Support, Verdict


def stored(verdict: Verdict) -> str:
    """A verdict's features, matched words and quotes; what is empty is left out."""
    features = verdict.features
    told: dict[str, Any] = {
        "covered": round(features.covered, 4),
        "terms": features.terms,
        "hard": features.hard,
        "missing": features.missing,
        "negated": features.is_negated_otherwise,
        "opposites": features.opposites,
        "matched": verdict.matched,
        "spans": [(s.event_id, s.start, s.end, s.text_hash) for s in verdict.spans],
        "repaired": verdict.is_repaired,
    }
    kept = {name: value for name, value in told.items() if value}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def read(support: str, kept: str) -> Verdict:
    """A verdict as it was kept."""
    told = json.loads(kept)
    return Verdict(
        support=Support(support),
        features=Features(
            covered=told.get("covered", 0.0),
            terms=told.get("terms", 0),
            hard=tuple(told.get("hard", ())),
            missing=tuple(told.get("missing", ())),
            is_negated_otherwise=told.get("negated", False),
            opposites=tuple((one, other) for one, other in told.get("opposites", ())),
        ),
        matched=tuple(told.get("matched", ())),
        spans=tuple(Span(*one) for one in told.get("spans", ())),
        is_repaired=told.get("repaired", False),
    )
