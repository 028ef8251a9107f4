"""Which sentences of a model are kept, and when its version is shown."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memtui.model.events import Event
from memtui.model.nodes import Bullet, BulletKind, DraftBullet, GenerationStats, Summary
from memtui.model.verdicts import Support, Verdict
from memtui.summarize import acceptance, extractive
from memtui.summarize.acceptance import GroundedSummary, SourceTexts
from tests.summarize.conftest import TALK, told

SOURCE = SourceTexts([(who, text) for who, text in TALK])
RUSSIAN = SourceTexts(
    [
        ("user", "Почини страницу входа: она падает с ошибкой 500."),
        (
            "assistant",
            "Готово: token.py сначала задаёт session_id, тесты проходят.",
        ),
    ]
)
CHINESE = SourceTexts(
    [
        ("user", "登录页面返回 500 错误,请修复。"),
        ("assistant", "已修复:token.py 先设置 session_id,42 个测试全部通过。"),
    ]
)
ASKED = DraftBullet(
    "Fix the login page, which fails with error 500.", (0,), BulletKind.ASKED
)
OUTCOME = DraftBullet(
    "token.py sets session_id first; all 42 tests pass.", (4,), BulletKind.OUTCOME
)
DECIDED = DraftBullet(
    "The cookie is set before it is read, because it caused the error.",
    (2,),
    BulletKind.DECISION,
)


def objection(
    text: str, kind: BulletKind = BulletKind.OUTCOME, source: SourceTexts = SOURCE
) -> str:
    (rule,) = acceptance.list_objections([DraftBullet(text, (), kind)], source)
    return rule


@pytest.mark.parametrize("bullet", [ASKED, OUTCOME, DECIDED], ids=lambda one: one.kind)
def test_a_good_sentence_breaks_no_rule(bullet: DraftBullet) -> None:
    assert acceptance.list_objections([bullet], SOURCE) == [""]


@pytest.mark.parametrize(
    "text",
    [
        "The user ran `rtk git status` to check the status.",
        "The conversation was about the login page.",
        "The assistant fixed the login page in token.py.",
        "In this session, the user asked to fix the login page.",
        "User asked for a fix of the login page.",
        "The user and the assistant discussed the login page.",
        "I fixed the cookie in token.py.",
        "I’m running the tests of token.py.",
        "Now let me run the tests and lint in parallel.",
        "Let me check the login page.",
        "Пользователь попросил починить страницу входа.",
        "用户要求修复登录页面。",
    ],
)
def test_narration_is_dropped(text: str) -> None:
    source = _source_like(text)
    assert objection(text, source=source) == "narration"


def _source_like(text: str) -> SourceTexts:
    """Return the source in the script of a text."""
    if text[0] > "\u4dff":
        return CHINESE
    return RUSSIAN if text[0] > "\u0400" else SOURCE


@pytest.mark.parametrize(
    "text",
    [
        "User roles are cached for 42 tests.",
        "The session cookie is set first in token.py; all 42 tests pass.",
        "The log page shows error 500 since v2.3.1.",
        "Agent instructions are read from token.py.",
        "Now token.py sets session_id first; all 42 tests pass.",
    ],
)
def test_a_sentence_about_users_or_sessions_is_no_narration(text: str) -> None:
    assert not acceptance.is_narration(text)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Would you like me to fix the login page?", "offer"),
        ("Let me know if the login page fails again.", "narration"),
        ("If you want, the cookie can be removed, too.", "offer"),
        ("Bash: pytest tests/test_login.py", "copied line"),
        ("1 failed: KeyError: 'session_id'", "copied line"),
        ("git commit -m fix src/auth/token.py", "copied line"),
        ("def login(): { return cookie; } // session_id", "copied line"),
        ("None", "placeholder"),
        ("No decisions were made.", "placeholder"),
        ("Nothing is left open.", "placeholder"),
        ("What was wanted?", "placeholder"),
        ("…", "placeholder"),
        ("Die Anmeldung wurde von den Assistenten repariert.", ""),
    ],
)
def test_other_rules_by_name(text: str, rule: str) -> None:
    kind = BulletKind.DECISION
    assert objection(text, kind) == rule


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("The limit is 500 MB; the timeout is 60 s; both are in nginx.conf.", False),
        ("Routes /user/{id} and /team/{name} return 404 now.", False),
        ("const limit = 500;", True),
        ("if (!cookie) { return null; }", True),
        ("reset(); login();", True),
    ],
)
def test_prose_with_semicolons_or_braces_is_no_code(text: str, is_code: bool) -> None:
    assert acceptance.is_copied_line(text) is is_code


def test_a_request_that_only_the_agent_made_has_swapped_roles() -> None:
    said = "Read the cookie in src/auth/token.py before it is set."
    assert objection(said, BulletKind.ASKED) == "swapped roles"
    assert objection(said, BulletKind.OUTCOME) == ""


def test_a_result_that_only_the_user_named_has_swapped_roles() -> None:
    source = SourceTexts(
        [
            ("user", "Translate the invoices of the harbour into Danish."),
            ("assistant", "Which template is used for it?"),
        ]
    )
    text = "The invoices of the harbour are in Danish."
    assert objection(text, BulletKind.OUTCOME, source) == "swapped roles"
    assert objection(text, BulletKind.ASKED, source) == ""


def test_a_question_of_the_user_is_open_only_at_the_end() -> None:
    question = ("user", "Why is the cookie not stored as a string?")
    text = "Why the cookie is not stored as a string."
    answered = SourceTexts([*TALK, question, ("assistant", "Because it is signed.")])
    assert objection(text, BulletKind.LEFT_OPEN, answered) == "swapped roles"
    assert objection(text, BulletKind.LEFT_OPEN, SourceTexts([*TALK, question])) == ""


def test_what_another_field_says_already_is_dropped() -> None:
    again = replace(OUTCOME, kind=BulletKind.LEFT_OPEN)
    assert acceptance.list_objections([ASKED, OUTCOME, again], SOURCE) == [
        "",
        "",
        "repetition",
    ]


def test_the_opposite_of_a_sentence_is_no_repetition() -> None:
    said = ["The session slides: each request renews it for an hour."]
    opposite = "The session does not slide: no request renews it for an hour."
    assert acceptance.is_repetition("The session slides for an hour.", said)
    assert not acceptance.is_repetition(opposite, said)


def test_a_dropped_sentence_does_not_make_the_next_a_repetition() -> None:
    first = replace(OUTCOME, text=f"The user said that {OUTCOME.text}")
    assert acceptance.list_objections([first, OUTCOME], SOURCE) == ["narration", ""]


@pytest.mark.parametrize(
    ("text", "source", "rule"),
    [
        ("The login page works again; all tests pass.", RUSSIAN, "other script"),
        ("The login page works again; all tests pass.", CHINESE, "other script"),
        ("Страница входа снова работает, тесты проходят.", SOURCE, "other script"),
        ("修复了登录页面的错误,测试全部通过了。", SOURCE, "other script"),
        ("token.py сначала задаёт session_id, тесты проходят.", RUSSIAN, ""),
        ("token.py 先设置 session_id,测试全部通过。", CHINESE, ""),
    ],
)
def test_a_sentence_is_in_the_script_of_its_log(
    text: str, source: SourceTexts, rule: str
) -> None:
    assert objection(text, BulletKind.DECISION, source) == rule


@pytest.mark.parametrize(
    ("title", "rule"),
    [
        ("Login fails with error 500", ""),
        ("Code changes", "no subject"),
        ("Summary of the conversation", "no subject"),
        ("Update", "no subject"),
        ("The user asked about the login", "narration"),
        ("修复登录页面", "other script"),
    ],
)
def test_a_title_names_a_subject(title: str, rule: str) -> None:
    assert acceptance.find_title_objection(title, SOURCE) == rule


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        (
            "The hook failed on cloned tests. Let me run src alone.",
            "The hook failed on cloned tests.",
        ),
        (
            "The user asked for a fix. The cookie is set first.",
            "The cookie is set first.",
        ),
        ("All 42 tests pass. Want me to push it?", "All 42 tests pass."),
        (
            "The cookie is set first;  all 42 tests pass.",
            "The cookie is set first;  all 42 tests pass.",
        ),
        (
            "Let me run src alone. I will push it.",
            "Let me run src alone. I will push it.",
        ),
    ],
)
def test_sentences_of_a_line_that_narrate_are_left_out(line: str, kept: str) -> None:
    assert acceptance.trim(line) == kept


# When a version is shown


def written(
    kind: BulletKind, support: Support = Support.SUPPORTED, rule: str = ""
) -> Bullet:
    return Bullet("text", ("grip",), Verdict(support, objection=rule), kind)


GOOD = written(BulletKind.OUTCOME)
REQUEST = written(BulletKind.ASKED)
BAD = written(BulletKind.LEFT_OPEN, rule="narration")


@pytest.mark.parametrize(
    ("bullets", "reason"),
    [
        ([REQUEST, GOOD], ""),
        ([REQUEST, GOOD, BAD, BAD], ""),
        ([written(BulletKind.NOTE), BAD], ""),
        ([REQUEST, GOOD, BAD, BAD, BAD], "3 of 5 bullets were withheld: narration"),
        ([], "no bullet was written"),
        (
            [written(BulletKind.ASKED)],
            "it has no result that the source supports: none was written",
        ),
        (
            [written(BulletKind.OUTCOME, rule="offer"), written(BulletKind.ASKED)],
            "it has no result that the source supports: offer",
        ),
        (
            [written(BulletKind.OUTCOME, Support.WEAK)],
            "it has no result that the source supports: weak",
        ),
        (
            [written(BulletKind.NOTE, Support.UNSUPPORTED)],
            "it has no result that the source supports: unsupported",
        ),
    ],
)
def test_a_version_is_shown_if_its_result_is_supported_and_half_is_kept(
    bullets: Sequence[Bullet], reason: str
) -> None:
    assert acceptance.find_rejection(bullets) == reason


@pytest.mark.parametrize(
    "asked",
    [
        [written(BulletKind.ASKED)],
        [written(BulletKind.ASKED, rule="swapped roles")],
        [written(BulletKind.ASKED, Support.UNSUPPORTED)],
        [],
    ],
)
def test_a_card_is_shown_if_its_outcome_is_good(asked: Sequence[Bullet]) -> None:
    card = [*asked, written(BulletKind.OUTCOME), written(BulletKind.DECISION)]
    assert acceptance.find_rejection(card) == ""


@pytest.mark.parametrize(
    "text",
    [
        "The files of the ledger were checked. All tests were also reviewed.",
        "All 8 files committed.",
        "The ledger has been reviewed, and all its files were found.",
        "The file ledger.py was written successfully at: /app/ledger.py",
    ],
)
def test_what_was_looked_at_or_committed_is_no_outcome(text: str) -> None:
    assert objection(text) == "no result"
    assert objection(text, BulletKind.DECISION) == ""
    found = "The cookie was read late."
    assert objection(f"{text} {found}") == ""


@pytest.mark.parametrize(
    "text",
    [
        "The memory leak was removed.",
        "The login bug was reviewed and fixed.",
        "The changes committed to main fix the login crash.",
    ],
)
def test_what_became_of_a_problem_is_an_outcome(text: str) -> None:
    assert not acceptance.has_no_result(text)


def test_a_block_of_code_is_a_copied_line() -> None:
    assert objection("The ledger is set up:```bash\nledger list\n```") == "copied line"


def test_an_outcome_that_only_says_what_should_be_done_is_dropped() -> None:
    plan = "The cookie of token.py should be set first."
    assert objection(plan) == "plan"
    assert objection(plan, BulletKind.DECISION) == ""
    assert objection(f"{OUTCOME.text} {plan}") == ""


def test_a_request_in_polite_words_is_no_offer() -> None:
    asked = "Can you fix the login page, which fails with error 500?"
    source = SourceTexts([("user", asked), ("assistant", "The cookie was read late.")])
    assert objection(asked, BulletKind.ASKED, source) == ""


def test_a_version_is_shown_if_it_alone_names_the_work() -> None:
    bullets = [written(BulletKind.ASKED), written(BulletKind.OUTCOME, rule="narration")]
    assert acceptance.find_rejection(bullets, adds_title=True) == ""
    assert acceptance.find_rejection(bullets) != ""
    assert acceptance.find_rejection(bullets[1:], adds_title=True) != ""


@pytest.mark.parametrize(
    "unclear",
    [
        "Read late ferries (continued)",
        "0.13.0, the ferry brief",
        "Which ferries are late?",
        "The ferries that were late on the first day of…",
    ],
)
def test_the_work_is_named_anew_only_where_the_extract_is_unclear(
    unclear: str,
) -> None:
    narrated = replace(OUTCOME, text="The assistant fixed the login page.")
    drafted = Summary("Login fails with error 500", (ASKED, narrated), generation=STATS)
    extract = ground(extractive.summarize_segment(EVENTS))
    assert "narration" in ground(drafted).with_extract(extract).rejection
    renamed = replace(extract, title=unclear)
    assert ground(drafted).with_extract(renamed).rejection == ""
    untitled = ground(replace(drafted, title="Code changes"))
    assert "narration" in untitled.with_extract(renamed).rejection


# Drafts of which a part is good

EVENTS = told(TALK)
AT = datetime(2026, 8, 1, tzinfo=UTC)
STATS = GenerationStats("qwen3:4b")


def ground(draft: Summary, events: Sequence[Event] = EVENTS) -> GroundedSummary:
    return acceptance.ground_segment(draft, events, node_id="n")


def fill(*bullets: DraftBullet, title: str = "Login fails") -> GroundedSummary:
    """Ground a model's draft and add what it lacks, as the pipeline does."""
    found = ground(Summary(title, bullets, generation=STATS))
    return found.with_extract(ground(extractive.summarize_segment(EVENTS)))


def test_the_fields_that_a_model_wrote_replace_those_of_the_extract() -> None:
    kinds = [one.kind for one in fill(OUTCOME, ASKED).bullets]
    assert kinds[:2] == [BulletKind.ASKED, BulletKind.OUTCOME]
    assert kinds[-1] is BulletKind.STATE
    by_model = [one.text for one in fill(OUTCOME, ASKED).bullets if one.is_checked]
    assert by_model == [ASKED.text, OUTCOME.text]
    assert not any(one.is_quote for one in fill(OUTCOME, ASKED).bullets[:2])


def test_a_dropped_field_falls_back_to_the_line_of_the_extract() -> None:
    narrated = replace(ASKED, text="The user asked to fix the login page.")
    found = fill(narrated, OUTCOME)
    asked, outcome, *_ = found.bullets
    assert (asked.kind, asked.text) == (BulletKind.ASKED, TALK[0][1])
    assert asked.is_quote and not asked.is_checked
    assert (outcome.text, outcome.is_checked) == (OUTCOME.text, True)
    assert [one.verdict.objection for one in found.withheld] == ["narration"]
    assert found.rejection == ""


def test_a_missing_field_falls_back_too() -> None:
    asked, outcome, *_ = fill(OUTCOME).bullets
    assert (asked.text, outcome.text) == (TALK[0][1], OUTCOME.text)


def test_an_outcome_is_not_surer_than_the_state_of_the_work() -> None:
    done = replace(OUTCOME, text="Fixed: token.py sets session_id first.")
    drafted = ground(Summary("Login fails", (ASKED, done), generation=STATS))
    extract = ground(extractive.summarize_segment(EVENTS))
    *others, state = extract.bullets
    assert state.kind is BulletKind.STATE
    assert drafted.with_extract(extract).rejection == ""
    is_open = replace(extract, bullets=(*others, replace(state, text="open")))
    found = drafted.with_extract(is_open)
    assert [one.verdict.objection for one in found.withheld] == ["too sure"]
    assert found.rejection.endswith("supports: too sure")


def test_an_outcome_before_the_commit_is_overtaken() -> None:
    asked, outcome = ground(
        Summary("Login fails", (ASKED, OUTCOME), generation=STATS)
    ).bullets
    early = replace(outcome, text=f"{outcome.text} Nothing is committed.")
    drafted = GroundedSummary("Login fails", (asked, early))
    extract = ground(extractive.summarize_segment(EVENTS))
    assert drafted.with_extract(extract).rejection == ""
    state = extract.bullets[-1]
    commit = replace(state, text="Set the cookie first", kind=BulletKind.COMMIT)
    committed = replace(extract, bullets=(*extract.bullets[:-1], commit, state))
    found = drafted.with_extract(committed)
    assert found.bullets[1].text == outcome.text and not found.withheld
    only = GroundedSummary(
        "Login fails", (asked, replace(outcome, text="Not committed."))
    )
    found = only.with_extract(committed)
    assert [one.verdict.objection for one in found.withheld] == ["overtaken"]


def test_quotes_of_the_extract_stay_beside_a_models_lines_if_they_say_more() -> None:
    drafted = ground(Summary("Login fails", (ASKED, OUTCOME), generation=STATS))
    extract = ground(extractive.summarize_segment(EVENTS))
    state = extract.bullets[-1]
    more, same = (
        replace(state, text=text, kind=BulletKind.QUOTE)
        for text in ("The old cookies of the ferry expire by themselves.", OUTCOME.text)
    )
    shown = drafted.with_extract(replace(extract, bullets=(more, same, state))).bullets
    assert [one.kind.value for one in shown] == ["asked", "outcome", "quote", "state"]


def test_a_weak_field_gives_way_to_the_line_of_the_extract() -> None:
    found = fill(ASKED, replace(OUTCOME, text="token.py sets it first; 43 tests pass."))
    outcome = next(one for one in found.bullets if one.kind is BulletKind.OUTCOME)
    assert outcome.is_quote and not outcome.is_checked
    assert [one.verdict.objection for one in found.withheld] == ["weak"]


def test_a_field_that_repeats_a_line_of_the_extract_is_dropped() -> None:
    narrated = replace(OUTCOME, text="The assistant fixed the login page.")
    again = replace(OUTCOME, kind=BulletKind.DECISION)
    found = fill(ASKED, narrated, again)
    rules = [one.verdict.objection for one in found.withheld]
    assert rules == ["narration", "repetition"]
    assert not any(one.kind is BulletKind.DECISION for one in found.bullets)


def test_a_list_without_fields_stays_a_list() -> None:
    found = fill(replace(OUTCOME, kind=BulletKind.NOTE))
    assert [one.kind for one in found.bullets] == [BulletKind.NOTE, BulletKind.STATE]


def test_all_lines_have_grips_of_the_version() -> None:
    found = fill(ASKED, OUTCOME, DECIDED)
    known = {grip.grip_id for grip in found.grips}
    assert all(one.grip_ids and {*one.grip_ids} <= known for one in found.bullets)


def test_a_title_that_says_less_than_the_request_is_not_accepted() -> None:
    extract = extractive.summarize_segment(EVENTS)
    assert fill(OUTCOME, title="Code changes").title == extract.title
    assert fill(OUTCOME, title="Login fails again").title == extract.title
    title = "Fix the login page that fails with error 500 since v2.3.1"
    assert fill(OUTCOME, title=title).title == title


def test_a_draft_is_judged_before_it_is_stored_as_afterwards() -> None:
    good = Summary("t", (ASKED, OUTCOME))
    assert acceptance.check_draft(good, TALK) == ""
    narrated = replace(OUTCOME, text="The user fixed the login page in token.py.")
    reason = acceptance.check_draft(Summary("t", (narrated,)), TALK)
    assert reason == "it has no result that the source supports: narration"
