import pytest

from voice.audio import SILENCE_DBFS
from voice.calibration.choosing import Advice, Cost, Room, choose, judge_room, together


def cost(model, seconds, threads=1, compute_type="int8"):
    return Cost(model, {"tiny.en": 75, "base": 145, "small": 480}[model], threads, compute_type, seconds)


def test_the_largest_model_that_is_ready_in_time_is_chosen_and_what_larger_ones_take_is_said():
    advice = choose([cost("tiny.en", 0.05), cost("base", 0.21), cost("small", 0.9)], 0.3)
    assert advice.settings == {"transcription": {"model": "base", "threads": 1, "compute_type": "int8"}}
    assert "base with int8 and 1 thread takes 0.21 s" in advice.reasons[0]
    assert advice.reasons[1] == "small would take 0.90 s."
    generous = choose([cost("tiny.en", 0.05), cost("base", 0.21), cost("small", 0.9)], 1.0)
    assert generous.settings["transcription"]["model"] == "small"


def test_where_none_is_ready_in_time_the_fastest_is_chosen_and_that_is_said():
    advice = choose([cost("base", 2.0), cost("tiny.en", 0.6)], 0.3)
    assert advice.settings["transcription"]["model"] == "tiny.en"
    assert advice.reasons[0].startswith("No model here is ready within 0.3 s")
    in_time = choose([cost("base", 0.34), cost("base", 0.29, 2)], 0.3)
    assert in_time.reasons[0].startswith("base with int8 and 2 threads takes 0.29 s")


@pytest.mark.parametrize(
    ("ways", "threads", "compute_type"),
    [
        ([cost("base", 0.2), cost("base", 0.12, 2)], 2, "int8"),
        ([cost("base", 0.2), cost("base", 0.17, 2)], 1, "int8"),
        ([cost("base", 0.2), cost("base", 0.1, 1, "float32")], 1, "float32"),
        ([cost("base", 0.2, 1, "float32")], 1, "float32"),
        ([cost("base", 0.28), cost("base", 0.24, 2)], 2, "int8"),  # it alone is ready in time
        ([cost("base", 0.44), cost("base", 0.4, 2)], 1, "int8"),
    ],
)
def test_a_second_thread_or_another_way_to_compute_must_be_worth_it(ways, threads, compute_type):
    chosen = choose(ways).settings["transcription"]
    assert (chosen["threads"], chosen["compute_type"]) == (threads, compute_type)


def test_without_a_model_nothing_is_advised():
    assert choose([]) == Advice(("There is no model here to measure.",))


def test_a_room_is_judged():
    def told(*room):
        return judge_room(Room(*room), 0.5)

    assert "muted" in told(SILENCE_DBFS, SILENCE_DBFS, 0.0, 0.0).reasons[0]
    assert "fit" in told(-65.0, -50.0, 0.0, 0.2).reasons[0]
    assert "loud" in told(-35.0, -30.0, 0.01, 0.6).reasons[0]
    assert told(-65.0, -50.0, 0.01, 0.6).settings == {}
    voices = told(-45.0, -20.0, 0.3, 0.7)
    assert "taken for speech" in voices.reasons[0]
    assert voices.settings == {"hearing": {"start_threshold": 0.75}}
    assert told(-45.0, -20.0, 0.3, 0.85).settings == {"hearing": {"start_threshold": 0.9}}
    television = told(-45.0, -20.0, 0.3, 0.99)  # deaf to quiet words, and it would still be heard
    assert television.settings == {}
    assert "no threshold keeps out" in television.reasons[0]


@pytest.mark.parametrize(
    ("highest", "start", "end", "enough"),
    [
        (0.2, 0.9, 0.35, 0.5),  # the usual one is enough
        (0.6, 0.9, 0.35, 0.65),  # a voice from the next room
        (0.2, 0.9, 0.6, 0.6),  # less than where speech ends would be no setting
        (0.2, 0.5, 0.35, None),
        (0.2, 0.4, 0.35, None),  # who wants it lower keeps that
        (0.85, 0.9, 0.35, None),
    ],
)
def test_a_threshold_that_is_higher_than_the_room_needs_is_lowered_and_the_reason_says_so(
    highest, start, end, enough
):
    advice = judge_room(Room(-65.0, -50.0, 0.0, highest), start, end)
    assert advice.settings == ({} if enough is None else {"hearing": {"start_threshold": enough}})
    if enough is not None:
        assert (
            f"a start_threshold of {start:g} may miss quiet words, and {enough:g} is enough"
            in advice.reasons[0]
        )


def test_advice_is_joined():
    room = judge_room(Room(-45.0, -20.0, 0.3, 0.7), 0.5)
    both = together(room, choose([cost("base", 0.2)]))
    assert set(both.settings) == {"hearing", "transcription"}
    assert len(both.reasons) == 2
    more = together(both, Advice((), {"hearing": {"microphone": "USB"}}))
    assert more.settings["hearing"] == {"start_threshold": 0.75, "microphone": "USB"}
