"""Measure the two halves of an import: storing events, and summarizing them.

It runs the stages of ``memtui import`` one half after the other, and prints the seconds
of each. Run it from the checkout:

    python -m benchmarks.import_stages FOLDER HOME
"""

import json
import sys
import time
from pathlib import Path

from memtui.paths import in_home
from memtui.settings import Settings
from memtui.workspace import Workspace


def halves_s(folder: Path, home: Path) -> tuple[float, float]:
    """Import a folder into a new home; the seconds of storing and of digesting.

    Raises:
        SystemExit: Something went wrong, so that the figures would mean nothing.
    """
    workspace = Workspace(in_home(home), Settings())
    works = workspace.pipeline
    if not works.lock.acquire():
        raise SystemExit(f"another process works in {home}")
    begun = time.perf_counter()
    for _ in works.importer().run([folder]):
        pass
    stored = time.perf_counter()
    errors = works.run_until_idle(lambda _: None)
    digested = time.perf_counter()
    workspace.stop()
    if errors:
        raise SystemExit(f"the digest failed: {errors[-1]}")
    return stored - begun, digested - stored


if __name__ == "__main__":
    print(json.dumps(halves_s(Path(sys.argv[1]), Path(sys.argv[2]))))
