import pytest

from memtui.text.prose import is_in_other_script

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
