"""Faults of devices: pulled out, and a sound server that hangs, is slow, and is started again."""

import pytest
from failing import bear_all, each_in_turn

pytestmark = [pytest.mark.devices, pytest.mark.slow]


@each_in_turn(("microphone", "speaker"))
def test_it_goes_on_whatever_fails(talk, parts, state):
    bear_all(talk, parts, state)
