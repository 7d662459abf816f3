"""What the soak calls flat, and that it really talks."""

import anyio
import pytest
import soak as soaking
from intervals import of_slope
from soak import Reading, Soak, soak, verdicts

from voice.settings import Settings


def found(memory, handles=lambda turn: 20, texts=("Yes.", "Yes."), told=()):
    soaked = Soak(500)
    soaked.readings = [
        Reading(turn, turn * 14.4, memory(turn), {"whisper": 200.0}, handles(turn), 5, 2)
        for turn in range(1, 501)
    ]
    soaked.texts["yes.wav"] = list(texts)
    soaked.told = list(told)
    return {one.what for one in verdicts(soaked) if not one.flat}


def test_what_stays_within_a_few_megabytes_is_flat_and_what_grows_is_not():
    assert found(lambda turn: 100 + turn % 7) == set()
    assert found(lambda turn: 100 + 30 * (turn < 40)) == set()  # it warms up
    assert found(lambda turn: 100 + 0.03 * turn) == {"memory"}
    assert found(lambda turn: 100 + 3 * (turn // 60)) == {"memory"}


def test_a_handle_more_now_and_then_is_found():
    assert found(lambda turn: 100, handles=lambda turn: 20 + turn // 100) == {"handles"}
    assert found(lambda turn: 100, handles=lambda turn: 20 + turn % 2) == set()


def test_a_text_that_changes_and_a_reply_that_is_lost_are_found():
    assert found(lambda turn: 100, texts=("Yes.", "Yes, yes.")) == {"texts"}
    assert found(lambda turn: 100, told=["Discarded"]) == {"delivered"}


def test_the_interval_of_a_slope_holds_it():
    low, high = of_slope(range(100), [3 * at + (at * 37 % 11) for at in range(100)])
    assert low < 3 < high < 3.2
    assert of_slope(range(2), [1, 2]) == (float("-inf"), float("inf"))


@pytest.mark.slow
def test_it_talks_and_is_understood():
    soaked = anyio.run(soak, Settings(), 3)
    assert soaked.texts["yes-please.wav"] == ["Yes, please."]
    assert soaked.texts["second-one.wav"] == ["The second one."]
    assert soaked.told == []
    # Other tests may have children in this process too.
    assert all({"whisper_child", "pyttsx3_worker"} <= set(one.children_mb) for one in soaked.readings)
    assert len({one.children for one in soaked.readings}) == 1


@pytest.mark.slow
def test_a_reply_that_is_lost_is_told_and_the_next_one_is_said(monkeypatch):
    monkeypatch.setattr(soaking, "REPLIES", ("silence-digital.wav", "yes-please.wav"))
    monkeypatch.setattr(soaking, "GIVEN_UP_S", 20.0)
    soaked = anyio.run(soak, Settings(), 2)
    assert soaked.told == ["Turn 1, silence-digital.wav, was not answered."]
    assert soaked.texts == {"yes-please.wav": ["Yes, please."]}
    assert len(soaked.readings) == 2
    assert "delivered" in {one.what for one in verdicts(soaked) if not one.flat}
