"""Scenes that say nothing of their agent are played with this one."""

import deployer
import pytest


@pytest.hookimpl
def pytest_voice_agent():
    """Give the agent."""
    return deployer.agent
