import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """Both event loops; what has an asyncio-only library under it overrides this."""
    return request.param
