"""Faults of the agent, a program of its own: killed, stopped, slowed down, told nonsense."""

import pytest
from failing import bear_all, each_in_turn

pytestmark = [pytest.mark.devices, pytest.mark.slow]


@each_in_turn(("host",))
def test_it_goes_on_whatever_fails(talk, parts, state):
    bear_all(talk, parts, state)
