"""Finding the user's answers to questions that an agent asks by a call."""

from typing import Any

import pytest

from memtui.summarize.answers import find_answers

DATABASE = {"question": "Which database?", "options": [{"label": "SQLite"}]}
CACHE = {"question": 'Keep the "old" cache?', "options": []}
TWO = {"questions": [DATABASE, CACHE]}


@pytest.mark.parametrize(
    "output",
    [
        'User has answered your questions: "Which database?"="SQLite",'
        ' "Keep the "old" cache?"="No, drop it". You can now continue.',
        'Your questions have been answered: "Which database?"="SQLite",'
        ' "Keep the "old" cache?"="No, drop it" user notes: it is big. Go on.',
        '{"answers":{"db":{"answers":["SQLite"]},"c":{"answers":["No, drop it"]}}}',
        '{"answers": {"0": "SQLite", "1": "No, drop it"}}',
        '{"answers": {"Which database?": ["SQLite"], "c": ["No", "drop it"]}}',
    ],
)
def test_each_question_has_its_answer(output: str) -> None:
    assert list(find_answers(TWO, output)) == [
        ("Which database?", "SQLite"),
        ('Keep the "old" cache?', "No, drop it"),
    ]


@pytest.mark.parametrize("verb", ["selected", "responded"])
def test_a_single_question_may_stand_in_the_call_itself(verb: str) -> None:
    given = {"question": "Which database?", "choices": ["SQLite"]}
    answers = list(find_answers(given, f"User {verb}: SQLite,\nwith WAL"))
    assert answers == [("Which database?", "SQLite, with WAL")]


@pytest.mark.parametrize(
    ("given", "output"),
    [
        (TWO, "User selected: SQLite"),
        (TWO, ""),
        (TWO, '{"answers": []}'),
        (TWO, '{"answers": {"db": {"answers": []}, "c": ""}}'),
        (TWO, "[" * 100_000),
        ({"questions": "Which database?"}, '"Which database?"="SQLite"'),
        ({"questions": [1, {"question": ""}]}, '""="SQLite"'),
        ({"command": "ls"}, "User selected: SQLite"),
        ({"question": "Which?"}, "The user is away: nobody answered"),
    ],
)
def test_what_is_no_answer_is_none(given: dict[str, Any], output: str) -> None:
    assert list(find_answers(given, output)) == []


def test_many_questions_take_linear_time() -> None:
    asked = [{"question": f"Question {number}?"} for number in range(2_000)]
    told = ", ".join(f'"{item["question"]}"="yes"' for item in asked)
    assert len(list(find_answers({"questions": asked}, told))) == 2_000
