"""Run memtui as ``python -m memtui``."""

import sys

from memtui.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
