import pytest

from memtui.llm import languages

ENGLISH = "The login page is broken and the tests fail with an error in the cookie."
GERMAN = "Die Anmeldeseite ist kaputt und die Tests schlagen mit einem Fehler fehl."
CHINESE = "登录页面坏了，测试因为会话标识错误而失败，需要尽快修复这个问题。"
JAPANESE = "設定ファイルを修正し、テストが通るようになりました。ありがとうございます。"
CODE = "token.py:42 KeyError session_id pytest src/auth/token.py --maxfail=1 " * 5


@pytest.mark.parametrize(
    ("reply", "log"),
    [(CHINESE, ENGLISH * 3), (GERMAN * 2, ENGLISH * 3), (ENGLISH * 2, GERMAN * 3)],
)
def test_a_reply_in_another_language_is_noticed(reply: str, log: str) -> None:
    assert languages.is_foreign(reply, log)


@pytest.mark.parametrize(
    "reply",
    [
        "El archivo fue corregido y las pruebas pasan en el proyecto",
        "O arquivo foi corrigido e os testes passam no projeto para que funcione",
        "Het bestand is hersteld en de tests slagen nu weer in het project",
        "Plik został poprawiony i testy teraz przechodzą, ale nie wszystkie",
        "Dosya düzeltildi ve testler artık geçiyor ama hepsi değil",
        "登录页面的错误已经修复了",
    ],
)
def test_a_short_reply_in_another_language_is_noticed_too(reply: str) -> None:
    assert languages.is_foreign(reply, ENGLISH * 3)
    assert not languages.is_foreign(reply, reply * 3)


def test_chinese_and_japanese_are_told_apart() -> None:
    assert languages.is_foreign(CHINESE, JAPANESE)
    assert languages.is_foreign(JAPANESE, CHINESE)
    assert not languages.is_foreign(JAPANESE, JAPANESE)
    assert not languages.is_foreign("設定修正、全試験成功", JAPANESE + CODE)


@pytest.mark.parametrize(
    ("reply", "log"),
    [
        (ENGLISH, ENGLISH * 3),
        (GERMAN, GERMAN),
        (CHINESE, CHINESE + CODE),
        (CHINESE, CHINESE + ENGLISH),
        (ENGLISH, CODE),
        (ENGLISH, GERMAN + ENGLISH),
        (CODE, CHINESE + CODE),
        (ENGLISH, ""),
        ("", ENGLISH),
        ("42 %", CHINESE),
        (
            "npm error code E404 npm error 404 No match, no such tag, no as " * 3,
            ENGLISH,
        ),
    ],
)
def test_one_that_the_log_speaks_is_not(reply: str, log: str) -> None:
    assert not languages.is_foreign(reply, log)
