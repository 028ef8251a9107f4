import pytest

from memtui.summarize.ollama import models
from memtui.summarize.ollama.errors import (
    ModelNotFoundError,
    NotAllowedError,
)
from memtui.summarize.ollama.models import Model
from tests.stub.models import Memory
from tests.stub.models import Model as Pulled

GB = 10**9


def server(*pulled: Pulled, loaded: dict[str, int] | None = None) -> list[Model]:
    """Return the models that a server describes."""
    memory = Memory()
    for pulled_model in pulled:
        if loaded and pulled_model.name in loaded:
            memory.load(pulled_model, {"num_ctx": loaded[pulled_model.name]})
    running = [
        memory.running(pulled_model)
        for pulled_model in pulled
        if pulled_model.name in memory.loaded
    ]
    tags = {"models": [pulled_model.tag() for pulled_model in pulled]}
    return models.parse_models(tags, {"models": running})


def with_details(model: Model, pulled: Pulled) -> Model:
    """Return a model with the details of the server."""
    return models.with_details(model, pulled.details_answer())


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("qwen3:14b", "14.8B"),
        ("gemma3:27b", "27.4B"),
        ("mistral-small:24b", "23.6B"),
        ("phi4:14b", "14.7B"),
        ("phi4-mini:latest", "3.8B"),
        ("ministral-3:8b", "8B"),
        ("qwen3.5", "9.7B"),
        ("llama3.2:3b", "3.2B"),
        ("registry.example/made/up:4b", "4.0B"),
        ("gpt-oss:20b", "20.9B"),
    ],
)
def test_any_model_that_is_large_enough_may_summarize(name: str, size: str) -> None:
    installed = server(Pulled(name, size=size))
    assert models.choose(installed, memory_bytes=32 * GB).name == name
    assert models.size_warning(installed[0]) == ""


@pytest.mark.parametrize(
    "pulled",
    [
        Pulled("gpt-oss:120b-cloud", remote_host="https://ollama.com:443"),
        Pulled("glm:cloud", size="8B"),
        Pulled("nomic-embed-text:latest", size="137M"),
        Pulled("qwen3:0.6b", size="751.63M"),
        Pulled("qwen2.5-coder:1.5b", size="1.5B"),
    ],
    ids=lambda pulled: pulled.name,
)
def test_remote_small_and_embedding_models_are_never_chosen(pulled: Pulled) -> None:
    with pytest.raises(ModelNotFoundError, match="ollama pull qwen3:4b-instruct"):
        models.choose(server(pulled, loaded={pulled.name: 8192}))


PULLED = (
    Pulled("gpt-oss:20b", size="20.9B"),
    Pulled("qwen3:4b-thinking", size="4.0B"),
    Pulled("mistral:7b", size="7.2B"),
    Pulled("qwen3:14b", size="14.8B"),
    Pulled("llama3.3:70b", size="70.6B"),
)


@pytest.mark.parametrize(
    ("memory_gb", "loaded", "chosen"),
    [
        (0, "", "llama3.3:70b"),
        (64, "", "llama3.3:70b"),
        (32, "", "gpt-oss:20b"),
        (12, "", "qwen3:14b"),
        (8, "", "mistral:7b"),
        (8, "qwen3:14b", "qwen3:14b"),
        (64, "mistral:7b", "mistral:7b"),
        (4, "", "qwen3:4b-thinking"),
    ],
)
def test_the_loaded_model_else_the_largest_that_fits_is_chosen(
    memory_gb: int, loaded: str, chosen: str
) -> None:
    installed = server(*PULLED, loaded={loaded: 8192})
    assert models.choose(installed, memory_bytes=memory_gb * GB).name == chosen


def test_a_model_that_is_too_big_for_the_memory_is_refused() -> None:
    with pytest.raises(ModelNotFoundError):
        models.choose(server(PULLED[-1]), memory_bytes=16 * GB)


def test_model_that_does_not_write_is_refused() -> None:
    (model,) = server(Pulled("odd:4b", capabilities=("embedding",)))
    assert models.objection(model, 8192) == ""
    model = with_details(model, Pulled("odd:4b", capabilities=("embedding",)))
    assert models.objection(model, 8192) == "it does not write"


def test_named_model_is_chosen() -> None:
    installed = server(Pulled("qwen3:8b", size="8.2B"), Pulled("mistral:latest"))
    assert models.choose(installed, "mistral").name == "mistral:latest"
    with pytest.raises(ModelNotFoundError, match="ollama pull llama3"):
        models.choose(installed, "llama3")


def test_named_small_model_is_used_with_a_warning() -> None:
    installed = server(Pulled("qwen2.5-coder:1.5b", size="1.5B"))
    named = models.choose(installed, "qwen2.5-coder:1.5b")
    assert models.objection(named, 8192) == ""
    assert "is small: with 1.5B" in models.size_warning(named)


def test_named_cloud_model_is_refused() -> None:
    installed = server(Pulled("big:cloud", remote_host="https://ollama.com"))
    with pytest.raises(NotAllowedError):
        models.choose(installed, "big:cloud")


def test_excluded_model_is_not_chosen() -> None:
    installed = server(Pulled("qwen3:8b", size="8.2B"), Pulled("qwen3:4b"))
    best = models.choose(installed)
    assert best.name == "qwen3:8b"
    assert models.choose(installed, excluded={best.name}).name == "qwen3:4b"


@pytest.mark.parametrize(
    ("name", "capabilities", "think"),
    [
        ("qwen3:4b", ("completion",), None),
        ("qwen3:4b", ("completion", "thinking"), False),
        ("gpt-oss:20b", ("completion", "thinking"), "low"),
    ],
)
def test_models_are_asked_not_to_think(
    name: str, capabilities: tuple[str, ...], think: object
) -> None:
    assert Model(name, capabilities=capabilities).think_option == think


def test_window_is_the_loaded_one_else_the_default_within_the_maximum() -> None:
    (loaded,) = server(Pulled(), loaded={"qwen3:4b": 16_384})
    (idle,) = server(Pulled())
    (small,) = server(Pulled(window=2048))
    assert models.choose_window(loaded) == 16_384
    assert models.choose_window(idle) == models.WINDOW_TOKENS
    assert models.choose_window(with_details(small, Pulled(window=2048))) == 2048
    assert models.choose_window(loaded, setting=4096) == 4096
    (tiny,) = server(Pulled(), loaded={"qwen3:4b": 512})
    assert models.choose_window(tiny) == models.WINDOW_TOKENS


def test_model_without_graphics_memory_is_on_the_cpu() -> None:
    (slow,) = server(Pulled(on_gpu=False), loaded={"qwen3:4b": 8192})
    (quick,) = server(Pulled(), loaded={"qwen3:4b": 8192})
    assert slow.on_cpu and not quick.on_cpu


def test_a_window_too_small_for_a_prompt_is_refused() -> None:
    (model,) = server(Pulled())
    assert models.objection(model, 2048) == "its window of 2048 tokens is too small"
    assert models.objection(model, 4096) == ""
