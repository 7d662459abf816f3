"""What people say is heard through every narration, and nothing that we said ourselves."""

import numpy as np
import pytest

from voice.audio import FRAME_S, FRAME_SAMPLES, SAMPLE_RATE, level_dbfs, silent_frame
from voice.commands import Command, Controls
from voice.ears import FELL_BACK, LOOK_BACK_S, Ears
from voice.events import (
    CommandHeard,
    Discarded,
    DiscardReason,
    EndReason,
    Notice,
    SpeechEnded,
    SpeechStarted,
    UserMessage,
)
from voice.floor import Duplex
from voice.listening.phrases import PhraseListener
from voice.listening.utterances import Ear
from voice.loop import Hearing
from voice.testing import LevelDetector, ScriptedTranscriber

pytestmark = pytest.mark.anyio

QUESTION = "Which of the two do you prefer? Please choose one option."
ECHO_DELAY_FRAMES = 3


class Room:
    """A person, a loudspeaker and a microphone; both voices are noise, and no two places in it are alike."""

    def __init__(self, ears, *, echo=0.5, tap=True):
        self.ears = ears
        self.events = []
        self.heard = []
        self._random = np.random.default_rng(1)
        self._on_its_way = [silent_frame()] * ECHO_DELAY_FRAMES
        self._echo = echo
        self._tap = tap

    async def goes_on(self, seconds, *, person=False, plays=False):
        for _ in range(round(seconds / FRAME_S)):
            played = self._voice() if plays else silent_frame()
            if self._tap and plays:
                self.ears.on_played(played, 0.0)
            self._on_its_way.append(played)
            heard = self._echo * self._on_its_way.pop(0) + (self._voice() if person else 0)
            self.heard.append(heard.astype(np.int16))
            self.events += await self.ears.push(self.heard[-1])

    async def narrates(self, seconds, text=QUESTION, *, person_from_s=None):
        """The person begins to speak so long after the beginning, and goes on."""
        alone_s = seconds if person_from_s is None else person_from_s
        with self.ears.narration():
            self.ears.on_sentence(text)
            await self.goes_on(alone_s, plays=True)
            await self.goes_on(seconds - alone_s, plays=True, person=True)
            self.ears.on_sentence(None)

    def _voice(self):
        return self._random.normal(0, 3_000, FRAME_SAMPLES).astype(np.int16)

    def those(self, kind):
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def messages(self):
        return [event.text for event in self.those(UserMessage)]


def ears_with(*lines, phrases=None, **options):
    transcriber = ScriptedTranscriber(*lines)
    hearing = Hearing(Ear(LevelDetector()), transcriber, transcript_after_s=0.2)
    if phrases is not None:
        understood = phrases
        if isinstance(phrases, list):
            again = phrases[-1:] * 40  # what goes on is transcribed again and again
            understood = ScriptedTranscriber(*phrases, *again)
        options |= {
            "phrases": PhraseListener(LevelDetector(), understood),
            "stop_phrase_in": Controls("en").stop_phrase_in,
        }
    return Ears(hearing, **options), transcriber


# --- Half duplex ------------------------------------------------------------------------------------------


async def test_our_own_narration_in_the_microphone_is_not_heard_in_half_duplex():
    ears, transcriber = ears_with()
    room = Room(ears, echo=1.0)
    for _ in range(3):
        await room.narrates(4.0)
        await room.goes_on(3.0)
    assert not transcriber.asked
    assert not room.those(SpeechStarted)


@pytest.mark.parametrize("after_s", [0.0, 0.06, 0.1, 0.2, 0.3])
async def test_a_reply_that_begins_as_soon_as_the_device_has_drained_arrives_whole(after_s):
    ears, transcriber = ears_with("The second one.")
    room = Room(ears)
    await room.narrates(4.0)
    await room.goes_on(after_s)
    began = len(room.heard)
    await room.goes_on(0.8, person=True)
    ended = len(room.heard)
    await room.goes_on(3.0)
    assert room.messages == ["The second one."]
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(began * FRAME_S, abs=0.021)
    assert message.heard.end_s == pytest.approx(ended * FRAME_S)
    said = np.concatenate(room.heard[began + ECHO_DELAY_FRAMES : ended])
    assert _stands_in(said, transcriber.asked[0])


def _stands_in(part, whole):
    return any(
        np.array_equal(part, whole[at : at + len(part)])
        for at in range(0, len(whole) - len(part) + 1, FRAME_SAMPLES)
    )


async def test_a_reply_that_began_before_the_narration_had_drained_is_kept_from_its_onset():
    ears, transcriber = ears_with("The second one.")
    room = Room(ears)
    await room.narrates(4.0, person_from_s=3.4)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["The second one."]
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(3.4, abs=0.1)
    assert message.heard.end_s == pytest.approx(4.5)
    (asked,) = transcriber.asked
    before = asked[: -round((4.5 - 3.2 + 0.5) * SAMPLE_RATE)]
    assert level_dbfs(before) < -60, "our own voice, which came before the reply, is not part of it"


async def test_a_reply_that_was_over_before_the_narration_was_is_shown_and_not_sent():
    ears, _ = ears_with("Yes.")
    room = Room(ears)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(2.0, plays=True)
        await room.goes_on(0.6, plays=True, person=True)
        await room.goes_on(0.8, plays=True)
    await room.goes_on(3.0)
    assert not room.messages
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.TALKED_OVER, "Yes.")
    ]


@pytest.mark.parametrize("began", [88, 90, 117])
async def test_what_was_over_before_us_is_no_message_also_where_it_begins_with_us(began):
    """Symptom: one short word, heard in the first frame of a narration, becomes a message after it.

    At these places in the audio time the sums of its time and of ours are rounded apart.
    """
    ears, _ = ears_with("Yes.")
    room = Room(ears, echo=0.0)
    await room.goes_on(began * FRAME_S)
    with ears.narration():
        ears.on_sentence("Do you want that?")
        await room.goes_on(0.4, person=True, plays=True)
        await room.goes_on(1.8, plays=True)
    await room.goes_on(2.0)
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.TALKED_OVER]
    assert not room.messages


@pytest.mark.parametrize("from_s", [0.5, 2.0, 2.6])
async def test_a_reply_whose_beginning_is_no_longer_heard_is_shown_and_not_sent(from_s):
    """Symptom: of "don't delete it", said while we speak, "delete it" is sent."""
    ears, _ = ears_with("Delete it.")
    room = Room(ears)
    await room.narrates(6.0, person_from_s=from_s)
    await room.goes_on(0.8, person=True)
    await room.goes_on(3.0)
    assert not room.messages
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.TALKED_OVER, "Delete it.")
    ]


@pytest.mark.parametrize("pause_s", [0.0, 0.2])
@pytest.mark.parametrize("echo", [1.5, 2.4])
async def test_a_reply_whose_beginning_was_taken_out_with_our_louder_voice_is_shown_and_not_sent(
    echo, pause_s
):
    """Symptom: of "not the second one" our own voice takes "not" away, as it is taken out of the sound."""
    ears, _ = ears_with("The second one.")
    room = Room(ears, echo=echo)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(3.0, plays=True)
        await room.goes_on(0.3, plays=True, person=True)
        ears.on_sentence(None)
    await room.goes_on(pause_s)
    await room.goes_on(1.0, person=True)
    await room.goes_on(3.0)
    assert not room.messages
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.TALKED_OVER, "The second one.")
    ]


@pytest.mark.parametrize("echo", [0.5, 1.5, 2.8])
async def test_a_reply_that_begins_after_our_louder_voice_arrives(echo):
    ears, _ = ears_with("The second one.")
    room = Room(ears, echo=echo)
    await room.narrates(3.0)
    await room.goes_on(0.1)
    await room.goes_on(1.0, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["The second one."]


async def test_a_reply_that_began_as_far_back_as_is_looked_arrives_whole():
    ears, _ = ears_with("Do not delete it.")
    room = Room(ears)
    await room.narrates(6.0, person_from_s=6.0 - LOOK_BACK_S + 0.1)
    await room.goes_on(0.8, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["Do not delete it."]
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(6.1 - LOOK_BACK_S, abs=0.1)


async def test_where_no_speaker_tells_what_it_plays_only_what_begins_after_it_is_heard():
    ears, _ = ears_with("One.")
    room = Room(ears, tap=False)
    await room.narrates(4.0, person_from_s=3.4)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(4.06)


async def test_a_speaker_that_plays_nothing_hides_nothing():
    ears, _ = ears_with("Two.")
    ears.plays_nothing()
    room = Room(ears, tap=False, echo=0.0)
    await room.narrates(4.0, person_from_s=3.0)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(3.0)


async def test_a_turn_that_a_narration_begins_in_is_dropped():
    ears, _ = ears_with()
    room = Room(ears)
    await room.goes_on(0.5, person=True)
    assert ears.speaking
    await room.narrates(1.0)
    assert room.those(SpeechEnded)[0].reason is EndReason.TALKED_OVER
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.TALKED_OVER]
    assert not ears.busy


# --- Hearing while we speak -------------------------------------------------------------------------------


async def test_with_headphones_what_is_said_while_we_speak_is_heard_from_its_onset():
    ears, _ = ears_with("The second one.", duplex=Duplex.HEADPHONES)
    room = Room(ears, echo=0.0)
    await room.narrates(4.0, "Options: 1, SQLite; 2, PostgreSQL.", person_from_s=2.0)
    await room.goes_on(3.0)
    (message,) = room.those(UserMessage)
    assert message.text == "The second one."
    assert message.heard.start_s == pytest.approx(2.0)


async def test_a_session_that_hears_its_own_words_delivers_none_and_falls_back_after_two():
    """Symptom: on built-in speakers seven turns in a row were the agent's own sentences."""
    heard = "which of the two do you prefer", "please choose one option"
    ears, _ = ears_with(*heard, duplex=Duplex.HEADPHONES)
    room = Room(ears, tap=False)
    for _ in range(7):
        await room.narrates(4.0)
        await room.goes_on(3.0)
    assert not room.messages
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.ECHO] * 2
    assert room.those(Notice) == [Notice(FELL_BACK)]
    assert ears.duplex is Duplex.HALF


async def test_our_voice_is_known_by_its_sound_where_its_words_were_misheard():
    ears, _ = ears_with("Witch oafish doe.", duplex=Duplex.HEADPHONES)
    room = Room(ears)
    await room.narrates(3.0)
    await room.goes_on(3.0)
    assert not room.messages
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.ECHO]
    assert ears.duplex is Duplex.HEADPHONES, "one echo is borne"


async def test_a_beginning_of_ours_that_was_broken_off_is_no_message_whatever_was_made_of_it():
    """Symptom: it hears itself and stops, every two seconds, and answers what it heard."""
    ears, _ = ears_with("I come.", duplex=Duplex.HEADPHONES)
    room = Room(ears, tap=False)
    await room.narrates(0.4, "I can set up the cache with Redis or with a file on disk.")
    await room.goes_on(3.0)
    assert not room.messages
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.ECHO]


async def test_an_utterance_with_a_misheard_word_of_ours_in_it_is_not_delivered():
    ears, _ = ears_with("Witch the second one.", duplex=Duplex.HEADPHONES)
    room = Room(ears)
    await room.narrates(0.6, "Which?")
    await room.goes_on(2.0, person=True)
    await room.goes_on(3.0)
    assert not room.messages


@pytest.mark.parametrize("tap", [True, False])
async def test_an_answer_that_follows_our_words_in_one_turn_is_shown_and_not_sent(tap):
    """Symptom: of our echo and "not the second one" the echo and "not" are taken away."""
    reply = "Please choose one option not the second one."
    ears, _ = ears_with("Please choose one option.", reply, duplex=Duplex.HEADPHONES)
    room = Room(ears, echo=0.1, tap=tap)
    await room.narrates(3.0, "Please choose one option.")
    await room.goes_on(3.0)
    await room.narrates(1.6, "Please choose one option.", person_from_s=1.0)
    await room.goes_on(1.0, person=True)
    await room.goes_on(3.0)
    assert not room.messages
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.ECHO, "Please choose one option."),
        (DiscardReason.TALKED_OVER, reply),
    ]


SECOND = "Should I take the second one?"
IN_OUR_WORDS = [
    (SECOND, "Not the second one of these."),
    (SECOND, "The second one of these, and not on this machine."),
    (SECOND, "The second one."),
    ("Soll ich die alte Datenbank löschen?", "Die alte Datenbank löschen? Nein, auf keinen Fall."),
]


@pytest.mark.parametrize(("question", "reply"), IN_OUR_WORDS)
@pytest.mark.parametrize("duplex", list(Duplex))
async def test_who_repeats_our_words_over_us_with_headphones_on_is_heard_whole(question, reply, duplex):
    """Symptom: to "should I take the second one?" a "not the second one of these" arrives as "of these"."""
    ears, _ = ears_with(reply, duplex=duplex, canceller=NoEcho())
    room = Room(ears, echo=0.01)
    await room.narrates(3.0, question, person_from_s=2.4)
    ears.cut_short(question[:-5])
    await room.goes_on(1.6, person=True)
    await room.goes_on(3.0)
    assert room.messages == [reply]
    assert not room.those(Discarded)


@pytest.mark.parametrize(("question", "reply"), IN_OUR_WORDS)
@pytest.mark.parametrize("duplex", list(Duplex))
async def test_who_repeats_our_words_over_a_loudspeaker_is_not_heard_by_halves(question, reply, duplex):
    ears, _ = ears_with(reply, duplex=duplex, canceller=NoEcho())
    room = Room(ears)
    await room.narrates(3.0, question, person_from_s=2.4)
    await room.goes_on(1.6, person=True)
    await room.goes_on(3.0)
    told = [(event.reason, event.text) for event in room.those(Discarded)]
    assert (room.messages, told) in (
        ([reply], []),
        ([], [(DiscardReason.TALKED_OVER, reply)]),
        ([], [(DiscardReason.ECHO, reply)]),
    )


async def test_an_answer_in_our_own_words_counts_when_we_have_said_them_before():
    ears, _ = ears_with("The second one.", duplex=Duplex.HEADPHONES)
    room = Room(ears, echo=0.0)
    await room.narrates(3.0, "1, the first one; 2, the second one.")
    await room.goes_on(0.4)
    await room.goes_on(0.8, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["The second one."]


@pytest.mark.parametrize("tap", [True, False])
async def test_with_headphones_a_word_that_we_have_just_said_is_an_answer(tap):
    """Symptom: "yes" to "yes or no" is dropped as an echo, though the microphone hears nothing of us."""
    ears, _ = ears_with("Yes.", duplex=Duplex.HEADPHONES)
    room = Room(ears, echo=0.01, tap=tap)
    await room.narrates(3.4, "Remove the database, yes or no?", person_from_s=3.0)
    await room.goes_on(3.0)
    assert room.messages == ["Yes."]


async def test_what_begins_while_we_speak_and_is_no_louder_than_our_own_voice_is_not_delivered():
    """Symptom: a misheard piece from the middle of a sentence of ours approves something."""
    ears, _ = ears_with("Go ahead.", duplex=Duplex.HEADPHONES)
    room = Room(ears, tap=False)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(2.0, plays=True)
        await room.goes_on(0.3)
        await room.goes_on(0.4, plays=True)
        ears.on_sentence(None)
    await room.goes_on(3.0)
    assert not room.messages
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.ECHO]


async def test_two_narrations_that_our_own_voice_broke_off_are_enough_even_without_words():
    """Symptom: it hears itself, stops, finds no words, goes on, and hears itself again."""
    ears, _ = ears_with("", "", duplex=Duplex.HEADPHONES)
    room = Room(ears)
    for _ in range(4):
        await room.narrates(0.5)
        await room.goes_on(3.0)
    assert [event.reason for event in room.those(Discarded)] == [DiscardReason.ECHO] * 2
    assert room.those(Notice) == [Notice(FELL_BACK)]
    assert ears.duplex is Duplex.HALF


async def test_a_long_reply_that_began_while_we_spoke_is_weighed_while_it_is_on_tape():
    ears, _ = ears_with("A long", "one.", duplex=Duplex.HEADPHONES)
    room = Room(ears, echo=0.01)
    await room.narrates(2.0, person_from_s=1.5)
    await room.goes_on(25.0, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["A long one."]


class NoEcho:
    """An echo canceller for a room without echo."""

    def cancel(self, near, _far):
        return near


async def test_the_canceller_gets_every_frame_with_what_was_played_and_its_result_is_heard():
    class Deaf:
        def __init__(self):
            self.near, self.far = [], []

        def cancel(self, near, far):
            self.near.append(near)
            self.far.append(far)
            return silent_frame()

    canceller = Deaf()
    ears, transcriber = ears_with(duplex=Duplex.CANCELLED, canceller=canceller)
    room = Room(ears)
    await room.goes_on(1.0, person=True)
    await room.narrates(1.0, person_from_s=0.5)
    await room.goes_on(3.0)
    assert not transcriber.asked
    assert np.array_equal(canceller.near, room.heard)
    assert [bool(frame.any()) for frame in canceller.far] == [False] * 50 + [True] * 50 + [False] * 150


def test_there_is_no_cancelling_without_a_canceller():
    with pytest.raises(ValueError, match="echo canceller"):
        ears_with(duplex=Duplex.CANCELLED)


# --- A spoken stop ----------------------------------------------------------------------------------------


class ByLevel:
    """A transcriber that understands the person, who is louder, and something else of our own voice."""

    def submit(self, samples, *, vocabulary=()):
        loud = np.abs(samples.astype(int)).max() > 6_500
        return ScriptedTranscriber("Stop." if loud else "Which of the").submit(samples)


@pytest.mark.parametrize("duplex", [Duplex.HALF, Duplex.HEADPHONES])
@pytest.mark.parametrize("goes_on_s", [0.5, 0.0])
async def test_a_stop_is_obeyed_while_we_narrate_and_is_no_message(duplex, goes_on_s):
    """Symptom: our own voice goes on after a stop, and it is understood when that comes to a pause."""
    ears, _ = ears_with("Stop.", phrases=ByLevel(), duplex=duplex)
    room = Room(ears, echo=0.3 if duplex is Duplex.HALF else 0.0)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(2.0, plays=True)
        began = len(room.heard)
        await room.goes_on(0.5, plays=True, person=True)
        spoken = len(room.heard)
        await room.goes_on(goes_on_s, plays=True)
        while not room.those(CommandHeard) and len(room.heard) < spoken + 60:
            await room.goes_on(FRAME_S, plays=True)
    (command,) = room.those(CommandHeard)
    assert command.command == Command.STOP_TALKING
    assert began * FRAME_S < command.at_s < spoken * FRAME_S + 0.5
    await room.goes_on(3.0)
    assert len(room.those(CommandHeard)) == 1
    assert not room.messages
    reasons = {event.reason for event in room.those(Discarded)}
    assert reasons == (set() if duplex is Duplex.HALF else {DiscardReason.COMMAND})


async def test_a_stop_in_the_sentence_that_we_say_is_ours():
    ears, _ = ears_with(phrases=["stop", "stop"])
    room = Room(ears, tap=False)
    with ears.narration():
        ears.on_sentence("Say stop to end it.")
        await room.goes_on(1.0, plays=True)
        await room.goes_on(1.0)
    await room.goes_on(2.0)
    assert not room.those(CommandHeard)


async def test_what_is_heard_while_we_narrate_is_never_more_than_a_stop():
    ears, _ = ears_with(phrases=["Which of the", "Deploy it now."])
    room = Room(ears)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(1.0, plays=True)
        await room.goes_on(0.8, plays=True, person=True)
        await room.goes_on(4.0, plays=True)
    await room.goes_on(4.0)
    assert not room.messages
    assert not room.those(CommandHeard)


async def test_while_the_agent_works_a_stop_that_is_all_that_was_said_is_fast():
    ears, _ = ears_with("Stop.", phrases=["Stop."])
    room = Room(ears)
    ears.stop_while_silent = True
    await room.goes_on(1.0)
    await room.goes_on(0.5, person=True)
    await room.goes_on(0.4)
    assert [event.command for event in room.those(CommandHeard)] == [Command.STOP_TALKING]
    await room.goes_on(3.0)
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.COMMAND, "Stop.")
    ]
    assert not room.messages


async def test_a_stop_inside_a_longer_reply_is_part_of_the_reply():
    ears, _ = ears_with("I think we should stop.", phrases=["I think we should", "stop."])
    room = Room(ears)
    ears.stop_while_silent = True
    await room.goes_on(1.0)
    await room.goes_on(1.0, person=True)
    await room.goes_on(0.5)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    assert not room.those(CommandHeard)
    assert room.messages == ["I think we should stop."]


async def test_while_nothing_asks_for_it_no_stop_is_listened_for_in_silence():
    ears, _ = ears_with("Stop.", phrases=[])
    room = Room(ears)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["Stop."]


# --- The keyboard -----------------------------------------------------------------------------------------


async def test_while_the_keyboard_holds_the_microphone_an_open_turn_waits():
    ears, transcriber = ears_with("One two.")
    room = Room(ears)
    await room.goes_on(0.5, person=True)
    ears.hold()
    assert ears.held
    await room.goes_on(5.0, person=True)
    assert ears.speaking
    ears.release()
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["One two."]
    assert len(transcriber.asked[0]) < 2 * SAMPLE_RATE


async def test_what_was_said_before_the_keyboard_holds_the_microphone_is_delivered():
    ears, _ = ears_with("One.")
    room = Room(ears)
    await room.goes_on(0.5, person=True)
    await room.goes_on(1.66)
    ears.hold()
    await room.goes_on(1.0, person=True)
    assert room.messages == ["One."]


async def test_what_began_while_the_keyboard_held_the_microphone_is_not_heard_late():
    ears, transcriber = ears_with()
    room = Room(ears)
    ears.hold()
    await room.narrates(3.0, person_from_s=2.0)
    await room.goes_on(1.0, person=True)
    await room.goes_on(2.0)
    ears.release()
    await room.goes_on(2.0)
    assert not transcriber.asked


async def test_what_was_said_while_the_keyboard_held_the_microphone_is_not_heard_after_our_voice_either():
    """Symptom: a reply that was typed over, while we spoke, is sent with the next one."""
    ears, _ = ears_with("Do that.")
    room = Room(ears)
    with ears.narration():
        ears.on_sentence(QUESTION)
        await room.goes_on(0.5, plays=True)
        ears.hold()
        await room.goes_on(0.5, plays=True, person=True)  # another reply, that is over
        await room.goes_on(1.0, plays=True)
        ears.release()
        await room.goes_on(0.6, plays=True)
        began = len(room.heard)
        await room.goes_on(0.4, plays=True, person=True)
    await room.goes_on(0.5, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["Do that."]
    (message,) = room.those(UserMessage)
    assert message.heard.start_s == pytest.approx(began * FRAME_S, abs=0.021)


@pytest.mark.parametrize("duplex", list(Duplex))
@pytest.mark.parametrize("narrated_s", [0.0, 1.0])
async def test_a_reply_that_began_while_the_keyboard_held_the_microphone_is_shown_and_not_sent(
    duplex, narrated_s
):
    """Symptom: a line is taken away while somebody says "don't delete it", and "delete it" is sent."""
    ears, _ = ears_with("Delete it.", duplex=duplex, canceller=NoEcho())
    ears.plays_nothing()
    room = Room(ears, echo=0.0)
    ears.hold()
    await room.goes_on(1.0)
    await room.goes_on(0.6, person=True)
    ears.release()
    await room.narrates(narrated_s, person_from_s=0.0)
    await room.goes_on(0.6, person=True)
    await room.goes_on(3.0)
    assert not room.messages
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.TYPED_INSTEAD, "Delete it.")
    ]


@pytest.mark.parametrize("duplex", list(Duplex))
async def test_a_reply_that_begins_as_soon_as_the_keyboard_lets_go_of_the_microphone_arrives(duplex):
    ears, _ = ears_with("Delete it.", duplex=duplex, canceller=NoEcho())
    room = Room(ears, echo=0.0)
    ears.hold()
    await room.narrates(1.0)
    await room.goes_on(1.0)
    ears.release()
    await room.goes_on(0.6, person=True)
    await room.goes_on(3.0)
    assert room.messages == ["Delete it."]


async def test_a_turn_can_be_dropped_with_its_words():
    ears, _ = ears_with("Half of it.")
    room = Room(ears)
    await room.goes_on(0.5, person=True)
    room.events += ears.drop_turn(DiscardReason.TYPED_INSTEAD)
    await room.goes_on(1.0)
    assert [(event.reason, event.text) for event in room.those(Discarded)] == [
        (DiscardReason.TYPED_INSTEAD, "Half of it.")
    ]
