"""The stub's models, and those that its server has loaded."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from tests.stub.personas import Persona, honest
from tests.stub.wire import without_zeros

RUNNER_OPTIONS = ("num_ctx", "num_batch", "num_gpu", "shift", "use_mmap", "num_thread")
"""Options that a running model cannot change: another value loads it again."""

DEFAULT_WINDOW = 4096


@dataclass(slots=True)
class Model:
    """An installed model."""

    name: str = "qwen3:4b"
    persona: Persona = honest
    size: str = "4.0B"
    family: str = "qwen3"
    window: int = 40960
    capabilities: tuple[str, ...] = ("completion", "tools")
    remote_host: str = ""
    on_gpu: bool = True
    token_bytes: int = 4
    """The bytes of a token."""
    blob: str = ""
    """The content that its digest is made from; its name by default."""

    @property
    def digest(self) -> str:
        return hashlib.sha256((self.blob or self.name).encode()).hexdigest()

    @property
    def details(self) -> dict[str, Any]:
        return {
            "parent_model": "",
            "format": "gguf",
            "family": self.family,
            "families": [self.family],
            "parameter_size": self.size,
            "quantization_level": "Q4_K_M",
        }

    def tag(self) -> dict[str, Any]:
        """Return its entry in ``/api/tags``."""
        return {
            "name": self.name,
            "model": self.name,
            **without_zeros(
                {
                    "remote_host": self.remote_host,
                    "remote_model": self.name if self.remote_host else "",
                }
            ),
            "modified_at": "2026-08-01T12:00:00.123456789+02:00",
            "size": round(float(self.size[:-1]) * 6e8) if self.size else 384,
            "digest": self.digest,
            "details": self.details,
        }

    def details_answer(self) -> dict[str, Any]:
        """Return its description in ``/api/show``."""
        return {
            **without_zeros({"remote_host": self.remote_host}),
            "license": "MIT",
            "modelfile": "FROM …",
            "template": "{{ .Prompt }}",
            "details": self.details,
            "model_info": {
                "general.architecture": self.family,
                f"{self.family}.context_length": self.window,
                f"{self.family}.embedding_length": 2560,
            },
            "capabilities": list(self.capabilities),
            "modified_at": "2026-08-01T12:00:00.123456789+02:00",
        }


@dataclass(slots=True)
class Memory:
    """The loaded models, and all loads so far."""

    loaded: dict[str, dict[str, Any]] = field(default_factory=dict)
    loads: list[tuple[str, int]] = field(default_factory=list)
    """The model and the window of each load, in order."""

    def load(self, model: Model, options: dict[str, Any]) -> int:
        """Load a model unless it runs with these options; return its window."""
        runner_options = {
            name: options[name] for name in RUNNER_OPTIONS if name in options
        }
        if self.loaded.get(model.name) != runner_options:
            self.loaded[model.name] = runner_options
            self.loads.append((model.name, self.window(model)))
        return self.window(model)

    def window(self, model: Model) -> int:
        window = self.loaded[model.name].get("num_ctx", DEFAULT_WINDOW)
        return min(int(window), model.window)

    def running(self, model: Model) -> dict[str, Any]:
        """Return its entry in ``/api/ps``."""
        tag = model.tag()
        return {
            **{name: tag[name] for name in ("name", "model", "digest", "details")},
            "size": tag["size"],
            "expires_at": "2026-08-01T12:05:00.123456789+02:00",
            "size_vram": tag["size"] if model.on_gpu else 0,
            "context_length": self.window(model),
        }
