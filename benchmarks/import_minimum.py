"""Measure the least time that an import of every message can take.

It parses the same JSON and inserts a row for each record with plain sqlite3: one table,
WAL, batches of 1,000. Run it from the checkout:

    python -m benchmarks.import_minimum FOLDER DATABASE
"""

import json
import sqlite3
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

BATCH = 1000
"""How many rows go into one transaction."""

TABLE = """
CREATE TABLE record (
    uuid TEXT,
    session TEXT,
    at TEXT,
    role TEXT,
    text TEXT
)
"""
INSERT = "INSERT INTO record VALUES (?, ?, ?, ?, ?)"

Row = tuple[str, str, str, str, str]


def rows(folder: Path) -> Iterator[Row]:
    """Every record of every transcript."""
    for path in sorted(folder.rglob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                yield (
                    record["uuid"],
                    record["sessionId"],
                    record["timestamp"],
                    record["type"],
                    text_of(record["message"]["content"]),
                )


def text_of(content: object) -> str:
    """What a record says, all its parts in a row."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        inner = content.get("text", content.get("content", content.get("input")))
        return inner if isinstance(inner, str) else json.dumps(inner)
    assert isinstance(content, list)
    return "\n".join(map(text_of, content))


def keep(folder: Path, database: Path) -> int:
    """Insert all there is and return how many rows that made."""
    connection = sqlite3.connect(database, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute(TABLE)
    records = rows(folder)
    total = 0
    while batch := list(islice(records, BATCH)):
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, batch)
        connection.execute("COMMIT")
        total += len(batch)
    connection.close()
    return total


if __name__ == "__main__":
    print(keep(Path(sys.argv[1]), Path(sys.argv[2])))
