"""Surprise scores of made-up and real sessions."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import transcripts
from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.summarize import keywords

SUBJECTS = {
    "auth": "token refresh session cookie redirect router login expiry middleware oauth"
    " header scope claim issuer",
    "billing": "invoice ledger rounding tax currency refund receipt discount customer"
    " quarter balance payment export",
    "mac": "notarization certificate keychain signing bundle entitlement staple dmg"
    " installer quarantine gatekeeper xcode",
}


def told(run: list[Event]) -> dict[str, float]:
    return keywords.surprise_terms(keywords.segment_keywords(run))


class Sessions:
    """What a store keeps for surprise: each term's sessions, and how many there are."""

    def __init__(self) -> None:
        self.holding: dict[str, set[int]] = defaultdict(set)
        self.count = 0

    def weigh(self, run: list[Event]) -> float:
        return keywords.surprise_score(told(run), self.holding, self.count)

    def add(self, *runs: list[Event]) -> None:
        for run in runs:
            for term in told(run):
                self.holding[term].add(self.count)
        self.count += 1


def said(text: str) -> list[Event]:
    return [
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=datetime(2024, 1, 15, tzinfo=UTC) + timedelta(minutes=at),
            event_type=EventType.USER_MESSAGE,
            text=text,
            source_key=str(at),
        )
        for at in range(2)
    ]


@pytest.fixture
def sessions() -> Sessions:
    kept = Sessions()
    for text in (SUBJECTS["auth"], SUBJECTS["billing"], SUBJECTS["auth"]):
        kept.add(said(text))
    return kept


def test_repeated_work_is_not_surprising(sessions: Sessions) -> None:
    assert sessions.weigh(said(SUBJECTS["auth"])) == 0.0


def test_entirely_new_terms_score_highest(sessions: Sessions) -> None:
    assert sessions.weigh(said(SUBJECTS["mac"])) == 1.0
    assert Sessions().weigh(said(SUBJECTS["mac"])) == 1.0


def test_scores_of_small_steps_and_new_subjects(
    sessions: Sessions,
) -> None:
    auth, mac = SUBJECTS["auth"].split(), SUBJECTS["mac"].split()
    gain = sessions.weigh(said(" ".join(auth[:12] + mac[:2])))
    pivot = sessions.weigh(said(" ".join(auth[:4] + mac[:10])))
    assert 0.0 < gain <= 0.3
    assert 0.5 < pivot < 1.0


def test_new_combinations_score_less_than_new_terms(
    sessions: Sessions,
) -> None:
    auth, billing, mac = (SUBJECTS[name].split()[:7] for name in SUBJECTS)
    joined = sessions.weigh(said(" ".join(auth + billing)))
    new = sessions.weigh(said(" ".join(auth + mac)))
    assert 0.0 < joined < new


def test_few_terms_score_low(sessions: Sessions) -> None:
    assert sessions.weigh(said("zeppelin")) < 0.1
    assert sessions.weigh(said("ok")) == 0.0
    assert sessions.weigh([]) == 0.0


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    kept = Sessions()
    kept.add(said("我们修复了登录页面的重定向问题，会话不再丢失"))
    again = kept.weigh(said("登录页面的重定向问题，会话丢失"))
    other = kept.weigh(said("数据库迁移到新的服务器，备份已经完成验证"))
    assert again < 0.4 < other


@given(
    st.dictionaries(st.text(max_size=3), st.floats(0.01, 50.0), max_size=60),
    st.dictionaries(st.text(max_size=3), st.sets(st.integers(0, 9)), max_size=60),
    st.integers(0, 10),
)
def test_scores_are_between_0_and_1(
    told: dict[str, float], holding: dict[str, set[int]], count: int
) -> None:
    assert 0.0 <= keywords.surprise_score(told, holding, count) <= 1.0


def test_real_sessions_have_plausible_scores(shared: Path) -> None:
    assert (shared / "claude_code").is_dir()
    runs: dict[str, list[list[Event]]] = defaultdict(list)
    for stretch in transcripts.stretches():
        runs[stretch.session].append(list(stretch.events))
    kept = Sessions()
    surprises: dict[str, float] = {}
    for name in sorted(runs, key=lambda name: runs[name][0][0].timestamp):
        surprises[name[:8]] = max(map(kept.weigh, runs[name]))
        kept.add(*runs[name])
        assert max(map(kept.weigh, runs[name])) == 0.0
    going_on = [surprises[name] for name in ("b8985a85", "c72bdaa1", "540a8f92")]
    new_subject = [surprises[name] for name in ("8ecab05f", "dbaea254", "eebd3a1f")]
    assert max(going_on) < 0.45 < 0.69 < min(new_subject)
    assert surprises["666ba1ad"] == 1.0
    assert 0.5 < sorted(surprises.values())[len(surprises) // 2] < 0.7
