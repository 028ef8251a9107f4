"""Writers that can be killed: for each input line, a process that keeps committing.

Each prints its process id, and after each commit the total number of commits.
"""

import os
import sys
from itertools import count
from pathlib import Path

from memtui.model.hits import HitKind
from memtui.search.node_index import Document, NodeIndex
from memtui.search.scoring import NodeField


def document(number: int) -> Document:
    """One of the documents that are written."""
    said = (NodeField.BULLETS, f"ferry {'timetable ' * (number % 40)}")
    return Document(HitKind.NODE, f"n{number}", f"n{number}", (said,))


def write(folder: Path, start: int, most: int) -> None:
    """Commit one document after the other, each with the one before once more."""
    index = NodeIndex(folder)
    _say(f"pid {os.getpid()}")
    for number in count(start):
        before = [document(number - 1)] if number else []
        index.update([document(number), *before], [one.node_id for one in before])
        _say(f"done {number + 1}")
        if number + 1 == most:
            return


def _say(line: str) -> None:
    """Print a line whole or, if killed, not at all."""
    os.write(1, f"{line}\n".encode())


def main() -> None:
    """Fork a writer for each line: where to begin, and where to end."""
    folder = Path(sys.argv[1])
    for line in sys.stdin:
        child = os.fork()
        if not child:
            write(folder, *map(int, line.split()))
            os._exit(0)
        os.waitpid(child, 0)
        _say("ended")


if __name__ == "__main__":
    main()
