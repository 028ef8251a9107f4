"""Run memtui: ``python -m memtui``, and the command ``memtui``."""

import gc
import sys

GC_THRESHOLD = 10_000
"""Imports allocate much and free little: collecting as often as usual takes 5 % of the
time of a short command."""


def main() -> int:
    """Print the version, or run the command line."""
    if sys.argv[1:] == ["--version"]:
        from memtui import __version__

        # Without the parser, which takes longer to import than all else.
        print(f"memtui {__version__}")
        return 0
    gc.set_threshold(GC_THRESHOLD)
    from memtui.cli import main as cli_main

    return cli_main.main()


if __name__ == "__main__":
    sys.exit(main())
