"""The tokeniser's vocabulary: looked for on this machine, fetched only when asked.

tiktoken fetches its vocabulary at first use and may hang for a long time where there
is no network. So the file is looked for first, its checksum is proven, and without it
counts are estimated (``memtui.memory.tokens``).
"""

import hashlib
import os
import shutil
import urllib.request
from pathlib import Path

from memtui.errors import VocabularyError
from memtui.text.tokens import ESTIMATING_COUNTER, SAMPLE_CHARS, TokenCounter

ENCODING = "cl100k_base"

VOCABULARY_URL = (
    f"https://openaipublic.blob.core.windows.net/encodings/{ENCODING}.tiktoken"
)

VOCABULARY_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""Of the vocabulary's file, as tiktoken's own source states it."""

VOCABULARY_FILE = hashlib.sha1(
    VOCABULARY_URL.encode(), usedforsecurity=False
).hexdigest()
"""How tiktoken names the file in its cache."""

FETCH_TIMEOUT_S = 60.0
"""How long a fetch may take in all, in seconds."""


def find_vocabulary(folder: Path) -> Path | None:
    """The vocabulary's file: in tiktoken's own cache, else in our folder."""
    places = [Path(found) for found in [os.environ.get("TIKTOKEN_CACHE_DIR")] if found]
    for place in [*places, folder]:
        file = place / VOCABULARY_FILE
        if file.is_file() and _checksum(file.read_bytes()) == VOCABULARY_SHA256:
            return file
    return None


def load_counter(folder: Path) -> TokenCounter:
    """The exact counter if its vocabulary is here, else the estimate; never waits."""
    file = find_vocabulary(folder)
    if file is None:
        return ESTIMATING_COUNTER
    os.environ["TIKTOKEN_CACHE_DIR"] = str(file.parent)
    import tiktoken

    encoding = tiktoken.get_encoding(ENCODING)

    def count(text: str) -> int:
        if len(text) > SAMPLE_CHARS:
            return round(count(text[:SAMPLE_CHARS]) * len(text) / SAMPLE_CHARS)
        return len(encoding.encode_ordinary(text))

    return TokenCounter(f"tiktoken-{ENCODING}", count)


def fetch_vocabulary(
    folder: Path, *, deadline_s: float = FETCH_TIMEOUT_S, url: str = VOCABULARY_URL
) -> Path:
    """Bring the vocabulary to this machine. The one thing memtui ever downloads.

    Raises:
        VocabularyError: It could not be fetched in time, or is not what it should be.
    """
    import threading

    answer: list[bytes | Exception] = []

    def read() -> None:
        try:
            with urllib.request.urlopen(url, timeout=deadline_s) as reply:
                answer.append(reply.read())
        except (OSError, ValueError) as error:
            answer.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(deadline_s)
    if not answer:
        raise VocabularyError(f"{url} did not answer within {deadline_s:.0f} s")
    if isinstance(answer[0], Exception):
        raise VocabularyError(f"{url} could not be fetched: {answer[0]}")
    return _keep(answer[0], folder)


def _keep(content: bytes, folder: Path) -> Path:
    if _checksum(content) != VOCABULARY_SHA256:
        raise VocabularyError("the fetched vocabulary has another checksum; not kept")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{VOCABULARY_FILE}.part"
        unfinished.write_bytes(content)
        shutil.move(unfinished, folder / VOCABULARY_FILE)
    except OSError as error:
        raise VocabularyError(
            f"{folder} cannot be written: {error.strerror}"
        ) from error
    return folder / VOCABULARY_FILE


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
