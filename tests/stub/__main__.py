"""A server to try memtui with where there is no Ollama: ``python -m tests.stub``.

It speaks as Ollama does and has one model, which reads and writes slowly, as models do,
and quotes what it was given. It runs until Ctrl+C::

    python -m tests.stub --port 11500 --words 20
    MEMTUI_SUMMARIES__URL=http://127.0.0.1:11500 memtui
"""

import argparse
import threading
from contextlib import suppress

from tests.stub.models import Model
from tests.stub.server import Pace, Stub

AT_ONCE = "0: at once"


def main() -> None:
    """Serve until interrupted."""
    asked = _options().parse_args()
    stub = Stub(Model(asked.model, on_gpu=not asked.cpu))
    stub.pace = Pace(asked.load, _each(asked.reads), _each(asked.words))
    stub.start(asked.port)
    print(f"{asked.model} at {stub.url}", flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    stub.stop()


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m tests.stub", description=__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    add = options.add_argument
    add("--port", type=int, default=11500, help="where it listens on this machine")
    add("--model", default="qwen3:4b", help="what its model is called")
    add("--cpu", action="store_true", help="say that the model has no graphics card")
    add("--load", type=float, default=4.0, help="how long it loads, in seconds")
    add("--reads", type=float, default=400.0, help=f"tokens a second; {AT_ONCE}")
    add("--words", type=float, default=20.0, help=f"words a second; {AT_ONCE}")
    return options


def _each(a_second: float) -> float:
    return 1 / a_second if a_second else 0.0


if __name__ == "__main__":
    main()
