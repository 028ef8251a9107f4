"""A store and a stub of Ollama's server for the stages."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtui.workspace import Workspace
from tests.pipeline.model_bench import Bench
from tests.stub.server import Stub, run_stub


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A server with one ordinary model."""
    with run_stub() as stub:
        yield stub


@pytest.fixture
def bench(workspace: Workspace, stub: Stub, tmp_path: Path) -> Bench:
    """An empty store and the server."""
    return Bench(workspace, stub, tmp_path)
