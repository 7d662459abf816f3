from functools import reduce

from voice import events
from voice.events import DiscardReason, Status, VoiceState
from voice.screen.state import ScreenState, after

ON = (
    events.VoiceStateChanged(VoiceState.STARTING),
    events.DevicesInUse("USB", "Built-in"),
    events.VoiceStateChanged(VoiceState.ACTIVE),
    events.StatusChanged(Status.LISTENING),
)


def state(*happened):
    return reduce(after, happened, ScreenState())


def test_what_goes_on_is_said_in_words():
    assert state().words == "voice off"
    assert state(*ON).words == "listening"
    assert state(*ON, events.AgentStarted()).words == "listening, agent working"
    assert state(*ON, events.AgentStarted(), events.StatusChanged(Status.WORKING)).words == "agent working"
    assert (
        state(events.AgentStarted(), events.StatusChanged(Status.WORKING)).words == "voice off, agent working"
    )
    assert state(*ON, events.AgentStarted(), events.HostLost("It died.")).words == "listening"


def test_every_status_has_words():
    assert all(state(events.StatusChanged(status)).words for status in Status)


def test_switched_off_nothing_of_the_microphone_is_left():
    on = state(*ON, events.LevelMeasured(-30.0, 1.0), events.PartialTranscript("I wo", 1.0))
    assert (on.voice_on, on.level_dbfs, on.partial) == (True, -30.0, "I wo")
    off = reduce(
        after,
        (
            events.DevicesInUse("", ""),
            events.VoiceStateChanged(VoiceState.DRAINING),
            events.StatusChanged(Status.VOICE_OFF),
            events.VoiceStateChanged(VoiceState.INACTIVE),
        ),
        on,
    )
    assert off == ScreenState()


def test_the_words_so_far_are_gone_when_it_is_known_what_became_of_them():
    heard = events.PartialTranscript("I wo", 1.0)
    for end in (
        events.UserMessage("I would.", "voice", 1.0),
        events.Discarded(DiscardReason.TYPED_INSTEAD, "I wo", 1.0),
        events.SpeechStarted(2.0),
    ):
        assert state(*ON, heard, end).partial == ""
    assert state(*ON, heard, events.UserMessage("typed", "keyboard", 1.0)).partial == "I wo"


def test_messages_wait_until_they_are_sent_or_taken_back():
    waiting = state(*(events.MessageQueued(text) for text in ("a", "b", "a")))
    assert waiting.queued == ("a", "b", "a")
    assert after(waiting, events.MessageSent("a")).queued == ("b", "a")
    assert after(waiting, events.MessageSent("something else")).queued == ("a", "b", "a")
    assert after(waiting, events.Discarded(DiscardReason.TAKEN_BACK, "b", 1.0)).queued == ("a", "a")
    assert after(waiting, events.Discarded(DiscardReason.UNCONFIRMED, "b", 1.0)).queued == ("a", "a")
    assert after(waiting, events.Discarded(DiscardReason.ECHO, "b", 1.0)).queued == ("a", "b", "a")
