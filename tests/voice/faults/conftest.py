import sys
from pathlib import Path

import pytest

# What the tests here share is no package: they find it as scripts find what is beside them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture
def talk(sound_server, tmp_path, fixtures_folder):
    """A conversation that goes on, with Voice on."""
    from talking import Talk

    talking = Talk(sound_server, tmp_path, fixtures_folder)
    yield talking
    talking.close()
