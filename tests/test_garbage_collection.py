"""The garbage collector in a process that shows the app."""

import subprocess
import sys


def told(code: str) -> str:
    """What a fresh interpreter prints."""
    return subprocess.run(
        [
            sys.executable,
            "-c",
            f"import gc\nfrom memtui.tui import app\n{code}",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_what_is_there_to_stay_is_never_looked_through_again() -> None:
    code = "gc.disable(); app.freeze();"
    code += "print(gc.get_freeze_count() > 1000, gc.isenabled())"
    assert told(code) == "True True\n"


def test_nothing_is_changed_where_nobody_asked_for_it() -> None:
    # Python 3.12 starts with some objects frozen.
    state = "(gc.get_freeze_count(), gc.get_threshold(), gc.isenabled())"
    same = f"before = {state}; app.freeze(); print({state} == before)"
    assert told(same) == "True\n"
