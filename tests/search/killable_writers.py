"""Writers that can be killed: for each input line, a process that keeps committing.

Each prints its process id, and after each commit the total number of commits.
"""

import os
import sys
from itertools import count
from pathlib import Path

from memtui.search.node_index import Document, NodeIndex
from memtui.search.node_scoring import NodeField


def document(number: int) -> Document:
    """Return the document of a number."""
    text = f"ferry {'timetable ' * (number % 40)}"
    return Document(f"n{number}", ((NodeField.BULLETS, text),))


def write(folder: Path, start: int, most: int) -> None:
    """Commit documents in order, each with the document before once more."""
    index = NodeIndex(folder)
    _print_line(f"pid {os.getpid()}")
    for number in count(start):
        before = [document(number - 1)] if number else []
        node_ids = [earlier.node_id for earlier in before]
        index.update([document(number), *before], node_ids)
        _print_line(f"done {number + 1}")
        if number + 1 == most:
            return


def _print_line(line: str) -> None:
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
        _print_line("ended")


if __name__ == "__main__":
    main()
