"""Faults in real processes: killed, stopped, slowed down, robbed of what they need.

One state for each part and fault is tried each time; all of them with `make soak`, which sets VOICE_SOAK.
"""

import pytest
from failing import ENDS, FAULTS, KINDS, NO_WAY, STATES, TRIED_IN, bear_all, each_in_turn

pytestmark = [pytest.mark.devices, pytest.mark.slow]


def test_every_part_and_fault_has_its_place():
    parts = {part for part, _ in FAULTS}
    assert {(part, kind) for part in parts for kind in KINDS} == {*FAULTS, *NO_WAY, *ENDS}
    assert TRIED_IN.keys() == FAULTS.keys()
    assert set(TRIED_IN.values()) == set(STATES)


@each_in_turn(("transcriber", "engine"))
def test_it_goes_on_whatever_fails(talk, parts, state):
    bear_all(talk, parts, state)
