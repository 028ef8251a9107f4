"""A stub of Ollama's server, to try memtui without Ollama: ``python -m tests.stub``.

It has one model, which reads and writes slowly and answers with quotes from the prompt.
It runs until Ctrl+C::

    python -m tests.stub --port 11500 --words 20
    MEMTUI_SUMMARIES__URL=http://127.0.0.1:11500 memtui
"""

import argparse
import threading
from contextlib import suppress

from tests.stub.models import Model
from tests.stub.server import Pace, Stub

AT_ONCE = "0: no delay"


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
    add("--port", type=int, default=11500, help="the port on this machine")
    add("--model", default="qwen3:4b", help="the name of the model")
    add(
        "--cpu",
        action="store_true",
        help="report a model without a graphics card",
    )
    add("--load", type=float, default=4.0, help="seconds to load the model")
    add("--reads", type=float, default=400.0, help=f"read: tokens a second; {AT_ONCE}")
    add("--words", type=float, default=20.0, help=f"written: words a second; {AT_ONCE}")
    return options


def _each(a_second: float) -> float:
    return 1 / a_second if a_second else 0.0


if __name__ == "__main__":
    main()
