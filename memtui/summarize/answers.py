"""Find what the user answered to the questions that an agent asked by a call.

Claude Code and OpenCode tell the agent ``"question"="answer", "question"="answer"``,
Codex and Gemini CLI the answers as JSON, in the order of the questions, and Copilot CLI
"User selected: answer".
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_COPILOT_ANSWER = re.compile(r"\s*User (?:selected|responded): (.+)", re.DOTALL)


def find_answers(given: Mapping[str, object], output: str) -> Iterator[tuple[str, str]]:
    """Yield each question of a call with its answer.

    Args:
        given: What the call was given.
        output: What it told the agent.
    """
    asked = given.get("questions", [given])
    items = asked if isinstance(asked, list) else []
    fields = [item for item in items if isinstance(item, dict)]
    questions = [str(item["question"]) for item in fields if item.get("question")]
    if not questions:
        return
    try:
        values = json.loads(output)["answers"].values()
        answers = [", ".join(_list_texts(value)) for value in values]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        answers = _split(questions, output)
    for question, answer in zip(questions, answers, strict=False):
        if answer := " ".join(answer.split()):
            yield " ".join(question.split()), answer


def _list_texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        value = value.get("answers", [])
    return list(map(str, value)) if isinstance(value, list) else [str(value)]


def _split(questions: Sequence[str], output: str) -> list[str]:
    """Return the text after each question, up to the quotation mark before the next."""
    starts = [output.find(f'"{question}"="') for question in questions]
    if -1 in starts:
        told = _COPILOT_ANSWER.match(output)
        return [told[1]] if told and len(questions) == 1 else []
    answers = []
    for question, start, end in zip(
        questions, starts, [*starts[1:], len(output)], strict=True
    ):
        begin = start + len(question) + len('""="')
        answers.append(output[begin : max(begin, output.rfind('"', begin, end))])
    return answers
