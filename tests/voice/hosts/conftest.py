"""What the tests of all agents need."""

import psutil
import pytest

from voice.assembly import make_engine
from voice.backends.wav import write_wav
from voice.settings import Settings
from voice.speaking.narrator import rendered


@pytest.fixture
def children_with():
    """Find our children that have this in their environment: of all others there may be any number."""

    def found(name, value):
        children = []
        for child in psutil.Process().children():
            try:
                if child.environ().get(name) == value:
                    children.append(child)
            except (psutil.NoSuchProcess, psutil.AccessDenied):  # it has ended
                pass
        return children

    return found


@pytest.fixture
def recording_of(tmp_path):
    """Have the real engine say what no recording is of; returns its path."""

    async def recorded(text):
        path = tmp_path / "said.wav"
        async with make_engine(Settings().speaking) as engine:
            write_wav(path, await rendered(text, engine))
        return path

    return recorded
