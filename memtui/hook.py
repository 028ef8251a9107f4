"""What an agent runs: copies one event from standard input into the spool.

It parses nothing, prints nothing and always succeeds, since whatever it did otherwise
would disturb the agent that waits for it. It imports only what the interpreter has
already loaded: it must be quick, and must run when the rest of memtui cannot.

The spool is laid out like a maildir. An event is written under ``tmp`` and renamed
into ``new``, so that whoever reads ``new`` never meets half of one. The names sort in
the order of arrival: ``<time_ns>.<pid>.<random>.json``.

Some agents say neither who they are nor what happened. Whoever installs the hook can
say it for them, with ``--agent NAME`` and ``--event NAME``; both then stand in the
file's name, ``<time_ns>.<pid>.<random>.<agent>.<event>.json``, beside the bytes and
never in them. A word that is not plain letters, digits, ``-`` and ``_`` is left out.
``--spool FOLDER`` comes before what the environment says.

``MEMTUI_HOOK_FSYNC=1`` has the event on the disk before the hook ends; without it a
power cut may leave a file renamed but empty.
"""
# pathlib alone takes longer to load than all there is to do here.
# ruff: noqa: PTH103, PTH104, PTH108, PTH111, PTH117, PTH118

import os
import sys
import time

CHUNK_BYTES = 1 << 20
"""How much is read from standard input at a time."""

STDIN = 0
"""The descriptor the event arrives on; read as it is, ``sys.stdin`` may be None."""

WORD_CHARS = 40
"""How long the name of an agent or an event may be."""


def main() -> None:
    """Keep the event, or lose it silently; the process ends here."""
    try:
        # Conversations are private: all that is made here is its owner's alone.
        os.umask(0o077)
        # All is read before anything can fail: an agent must not meet a closed pipe.
        chunks = _read()
        if chunks:
            words = sys.argv[1:]
            given = dict(zip(words[::2], words[1::2], strict=False))
            keep(chunks, given.get("--spool") or spool_folder(), _told(given))
    finally:
        # An agent takes any other end as a verdict on what it was about to do, and
        # the interpreter's own takes time and may find something to complain about.
        os._exit(0)


def spool_folder() -> str:
    """The folder events are left in.

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


def _read() -> list[bytes]:
    if os.isatty(STDIN):
        return []
    chunks = []
    while chunk := os.read(STDIN, CHUNK_BYTES):
        chunks.append(chunk)
    return chunks


def _told(given: dict[str, str]) -> str:
    """What the file's name says of who told it: ``.agent.event``, or nothing."""
    agent, event = (_word(given.get(name, "")) for name in ("--agent", "--event"))
    return f".{agent}.{event}" if agent or event else ""


def _word(word: str) -> str:
    is_plain = word.isascii() and word.replace("-", "").replace("_", "").isalnum()
    return word if is_plain and len(word) <= WORD_CHARS else ""


def keep(chunks: list[bytes], spool: str, told: str) -> None:
    """Leave one event in a spool.

    Args:
        chunks: Its bytes.
        spool: The spool's folder.
        told: What its name says of who told it: ``.agent.event``, or nothing.
    """
    for box in ("tmp", "new", "bad"):
        os.makedirs(os.path.join(spool, box), exist_ok=True)
    name = f"{time.time_ns()}.{os.getpid()}.{os.urandom(8).hex()}{told}.json"
    draft = os.path.join(spool, "tmp", name)
    is_synced = os.environ.get("MEMTUI_HOOK_FSYNC") == "1"
    try:
        _write(draft, chunks, is_synced)
        os.rename(draft, os.path.join(spool, "new", name))
    except BaseException:
        os.unlink(draft)
        raise
    if is_synced:
        _sync_folder(os.path.join(spool, "new"))


def _write(path: str, chunks: list[bytes], is_synced: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for chunk in chunks:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        if is_synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


if __name__ == "__main__":
    main()
