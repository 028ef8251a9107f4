import pytest

from memtui.summarize.ollama.scripts import main_script

ENGLISH = "The login page is broken and the tests fail with an error in the cookie."
CHINESE = "登录页面坏了，测试因为会话标识错误而失败，需要尽快修复这个问题。"
JAPANESE = "設定ファイルを修正し、テストが通るようになりました。ありがとうございます。"
RUSSIAN = "Страница входа сломана, тесты падают с ошибкой в файле сессии."
CODE = "token.py:42 KeyError session_id pytest src/auth/token.py --maxfail=1 " * 5


@pytest.mark.parametrize(
    ("text", "script"),
    [
        (ENGLISH, "latin"),
        (CHINESE + CODE, "cjk"),
        (CHINESE + ENGLISH, "cjk"),
        (JAPANESE, "kana"),
        (RUSSIAN + CODE, "cyrillic"),
        ("42 % of `token.py`", ""),
        ("", ""),
    ],
)
def test_code_and_names_do_not_decide_on_the_script(text: str, script: str) -> None:
    assert main_script(text) == script
