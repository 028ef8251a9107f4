"""The settings of who summarises."""

import re

from memtui.memory.setting import Setting

_DURATION = re.compile(r"[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|ms|s|m|h))+")
_SECONDS = re.compile(r"[+-]?\d+")


def keep_alive(text: str) -> str | int:
    """How long a model stays, as Ollama takes it: a number alone is one of seconds."""
    said = text.strip()
    return int(said) if _SECONDS.fullmatch(said) else said


def _no_duration(text: str) -> str:
    said = keep_alive(text)
    if isinstance(said, int) or _DURATION.fullmatch(said):
        return ""
    return "say how long: 5m, 1h30m, a number of seconds, 0: not at all, -1: for ever"


AUTO, OLLAMA, EXTRACTIVE = "auto", "ollama", "extractive"
"""Who may summarise: a model if there is one, nobody but a model, or no model."""

MODELS = (
    Setting(
        "summaries.provider",
        AUTO,
        "Who summarises. auto: memtui itself at once, by quoting, and a model of Ollama"
        " on this machine later, if there is one. ollama: the same, but the want of a"
        " model is reported. extractive: no model is ever asked.",
        choices=(AUTO, OLLAMA, EXTRACTIVE),
    ),
    Setting(
        "summaries.model",
        "",
        "The model of Ollama, such as qwen3:4b. Empty: one that is loaded, or the best"
        " one there is. A model that runs in the cloud is never asked.",
    ),
    Setting(
        "summaries.url",
        "http://127.0.0.1:11434",
        "Where Ollama is. OLLAMA_HOST and proxies are not looked at.",
    ),
    Setting(
        "summaries.allowed_hosts",
        (),
        "Other machines that summaries.url may name. They are sent what was said in"
        " your conversations. Empty: this machine alone.",
    ),
    Setting(
        "summaries.window_tokens",
        0,
        "The model's window. 0: the one it is loaded with, else 8192.",
        unit="tokens",
        least=0,
    ),
    Setting(
        "summaries.keep_alive",
        "5m",
        "How long Ollama keeps the model loaded after a summary: 5m, 1h30m, a number of"
        " seconds, 0 for not at all, -1 for ever.",
        check=_no_duration,
    ),
    Setting(
        "summaries.cpu_minutes",
        15.0,
        "How long a model may work in an hour when it runs without a graphics card."
        " What one summary takes beyond it is held against the next hours; 0: never.",
        unit="minutes",
        least=0,
    ),
    Setting(
        "summaries.connect_s",
        2.0,
        "How long to wait for Ollama to accept a connection.",
        unit="seconds",
        least=0.1,
    ),
    Setting(
        "summaries.load_s",
        300.0,
        "How long to wait for a model to be loaded.",
        unit="seconds",
        least=1,
    ),
    Setting(
        "summaries.first_token_s",
        20.0,
        "How long to wait for the first word, beside the time to read the prompt.",
        unit="seconds",
        least=1,
    ),
    Setting(
        "summaries.idle_s",
        60.0,
        "How long to wait for the next word.",
        unit="seconds",
        least=1,
    ),
    Setting(
        "summaries.total_s",
        600.0,
        "How long one reply may take in all.",
        unit="seconds",
        least=1,
    ),
)
"""In the order of the file."""
