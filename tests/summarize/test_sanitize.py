from hypothesis import given
from hypothesis import strategies as st

from memtui.model.nodes import BULLET_CHARS, TITLE_CHARS, DraftBullet, Summary
from memtui.summarize.rollup import sanitize_draft

anything = st.text(max_size=400)


def test_a_long_bullet_is_cut_on_a_word() -> None:
    draft = Summary("t", (DraftBullet("word " * 100),), ())
    (bullet,) = sanitize_draft(draft).bullets
    assert bullet.text.endswith("word…")
    assert len(bullet.text) <= BULLET_CHARS


def test_a_summary_without_a_title_still_has_one() -> None:
    assert sanitize_draft(Summary(" \n", (), ())).title == "Untitled"


@given(anything, st.lists(anything, max_size=4), st.lists(anything, max_size=4))
def test_whatever_is_drafted_fits_the_screen(
    title: str, bullets: list[str], keywords: list[str]
) -> None:
    draft = Summary(title, tuple(map(DraftBullet, bullets)), tuple(keywords))
    kept = sanitize_draft(draft)
    assert 0 < len(kept.title) <= TITLE_CHARS
    for text in [kept.title, *(bullet.text for bullet in kept.bullets)]:
        assert text == " ".join(text.split()) != ""
        assert len(text) <= BULLET_CHARS
    assert len(set(kept.keywords)) == len(kept.keywords)
    assert sanitize_draft(kept) == kept
