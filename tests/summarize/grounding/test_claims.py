"""Verdicts on bullets: which wording is found in the source."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.model import events
from memtui.model.events import Event, EventType
from memtui.model.nodes import DraftBullet
from memtui.model.verdicts import (
    QUOTE_HASH_BYTES,
    SUPPORTED_SHARE,
    WEAK_SHARE,
    Support,
    Verdict,
    VerdictFeatures,
)
from memtui.summarize.grounding import claims as grounding_claims
from memtui.summarize.grounding.claims import ChildBullet
from memtui.summarize.grounding.passages import PASSAGE_CHARS, PassageIndex

TALK = [
    "The login page shows a blank screen after the redirect.",
    "I read src/router.py. The redirect drops the session cookie in 3 of 12 tests.",
    "Edit: src/router.py\nupdated",
    "Bash: pytest tests/router\n12 passed in 0.4s",
    "Invoices: totals are rounded twice. `Ledger.total` rounds once more at the end.",
    "Edit: src/ledger.py\nupdated",
    "The cache is enabled by default and does not need `REDIS_URL` any longer.",
    "Die Rechnungen werden jetzt nur noch einmal gerundet, und zwar in ledger.py.",
    "我们修复了登录页面的重定向问题，会话 cookie 不再丢失。测试全部成功。",
]


def verdict(bullet: str, *refs: int, texts: list[str] = TALK) -> Verdict:
    return grounding_claims.check_bullet(DraftBullet(bullet, refs), PassageIndex(texts))


def quoted(found: Verdict, texts: list[str] = TALK) -> list[str]:
    return [texts[one.index][one.start : one.end] for one in found.quotes]


@pytest.mark.parametrize(
    ("bullet", "place"),
    [
        ("The redirect drops the session cookie in 3 of 12 tests.", 1),
        ("Redirects were dropping session cookies", 1),
        ("Invoice totals were being rounded twice", 4),
        ("The user said that the login page shows a blank screen after redirecting", 0),
        ("Rechnungen werden nur noch einmal gerundet, in ledger.py", 7),
        ("修复登录页面的重定向问题，会话 cookie 不再丢失", 8),
        ("登录页面 redirect: 会话 cookie 不再丢失", 8),
    ],
)
def test_wording_in_the_source_is_supported(bullet: str, place: int) -> None:
    found = verdict(bullet)
    assert found.support is Support.SUPPORTED, found.features
    assert found.quotes[0].index == place


@pytest.mark.parametrize(
    "bullet",
    [
        "Kubernetes autoscaling was configured for the staging cluster",
        "Die Datenbank wurde auf den neuen Server umgezogen",
        "数据库迁移到新的服务器",
        "",
        "…",
    ],
)
def test_wording_not_in_the_source_is_unsupported(bullet: str) -> None:
    assert verdict(bullet).support is Support.UNSUPPORTED


@pytest.mark.parametrize(
    ("bullet", "token"),
    [
        ("The redirect drops the session cookie in src/ledger.py", "src/ledger.py"),
        ("The redirect drops the session cookie in 4 of 12 tests", "4"),
        ("The redirect drops the session cookie in four of twelve tests", "4"),
        ("Totals are rounded twice: `Ledger.sum` rounds once more", "Ledger.sum"),
        ("The cache does not need `REDIS_HOST` any longer", "REDIS_HOST"),
        ("Rechnungen werden nur noch einmal gerundet, in router.py", "router.py"),
    ],
)
def test_a_missing_name_or_number_makes_a_bullet_weak(bullet: str, token: str) -> None:
    found = verdict(bullet)
    assert found.features.missing == (token,)
    assert found.support is Support.WEAK


def test_numbers_written_out_and_grouped_are_the_same_numbers() -> None:
    texts = ["All 1,290 tests passed in three runs."]
    found = verdict("1290 tests passed in 3 runs", texts=texts)
    assert found.support is Support.SUPPORTED
    assert verdict("1291 tests passed in 3 runs", texts=texts).support is Support.WEAK


def test_the_number_of_a_list_item_is_ignored() -> None:
    found = verdict("7. The redirect drops the session cookie")
    assert found.features.missing == ()


def test_a_number_said_of_something_else_is_missing() -> None:
    texts = ["Step 6: deploy the site. All three checks pass and the 9 jobs are done."]
    assert verdict("All 6 checks pass", texts=texts).features.missing == ("6",)


def test_a_name_said_in_another_sentence_about_something_else_is_missing() -> None:
    texts = ["We read LangGraph.\nTodoMVC is set up in the container and runs."]
    found = verdict("LangGraph is set up in the container and runs", texts=texts)
    assert found.support is Support.WEAK


@pytest.mark.parametrize(
    "bullet",
    [
        "The redirect does not drop the session cookie",
        "The redirect never drops the session cookie",
        "The redirect fails to drop the session cookie",
        "The redirect doesn't drop the session cookie",
        "The cache is enabled by default and needs `REDIS_URL`",
        "Die Rechnungen werden nicht einmal gerundet, in ledger.py",
        "修复了登录页面的重定向问题，会话 cookie 丢失",
    ],
)
def test_negation_on_one_side_makes_a_bullet_weak(bullet: str) -> None:
    found = verdict(bullet)
    assert found.features.negation_differs
    assert found.support is Support.WEAK


def test_different_forms_of_negation_are_equal() -> None:
    texts = ["The parser can't load the export data of this package."]
    found = verdict("The parser cannot load the package's export data", texts=texts)
    assert found.support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("bullet", "pair"),
    [
        ("The cache is disabled by default", ("disabl", "enabl")),
        (
            "The login page shows a blank screen before the redirect",
            ("befor", "after"),
        ),
        ("修复了登录页面的重定向问题，测试全部失败", ("失败", "成功")),
    ],
)
def test_an_opposite_makes_a_bullet_weak(bullet: str, pair: tuple[str, str]) -> None:
    found = verdict(bullet)
    assert pair in found.features.opposites
    assert found.support is Support.WEAK


def test_verdicts_on_both_sides_of_each_limit() -> None:
    for limit, below, above in (
        (WEAK_SHARE, Support.UNSUPPORTED, Support.WEAK),
        (SUPPORTED_SHARE, Support.WEAK, Support.SUPPORTED),
    ):
        assert VerdictFeatures(covered=limit - 0.001).support is below
        assert VerdictFeatures(covered=limit).support is above


def test_a_quote_is_verbatim_and_its_hash_detects_changes() -> None:
    found = verdict("Redirects were dropping session cookies")
    (text,) = quoted(found)
    assert text == "The redirect drops the session cookie in 3 of 12 tests."
    digest = hashlib.blake2b(text.encode(), digest_size=QUOTE_HASH_BYTES).hexdigest()
    assert found.quotes[0].text_hash == digest
    assert {"redirect", "session", "cooki"} <= set(found.matched)


def test_a_bullet_moves_to_the_event_that_supports_it() -> None:
    found = verdict("Invoice totals were being rounded twice", 0, 3)
    assert found.is_repaired
    assert found.quotes[0].index == 4
    assert found.support is Support.SUPPORTED


def test_a_correctly_cited_event_is_kept() -> None:
    texts = ["Deploy the canary today.", "Something else.", "Deploy the canary today."]
    found = verdict("The canary is to be deployed today", 2, texts=texts)
    assert not found.is_repaired
    assert found.quotes[0].index == 2


def test_invalid_refs_are_ignored() -> None:
    found = verdict("Invoice totals were being rounded twice", 99, -1)
    assert found.support is Support.SUPPORTED
    assert not found.is_repaired


def test_an_action_line_needs_each_of_its_actions() -> None:
    found = verdict("Edited router.py, ledger.py; ran pytest tests/router", 2, 3, 5)
    assert found.support is Support.SUPPORTED
    assert [quote.index for quote in found.quotes] == [2, 5, 3]
    wrong = verdict("Edited router.py, parser.py; ran pytest tests/router")
    assert wrong.support is not Support.SUPPORTED


def test_two_clauses_may_rest_on_two_passages() -> None:
    bullet = (
        "The redirect was dropping the session cookie, and invoice totals are rounded"
        " twice"
    )
    found = verdict(bullet, 1, 4)
    assert found.support is Support.SUPPORTED
    assert [quote.index for quote in found.quotes] == [1, 4]
    half = verdict(f"{bullet.partition(',')[0]}, and Kubernetes scales staging pods up")
    assert half.support is Support.WEAK


LISTED = (
    "Bash: rtk bun run test\nExit code 2\n  50→12. **Record Deletion**\nnot 77 done"
)


@pytest.mark.parametrize(
    "bullet",
    [
        "Bash: rtk bun run test Exit code 2 50→12. **Record Deletion**",
        "Exit code 2 50→12. **Record Deletion** not 77 done",
    ],
)
def test_verbatim_text_is_supported_across_lines(
    bullet: str,
) -> None:
    found = verdict(bullet, texts=["Something else.", LISTED])
    assert found.support is Support.SUPPORTED
    assert quoted(found, ["Something else.", LISTED])[0].split() == bullet.split()


def test_a_part_of_a_sentence_is_not_a_quotation() -> None:
    texts = ["It is not so that the importer of crossings drops all the late boats."]
    cut = "the importer of crossings drops all the late boats"
    assert verdict(cut, texts=texts).support is Support.WEAK


def test_a_segment_is_checked_against_its_events() -> None:
    run = conversation(TALK)
    (found,) = grounding_claims.check_against_events(
        [DraftBullet("Invoice totals were rounded twice")], run
    )
    assert run[found.quotes[0].index].text == TALK[4]


def conversation(texts: list[str]) -> list[Event]:
    return [
        events.make(
            agent="claude-code",
            session_id="s1",
            timestamp=datetime(2024, 1, 15, 9, tzinfo=UTC) + timedelta(minutes=at),
            event_type=EventType.USER_MESSAGE,
            text=text,
            source_key=str(at),
        )
        for at, text in enumerate(texts)
    ]


def test_a_parents_bullet_is_checked_against_the_childs_bullet_and_its_events() -> None:
    leaves = tuple(conversation(TALK[:2]))
    below = [
        ChildBullet("Redirects dropped the session cookie", events=leaves),
        ChildBullet("Totals of invoices are rounded once", events=leaves),
        ChildBullet("The cache is enabled", Verdict(Support.WEAK)),
    ]
    claims = [
        DraftBullet("The redirect dropped session cookies", (0,)),
        DraftBullet("Invoice totals are being rounded once", (1,)),
        DraftBullet("The billing service was rewritten", (1,)),
        DraftBullet("The cache is enabled", (2,)),
    ]
    kept, drifted, invented, weak = grounding_claims.check_against_children(
        claims, below
    )
    assert kept.support is Support.SUPPORTED
    assert kept.quotes[0].index == 0
    assert drifted.support is Support.UNSUPPORTED
    assert invented.support is Support.UNSUPPORTED
    assert weak.support is Support.WEAK


def test_an_unchanged_bullet_of_a_child_keeps_its_verdict() -> None:
    deeds = "Edited a.py, b.py, c.py, d.py; ran pytest tests/router"
    below = [
        ChildBullet(deeds, events=tuple(conversation(["Edit: a.py\nupdated", TALK[3]])))
    ]
    (found,) = grounding_claims.check_against_children(
        [DraftBullet(deeds, (0,))], below
    )
    assert found.support is Support.SUPPORTED


def test_a_blob_does_not_support_everything() -> None:
    blob = " ".join(f"redirect{n} drops{n} cookie session" for n in range(900))
    found = verdict("The redirect drops the session cookie", texts=[blob, *TALK[1:2]])
    assert found.quotes[0].index == 1
    assert all(quote.end - quote.start <= PASSAGE_CHARS for quote in found.quotes)


def test_wrapped_lines_are_read_as_one_sentence() -> None:
    texts = ["The importer now keeps its place after each of the files it\nhas read."]
    assert quoted(
        verdict("It keeps its place after each file", texts=texts), texts
    ) == [texts[0]]


@given(st.lists(st.text(max_size=300), max_size=5), st.text(max_size=300))
def test_quotes_are_always_verbatim(texts: list[str], bullet: str) -> None:
    source = PassageIndex(texts)
    for claim in (DraftBullet(bullet, (0, 2)), *map(DraftBullet, texts)):
        found = grounding_claims.check_bullet(claim, source)
        for quote in found.quotes:
            shown = texts[quote.index][quote.start : quote.end]
            digest = hashlib.blake2b(
                shown.encode("utf-8", "replace"), digest_size=QUOTE_HASH_BYTES
            )
            assert shown
            assert quote.text_hash == digest.hexdigest()
        assert 0.0 <= found.features.covered <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "added",
    [
        ", and the nightly deployment to Frankfurt failed",
        " because the customer complained",
        ", weil der Kunde protestierte laut",
        " using Kubernetes autoscaling pods",
    ],
)
def test_an_unsupported_clause_makes_a_bullet_weak(added: str) -> None:
    bullet = f"The redirect drops the session cookie in 3 of 12 tests{added}"
    found = verdict(bullet)
    assert found.support is Support.WEAK
    assert found.features.missing


def test_halves_of_two_sentences_are_not_one() -> None:
    texts = [
        "The importer reads archived messages lazily whenever the user scrolls upward.",
        "Our billing exporter writes quarterly statements to encrypted cloud buckets.",
    ]
    bullet = "The importer reads archived messages lazily to encrypted cloud buckets"
    assert verdict(bullet, texts=texts).support is Support.WEAK


@pytest.mark.parametrize(
    "bullet", ["redirects", "The cookie", "fixed", "rounded", "登录"]
)
def test_a_bullet_that_says_too_little_is_weak(bullet: str) -> None:
    texts = [*TALK, "It is fixed."]
    assert verdict(bullet, texts=texts).support is Support.WEAK


@pytest.mark.parametrize("bullet", ["src/router.py", "Blank screen", "登录页面"])
def test_a_name_or_two_words_are_enough_to_check(bullet: str) -> None:
    assert verdict(bullet).support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        ("npm test passed with 14 tests", "npm test hardly passed with 14 tests"),
        ("npm test passed with 14 tests", "npm test nearly passed with 14 tests"),
        (
            "The cache is correct after the reload",
            "The cache is nearly correct after it",
        ),
        ("Line 4 is the limit", "Line 4 is nearly the limit"),
        ("The migration of users is done", "The migration of users is almost done"),
        ("Die Anmeldung wird gesichert", "Die Anmeldung wird kaum gesichert"),
        ("Die Tests haben bestanden", "Die Tests haben beinahe bestanden"),
        ("所有测试都通过了", "所有测试几乎都通过了"),
        ("登录测试通过了", "登录测试差点通过了"),
    ],
)
def test_nearly_counts_as_negation(text: str, bullet: str) -> None:
    for said, shown in ((text, bullet), (bullet, text)):
        found = verdict(shown, texts=[said])
        assert found.features.negation_differs, (said, shown)
    assert verdict(bullet, texts=[bullet]).support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        ("The import takes 30 minutes", "The import takes nearly 30 minutes"),
        ("The two runs are the same", "The two runs are nearly the same"),
        ("It is a fast parser of logs", "It is a fast parser of logs"),
    ],
)
def test_nearly_before_a_quantity_is_no_negation(text: str, bullet: str) -> None:
    assert not verdict(bullet, texts=[text]).features.negation_differs


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        (
            "Gesichert wird die Datenbank nachts",
            "Gesichert wird die Datenbank tagsüber",
        ),
        ("Die Tests der Anmeldung sind grün", "Die Tests der Anmeldung sind rot"),
        ("Geprüft wird nachdem gesichert ist", "Geprüft wird bevor gesichert ist"),
        ("用户要求删除旧的日志文件", "用户拒绝删除旧的日志文件"),
    ],
)
def test_opposites_in_other_languages_are_found(text: str, bullet: str) -> None:
    found = verdict(bullet, texts=[text])
    assert found.features.opposites
    assert found.support is Support.WEAK


@pytest.mark.parametrize(
    ("bullet", "word"),
    [
        ("All quays are late", "all"),
        ("Every boat of the northern quay was fixed", "every"),
        ("Alle boats of the northern quay are late", "alle"),
    ],
)
def test_some_does_not_support_all(bullet: str, word: str) -> None:
    texts = ["Boats of the northern quay are late.", "A boat of the quay was fixed."]
    found = verdict(bullet, texts=texts)
    assert word in found.features.missing
    assert found.support is Support.WEAK


@pytest.mark.parametrize(
    ("text", "bullet"),
    [
        ("Each boat of the quay was fixed", "All boats of the quay were fixed"),
        ("14 tests of the parser passed", "All 14 tests of the parser passed"),
        ("The parser rejects nothing", "The parser rejects nothing at all"),
    ],
)
def test_all_is_supported_by_its_synonyms(text: str, bullet: str) -> None:
    assert verdict(bullet, texts=[text]).support is Support.SUPPORTED
