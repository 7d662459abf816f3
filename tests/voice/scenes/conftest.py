"""Scenes made in a test."""

import textwrap

import pytest

from voice.scenes.playing import perform
from voice.scenes.reading import parse_scene


@pytest.fixture
def scene(fixtures_folder):
    """Make a scene of a text; recordings are those of the project."""
    return lambda text: parse_scene(textwrap.dedent(text), fixtures_folder / "scene.yaml")


@pytest.fixture
def played(scene):
    """Play a text."""
    return lambda text, **how: perform(scene(text), **how)
