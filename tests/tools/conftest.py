import sys
from pathlib import Path

import pytest

from memtui import hook
from memtui.integrations.config_files import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A person's machine with no agent on it yet."""
    home = tmp_path / "ada"
    home.mkdir()
    return Machine(
        home=home,
        environment={},
        python=sys.executable,
        hook=Path(hook.__file__),
        spool=tmp_path / "memtui" / "spool",
    )
