"""What is seen of a child, look by look, and when it is given up: plain values, and one real process."""

import os
import sys
import time

import pytest

from voice.backends.vital_signs import LOADING_STILL_S, STILL_S, TICK_S, Signs, Vigil, signs_of

LOOKS = round(STILL_S / TICK_S)


def looks(vigil, signs, times):
    """What the vigil says after so many looks at the same."""
    return [vigil.look(signs) for _ in range(times)]


def asleep(processor_s=0.0):
    return Signs(processor_s, runnable=False, on_disk=False)


def test_who_does_nothing_at_all_hangs():
    told = looks(Vigil(60, STILL_S), asleep(), LOOKS)
    assert told[:-1] == [None] * (LOOKS - 1)
    assert told[-1] == "no sign of life for 1.75 s"


def test_with_the_look_in_which_it_stopped_a_hang_is_noticed_within_2_s():
    assert STILL_S + TICK_S <= 2.0


def test_what_it_did_before_is_no_sign_of_life_now():
    vigil = Vigil(60, STILL_S, before=asleep(7.5))
    assert looks(vigil, asleep(7.5), LOOKS)[-1] is not None


@pytest.mark.parametrize(
    "sign",
    [
        Signs(0.01, runnable=False, on_disk=False),
        Signs(0.0, runnable=True, on_disk=False),
        Signs(0.0, runnable=False, on_disk=True),
    ],
    ids=["worked", "wants a processor", "waits for a disk"],
)
def test_any_sign_of_life_begins_the_count_anew(sign):
    vigil = Vigil(60, STILL_S)
    assert not any(looks(vigil, asleep(), LOOKS - 1))
    assert vigil.look(sign) is None
    still = asleep(sign.processor_s)
    assert looks(vigil, still, LOOKS) == [None] * (LOOKS - 1) + ["no sign of life for 1.75 s"]


def test_who_is_kept_from_a_processor_has_all_the_time_in_the_world():
    vigil = Vigil(2, STILL_S)
    assert not any(looks(vigil, Signs(0.0, runnable=True, on_disk=False), 10_000))


def test_who_works_without_end_has_its_time_and_no_more():
    vigil = Vigil(2, STILL_S)
    told = [vigil.look(Signs(TICK_S * look, runnable=True, on_disk=False)) for look in range(1, 10)]
    assert told == [None] * 8 + ["no answer within 2 s"]


def test_who_is_kept_from_a_processor_now_and_then_is_charged_for_what_it_had():
    vigil = Vigil(2, STILL_S)
    told = [vigil.look(Signs(0.1 * look, runnable=True, on_disk=False)) for look in range(1, 22)]
    assert told.index("no answer within 2 s") == 20


@pytest.mark.parametrize("on_disk", [True, False])
def test_who_waits_without_end_now_and_then_has_its_time_and_no_more(on_disk):
    vigil = Vigil(20, STILL_S)
    told = [vigil.look(Signs(look // 4 * 0.01, runnable=False, on_disk=on_disk)) for look in range(200)]
    assert told.index("no answer within 20 s") == 80


def test_loading_from_a_slow_disk_is_no_hang_and_work_after_it_has_limits_of_its_own():
    vigil = Vigil(120, LOADING_STILL_S)
    assert not any(looks(vigil, asleep(), round(LOADING_STILL_S / TICK_S) - 1))
    vigil.begin(1, STILL_S)
    assert looks(vigil, asleep(), 4) == [None] * 4
    assert vigil.look(asleep()) == "no answer within 1 s"


def test_who_was_stopped_while_it_loads_waits_for_no_disk():
    vigil = Vigil(120, LOADING_STILL_S)
    assert not any(looks(vigil, asleep(), LOOKS + 5))
    told = looks(vigil, Signs(0.0, runnable=False, on_disk=False, stopped=True), LOOKS)
    assert told == [None] * (LOOKS - 1) + ["no sign of life for 1.75 s"]


def test_who_was_stopped_and_goes_on_begins_anew():
    vigil = Vigil(120, LOADING_STILL_S)
    stopped = Signs(0.0, runnable=False, on_disk=False, stopped=True)
    for _ in range(5):
        assert not any(looks(vigil, stopped, LOOKS - 1))
        assert vigil.look(asleep()) is None


def test_where_nothing_is_known_only_the_time_counts():
    assert looks(Vigil(3, STILL_S), None, 13) == [None] * 12 + ["no answer within 3 s"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how a process does")
def test_a_real_process_is_seen_at_work():
    before = signs_of(os.getpid())
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    after = signs_of(os.getpid())
    assert after.processor_s - before.processor_s >= 0.05
    assert after.runnable


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells how a process does")
def test_of_one_that_is_not_there_nothing_is_known():
    assert signs_of(2**22 + 1) is None
