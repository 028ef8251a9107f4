"""Run memtui: ``python -m memtui``, and the command ``memtui``."""

import sys


def main() -> int:
    """Print the version, or run the command line."""
    if sys.argv[1:] == ["--version"]:
        from memtui import __version__

        # Without the parser, which takes longer to import than all else.
        print(f"memtui {__version__}")
        return 0
    from memtui.cli import main as cli_main

    return cli_main.main()


if __name__ == "__main__":
    sys.exit(main())
