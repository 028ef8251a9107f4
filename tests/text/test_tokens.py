"""Estimated token counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtui.text import tokens


def test_only_empty_text_has_no_tokens() -> None:
    assert tokens.estimate("") == 0
    assert tokens.estimate(" ") == 1


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("the cat sat on the mat", 6, 6),
        ("getUserById", 3, 5),
        ("评审会议的纪要", 7, 7),
        ("2024", 2, 3),
        ("a\n\n\nb", 3, 4),
        ("a\n \t \n  b", 3, 4),
        ("1234567", 4, 4),
        ("x = {'a': [1]}", 7, 9),
    ],
)
def test_words_camel_case_punctuation_and_lines_count(
    text: str, least: int, most: int
) -> None:
    assert least <= tokens.estimate(text) <= most


@pytest.mark.parametrize(
    ("text", "count"),  # counted with cl100k_base
    [
        (
            "Мы решили хранить сеансы корзины в базе данных, потому что память сервера"
            " пропадает при каждом обновлении.",
            42,
        ),
        (
            "장바구니 세션은 서버를 새로 배포할 때마다 사라지기 때문에 데이터베이스에"
            " 저장하기로 결정했습니다.",
            46,
        ),
        (
            "カートのセッションはサーバーを更新するたびに消えるので、データベースに保存"
            "することにしました。",
            41,
        ),
        (
            "قررنا حفظ جلسات السلة في قاعدة البيانات لأن ذاكرة الخادم تضيع عند كل"
            " تحديث.",
            54,
        ),
        ("החלטנו לשמור את הסל במסד הנתונים כי הזיכרון של השרת נמחק בכל עדכון.", 65),
        ("│ ✓ tests │\n├──────────┤\n│ ✗ types │", 17),
    ],
)
def test_estimate_in_other_scripts_is_close(text: str, count: int) -> None:
    assert 0.9 * count <= tokens.estimate(text) <= 1.25 * count


def test_very_long_text_is_counted_by_its_beginning() -> None:
    line = "some words of a log\n"
    whole = tokens.estimate(line * 1000) * 1000
    assert tokens.estimate(line * 1_000_000) == pytest.approx(whole, rel=0.01)


@given(st.text())
def test_any_text_can_be_counted(text: str) -> None:
    assert tokens.estimate(text) >= (1 if text else 0)
