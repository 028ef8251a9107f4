"""Snippets hold what answers, whatever stands around it."""

from datetime import UTC

import pytest

from memtui.search import query, snippets


@pytest.mark.parametrize(
    "text",
    [
        "x " * 300 + "the zebra " + "a" * 900,
        "漢字" * 300 + " zebra " + "漢字" * 300,
        "zebra " + "b" * 900,
        "a" * 900 + " zebra in it, and more words" * 9,
    ],
)
def test_a_long_run_does_not_push_out_what_answers(text: str) -> None:
    told = snippets.best_line([text], query.parse("zebra", UTC))
    assert "zebra" in told
    assert len(told) <= snippets.MAX_CHARS + 2
    assert told.strip("…") in text
