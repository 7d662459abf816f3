from pathlib import Path

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """Both event loops; what has an asyncio-only library under it overrides this."""
    return request.param


@pytest.fixture(scope="session")
def fixtures_folder():
    """The folder of recordings."""
    return Path(__file__).parents[1] / "audio_fixtures"
