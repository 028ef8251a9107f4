"""What an agent runs: copies one event from standard input into the spool.

It parses nothing, prints nothing and always succeeds, since whatever it did otherwise
would disturb the agent that waits for it. It imports only what the interpreter has
already loaded: it must be quick, and must run when the rest of memtui cannot.

The spool is laid out like a maildir. An event is written under ``tmp`` and renamed
into ``new``, so that whoever reads ``new`` never meets half of one. The names sort in
the order of arrival.
"""
# pathlib alone takes longer to load than all there is to do here.
# ruff: noqa: PTH103, PTH104, PTH108, PTH111, PTH117, PTH118

import os
import time

CHUNK_BYTES = 1 << 20
"""How much is read from standard input at a time."""

STDIN = 0
"""The descriptor the event arrives on; read as it is, ``sys.stdin`` may be None."""


def main() -> None:
    """Keep the event, or lose it silently."""
    try:
        # Conversations are private: all that is made here is its owner's alone.
        os.umask(0o077)
        # All is read before anything can fail: an agent must not meet a closed pipe.
        chunks = _read()
        if chunks:
            _keep(chunks, spool_folder())
    except BaseException:
        # An agent takes any other end as a verdict on what it was about to do.
        return


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


def _keep(chunks: list[bytes], spool: str) -> None:
    for box in ("tmp", "new", "bad"):
        os.makedirs(os.path.join(spool, box), exist_ok=True)
    name = f"{time.time_ns()}.{os.getpid()}.{os.urandom(8).hex()}.json"
    draft = os.path.join(spool, "tmp", name)
    try:
        _write(draft, chunks)
        os.rename(draft, os.path.join(spool, "new", name))
    except BaseException:
        os.unlink(draft)
        raise


def _write(path: str, chunks: list[bytes]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        for chunk in chunks:
            rest = memoryview(chunk)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    main()
