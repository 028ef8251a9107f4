"""The options of Ollama from the settings."""

import pytest

from memtui import workspace
from memtui.model.work import Facts
from memtui.settings import Settings
from tests.stub.server import Stub
from tests.summarize.conftest import TALK, make_events


@pytest.mark.parametrize(
    ("set_to", "sent"),
    [("5m", "5m"), ("1h30m", "1h30m"), ("300", 300), ("-1", -1), (" 0 ", 0)],
)
def test_keep_alive_is_sent_as_ollama_reads_it(
    stub: Stub, set_to: str, sent: object
) -> None:
    settings = Settings(summaries_url=stub.url, summaries_keep_alive=set_to)
    ollama = workspace.create_ollama(settings, lambda _: None)
    ollama.summarize_events(make_events(TALK), Facts())
    assert {chat.body["keep_alive"] for chat in stub.chats()} == {sent}
