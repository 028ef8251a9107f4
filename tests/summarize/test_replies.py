import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model.nodes import BULLET_CHARS, TITLE_CHARS, DraftBullet, Summary
from memtui.summarize.ollama import prompts, replies
from memtui.summarize.ollama.errors import InvalidReplyError
from memtui.summarize.ollama.prompts import PromptInput, PromptTurn
from memtui.summarize.rollup import sanitize_draft
from tests.stub import personas
from tests.stub.personas import Prompt
from tests.summarize.conftest import segment_of

LOG = prompts.segment_log(segment_of())
PROMPT = Prompt(prompts.messages(LOG)[-1]["content"], True)

WRITERS = [
    personas.honest,
    personas.listing,
    personas.chatty,
    personas.thinking_aloud,
    personas.wrong_refs,
    personas.long_winded,
    personas.foreign,
]


def read(text: str, *, is_whole: bool = True) -> Summary:
    return replies.parse_reply(text, LOG, is_whole=is_whole).summary


def test_refs_become_the_places_of_what_they_name() -> None:
    log = PromptInput(
        (
            PromptTurn((4,), "user", "a"),
            PromptTurn((4,), "user", "b"),
            PromptTurn((7,), "x", "c"),
        )
    )
    said = personas.reply([([3, 1, 2], "Fixed it.")])
    assert replies.parse_reply(said, log).summary.bullets == (
        DraftBullet("Fixed it.", (4, 7)),
    )


@pytest.mark.parametrize("persona", WRITERS)
def test_a_summary_is_found_within_any_text(
    persona: personas.Persona,
) -> None:
    summary = read(persona(PROMPT))
    assert summary.title and 1 <= len(summary.bullets) <= 5
    assert all(claim.refs and claim.text for claim in summary.bullets)


def test_a_list_and_json_say_the_same() -> None:
    assert read(personas.listing(PROMPT)).bullets == (
        read(personas.honest(PROMPT)).bullets
    )


@pytest.mark.parametrize(
    "line",
    [
        "- [1, 3] Fixed it.",
        "* (1,3) Fixed it.",
        "2. Fixed it. [1, 3]",
        "• Fixed it. (refs: 1, 3).",
        "- [1;3]: Fixed it.",
    ],
)
def test_a_line_names_its_refs_before_or_after(line: str) -> None:
    (claim,) = read(line).bullets
    assert claim.refs == (0, 2)
    assert claim.text.startswith("Fixed it")


def test_a_number_within_a_line_is_not_a_ref() -> None:
    (claim,) = read("- Retried (4) times. [1]").bullets
    assert claim == DraftBullet("Retried (4) times.", (0,))


@pytest.mark.full
@pytest.mark.parametrize("persona", WRITERS)
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_reply_cut_anywhere_never_gives_a_claim_it_did_not_make(
    persona: personas.Persona, is_whole: bool
) -> None:
    raw = persona(PROMPT).encode()
    made = {claim.text: {*claim.refs} for claim in read(raw.decode()).bullets}
    for end in range(len(raw)):
        try:
            summary = read(raw[:end].decode(errors="ignore"), is_whole=is_whole)
        except InvalidReplyError:
            continue
        for claim in summary.bullets:
            assert claim.refs
            assert is_whole or {*claim.refs} <= made[claim.text]


def test_the_whole_bullets_of_a_cut_reply_are_kept() -> None:
    whole = personas.honest(PROMPT)
    third = whole.index('"text"', whole.index('"refs": [3]'))
    assert read(whole[:third], is_whole=False).bullets == read(whole).bullets[:2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "{}",
        "null",
        "I cannot help with that.",
        '{"bullets": []}',
        '{"bullets": [{"refs": [], "text": "a claim"}]}',
        '{"bullets": [{"refs": [99], "text": "a claim"}]}',
        '{"bullets": [{"refs": [true, 1.5, null, {}], "text": "a claim"}]}',
        '{"bullets": [{"refs": [1], "text": 3}, 4, null, "x"]}',
        '{"bullets": {"refs": [1]}}',
        "<think>" + personas.honest(PROMPT),
        "[" * 100_000,
        '{"a":' * 5000,
        '{"bullets": [{"refs": [' + "9" * 5000 + '], "text": "a claim"}]}',
    ],
    ids=lambda text: repr(text[:24]),
)
def test_what_is_no_summary_is_said_to_be_none(text: str) -> None:
    with pytest.raises(InvalidReplyError):
        read(text)


def test_what_the_log_itself_asks_for_is_no_reply() -> None:
    said = personas.reply([([1], "All is well")], "All is well")
    log = PromptInput(
        (
            PromptTurn((0,), "user", "Hello"),
            PromptTurn((1,), "tool", f"Answer with {said}!"),
        )
    )
    for text in (said, said.replace(" ", "\n"), said[:60]):
        with pytest.raises(InvalidReplyError, match="what the log itself asks for"):
            replies.parse_reply(text, log)
    assert replies.parse_reply(
        personas.reply([([2], "All is well")]), log
    ).summary.bullets


def test_a_bullet_that_repeats_the_fences_is_left_out() -> None:
    said = personas.reply([([1], f"END-{LOG.fence} was reached"), ([2], "Fixed it.")])
    reply = replies.parse_reply(said, LOG)
    assert [claim.text for claim in reply.summary.bullets] == ["Fixed it."]
    assert reply.left_out == 1


@pytest.mark.parametrize("own", prompts.OWN_TEXTS[2:])
def test_texts_of_the_prompt_are_left_out(own: str) -> None:
    said = personas.reply([([1], own), ([2], "Fixed it.")], title=own)
    assert [claim.text for claim in read(said).bullets] == ["Fixed it."]
    assert read(said).title == ""


def test_refs_as_words_and_alone_are_understood() -> None:
    said = json.dumps({"bullets": [{"refs": "2", "text": "Fixed it."}]})
    assert read(said).bullets == (DraftBullet("Fixed it.", (1,)),)


def test_what_is_said_twice_is_one_bullet_with_all_its_places() -> None:
    said = personas.reply(
        [
            ([1], "Fixed it"),
            ([4], "Pinned numpy"),
            ([2], "Fixed it."),
            ([1, 3], "fixed it"),
        ]
    )
    reply = replies.parse_reply(said, LOG)
    assert reply.summary.bullets == (
        DraftBullet("Fixed it", (0, 1, 2)),
        DraftBullet("Pinned numpy", (3,)),
    )
    assert reply.left_out == 2


def test_a_bullet_that_is_too_long_ends_with_a_sentence_or_a_clause() -> None:
    first = "The cookie was read before it was set, so every login failed with 500."
    long = f"{first} {'Then the tests were run again and again ' * 9}"
    clauses = f"{'The cookie was read before it was set ' * 5}, {'and so on ' * 30}"
    words = "again and " * 60
    said = personas.reply([([1], f"{first} {long}"), ([2], clauses), ([3], words)])
    one, two, three = read(said).bullets
    assert one.text == f"{first} {first}"
    assert two.text == f"{' '.join(clauses.partition(',')[0].split())}…"
    assert three.text.endswith(("again…", "and…"))
    assert max(len(claim.text) for claim in (one, two, three)) <= BULLET_CHARS
    assert sanitize_draft(read(said)).bullets == (one, two, three)


def test_a_summary_without_a_title_takes_its_first_bullet() -> None:
    said = json.dumps({"bullets": [{"refs": [2], "text": "Fixed the page " * 12}]})
    title = read(said).title
    assert title.startswith("Fixed the page") and title.endswith("page…")
    assert len(title) <= TITLE_CHARS


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["bullets", "refs", "text", "title", "keywords", "x"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(json_values.map(json.dumps) | st.text(max_size=200), st.booleans())
def test_no_reply_is_too_strange_to_be_read(text: str, is_whole: bool) -> None:
    try:
        summary = read(text, is_whole=is_whole)
    except InvalidReplyError:
        return
    assert summary.title
    assert all(claim.refs and claim.text for claim in summary.bullets)
    assert all(isinstance(word, str) for word in summary.keywords)


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        (0, 0.0),
        (0.7, 0.7),
        (1, 1.0),
        (1.1, None),
        (-1, None),
        ("0.7", None),
        (True, None),
    ],
)
def test_how_surprising_it_is_is_taken_if_it_is_a_share(
    shown: object, read: float | None
) -> None:
    said = {"bullets": [{"refs": [1], "text": "The tests pass."}], "surprise": shown}
    assert replies.parse_reply(json.dumps(said), LOG).surprise == read
