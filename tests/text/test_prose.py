import pytest

from memtui.text.prose import is_in_other_script, is_translated

ENGLISH = "The login page is broken and the tests fail with an error in the cookie."
GERMAN = "Die Anmeldeseite ist kaputt und die Tests schlagen mit einem Fehler fehl."
CHINESE = "登录页面坏了，测试因为会话标识错误而失败，需要尽快修复这个问题。"
JAPANESE = "設定ファイルを修正し、テストが通るようになりました。ありがとうございます。"
RUSSIAN = "Страница входа сломана, тесты падают с ошибкой в файле сессии."
CODE = "token.py:42 KeyError session_id pytest src/auth/token.py --maxfail=1 " * 5


@pytest.mark.parametrize(
    ("reply", "log"),
    [
        (CHINESE, ENGLISH * 3),
        ("登录页面的错误已经修复了", ENGLISH * 3),
        (RUSSIAN, ENGLISH * 3),
        (ENGLISH, RUSSIAN * 3),
        (ENGLISH * 2, CHINESE * 3),
        (JAPANESE, CHINESE),
    ],
)
def test_a_reply_in_a_script_that_the_log_does_not_use_is_noticed(
    reply: str, log: str
) -> None:
    assert is_in_other_script(reply, log)


@pytest.mark.parametrize(
    ("reply", "log"),
    [
        (ENGLISH, ENGLISH * 3),
        (GERMAN, ENGLISH),
        (CHINESE, CHINESE + CODE),
        (CHINESE, CHINESE + ENGLISH),
        (JAPANESE, JAPANESE),
        ("設定修正、全試験成功", JAPANESE + CODE),
        (ENGLISH, CODE),
        (CODE, CHINESE + CODE),
        (ENGLISH, ""),
        ("", ENGLISH),
        ("42 %", CHINESE),
        ("token.py", CHINESE),
    ],
)
def test_a_reply_in_a_script_of_the_log_is_not(reply: str, log: str) -> None:
    assert not is_in_other_script(reply, log)


POLISH = (
    "Sprawdź mi plik main.tf, czy wszystko jest w porządku, bo wczoraj zmieniałem"
    " podsieci i nie jestem pewny, czy tablice routingu są nadal przypisane. Masz dwa"
    " bloki o tej samej nazwie, dlatego plan się nie uda. Zmień nazwę drugiego bloku i"
    " uruchom plan jeszcze raz, a potem zapisz wynik w pliku z notatkami."
)
DRAFT = "The configuration is correct, and the plan is to create four of the subnets."


def test_english_about_a_log_in_another_language_is_translated() -> None:
    assert is_translated(DRAFT, POLISH)
    assert not is_translated(POLISH, POLISH)
    assert not is_translated(DRAFT, DRAFT * 5)


def test_a_short_log_or_one_in_notes_is_in_no_other_language() -> None:
    assert not is_translated(DRAFT, "Popraw błąd logowania")
    notes = "Add retry logic; increase timeout; rename helper functions; bump version. "
    assert not is_translated(DRAFT, notes * 8)
