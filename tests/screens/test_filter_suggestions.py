"""Filters are completed as they are typed."""

import pytest

from memtui.services.browse import ScopeChoices
from memtui.tui.screens.search import FilterSuggester

THERE = ScopeChoices(
    (("claude-code", 9), ("codex", 3)), (("my shop", 4), ("shop", 2)), (("retries", 1),)
)


@pytest.mark.parametrize(
    ("typed", "whole"),
    [
        ("token ag", None),
        ("token age", "token agent:"),
        ("agent:co", "agent:codex"),
        ("agent:CL", "agent:CLaude-code"),
        ("x project:", "x project:shop"),
        ("keyword:re", "keyword:retries"),
        ("level:day,we", "level:day,week"),
        ("by:m", "by:model"),
        ("has:", "has:supported"),
        ("role:assi", "role:assistant"),
        ("agent:codex", None),
        ("agent:nobody", None),
        ("token", None),
        ("", None),
    ],
)
async def test_last_word_is_completed_to_a_filter(
    typed: str, whole: str | None
) -> None:
    suggester = FilterSuggester()
    suggester.set_parts(THERE)
    assert await suggester.get_suggestion(typed) == whole
