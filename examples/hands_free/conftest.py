"""Scenes that say nothing of their agent are played with this one."""

from deployer import agent


def pytest_voice_agent():
    """Give the agent; with an argument ``path`` it could be another one for each scene."""
    return agent
