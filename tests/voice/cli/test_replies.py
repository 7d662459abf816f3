import shutil

import pytest

from voice import events
from voice.backends.cues import CuedMicrophone
from voice.cli.replies import NOBODY_S, RecordedReplies
from voice.errors import RecordingError
from voice.events import NarrationEnding, Status

LISTENING, WORKING = events.StatusChanged(Status.LISTENING), events.StatusChanged(Status.WORKING)
ASKED = events.NarrationEnded("Which?", NarrationEnding.COMPLETED, 1.0)
SAID = events.UserMessage("Yes.", "voice", 1.0)
TYPED = events.UserMessage("yes", "keyboard", 1.0)
ENDED = events.AgentEnded()
LEVEL = events.LevelMeasured(-60.0, 1.0)


@pytest.fixture
def person(tmp_path, fixtures_folder, monkeypatch):
    for name in ("b.wav", "a.wav", "c.WAV"):
        shutil.copy(fixtures_folder / "yes.wav", tmp_path / name)
    (tmp_path / "notes.txt").write_text("no recording")
    recorded = RecordedReplies(tmp_path)
    recorded.begun = []
    cue = recorded.microphone.cue

    def cued():
        begun = cue()
        recorded.begun.append(begun and begun[-5:])
        return begun

    monkeypatch.setattr(recorded.microphone, "cue", cued)
    return recorded


def begun(person, *happened):
    for event in happened:
        person.take(event)
    return person.begun


def test_it_begins_the_talk_and_answers_each_question_once_in_the_order_of_the_names(person):
    assert begun(person, WORKING) == []
    assert begun(person, LISTENING) == ["a.wav"]
    assert begun(person, ASKED, ENDED, WORKING, LISTENING) == ["a.wav"]  # it is still speaking
    assert begun(person, SAID, WORKING, ASKED, ENDED, LISTENING) == ["a.wav", "b.wav"]
    assert begun(person, LISTENING) == ["a.wav", "b.wav"]


def test_a_question_inside_a_turn_is_answered_too(person):
    begun(person, LISTENING, SAID, WORKING)
    assert begun(person, ASKED, LISTENING) == ["a.wav", "b.wav"]


def test_who_types_has_answered(person):
    begun(person, LISTENING, TYPED, WORKING)
    assert begun(person, ENDED, LISTENING) == ["a.wav", "b.wav"]


def test_a_recording_in_which_nobody_speaks_is_no_answer_and_the_next_one_follows(person, monkeypatch):
    silences_s = iter([0.0, NOBODY_S - 0.02, NOBODY_S, 0.0])
    monkeypatch.setattr(CuedMicrophone, "silent_s", property(lambda _: next(silences_s)))
    assert begun(person, LISTENING, LEVEL, LEVEL) == ["a.wav"]
    assert begun(person, LEVEL, LEVEL) == ["a.wav", "b.wav"]


def test_who_was_heard_is_waited_for(person, monkeypatch):
    monkeypatch.setattr(CuedMicrophone, "silent_s", NOBODY_S)
    assert begun(person, LISTENING, events.SpeechStarted(1.0), LEVEL) == ["a.wav"]


def test_no_recording_is_a_sentence(tmp_path):
    with pytest.raises(RecordingError, match="no recording in"):
        RecordedReplies(tmp_path)
    with pytest.raises(RecordingError, match="cannot be read"):
        RecordedReplies(tmp_path / "nowhere")
