"""Measure recall, precision and cost of redaction.

It reads the labelled set of the tests, makes random secrets in many surroundings, and
reads the real transcripts beside the checkout if present, whose redactions are printed
masked. Run it from the checkout:

    python -m benchmarks.secrets
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchmarks import secret_samples
from memtui.redaction import redact

LABELLED = Path(__file__).parents[1] / "tests" / "data" / "secrets.jsonl"
REAL = Path(__file__).parents[2] / "shared" / "data"
FOLDERS = ("claude_code", "codex", "copilot_cli", "hooks", "hook_sessions", "field")
SEED = 2026
MAX_PRINTED = 12
"""Number of real redactions printed."""

AROUND = 48
"""Number of characters before a redaction printed."""

HOSTILE = {
    "one letter": "a",
    "names": "token",
    "assignments": "token=",
    "quotes": "password='",
    "escapes": 'password=\\"\\',
    "keys": "AKIA",
    "headers": "Authorization: Bearer ",
    "cookies": "cookie: a=b",
    "key blocks": "-----BEGIN " + "PRIVATE KEY-----\n",
    "urls": "://a:",
    "commands": "curl -u a mysql -p",
    "tags": "<private>",
    "braces": "[<{(",
    "dotted names": "token: a.b",
    "inner keys": "-sk-ant-",
    "cut lines": "ghp_aaaaaaaaaaaa…",
    "long keys": "-sk-ant-a1B2c3D4e5F6g7H8i9J0k1L2m",
    "signatures": "x-amz-signature=",
    "key ends": "AAAAAAAAAAAAAAAAAAAA\n-----END " + "PRIVATE KEY-----",
    "prose": "the password for a is b ",
    "words": "password a b c d e f g h ",
    "seeds": "seed phrase able about above ",
    "password files": "a:5432:",
    "password pipes": "echo a:b | chpasswd ",
    "tables": "| API_KEY |",
    "columns": "| password |\n|---|\n",
    "comparisons": "PASSWORD=~",
    "pipes": "echo a | ",
    "logins": "login with a / ",
    "joined strings": 'api_key="a1B2c3D4e5F6g7H8i9" + "',
    "invisible": "gh\u200bp_",
    "encoded": "api_key%253D",
    "cookies of curl": "curl -b a=b;",
    "brackets": "password: a([{",
    "signs near names": "pass a1B$",
    "comma-separated rows": "a,password,b\n1,2,3\n",
    "encoded assignments": "a%3Db%26",
    "calls": 'connect("a", "b", ',
    "cells": "| key | a ",
    "elements": "<td>Password</td><td>",
    "words in Spanish": "clave de la ",
}
"""Texts repeated to make patterns slow."""


def main() -> int:
    labelled()
    made()
    passwords()
    if REAL.is_dir():
        real()
    else:
        print(f"no real transcripts at {REAL}", file=sys.stderr)
    hostile()
    return 0


def labelled() -> None:
    """Print recall and precision on the labelled set of the tests."""
    missed: Counter[str] = Counter()
    count = wrong = harmless = 0
    for line in LABELLED.read_text("utf-8").splitlines():
        fields = json.loads(line)
        if "kind" in fields:
            secret = "".join(fields["secret"])
            redacted = redact(fields["before"] + secret + fields["after"])
            count += 1
            missed[fields["kind"]] += redacted.kinds != (fields["kind"],)
            wrong += max(0, len(redacted.kinds) - 1)
        else:
            harmless += 1
            wrong += len(redact("".join(fields["text"])).kinds)
    right = count - missed.total()
    print(f"recall      {right / count:.3f} of {count} {dict(+missed) or ''}")
    print(f"precision   {right / (right + wrong):.3f} with {harmless} without a secret")


def made() -> None:
    """Print the share of random secrets removed, and of texts changed without one."""
    samples = secret_samples.make_secrets(SEED)
    left: Counter[str] = Counter()
    for is_held_out, name in ((False, "tuned on"), (True, "held out")):
        half = [s for s in samples if secret_samples.is_held_out(s) == is_held_out]
        missed = [
            sample.kind
            for sample in half
            if not secret_samples.is_removed(sample, redact(sample.text).text)
        ]
        left.update(missed)
        print(f"{name:11} {1 - len(missed) / len(half):.3f} of {len(half)} random ones")
    harmless = secret_samples.make_harmless(SEED)
    changed = sum(bool(redact(sample.text).kinds) for sample in harmless)
    print(f"false       {changed} of {len(harmless)} texts without a secret")
    for kind, count in left.most_common():
        print(f"  left      {count} {kind}")


def passwords() -> None:
    """Print the share of generated passwords that is left, in whole or in part."""
    for place in secret_samples.PASSWORD_PLACES:
        samples = [
            sample
            for seed in range(SEED, SEED + 5)
            for sample in secret_samples.make_passwords(seed, place, 2000)
        ]
        left = sum(
            not secret_samples.is_removed(sample, redact(sample.text).text)
            for sample in samples
        )
        print(f"passwords   {left / len(samples):.2%} left of {len(samples)}, {place}")


def texts() -> Iterator[str]:
    """Yield every string of the real transcripts."""
    for folder in FOLDERS:
        for path in sorted((REAL / folder).rglob("*.jsonl")):
            for line in path.read_text("utf-8", "replace").splitlines():
                with suppress(ValueError):  # Some files are damaged on purpose.
                    yield from _strings(json.loads(line))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def real() -> None:
    """Print what is redacted in real transcripts, and the time."""
    every = list(texts())
    chars = sum(map(len, every))
    began = time.perf_counter()
    redacted_texts = [redact(text) for text in every]
    took_s = time.perf_counter() - began
    kinds = Counter(kind for redacted in redacted_texts for kind in redacted.kinds)
    print(f"real        {kinds.total()} in {chars / 1e6:.1f} MB: {dict(kinds)}")
    samples = {
        _masked(text, redacted.text)
        for text, redacted in zip(every, redacted_texts, strict=True)
        if redacted.kinds
    }
    for sample in sorted(samples)[:MAX_PRINTED]:
        print(f"  {sample}")
    print(f"time        {1e9 * took_s / chars:.1f} µs a kB, strings of any length")
    print(f"            {1e6 * took_s / len(every):.1f} µs a string")
    long = [text for text in every if len(text) > 1000]
    began = time.perf_counter()
    for text in long:
        redact(text)
    took_s = time.perf_counter() - began
    print(
        f"            {1e9 * took_s / sum(map(len, long)):.1f} µs a kB, over 1 kB long"
    )


def _masked(text: str, redacted: str) -> str:
    """Return the context of the first redaction and its first letters."""
    at = next(i for i, (a, b) in enumerate(zip(text, redacted, strict=False)) if a != b)
    return f"…{text[max(0, at - AROUND) : at]!r} {text[at : at + 4]!r}***"


def hostile() -> None:
    """Print the time of hostile texts; four times the text should take about four times
    as long."""
    for name, piece in HOSTILE.items():
        small, large = (_time_ms(piece, chars) for chars in (250_000, 1_000_000))
        print(f"  {name:14} 1 MB in {large:6.1f} ms, {large / small:4.1f} times 250 kB")


def _time_ms(piece: str, chars: int) -> float:
    text = piece * (chars // len(piece))
    began = time.perf_counter()
    redact(text)
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main())
