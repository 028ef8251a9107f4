"""Find the terms of texts in a second process, so that indexing uses two processors."""

import json
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from memtui.text import analyzer


class TermProcess:
    """A process that finds the terms of texts.

    It ends when its input is closed, also because this process was killed. If it ends
    early, the terms are found in this process.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "terms")
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # ctrl+c is for this process
        )

    def submit(self, texts: Sequence[str]) -> Future[list[str]]:
        return self._thread.submit(self._find, texts)

    def close(self) -> None:
        self._thread.shutdown()
        with suppress(OSError), self._process:
            pass  # Closes the pipes, and waits for the process to end.

    def _find(self, texts: Sequence[str]) -> list[str]:
        request, reply = self._process.stdin, self._process.stdout
        assert request is not None and reply is not None
        try:
            request.write(json.dumps(texts).encode() + b"\n")
            request.flush()
            terms: list[str] = json.loads(reply.readline())
        except (OSError, ValueError):
            return find_terms(texts)
        return terms


def find_terms(texts: Sequence[str]) -> list[str]:
    """Return the terms of each text, as the index takes them."""
    return list(map(analyzer.term_text, texts))


def main() -> None:
    """Read lists of texts from the standard input, and write lists of their terms."""
    for line in sys.stdin.buffer:
        sys.stdout.write(f"{json.dumps(find_terms(json.loads(line)))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
