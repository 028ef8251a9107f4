import pytest
from ollama import ListResponse, ProcessResponse, ShowResponse

from memtui.summarize.ollama import models
from memtui.summarize.ollama.errors import ModelNotFoundError, NotAllowedError
from memtui.summarize.ollama.models import Model
from tests.stub.models import Memory
from tests.stub.models import Model as Pulled


def server(*pulled: Pulled, loaded: dict[str, int] | None = None) -> list[Model]:
    """What a server tells of its models."""
    memory = Memory()
    for one in pulled:
        if loaded and one.name in loaded:
            memory.load(one, {"num_ctx": loaded[one.name]})
    running = [memory.running(one) for one in pulled if one.name in memory.loaded]
    return models.parse_models(
        ListResponse.model_validate({"models": [one.tag() for one in pulled]}),
        ProcessResponse.model_validate({"models": running}),
    )


def shown(model: Model, pulled: Pulled) -> Model:
    """A model with what the server says about it."""
    return models.with_details(model, ShowResponse.model_validate(pulled.shown()))


def test_the_best_known_model_is_chosen() -> None:
    found = server(
        Pulled("llama3.2:3b", size="3.2B"),
        Pulled("mistral:7b", size="7.2B"),
        Pulled("qwen3:4b-q4_K_M"),
    )
    assert models.choose(found).name == "qwen3:4b-q4_K_M"


def test_a_model_that_is_loaded_is_asked_before_a_better_one() -> None:
    found = server(
        Pulled("qwen3:8b", size="8.2B"),
        Pulled("mistral:7b", size="7.2B"),
        loaded={"mistral:7b": 4096},
    )
    assert models.choose(found).name == "mistral:7b"


def test_without_a_known_model_the_smallest_usual_one_is_chosen() -> None:
    found = server(
        Pulled("big:70b", size="70.6B"),
        Pulled("mistral:7b", size="7.2B"),
        Pulled("granite:3b", size="3.1B"),
    )
    assert models.choose(found).name == "granite:3b"


@pytest.mark.parametrize(
    "pulled",
    [
        Pulled("gpt-oss:120b-cloud", remote_host="https://ollama.com:443"),
        Pulled("glm:cloud", size="8B"),
        Pulled("nomic-embed-text:latest", size="137M"),
        Pulled("bge-m3:latest", size="4.0B"),
        Pulled("qwen3:0.6b", size="751.63M"),
        Pulled("gemma3:1b", size="999.89M"),
        Pulled("phi4-mini:latest", size="3.8B"),
        Pulled("ministral-3:8b", size="8B"),
    ],
    ids=lambda pulled: pulled.name,
)
def test_some_models_are_never_chosen(pulled: Pulled) -> None:
    with pytest.raises(ModelNotFoundError, match="ollama pull qwen3:4b"):
        models.choose(server(pulled, loaded={pulled.name: 8192}))


def test_a_model_that_does_not_write_is_known_when_it_is_shown() -> None:
    (model,) = server(Pulled("odd:4b", capabilities=("embedding",)))
    assert models.objection(model) == ""
    model = shown(model, Pulled("odd:4b", capabilities=("embedding",)))
    assert models.objection(model) == "it does not write"


def test_the_model_a_person_names_is_taken() -> None:
    found = server(Pulled("qwen3:8b", size="8.2B"), Pulled("mistral:latest"))
    assert models.choose(found, "mistral").name == "mistral:latest"
    with pytest.raises(ModelNotFoundError, match="ollama pull llama3"):
        models.choose(found, "llama3")


def test_a_small_model_is_taken_if_it_is_named_and_only_then() -> None:
    found = server(Pulled("qwen2.5-coder:1.5b", size="1.5B"))
    with pytest.raises(ModelNotFoundError):
        models.choose(found)
    named = models.choose(found, "qwen2.5-coder:1.5b")
    assert models.objection(named) == ""
    assert models.size_warning(named).startswith(
        "qwen2.5-coder:1.5b is small: with 1.5"
    )
    (usual,) = server(Pulled())
    assert models.size_warning(usual) == ""


def test_a_cloud_model_is_refused_even_by_name() -> None:
    found = server(Pulled("big:cloud", remote_host="https://ollama.com"))
    with pytest.raises(NotAllowedError):
        models.choose(found, "big:cloud")


def test_a_model_that_failed_makes_room_for_another() -> None:
    found = server(Pulled("qwen3:8b", size="8.2B"), Pulled("qwen3:4b"))
    best = models.choose(found)
    assert models.choose(models.smaller(found, best)).name == "qwen3:4b"
    assert models.choose(found, excluded={best.key}).name == "qwen3:4b"


def test_the_window_is_the_loaded_one_else_ours_within_what_the_model_can() -> None:
    (loaded,) = server(Pulled(), loaded={"qwen3:4b": 16_384})
    (idle,) = server(Pulled())
    (small,) = server(Pulled(window=2048))
    assert models.window(loaded) == 16_384
    assert models.window(idle) == models.WINDOW_TOKENS
    assert models.window(shown(small, Pulled(window=2048))) == 2048
    assert models.window(loaded, setting=4096) == 4096
    (tiny,) = server(Pulled(), loaded={"qwen3:4b": 512})
    assert models.window(tiny) == models.WINDOW_TOKENS


def test_a_model_without_a_card_is_known() -> None:
    (slow,) = server(Pulled(on_gpu=False), loaded={"qwen3:4b": 8192})
    (quick,) = server(Pulled(), loaded={"qwen3:4b": 8192})
    assert slow.on_cpu and not quick.on_cpu
