"""Tool calls in one line, without secrets."""

import base64
import random

from memtui.capture.formats import base
from memtui.redaction import redact, redaction_mark

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
"""A text with the format of a token of GitHub."""

BEGIN, END = (f"-----{sign} RSA " + "PRIVATE KEY-----" for sign in ("BEGIN", "END"))


def key_lines() -> list[str]:
    drawn = random.Random(7)
    return [base64.b64encode(drawn.randbytes(48)).decode() for _ in range(20)]


def test_a_key_block_is_redacted_before_its_lines_are_joined() -> None:
    block = "\n".join((BEGIN, *key_lines(), END))
    description = base.describe_call(
        "Bash", {"command": f"cat > id <<'EOF'\n{block}\nEOF"}
    )
    assert description == f"Bash: cat > id <<'EOF' {redaction_mark('private key')} EOF"


def test_a_token_is_redacted_before_the_line_is_cut() -> None:
    for before in range(base.CALL_CHARS - 60, base.CALL_CHARS):
        description = base.describe_call(
            "Bash", {"command": f"echo {'a' * before} {TOKEN}"}
        )
        assert TOKEN[:8] not in description
        task = base.describe_task(f"{'a' * (before - 100)} {TOKEN}")
        assert TOKEN[:8] not in task


def test_private_text_is_redacted_before_the_line_is_cut() -> None:
    diary = f"deploy {'a' * 150} <private>{'my diary ' * 40}</private> now"
    description = base.describe_call("Bash", {"command": diary})
    assert description.endswith(f"a {redaction_mark('private')} now")


def test_an_input_named_like_a_secret_is_redacted() -> None:
    description = base.describe_call("login", {"user": "ada", "password": "swordfish"})
    assert description == f"login: user=ada password={redaction_mark('password')}"


def test_a_cut_key_block_in_one_line_is_recognized() -> None:
    joined = " ".join((BEGIN, *key_lines()))
    numbered = " ".join((BEGIN, *(f"{n} {x}" for n, x in enumerate(key_lines(), 2))))
    quoted = "\n".join((BEGIN, *(f"> {line}" for line in key_lines())))
    added = "\n".join((BEGIN, *(f"+{line}" for line in key_lines())))
    for text in (joined, numbered, quoted, added, BEGIN + "".join(key_lines())):
        for cut in (text, f"{text[:290]}…"):
            left = redact(f"Bash: cat {cut}").text
            assert left.rstrip("…") == f"Bash: cat {redaction_mark('private key')}"


def test_prose_after_the_first_line_of_a_key_is_kept() -> None:
    for after in ("is followed by characteristics of the key", "in internationalized"):
        text = f"The line {BEGIN} {after}"
        assert redact(text).text == text


def test_a_token_without_its_end_is_recognized() -> None:
    assert redact(f"Bash: echo {TOKEN[:24]}…\nok").text == (
        f"Bash: echo {redaction_mark('cut key')}…\nok"
    )
