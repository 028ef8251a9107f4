"""The hook that agents run: copies one event from standard input into the spool.

It parses nothing, prints nothing and always exits with 0: anything else would disturb
the agent that waits for it. It imports only what the interpreter has already loaded, so
that it is fast and runs even when the rest of memtui cannot.

The spool is laid out like a maildir. An event is written to ``tmp`` and renamed into
``new``, so that nobody reads half an event. The names sort in the order of arrival:
``<time_ns>.<pid>.<random>.json``.

For agents that send neither their name nor the event's, ``--agent NAME`` and
``--event NAME`` add them to the file's name:
``<time_ns>.<pid>.<random>.<agent>.<event>.json``. Names with anything but letters,
digits, ``-`` and ``_`` are left out. ``--spool FOLDER`` overrides the environment.

With ``MEMTUI_HOOK_FSYNC=1`` the event is on the disk before the hook ends; otherwise a
power failure may leave an empty file.
"""
# pathlib alone takes longer to load than all there is to do here.
# ruff: noqa: PTH103, PTH104, PTH108, PTH111, PTH117, PTH118

import os
import sys
import time

CHUNK_BYTES = 1 << 20

STDIN = 0
"""The file descriptor of the input; ``sys.stdin`` may be None."""

MAX_NAME_CHARS = 40


def main() -> None:
    """Write the event, or lose it silently; the process ends here."""
    try:
        # Conversations are private: only their owner may read the files.
        os.umask(0o077)
        # Everything is read before anything can fail: the agent's pipe must not break.
        chunks = _read_input()
        if chunks:
            words = sys.argv[1:]
            options = dict(zip(words[::2], words[1::2], strict=False))
            spool = options.get("--spool") or spool_folder()
            is_synced = os.environ.get("MEMTUI_HOOK_FSYNC") == "1"
            write_event(chunks, spool, _name_part(options), is_synced=is_synced)
    finally:
        # Another exit code can block the agent, and an ordinary exit of the
        # interpreter takes time and may print something.
        os._exit(0)


def spool_folder() -> str:
    """Return the folder for events.

    Raises:
        OSError: No home folder is known.
    """
    if spool := os.environ.get("MEMTUI_SPOOL"):
        return os.path.expanduser(spool)
    if home := os.environ.get("MEMTUI_HOME"):
        return os.path.join(os.path.expanduser(home), "spool")
    # The XDG specification: a relative path is to be ignored.
    share = os.environ.get("XDG_DATA_HOME", "")
    if not os.path.isabs(share):
        share = os.path.expanduser("~/.local/share")
    if not os.path.isabs(share):
        raise OSError("no home folder")
    return os.path.join(share, "memtui", "spool")


def _read_input() -> list[bytes]:
    if os.isatty(STDIN):
        return []
    chunks = []
    while chunk := os.read(STDIN, CHUNK_BYTES):
        chunks.append(chunk)
    return chunks


def _name_part(options: dict[str, str]) -> str:
    agent, event = (_plain(options.get(name, "")) for name in ("--agent", "--event"))
    return f".{agent}.{event}" if agent or event else ""


def _plain(name: str) -> str:
    is_plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if is_plain and len(name) <= MAX_NAME_CHARS else ""


def write_event(
    chunks: list[bytes], spool: str, name_part: str, *, is_synced: bool
) -> None:
    """Write one event into a spool, with ``.agent.event`` in the file's name, or ""."""
    for folder in ("tmp", "new", "bad"):
        os.makedirs(os.path.join(spool, folder), exist_ok=True)
    name = f"{time.time_ns()}.{os.getpid()}.{os.urandom(8).hex()}{name_part}.json"
    draft = os.path.join(spool, "tmp", name)
    try:
        _write(draft, chunks, is_synced)
        os.rename(draft, os.path.join(spool, "new", name))
    except BaseException:
        os.unlink(draft)
        raise
    if is_synced:
        descriptor = os.open(os.path.join(spool, "new"), os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def _write(path: str, chunks: list[bytes], is_synced: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for chunk in chunks:
            unwritten = memoryview(chunk)
            while unwritten:
                unwritten = unwritten[os.write(descriptor, unwritten) :]
        if is_synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
