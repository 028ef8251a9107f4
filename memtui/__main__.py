"""Run memtui: ``python -m memtui``, and the command ``memtui``."""

import sys

from memtui.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
