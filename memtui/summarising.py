"""What the settings want of a model, as plain values for who asks it."""

from typing import Any

from memtui.llm.looking import Wishes
from memtui.llm.transport import Deadlines
from memtui.settings import Settings


def wishes(settings: Settings) -> Wishes:
    """What is wanted of Ollama."""

    def value(name: str) -> Any:
        return settings.held[f"summaries.{name}"].value

    return Wishes(
        url=value("url"),
        allowed_hosts=value("allowed_hosts"),
        model=value("model"),
        window_tokens=value("window_tokens"),
        keep_alive=value("keep_alive"),
        cpu_minutes=value("cpu_minutes"),
        deadlines=Deadlines(
            connect_s=value("connect_s"),
            load_s=value("load_s"),
            first_s=value("first_token_s"),
            idle_s=value("idle_s"),
            total_s=value("total_s"),
        ),
    )
