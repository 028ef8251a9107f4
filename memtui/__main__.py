"""Run memtui: ``python -m memtui``, and the command ``memtui``."""

import sys


def main() -> int:
    if sys.argv[1:] == ["--version"]:
        # The imports of the other commands take several times as long as Python itself.
        from memtui import __version__

        print(f"memtui {__version__}")
        return 0
    from memtui.cli import main as command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
