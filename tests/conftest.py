import shutil
from pathlib import Path

import pytest
import trio.testing
from hypothesis import settings

# How long an example takes depends on what else the machine does.
settings.register_profile("viva-voce", deadline=None)
settings.load_profile("viva-voce")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """Both event loops; what has an asyncio-only library under it overrides this.

    A test asks for "virtual" where time is to jump as soon as everybody waits: no limit is too short then.
    """
    if request.param == "virtual":
        return "trio", {"clock": trio.testing.MockClock(autojump_threshold=0)}
    return request.param


@pytest.fixture(scope="session", autouse=True)
def state_folder(tmp_path_factory):
    """What sessions under test remember is not what the user's own do."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("state")
        patch.setenv("XDG_STATE_HOME", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def nothing_kept(state_folder):
    """What one test never delivered is not offered in the next one."""
    shutil.rmtree(state_folder / "viva-voce" / "journal", ignore_errors=True)


@pytest.fixture(scope="session")
def fixtures_folder():
    """The folder of recordings."""
    return Path(__file__).parents[1] / "audio_fixtures"
