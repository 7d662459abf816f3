"""The loop with a scripted transcriber: what was said, in which order, with which times."""

import pytest

from voice.audio import FRAME_S, silent_frame
from voice.errors import DeviceLost, TranscriberDied
from voice.events import (
    Discarded,
    DiscardReason,
    EndReason,
    Latency,
    Notice,
    PartialTranscript,
    Span,
    SpeechEnded,
    SpeechStarted,
    UserMessage,
    UtteranceNearCap,
)
from voice.listening.endpointing import Endpointer, EndRule
from voice.listening.patience import OWN_PAUSES, Patience, PatienceRule, Wording
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear
from voice.loop import ASLEEP_LONGEST_S, Hearing, Silence, hear
from voice.ports import Transcript
from voice.testing import (
    LevelDetector,
    ScriptedJournal,
    ScriptedMicrophone,
    ScriptedTranscriber,
    spoken_frame,
)

pytestmark = pytest.mark.anyio


async def heard(transcriber, *stretches, end_turn_with_input=False, transcript_after_s=0.3, failure=None):
    """The events of (seconds, spoken) stretches."""
    microphone = ScriptedMicrophone()
    for seconds, spoken in stretches:
        microphone.feed(seconds, spoken=spoken)
    if failure is not None:
        microphone.fail(failure)
    microphone.end()
    hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=transcript_after_s)
    events = []
    try:
        async with microphone.open() as frames:
            async for event in hear(
                frames, hearing, afterwards=Silence(), end_turn_with_input=end_turn_with_input
            ):
                events.append(event)  # noqa: PERF401 — what came before an error counts
    except DeviceLost:
        assert failure is not None
        events.append(failure)
    return events


async def test_a_reply_becomes_a_message():
    with ScriptedTranscriber("Yes.") as transcriber:
        started, ended, message = await heard(transcriber, (1.0, False), (0.5, True), (3.0, False))
    assert started == SpeechStarted(pytest.approx(1.0))
    assert ended == SpeechEnded(pytest.approx(1.5), pytest.approx(3.1), EndReason.SILENCE)
    assert (message.text, message.source) == ("Yes.", "voice")
    assert message.heard == Span(pytest.approx(1.0), pytest.approx(1.5))
    # The piece was ready 0.8 s into the silence, so that its text was there before the end was decided.
    assert message.latency == Latency(pytest.approx(1.6), pytest.approx(0.0), pytest.approx(1.6))


async def test_a_transcription_that_takes_longer_than_the_silence_is_waited_for():
    with ScriptedTranscriber("Yes.") as transcriber:
        *_, message = await heard(transcriber, (0.5, True), transcript_after_s=2.0)
    assert message.latency == Latency(pytest.approx(1.6), pytest.approx(1.2), pytest.approx(2.8))
    assert message.at_s == pytest.approx(0.5 + 0.8 + 2.0)


async def test_silence_follows_a_recording_until_its_last_turn_is_delivered():
    with ScriptedTranscriber("Yes.") as transcriber:
        events = await heard(transcriber, (0.5, True))
    assert [type(event) for event in events] == [SpeechStarted, SpeechEnded, UserMessage]


async def test_the_end_of_a_live_input_ends_the_turn():
    with ScriptedTranscriber("Yes.") as transcriber:
        _, ended, message = await heard(transcriber, (0.5, True), end_turn_with_input=True)
    assert ended == SpeechEnded(pytest.approx(0.5), pytest.approx(0.5), EndReason.INPUT_ENDED)
    assert message.latency == Latency(pytest.approx(0.0), pytest.approx(0.3), pytest.approx(0.3))


async def test_the_pieces_of_a_reply_are_one_message():
    with ScriptedTranscriber("I would like.", "the second one.") as transcriber:
        events = await heard(transcriber, (1.0, True), (1.4, False), (1.0, True))
    assert [event.text for event in events if isinstance(event, UserMessage)] == [
        "I would like the second one."
    ]


async def test_two_turns_are_two_messages_in_their_order():
    with ScriptedTranscriber("One.", "Two.") as transcriber:
        events = await heard(transcriber, (0.5, True), (3.0, False), (0.5, True), transcript_after_s=8.0)
    assert [event.text for event in events if isinstance(event, UserMessage)] == ["One.", "Two."]


async def test_silence_asks_the_transcriber_nothing():
    with ScriptedTranscriber() as transcriber:
        assert await heard(transcriber, (10.0, False)) == []


async def test_what_has_no_words_is_not_a_message():
    with ScriptedTranscriber("...") as transcriber:
        *_, discarded = await heard(transcriber, (0.5, True))
    assert isinstance(discarded, Discarded)
    assert discarded.reason is DiscardReason.NO_WORDS


async def test_a_transcriber_that_failed_is_said_and_half_a_reply_is_not_delivered():
    with ScriptedTranscriber("Do not", TranscriberDied("Whisper failed 3 times.")) as transcriber:
        events = await heard(transcriber, (1.0, True), (1.0, False), (1.0, True))
    assert [type(event) for event in events[2:]] == [Notice, Discarded]
    assert (events[-1].reason, events[-1].text) == (DiscardReason.NOT_TRANSCRIBED, "Do not")


async def test_what_was_said_before_the_microphone_was_lost_is_delivered_first():
    failure = DeviceLost("The microphone is gone.")
    with ScriptedTranscriber("Yes.") as transcriber:
        events = await heard(transcriber, (0.5, True), failure=failure)
    assert [type(event) for event in events] == [SpeechStarted, SpeechEnded, UserMessage, DeviceLost]


async def test_in_a_live_session_a_text_is_taken_when_it_is_there():
    transcriber = ScriptedTranscriber("Yes.")
    hearing = Hearing(Ear(LevelDetector()), transcriber)
    transcriber.hold()
    microphone = ScriptedMicrophone()
    microphone.feed(0.5, spoken=True)
    microphone.feed(3.0, spoken=False)
    microphone.end()
    events = []
    async with microphone.open() as frames:
        async for frame in frames:
            if hearing.now_s > 3.0:
                transcriber.release()
            events += await hearing.push(frame)
    message = events[-1]
    assert message.at_s == pytest.approx(3.04)
    assert message.latency.transcribe_s == pytest.approx(3.04 - 2.1)


async def test_skipped_frames_drop_an_open_turn_and_keep_one_that_has_ended():
    transcriber = ScriptedTranscriber("One.", "Two.")
    hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=5.0)
    microphone = ScriptedMicrophone()
    for seconds, spoken in ((0.5, True), (2.0, False), (0.5, True), (1.0, False)):
        microphone.feed(seconds, spoken=spoken)
    microphone.end()
    events = []
    async with microphone.open() as frames:
        async for frame in frames:
            events += await hearing.push(frame)
    assert hearing.busy
    for _ in range(500):
        events += await hearing.skip()
    ended, message, dropped = events[-3:]
    assert ended.reason is EndReason.TALKED_OVER
    assert (message.text, dropped.reason, dropped.text) == ("One.", DiscardReason.TALKED_OVER, "")
    assert dropped.began_s == pytest.approx(2.5), "each is told in its order, and names its turn"
    assert not hearing.busy


async def test_a_bug_in_the_listener_is_not_taken_for_the_end_of_the_source():
    class Broken(LevelDetector):
        def judge(self, frame):
            raise ZeroDivisionError

    microphone = ScriptedMicrophone()
    microphone.feed(1.0, spoken=True)
    async with microphone.open() as frames:
        hearing = Hearing(Ear(Broken()), ScriptedTranscriber())
        with pytest.raises(ZeroDivisionError):
            async for _ in hear(frames, hearing, afterwards=Silence(), end_turn_with_input=False):
                pass


async def pushed(hearing, seconds, *, spoken):
    """The events of so much speech, or silence."""
    events = []
    for _ in range(round(seconds / FRAME_S)):
        events += await hearing.push(spoken_frame() if spoken else silent_frame())
    return events


async def skipped(hearing, seconds, *, keep=True):
    events = []
    for _ in range(round(seconds / FRAME_S)):
        events += await hearing.skip(keep=keep)
    return events


def only(kind, events):
    return [event for event in events if isinstance(event, kind)]


async def test_a_turn_that_waits_while_the_microphone_is_held_goes_on_where_it_was():
    with ScriptedTranscriber("Take the second one.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=0.3)
        events = await pushed(hearing, 0.5, spoken=True)
        events += await skipped(hearing, 5.0)
        assert hearing.speaking
        events += await pushed(hearing, 0.5, spoken=True)
        events += await pushed(hearing, 2.0, spoken=False)
    (message,) = only(UserMessage, events)
    assert message.text == "Take the second one."
    assert message.heard == Span(pytest.approx(0.0), pytest.approx(6.0))
    assert message.at_s == pytest.approx(7.6)
    assert hearing.now_s == pytest.approx(8.0)


async def test_what_has_ended_is_delivered_while_the_microphone_is_held():
    with ScriptedTranscriber("Yes.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=3.0)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.7, spoken=False)
        assert not only(UserMessage, events)
        assert only(UserMessage, await skipped(hearing, 3.0))


async def test_a_dropped_turn_is_told_with_its_words_and_becomes_no_message():
    with ScriptedTranscriber("Delete it.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=0.3)
        await pushed(hearing, 0.5, spoken=True)
        (ended,) = hearing.drop(DiscardReason.TYPED_INSTEAD)
        assert ended.reason is EndReason.CUT_OFF
        assert hearing.drop(DiscardReason.CUT_OFF) == []
        events = await pushed(hearing, 1.0, spoken=False)
    (discarded,) = events
    assert (discarded.reason, discarded.text) == (DiscardReason.TYPED_INSTEAD, "Delete it.")
    assert not hearing.busy


@pytest.mark.parametrize("pause_s", [0.0, 0.3])
async def test_of_what_is_typed_over_the_rest_is_no_message_either(pause_s):
    """Not "delete it", of "do not delete it"."""
    with ScriptedTranscriber("Do not", "delete it.", "Yes.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber)

        async def hears(seconds, *, spoken):
            frame = spoken_frame() if spoken else silent_frame()
            return [event for _ in range(round(seconds / FRAME_S)) for event in await hearing.push(frame)]

        await hears(0.6, spoken=True)
        hearing.drop(DiscardReason.TYPED_INSTEAD)
        events = await hears(pause_s, spoken=False)
        events += await hears(0.6, spoken=True) + await hears(2.0, spoken=False)
        events += await hears(0.6, spoken=True) + await hears(2.0, spoken=False)
    told = [(type(event), event.text) for event in events if isinstance(event, Discarded | UserMessage)]
    assert told == [(Discarded, "Do not"), (Discarded, "delete it."), (UserMessage, "Yes.")]


async def test_a_sound_without_words_after_what_is_typed_over_is_not_told():
    with ScriptedTranscriber("Do not", "") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber)
        events = [event for _ in range(30) for event in await hearing.push(spoken_frame())]
        hearing.drop(DiscardReason.TYPED_INSTEAD)
        events += [event for _ in range(20) for event in await hearing.push(spoken_frame())]
        events += [event for _ in range(100) for event in await hearing.push(silent_frame())]
    assert [event.text for event in events if isinstance(event, Discarded)] == ["Do not"]
    assert not hearing.busy


async def test_a_message_says_how_sure_the_transcriber_was_of_its_least_sure_piece():
    with ScriptedTranscriber(
        Transcript("Well", average_log_probability=-0.2), Transcript("yes.", average_log_probability=-0.9)
    ) as transcriber:
        (message,) = only(UserMessage, await heard(transcriber, (0.5, True), (1.0, False), (0.5, True)))
    assert message.confidence == -0.9


async def test_the_words_so_far_are_told_while_a_turn_goes_on():
    with ScriptedTranscriber("Well,", "let me see,", "yes.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, partials=True)
        events = []
        for _ in range(3):
            events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
        events += await pushed(hearing, 1.0, spoken=False)
    told = [event.text for event in only(PartialTranscript, events)]
    assert told == ["Well,", "Well, let me see,", "Well, let me see, yes."]
    assert only(UserMessage, events)[0].text == told[-1]


async def test_the_words_so_far_are_not_told_again_and_again_while_nothing_is_added():
    with ScriptedTranscriber("Well,") as transcriber:
        end = EndRule(silence_s=60.0)
        hearing = Hearing(Ear(LevelDetector(), Endpointer(end=end)), transcriber, partials=True)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 30.0, spoken=False)
    assert len(only(PartialTranscript, events)) == 1


async def test_continuous_speech_for_a_minute_is_one_message():
    lines = [f"part {number}" for number in range(20)]
    transcriber = ScriptedTranscriber(*lines)
    events = await heard(transcriber, (60.0, True), (3.0, False))
    (message,) = only(UserMessage, events)
    assert message.text.startswith("part 0 part 1")
    assert message.heard == Span(pytest.approx(0.0), pytest.approx(60.0))


async def test_asleep_only_what_may_be_a_phrase_is_transcribed():
    with ScriptedTranscriber("Wake up.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=0.3, partials=True)
        hearing.asleep = True
        private = await pushed(hearing, ASLEEP_LONGEST_S + 1, spoken=True)
        private += await pushed(hearing, 2.5, spoken=False)
        assert [(event.reason, event.text) for event in only(Discarded, private)] == [("asleep", "")]
        assert transcriber.asked == []
        phrase = await pushed(hearing, 0.8, spoken=True) + await pushed(hearing, 2.5, spoken=False)
    assert [event.text for event in only(UserMessage, phrase)] == ["Wake up."]
    assert not only(PartialTranscript, private + phrase)


async def test_a_warning_comes_before_the_cap_also_after_a_hold():
    transcriber = ScriptedTranscriber(*["words"] * 9)
    end = EndRule(longest_s=6.0, warn_s=4.0)
    hearing = Hearing(Ear(LevelDetector(), Endpointer(end=end)), transcriber, transcript_after_s=0.3)
    events = await pushed(hearing, 1.0, spoken=True)
    events += await skipped(hearing, 2.0)
    events += await pushed(hearing, 4.0, spoken=True)
    (warning,) = only(UtteranceNearCap, events)
    assert (warning.at_s, warning.remaining_s) == (pytest.approx(6.0), pytest.approx(2.0))


def quick(transcriber, *, question="Shall I? Yes or no?", transcript_after_s=0.2, partials=False):
    """A hearing with patience, that transcribes in pauses."""
    patience = Patience(PatienceRule(), Wording(unfinished={"and"}, closed={"yes or no"}))
    patience.expect(question)
    ear = Ear(LevelDetector(), rule=PieceRule(early_s=0.2))
    return Hearing(
        ear, transcriber, patience=patience, transcript_after_s=transcript_after_s, partials=partials
    )


async def test_a_short_answer_to_a_closed_question_is_soon_a_message():
    with ScriptedTranscriber("Yes.") as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
    (message,) = only(UserMessage, events)
    soon_s = pytest.approx(PatienceRule().closed_s)
    assert message.latency == Latency(soon_s, pytest.approx(0.0), soon_s)


async def test_a_text_that_takes_longer_ends_the_turn_when_it_is_there():
    with ScriptedTranscriber("Yes.") as transcriber:
        hearing = quick(transcriber, transcript_after_s=0.6)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.5, spoken=False)
    (message,) = only(UserMessage, events)
    assert message.latency.total_s == pytest.approx(0.2 + 0.6 + FRAME_S)


async def test_words_that_want_more_are_waited_for_and_what_follows_is_the_same_message():
    with ScriptedTranscriber("Yes and", "run the tests.") as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.2, spoken=False)
        assert not only(UserMessage, events)
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.8, spoken=False)
    assert [message.text for message in only(UserMessage, events)] == ["Yes and run the tests."]


async def test_an_early_text_is_thrown_away_when_speech_goes_on():
    with ScriptedTranscriber("Yes and", "Yes and no.") as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 0.46, spoken=False)
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
    assert [message.text for message in only(UserMessage, events)] == ["Yes and no."]
    assert len(transcriber.asked[1]) > len(transcriber.asked[0])


async def test_what_was_transcribed_early_is_not_transcribed_again():
    with ScriptedTranscriber("One,", "two.") as transcriber:
        hearing = quick(transcriber, question="")
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.2, spoken=False)
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.0, spoken=False)
    assert [message.text for message in only(UserMessage, events)] == ["One, two."]


async def test_the_early_text_is_the_partial_transcript():
    with ScriptedTranscriber("Well", "Well, yes.") as transcriber:
        hearing = quick(transcriber, question="", partials=True)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 0.6, spoken=False)
        assert [event.text for event in only(PartialTranscript, events)] == ["Well"]
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.0, spoken=False)
    assert [event.text for event in only(PartialTranscript, events)] == ["Well", "Well, yes."]


async def test_an_early_text_that_fails_ends_no_turn_and_loses_none():
    with ScriptedTranscriber(TranscriberDied("Whisper failed.")) as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.5, spoken=False)
        assert hearing.speaking
        events += await pushed(hearing, 0.5, spoken=False)
    assert [event.reason for event in only(Discarded, events)] == ["not_transcribed"]


async def test_pauses_inside_delivered_replies_teach_how_long_to_wait():
    lines = ["words"] * 2 * (OWN_PAUSES + 1)
    hearing = quick(ScriptedTranscriber(*lines), question="")
    waits = []
    for _ in range(OWN_PAUSES + 1):
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.4, spoken=False)
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.5, spoken=False)
        waits.append(only(UserMessage, events)[0].latency.total_s)
        hearing.expect("And now?")
    assert waits == pytest.approx([1.6] * OWN_PAUSES + [2.1])


async def going_on(hearing, *, narrated=False):
    """Say one sentence in two parts, 2 s apart, until that is one message; how often it was two."""
    for cuts in range(OWN_PAUSES + 2):
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.0, spoken=False)
        if narrated:
            hearing.expect("And what else?")
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 2.6, spoken=False)
        hearing.expect("And now?")
        if len(only(UserMessage, events)) == 1:
            return cuts
    return None


async def test_who_is_cut_off_again_and_again_is_waited_for_in_the_end():
    hearing = quick(ScriptedTranscriber(*["words"] * 40), question="")
    assert await going_on(hearing) == OWN_PAUSES


async def test_what_is_said_after_a_narration_is_no_rest_of_what_was_said_before_it():
    hearing = quick(ScriptedTranscriber(*["words"] * 40), question="")
    assert await going_on(hearing, narrated=True) is None


async def test_a_sound_without_words_in_a_pause_teaches_no_shorter_one():
    hearing = quick(ScriptedTranscriber(*["words"] * 60), question="")
    for _ in range(OWN_PAUSES):
        await pushed(hearing, 0.5, spoken=True)
        for _ in range(6):
            await pushed(hearing, 0.3, spoken=False)
            await pushed(hearing, 0.04, spoken=True)
        await pushed(hearing, 0.5, spoken=True)
        await pushed(hearing, 1.7, spoken=False)
        hearing.expect("And now?")
    patience = hearing._patience
    assert patience.own.wait_s(1.6) > 2.0, "each pause was 2 s long"


async def test_a_turn_with_a_sound_that_held_no_words_teaches_nothing():
    lines = ["words", "(coughs)"] * OWN_PAUSES
    hearing = quick(ScriptedTranscriber(*lines), question="")
    for _ in range(OWN_PAUSES):
        await pushed(hearing, 0.5, spoken=True)
        await pushed(hearing, 1.4, spoken=False)
        await pushed(hearing, 0.5, spoken=True)
        await pushed(hearing, 1.8, spoken=False)
        hearing.expect("And now?")
    assert hearing._patience.own.wait_s(1.6) == 1.6


async def test_the_options_of_a_question_reach_patience():
    with ScriptedTranscriber("Redis.") as transcriber:
        hearing = quick(transcriber, question="")
        hearing.expect("Where should it be stored?", ["Redis", "PostgreSQL"])
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
    soon_s = pytest.approx(PatienceRule().closed_s)
    assert [message.latency.endpoint_s for message in only(UserMessage, events)] == [soon_s]


async def test_a_new_turn_is_judged_by_its_own_words():
    with ScriptedTranscriber("Yes.", "I would rather wait until the others are here.") as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
        events += await pushed(hearing, 2.0, spoken=True) + await pushed(hearing, 1.5, spoken=False)
        assert len(only(UserMessage, events)) == 1
        events += await pushed(hearing, 0.5, spoken=False)
    assert len(only(UserMessage, events)) == 2


async def said(hearing, seconds):
    frames = [spoken_frame()] * round(seconds / FRAME_S) + [silent_frame()] * round(2.5 / FRAME_S)
    return [event for frame in frames for event in await hearing.push(frame)]


async def test_the_names_of_the_question_go_with_each_piece_and_those_of_the_project_with_long_ones():
    with ScriptedTranscriber("Use post gres.", "Redis.", "Redis.") as transcriber:
        hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=0.3)
        hearing.know(["turn_taking.py"])
        hearing.expect("Shall I use PostgreSQL?")
        events = []
        for seconds in (1.2, 0.5):
            events += await said(hearing, seconds)
        hearing.expect("Shall I go on?")
        events += await said(hearing, 0.5)
    assert [message.text for message in only(UserMessage, events)] == ["Use PostgreSQL.", "Redis.", "Redis."]
    assert transcriber.vocabularies == [("PostgreSQL", "turn_taking.py"), ("PostgreSQL",), ()]


async def test_a_question_is_answered_once_and_what_is_said_after_that_is_open():
    with ScriptedTranscriber("Yes.", "Run the tests.") as transcriber:
        hearing = quick(transcriber)
        events = await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.0, spoken=False)
        events += await pushed(hearing, 0.5, spoken=True) + await pushed(hearing, 1.5, spoken=False)
        assert [message.text for message in only(UserMessage, events)] == ["Yes."]
        events += await pushed(hearing, 0.5, spoken=False)
    assert [message.text for message in only(UserMessage, events)] == ["Yes.", "Run the tests."]


async def test_the_disk_is_waited_for_before_a_transcription_and_not_with_each_frame():
    waits = []

    class SlowJournal(ScriptedJournal):
        async def written(self):
            waits.append(len(transcriber.asked))

    transcriber = ScriptedTranscriber("Yes.")
    ear = Ear(LevelDetector(), rule=PieceRule(early_s=0.2))
    hearing = Hearing(ear, transcriber, transcript_after_s=0.3, journal=SlowJournal())
    for frame in [spoken_frame()] * 100 + [silent_frame()] * 100:
        await hearing.push(frame)
    assert len(transcriber.asked) == 1
    assert waits == [0, 1]  # before it, and when the turn is over
