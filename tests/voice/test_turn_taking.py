"""Who has the turn: the machine alone, told what happens, in no time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.commands import Command
from voice.events import (
    AgentEnded,
    AgentStarted,
    CommandHeard,
    Discarded,
    DiscardReason,
    EndReason,
    HostLost,
    Notice,
    PartialTranscript,
    Span,
    SpeechEnded,
    SpeechStarted,
    Status,
    UserMessage,
    UtteranceNearCap,
    VoiceState,
    VoiceStateChanged,
)
from voice.happenings import (
    Accepted,
    Answering,
    Asking,
    Deliver,
    Do,
    Drafted,
    Drop,
    DropTurn,
    Kind,
    MicrophoneBack,
    MicrophoneLost,
    Passed,
    Play,
    Say,
    Silenced,
    Silent,
    Speaking,
    Tell,
    Typed,
    Verbatim,
    Waiting,
)
from voice.ports import Delivery
from voice.reopening import GOES_ON_S, KEPT_S, CutOff, Keep
from voice.settings import Settings
from voice.speaking.earcons import Earcon
from voice.turn_taking import TurnTaking

NO_WORDS = "I heard a sound, but no words. I am listening."
NOTHING_TO_SEND = "There is nothing to send."
NOTHING_TO_TAKE_BACK = "There is nothing to take back: it was sent."
NOTHING_HEARD = "I have not heard anything yet."
NOTHING_SAID = "I have not said anything yet."

STARTED = SpeechStarted(1.0)
ENDED = SpeechEnded(2.0, 3.6, EndReason.SILENCE)


def machine(*, on=True, **groups):
    turns = TurnTaking(Settings.model_validate(groups))
    if on:
        turns.take(VoiceStateChanged(VoiceState.STARTING))
        turns.take(VoiceStateChanged(VoiceState.ACTIVE))
    return turns


def spoken(text, at_s=4.0, confidence=-0.2):
    return UserMessage(text, "voice", at_s, Span(1.0, 2.0), None, confidence)


def says(turns, text):
    """All that comes of somebody saying this."""
    return [act for events in ([STARTED], [ENDED], [spoken(text)]) for act in turns.heard(events)]


def delivered(acts):
    return [(act.message.text, act.delivery) for act in acts if isinstance(act, Deliver)]


def texts(acts):
    return [text for text, _ in delivered(acts)]


def dropped(acts):
    return [(act.reason, act.text) for act in acts if isinstance(act, Drop)]


def wait(turns, seconds, busy=False):
    return [act for _ in range(round(seconds / 0.5)) for act in turns.take(Passed(0.5, busy))]


def ask(turns, text="Which one?", kind=Kind.QUESTION):
    """The agent asks, and we have said it."""
    return [*turns.take(Speaking(text, kind)), *turns.take(Silent())]


@pytest.mark.parametrize("works", [False, True])
@pytest.mark.parametrize("label", ["Stop", "Repeat", "Continue", "Undo", "Louder", "Stop the server"])
def test_what_can_be_chosen_is_no_control_also_while_the_agent_works(label, works):
    said = f"{label.split(' ')[0]}."
    turns = machine(conversation={"reopen_s": 0})
    if works:
        turns.take(AgentStarted())
    turns.take(Speaking("Question 1: What now?", Kind.QUESTION, (label, "Wait")))
    turns.take(Silent(unfinished=True))  # so that there is something to go on with
    assert texts(says(turns, said)) == [said]
    turns.take(Asking(on=True))
    turns.take(Speaking("Question 1: What now?", Kind.QUESTION, (label, "Wait")))
    assert turns.heard([CommandHeard("stop_talking", "stop", 4.0)]) == [] or "Stop" not in label
    assert texts(says(turns, said)) == [said]
    turns.take(Speaking("I am not sure.", Kind.QUESTION, (label, "Wait")))
    turns.take(Silent())
    assert texts(says(turns, said)) == [said]
    turns.take(Asking(on=False))
    turns.take(Waiting(1, spoken=True))
    if works and label != "Continue":  # there is nothing to go on with
        assert texts(says(turns, said)) == []  # it is a control again


def test_nothing_that_can_be_chosen_keeps_voice_on():
    turns = machine()
    turns.take(Asking(on=True))
    ask(turns, "What now? Options: 1, Stop voice; 2, Wait.")
    assert Do.SWITCH_OFF in says(turns, "Stop voice.")
    turns.take(Verbatim(on=True))
    assert Do.SWITCH_OFF in says(turns, "Stop voice.")


def test_a_narrated_question_that_offers_to_stop_is_answered_so_also_while_the_agent_works():
    turns = machine()
    turns.take(AgentStarted())
    ask(turns, "The tests fail. Shall I continue, or stop?")
    assert delivered(says(turns, "Stop.")) == [("Stop.", Delivery.STEER)]
    ask(turns, "I will not stop before it is done. Which one first?")
    assert Do.INTERRUPT_AGENT in says(turns, "Stop.")


@pytest.mark.parametrize("word", ["Stop.", "Undo.", "Louder.", "Go on."])
def test_in_own_words_a_control_is_an_answer_too(word):
    turns = machine()
    turns.take(AgentStarted())
    turns.take(Asking(on=True))
    ask(turns, "What shall the button say?")
    turns.take(Verbatim(on=True))
    assert texts(says(turns, word)) == [word]
    assert Do.REPEAT in says(turns, "Repeat that.")
    turns.take(Verbatim(on=False))
    assert texts(says(turns, "Louder.")) == []


def test_a_line_that_stands_holds_no_narration_back_and_what_it_froze_is_not_sent():
    turns = machine()
    turns.heard([STARTED])
    turns.take(Drafted("no, l"))
    assert turns.take(Passed(2.9, busy=True, waits=True)) == []
    turns.take(Drafted("no, le"))
    assert turns.take(Passed(2.9, busy=True, waits=True)) == []
    assert turns.take(Passed(0.2, busy=True, waits=True)) == [DropTurn(DiscardReason.TALKED_OVER)]
    assert turns.take(Passed(5.0, busy=True, waits=True)) == []


def test_while_nothing_waits_to_be_narrated_a_line_may_stand_for_ever():
    turns = machine()
    turns.heard([STARTED])
    turns.take(Drafted("no, l"))
    assert turns.take(Passed(600.0, busy=True)) == []
    assert turns.take(Passed(0.02, busy=True, waits=True)) == [DropTurn(DiscardReason.TALKED_OVER)]


def test_who_speaks_and_types_nothing_is_waited_for():
    turns = machine()
    turns.heard([STARTED])
    assert turns.take(Passed(600.0, busy=True, waits=True)) == []


def test_remarks_of_our_own_are_in_the_language_that_we_speak():
    turns = machine(speaking={"language": "de"}, transcription={"language": "de", "model": "tiny"})
    nothing = [Discarded(DiscardReason.NO_WORDS, "", 4.0)]
    assert Say("Ich habe etwas gehört, aber keine Worte. Ich höre zu.") in turns.heard(nothing)
    near = turns.heard([UtteranceNearCap(5.0, 60.0)])
    assert Tell(Notice("Deine Nachricht kann noch 60 Sekunden länger sein, dann wird sie gesendet.")) in near
    assert Say("Ich habe noch nichts gesagt.") in says(turns, "Wie bitte?")


# --- Speaking ---------------------------------------------------------------------------------------------


def test_what_is_said_is_delivered():
    assert delivered(says(machine(), "The second one.")) == [("The second one.", Delivery.FOLLOW_UP)]


@pytest.mark.parametrize("delivery", list(Delivery))
def test_while_the_agent_works_the_setting_says_what_a_message_does(delivery):
    turns = machine(conversation={"while_busy": delivery})
    turns.take(AgentStarted())
    assert delivered(says(turns, "And the tests.")) == [("And the tests.", delivery)]
    assert delivered(turns.take(Typed("typed"))) == [("typed", delivery)]


def test_the_reply_to_a_narrated_question_goes_at_once_and_the_next_message_waits_again():
    turns = machine()
    turns.take(AgentStarted())
    ask(turns)
    assert delivered(says(turns, "The second one.")) == [("The second one.", Delivery.STEER)]
    assert delivered(says(turns, "And the tests.")) == [("And the tests.", Delivery.FOLLOW_UP)]


def test_so_does_a_reply_that_is_typed_while_the_question_is_still_narrated():
    turns = machine()
    turns.take(AgentStarted())
    turns.take(Speaking("Which one?", Kind.QUESTION))
    assert delivered(turns.take(Typed("the second"))) == [("the second", Delivery.STEER)]


def test_what_the_agent_writes_while_it_works_is_no_question_that_is_waited_for():
    turns = machine()
    turns.take(AgentStarted())
    ask(turns, "I look at the tests now.", Kind.TEXT)
    assert delivered(says(turns, "Good.")) == [("Good.", Delivery.FOLLOW_UP)]


def test_a_new_turn_of_the_agent_forgets_the_old_question():
    turns = machine()
    ask(turns)
    turns.take(AgentStarted())
    assert delivered(says(turns, "Good.")) == [("Good.", Delivery.FOLLOW_UP)]


def test_a_warning_before_the_cap_is_shown_and_not_said_for_it_would_come_too_late():
    shown = "Your message can be 60 seconds longer; then it is sent."
    acts = machine().heard([UtteranceNearCap(540.0, 60.0)])
    assert acts == [Tell(UtteranceNearCap(540.0, 60.0)), Tell(Notice(shown))]


def test_sound_without_words_is_said_once_until_something_was_understood():
    turns = machine()
    nothing = [Discarded(DiscardReason.NO_WORDS, "", 4.0)]
    assert Say(NO_WORDS) in turns.heard(nothing)
    assert Say(NO_WORDS) not in turns.heard(nothing)
    assert Play(Earcon.NOT_SENT) in turns.heard([Discarded(DiscardReason.PHANTOM, "you", 5.0)])
    says(turns, "Yes.")
    assert Say(NO_WORDS) in turns.heard(nothing)


def test_a_piece_without_words_in_a_reply_with_words_is_not_complained_of():
    acts = machine().heard([Discarded(DiscardReason.NO_WORDS, "", 4.0, began_s=1.0), spoken("Yes.")])
    assert texts(acts) == ["Yes."]
    assert Say(NO_WORDS) not in acts
    assert Play(Earcon.NOT_SENT) not in acts


# --- The keyboard -----------------------------------------------------------------------------------------


def test_the_first_key_holds_the_microphone_and_an_empty_line_gives_it_back():
    turns = machine()
    assert Do.HOLD in turns.take(Drafted("y"))
    assert turns.status is Status.HELD
    assert Do.HOLD not in turns.take(Drafted("ye"))
    assert Do.RELEASE in turns.take(Drafted(""))
    assert turns.status is Status.LISTENING


def test_what_is_sent_wins_over_a_spoken_reply_that_is_not_finished():
    turns = machine()
    turns.heard([STARTED])
    turns.take(Drafted("t"))
    acts = turns.take(Typed("typed", 3.0))
    assert acts[0] == DropTurn(DiscardReason.TYPED_INSTEAD)
    assert [act.message for act in acts if isinstance(act, Deliver)] == [
        UserMessage("typed", "keyboard", 3.0)
    ]
    assert acts[-1] is Do.RELEASE
    assert dropped(turns.heard([ENDED, Discarded(DiscardReason.TYPED_INSTEAD, "I th", 4.0)])) == [
        (DiscardReason.TYPED_INSTEAD, "I th")
    ]


def test_what_was_said_and_had_ended_before_the_first_key_is_delivered_all_the_same():
    turns = machine()
    turns.heard([STARTED])
    turns.heard([ENDED])
    turns.take(Drafted("t"))
    assert texts(turns.heard([spoken("The second one.")])) == ["The second one."]
    acts = turns.take(Typed("typed"))
    assert not [act for act in acts if isinstance(act, DropTurn)]
    assert texts(acts) == ["typed"]


def test_typed_text_ends_the_narration_and_a_blank_line_does_nothing():
    turns = machine()
    turns.take(Speaking("A long story.", Kind.TEXT))
    assert turns.take(Typed("  ")) == []
    assert Do.SILENCE in turns.take(Typed("stop it"))


def test_voice_that_comes_on_while_somebody_types_begins_held():
    turns = machine(on=False)
    turns.take(Drafted("half a sen"))
    turns.take(VoiceStateChanged(VoiceState.STARTING))
    assert Do.HOLD in turns.take(VoiceStateChanged(VoiceState.ACTIVE))
    assert turns.status is Status.HELD


def test_without_voice_the_keyboard_is_the_same():
    turns = machine(on=False)
    assert delivered(turns.take(Typed("hello"))) == [("hello", Delivery.FOLLOW_UP)]


# --- Barge-in ---------------------------------------------------------------------------------------------


def narrating(**groups):
    turns = machine(**groups)
    turns.take(Speaking("Shall I go on with the tests now?", Kind.QUESTION))
    assert turns.heard([STARTED])[-1] is Do.PAUSE
    turns.take(Silent(unfinished=True))
    return turns


def test_speech_pauses_the_narration_and_words_end_it():
    turns = narrating()
    turns.heard([ENDED])
    acts = turns.heard([spoken("No, wait.")])
    assert Do.SILENCE in acts
    assert texts(acts) == ["No, wait."]
    assert Do.RESUME not in wait(turns, 10)


def test_a_sound_without_words_lets_it_go_on_after_a_while():
    turns = narrating()
    turns.heard([ENDED])
    assert Do.RESUME not in wait(turns, 1.5, busy=True)
    acts = turns.heard([Discarded(DiscardReason.NO_WORDS, "", 4.0)])
    assert Do.RESUME not in acts
    assert Say(NO_WORDS) not in acts
    assert Do.RESUME in wait(turns, 0.5)
    assert Do.RESUME not in wait(turns, 10)


def test_it_does_not_go_on_while_somebody_still_speaks():
    turns = narrating()
    assert Do.RESUME not in wait(turns, 30, busy=True)


@pytest.mark.parametrize("text", ["Mm-hm.", "Okay.", "Yeah, yeah."])
def test_a_sign_of_listening_is_no_message_and_it_goes_on_at_once(text):
    turns = narrating()
    acts = turns.heard([ENDED, spoken(text)])
    assert dropped(acts) == [(DiscardReason.BACKCHANNEL, text)]
    assert Do.RESUME in acts
    assert texts(says(turns, text)) == [text]  # now it is an answer


def test_it_goes_on_when_the_microphone_is_lost_since_no_words_will_follow():
    turns = narrating()
    assert Do.RESUME in turns.take(MicrophoneLost())


def test_a_key_that_silences_it_ends_what_is_paused_for_good():
    turns = narrating()
    assert Do.SILENCE in turns.take(Silenced())
    turns.heard([ENDED])
    assert texts(turns.heard([spoken("Okay.")])) == ["Okay."]  # over nothing it is an answer
    assert Do.RESUME not in wait(turns, 10)


def test_a_spoken_stop_is_fast_while_the_agent_works_but_not_where_it_may_be_an_answer():
    turns = machine()
    assert not turns.stops_fast
    turns.take(AgentStarted())
    assert turns.stops_fast
    ask(turns, "Go on, or stop?")
    assert not turns.stops_fast
    says(turns, "The tests first.")
    assert turns.stops_fast


def test_a_control_lets_it_go_on_too():
    turns = narrating()
    acts = turns.heard([ENDED, spoken("A bit louder, please.")])
    assert [act for act in acts if isinstance(act, Do)] == [Do.LOUDER, Do.RESUME]


# --- Spoken controls --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("Louder.", Do.LOUDER),
        ("Quieter, please.", Do.QUIETER),
        ("Faster.", Do.FASTER),
        ("Slow down.", Do.SLOWER),
        ("Repeat that.", Do.REPEAT),
        ("Say that again slowly.", Do.REPEAT_SLOWLY),
        ("Stop voice.", Do.SWITCH_OFF),
    ],
)
def test_a_whole_utterance_that_is_a_control_is_obeyed_and_told_and_no_message(text, act):
    turns = machine()
    ask(turns, "Is it done?", Kind.TEXT)
    acts = says(turns, text)
    assert act in acts
    assert texts(acts) == []
    (heard,) = [
        each.event for each in acts if isinstance(each, Tell) and isinstance(each.event, CommandHeard)
    ]
    assert heard.phrase in text.lower().replace(",", "")


@pytest.mark.parametrize(
    "text",
    ["I want it louder than before.", "What should we stop talking about?", "Please undo the last commit."],
)
def test_a_phrase_inside_a_longer_reply_is_part_of_the_reply(text):
    assert texts(says(machine(), text)) == [text]


@pytest.mark.parametrize(
    ("question", "reply"),
    [("Continue, or undo?", "Undo."), ("Shall I make it faster or smaller?", "Faster.")],
)
def test_a_phrase_that_the_question_offers_is_an_answer(question, reply):
    turns = machine()
    ask(turns, question)
    assert texts(says(turns, reply)) == [reply]


def test_stop_ends_the_narration_and_else_the_agents_turn_and_else_is_a_word_like_any_other():
    turns = machine()
    turns.take(AgentStarted())
    turns.take(Speaking("A long story.", Kind.TEXT))
    assert Do.SILENCE in turns.heard([CommandHeard(Command.STOP_TALKING, "stop", 0.5)])
    turns.take(Silent(unfinished=True))
    assert Do.INTERRUPT_AGENT in says(turns, "Stop!")
    turns.take(AgentEnded())
    assert texts(says(turns, "Stop.")) == ["Stop."]


def test_a_stop_that_its_own_path_has_heard_is_not_obeyed_twice_nor_sent():
    turns = machine()
    turns.take(AgentStarted())
    turns.heard([STARTED])
    acts = turns.heard([CommandHeard(Command.STOP_TALKING, "stop", 2.4)])
    assert DropTurn(DiscardReason.COMMAND) in acts
    assert Do.INTERRUPT_AGENT in acts
    again = turns.heard([ENDED, spoken("Stop.")])
    assert dropped(again) == [(DiscardReason.COMMAND, "Stop.")]
    assert not [act for act in again if isinstance(act, Do | Deliver)]


def test_go_on_means_something_only_where_there_is_a_rest():
    turns = machine()
    assert texts(says(turns, "Go on.")) == ["Go on."]
    turns.take(Speaking("A long story.", Kind.TEXT))
    turns.take(Silent(unfinished=True))
    assert Do.GO_ON in says(turns, "Go on.")


def test_scratch_that_takes_back_what_waits_and_says_where_nothing_does():
    turns = machine()
    turns.take(Waiting(1, spoken=True))
    assert Do.TAKE_BACK in says(turns, "Scratch that.")
    turns.take(Waiting(1, spoken=False))
    acts = says(turns, "Scratch that.")
    assert Do.TAKE_BACK not in acts
    assert Say(NOTHING_TO_TAKE_BACK) in acts


def test_read_back_says_what_was_heard():
    turns = machine()
    assert Say(NOTHING_HEARD) in says(turns, "What did you hear?")
    says(turns, "Use port 4271.")
    assert Say("I heard: Use port 4271.") in says(turns, "Read that back.")


def test_repeat_before_anything_was_said_says_so():
    assert Say(NOTHING_SAID) in says(machine(), "Repeat that.")


def test_asleep_only_the_phrase_that_wakes_is_heard_and_no_text_is_shown():
    turns = machine()
    assert Do.SLEEP in says(turns, "Stop listening.")
    assert turns.status is Status.ASLEEP
    acts = says(turns, "A private word.") + turns.heard([Discarded(DiscardReason.NO_WORDS, "hm", 9.0)])
    assert dropped(acts) == [(DiscardReason.ASLEEP, ""), (DiscardReason.ASLEEP, "")]
    assert not [act for act in acts if isinstance(act, Deliver | Say | Play)]
    assert Do.WAKE in says(turns, "Wake up.")
    assert texts(says(turns, "Hello.")) == ["Hello."]


def test_wake_up_is_a_message_while_awake():
    assert texts(says(machine(), "Wake up.")) == ["Wake up."]


def test_controls_can_be_switched_off():
    turns = machine(controls={"enabled": False})
    assert texts(says(turns, "Stop voice.")) == ["Stop voice."]
    assert turns.heard([CommandHeard(Command.STOP_VOICE, "stop voice", 1.0)]) == []


# --- The end word -----------------------------------------------------------------------------------------


def with_end_word():
    return machine(controls={"end_word": "over"})


def test_with_an_end_word_turns_are_held_and_joined_until_it_is_said():
    turns = with_end_word()
    assert texts(says(turns, "First we test.")) == []
    acts = says(turns, "Then we commit.")
    assert Tell(PartialTranscript("First we test. Then we commit.", 4.0)) in acts
    assert texts(says(turns, "And that is all, over.")) == ["First we test. Then we commit. And that is all"]
    assert turns.held == ""


def test_the_end_word_alone_and_send_it_send_too():
    turns = with_end_word()
    says(turns, "First we test.")
    assert texts(says(turns, "Over.")) == ["First we test."]
    says(turns, "Then we commit.")
    assert texts(says(turns, "Send it.")) == ["Then we commit."]
    assert Say(NOTHING_TO_SEND) in says(turns, "Send it.")


def test_a_key_sends_what_is_held_and_typed_words_win_over_it():
    turns = with_end_word()
    says(turns, "First we test.")
    assert texts(turns.take(Typed(""))) == ["First we test."]
    says(turns, "Then we")
    acts = turns.take(Typed("never mind"))
    assert dropped(acts) == [(DiscardReason.TYPED_INSTEAD, "Then we")]
    assert texts(acts) == ["never mind"]


def test_what_is_held_can_be_scratched_read_back_and_is_shown_when_voice_ends():
    turns = with_end_word()
    says(turns, "First we test.")
    assert Say("I heard: First we test.") in says(turns, "Read that back.")
    assert dropped(says(turns, "Scratch that.")) == [(DiscardReason.TAKEN_BACK, "First we test.")]
    says(turns, "Then we")
    acts = turns.take(VoiceStateChanged(VoiceState.DRAINING))
    assert dropped(acts) == [(DiscardReason.CUT_OFF, "Then we")]


def test_a_joined_message_is_as_sure_as_its_least_sure_part_and_spans_all_of_them():
    turns = with_end_word()
    turns.heard([UserMessage("one", "voice", 2.0, Span(0.0, 1.0), None, -0.9)])
    acts = turns.heard([UserMessage("two over", "voice", 5.0, Span(3.0, 4.0), None, -0.1)])
    (message,) = [act.message for act in acts if isinstance(act, Deliver)]
    assert (message.confidence, message.heard) == (-0.9, Span(0.0, 4.0))


def test_the_answer_to_a_structured_request_needs_no_end_word():
    turns = with_end_word()
    turns.take(Asking(on=True))
    assert texts(says(turns, "The second one.")) == ["The second one."]


# --- Nobody says anything ---------------------------------------------------------------------------------


def test_a_question_that_nobody_answers_is_repeated_once_shorter_and_then_it_is_quiet():
    turns = machine()
    ask(turns)
    acts = wait(turns, 60)
    assert [act for act in acts if isinstance(act, Do)] == [Do.REPEAT_SHORTER]
    turns.take(Speaking("Which one?", Kind.REPEAT))
    turns.take(Silent())
    assert wait(turns, 59.5) == []
    assert turns.status is Status.LISTENING
    assert wait(turns, 0.5) == []
    assert turns.status is Status.QUIET
    assert wait(turns, 600) == []


def test_the_microphone_may_be_closed_then_and_a_key_opens_it():
    turns = machine(conversation={"quiet_microphone": "closed", "answer_within_s": 5})
    ask(turns)
    acts = wait(turns, 20)
    assert Do.CLOSE_MICROPHONE in acts
    assert Do.OPEN_MICROPHONE in turns.take(Drafted("x"))
    assert turns.status is Status.HELD


@pytest.mark.parametrize(
    "stir", [STARTED, AgentStarted(), Drafted("x"), Typed("x"), Speaking("Hello.", Kind.TEXT)], ids=repr
)
def test_whatever_anybody_does_ends_the_quiet(stir):
    turns = machine()
    ask(turns)
    wait(turns, 120)
    assert turns.status is Status.QUIET
    turns.take(stir)
    assert turns.status is not Status.QUIET


@pytest.mark.parametrize(
    "meanwhile",
    [
        [AgentStarted()],
        [Speaking("A long story.", Kind.TEXT)],
        [Drafted("x")],
        [MicrophoneLost()],
        [Waiting(1, spoken=True)],
        [Typed("x")],
    ],
    ids=repr,
)
def test_no_time_passes_while_it_is_not_the_users_turn(meanwhile):
    turns = machine()
    ask(turns)
    for happening in meanwhile:
        turns.take(happening)
    assert wait(turns, 600) == []


def test_no_time_passes_while_somebody_speaks_or_the_agent_has_a_long_turn():
    turns = machine()
    turns.take(AgentStarted())
    ask(turns)
    assert wait(turns, 600) == []
    turns.take(AgentEnded())
    turns.heard([STARTED])
    assert wait(turns, 600, busy=True) == []
    assert wait(turns, 59.5) == []


def test_no_time_passes_where_nothing_was_asked():
    assert wait(machine(), 600) == []
    turns = machine()
    ask(turns, "The tests pass.", Kind.TEXT)
    assert wait(turns, 600) == []


def test_a_structured_request_is_waited_for_while_the_agent_works():
    turns = machine()
    turns.take(AgentStarted())
    turns.take(Asking(on=True))
    ask(turns)
    assert turns.status is Status.LISTENING
    assert Do.REPEAT_SHORTER in wait(turns, 60)


# --- What else can happen ---------------------------------------------------------------------------------


def test_a_lost_microphone_is_shown_until_it_is_back():
    turns = machine()
    turns.heard([STARTED])
    turns.take(MicrophoneLost())
    assert turns.status is Status.MICROPHONE_LOST
    turns.take(Passed(0.0, busy=False))
    assert Play(Earcon.LISTENING) in turns.take(MicrophoneBack())
    assert turns.status is Status.LISTENING


def test_a_lost_host_is_said_and_its_question_forgotten():
    turns = machine()
    turns.take(AgentStarted())
    ask(turns)
    assert turns.take(HostLost("It has ended.")) == [Say("It has ended.", written=False)]
    assert wait(turns, 600) == []
    assert turns.status is Status.LISTENING


def test_a_turn_that_ends_by_an_error_is_not_left_in_silence():
    turns = machine()
    turns.take(AgentStarted())
    assert Say("The model is overloaded.", written=False) in turns.take(
        AgentEnded("The model is overloaded.")
    )


def test_the_status_follows_what_goes_on():
    turns = machine(on=False)
    assert turns.status is Status.VOICE_OFF
    turns.take(AgentStarted())
    assert turns.status is Status.WORKING
    turns.take(AgentEnded())
    turns.take(VoiceStateChanged(VoiceState.STARTING))
    assert turns.status is Status.STARTING
    turns.take(VoiceStateChanged(VoiceState.ACTIVE))
    assert turns.status is Status.LISTENING
    turns.heard([STARTED])
    assert turns.status is Status.HEARING
    turns.heard([ENDED])
    turns.take(Passed(0.02, busy=True))
    assert turns.status is Status.TRANSCRIBING
    turns.heard([spoken("Yes.")])
    turns.take(Passed(0.02, busy=False))
    turns.take(AgentStarted())
    assert turns.status is Status.WORKING
    turns.take(Speaking("Hello.", Kind.TEXT))
    assert turns.status is Status.NARRATING
    turns.take(VoiceStateChanged(VoiceState.DRAINING))
    assert turns.status is Status.WORKING


def test_earcons_say_that_it_listens_again_and_that_it_is_off():
    turns = machine(on=False)
    turns.take(VoiceStateChanged(VoiceState.STARTING))
    assert turns.take(VoiceStateChanged(VoiceState.ACTIVE)) == [Play(Earcon.LISTENING)]
    assert Play(Earcon.LISTENING) in ask(turns)
    assert turns.take(VoiceStateChanged(VoiceState.DRAINING)) == [Play(Earcon.OFF)]
    assert turns.take(VoiceStateChanged(VoiceState.INACTIVE)) == []


# --- Going on after the end of a turn ---------------------------------------------------------------------


def from_to(text, start_s, end_s, at_s):
    return UserMessage(text, "voice", at_s, Span(start_s, end_s))


FIRST = from_to("Use Redis.", 1.0, 2.0, 3.6)


def delivery_of(turns, message):
    (deliver,) = [act for act in turns.heard([message]) if isinstance(act, Deliver)]
    return deliver


def sent(turns, first=FIRST, at_s=3.7):
    message = delivery_of(turns, first).message
    turns.take(Accepted(message, at_s))
    return message


def test_what_is_said_right_after_a_message_was_sent_is_one_message_with_it():
    turns = machine()
    first = sent(turns)
    turns.take(AgentStarted())
    went_on = delivery_of(turns, from_to("and Postgres.", 4.6, 5.0, 6.6))
    assert went_on.instead_of is first
    assert (went_on.message.text, went_on.message.heard) == ("Use Redis and Postgres.", Span(1.0, 5.0))
    turns.take(Accepted(went_on.message, 6.7))
    third = delivery_of(turns, from_to("Please.", 7.0, 7.3, 8.9))
    assert (third.instead_of, third.message.text) == (went_on.message, "Use Redis and Postgres. Please.")


@pytest.mark.parametrize(
    "between",
    [
        [Answering()],
        [AgentStarted(), AgentEnded()],
        [HostLost("It has ended.")],
        [Speaking("Which one?", Kind.QUESTION), Silent()],
        [Typed("typed")],
        [spoken("Louder.")],
        [Asking(on=True), Asking(on=False)],
        [VoiceStateChanged(VoiceState.INACTIVE), VoiceStateChanged(VoiceState.ACTIVE)],
    ],
    ids=["answered", "ended", "lost", "narrated", "typed", "command", "asked", "off"],
)
def test_what_was_answered_or_followed_by_something_else_is_not_opened_again(between):
    turns = machine()
    sent(turns)
    for happening in between:
        turns.take(happening)
    assert delivery_of(turns, from_to("and Postgres.", 4.0, 5.0, 6.6)).instead_of is None


def test_it_must_begin_soon_and_can_be_switched_off():
    late = from_to("And Postgres.", 4.8, 5.0, 6.6)
    turns = machine()
    sent(turns)
    assert delivery_of(turns, late).instead_of is None
    patient, off = machine(conversation={"reopen_s": 2.0}), machine(conversation={"reopen_s": 0})
    for turns in (patient, off):
        sent(turns)
    assert delivery_of(patient, late).instead_of is not None
    assert delivery_of(off, from_to("and Postgres.", 3.7, 5.0, 6.6)).instead_of is None


def test_what_still_waits_for_the_agent_is_added_to_for_longer_and_what_steers_is_not_broken_off():
    turns = machine()
    turns.take(AgentStarted())
    first = delivery_of(turns, FIRST).message
    turns.take(Waiting(1, spoken=True))
    turns.take(Answering())  # what it is at is something else
    soon = from_to("and Postgres.", 3.6 + GOES_ON_S, 9.0, 10.6)
    assert delivery_of(turns, soon).instead_of is first
    late = from_to("And more.", 10.6 + GOES_ON_S + 0.1, 17.0, 18.6)
    assert delivery_of(turns, late).instead_of is None
    steering = machine(conversation={"while_busy": "steer"})
    steering.take(AgentStarted())
    sent(steering)
    assert delivery_of(steering, from_to("and Postgres.", 4.0, 5.0, 6.6)).instead_of is None


def test_answers_to_a_request_and_what_is_ended_by_a_word_are_not_opened_again():
    asked = machine()
    asked.take(Asking(on=True))
    sent(asked)
    assert delivery_of(asked, from_to("and Postgres.", 4.0, 5.0, 6.6)).instead_of is None
    by_word = machine(controls={"end_word": "over"})
    sent(by_word, from_to("Use Redis over", 1.0, 2.0, 3.6))
    assert delivery_of(by_word, from_to("And Postgres over", 4.0, 5.0, 6.6)).instead_of is None


def begins(turns, at_s):
    """What comes of somebody beginning to speak then."""
    return [act for act in turns.heard([SpeechStarted(at_s)]) if isinstance(act, Keep)]


@pytest.mark.parametrize(
    "meanwhile",
    [[Answering()], [AgentStarted(), Answering(), Answering()], [Passed(60.0, busy=True)]],
    ids=["written", "tools called", "time"],
)
def test_whoever_goes_on_before_the_agent_acts_adds_to_what_was_sent_however_long_they_speak(meanwhile):
    turns = machine()
    first = sent(turns)
    assert begins(turns, 4.2) == []  # the agent has it: nothing to keep back
    for happening in meanwhile:
        assert not [act for act in turns.take(happening) if isinstance(act, Deliver | Do)]
    went_on = delivery_of(turns, from_to("and Postgres, in that order.", 4.2, 40.0, 41.6))
    assert (went_on.instead_of, went_on.message.heard) == (first, Span(1.0, 40.0))


@pytest.mark.parametrize("over", [[AgentStarted(), AgentEnded()], [HostLost("It has ended.")]])
def test_what_the_agent_has_done_meanwhile_is_not_said_once_more(over):
    turns = machine()
    sent(turns)
    begins(turns, 4.2)
    for happening in over:
        turns.take(happening)
    assert delivery_of(turns, from_to("and Postgres.", 4.2, 5.0, 6.6)).instead_of is None


def test_who_begins_after_the_agent_has_acted_says_something_new():
    turns = machine()
    sent(turns)
    turns.take(Answering())
    begins(turns, 4.2)
    assert delivery_of(turns, from_to("and Postgres.", 4.2, 5.0, 6.6)).instead_of is None


def waits(turns):
    """A message that waits for an agent that is at work."""
    turns.take(AgentStarted())
    first = delivery_of(turns, FIRST).message
    turns.take(Waiting(1, spoken=True))
    return first


def test_a_message_that_waits_is_kept_from_the_agent_while_its_speaker_goes_on():
    turns = machine()
    first = waits(turns)
    assert begins(turns, 5.0) == [Keep(first)]
    turns.take(AgentEnded())
    turns.take(Passed(KEPT_S - 1, busy=True))
    acts = turns.heard([from_to("and Postgres.", 5.0, 6.0, 7.6)])
    (deliver,) = [act for act in acts if isinstance(act, Deliver)]
    assert (deliver.instead_of, deliver.message.text) == (first, "Use Redis and Postgres.")
    assert acts.index(Keep(None)) > acts.index(deliver)


def nothing(reason, began_s, text=""):
    """What was said then is no message."""
    return Discarded(reason, text, began_s + 2.0, began_s=began_s)


@pytest.mark.parametrize(
    "happening",
    [
        *(
            nothing(reason, 5.0, "Louder")
            for reason in (DiscardReason.NO_WORDS, DiscardReason.PHANTOM, DiscardReason.ECHO)
        ),
        nothing(DiscardReason.COMMAND, 5.0, "Stop."),
        nothing(DiscardReason.TYPED_INSTEAD, 5.0, ""),
        from_to("Louder.", 5.0, 6.0, 7.6),
        CommandHeard(Command.STOP_TALKING, "stop", 5.5),
        Passed(KEPT_S, busy=True),
        Passed(0.02, busy=False),
    ],
    ids=[
        "no words", "phantom", "echo", "dropped command", "typing heard", "command", "stop", "time",
        "nobody speaks",
    ],
)  # fmt: skip
def test_what_was_kept_back_goes_as_it_is_when_nothing_was_added(happening):
    turns = machine()
    waits(turns)
    begins(turns, 5.0)
    acts = turns.take(happening)
    assert Keep(None) in acts
    assert not [act for act in acts if isinstance(act, CutOff)]
    assert Keep(None) not in turns.take(Passed(KEPT_S, busy=True)), "once"


@pytest.mark.parametrize(
    "lost",
    [
        nothing(DiscardReason.CUT_OFF, 5.0, "no wait"),
        nothing(DiscardReason.CUT_OFF, 5.0),  # what came after that was never heard
        nothing(DiscardReason.NOT_TRANSCRIBED, 5.0),
        nothing(DiscardReason.TALKED_OVER, 5.0),
        nothing(DiscardReason.TYPED_INSTEAD, 5.0, "no wait"),
        VoiceStateChanged(VoiceState.INACTIVE),
    ],
    ids=["cut off", "cut off at once", "not transcribed", "talked over", "typed over", "voice gone"],
)
def test_half_of_what_was_said_is_cut_off_where_its_rest_is_lost(lost):
    turns = machine()
    first = waits(turns)
    begins(turns, 5.0)
    acts = turns.take(lost)
    cut = [act for act in acts if isinstance(act, CutOff)]
    assert (cut, acts.index(Keep(None)) > acts.index(cut[0])) == ([CutOff(first)], True)
    assert delivery_of(turns, from_to("And more.", 7.0, 8.0, 9.6)).instead_of is None


@pytest.mark.parametrize(
    "happening",
    [MicrophoneLost(), Typed("typed"), Asking(on=True, at_s=5.5), VoiceStateChanged(VoiceState.DRAINING)],
    ids=["microphone", "typed", "asked", "off"],
)
def test_whatever_happens_it_is_kept_until_it_is_known_what_became_of_its_rest(happening):
    turns = machine()
    first = waits(turns)
    begins(turns, 5.0)
    acts = turns.take(happening)
    assert not [act for act in acts if isinstance(act, Keep | CutOff)]
    went_on = delivery_of(turns, from_to("and Postgres.", 5.0, 6.0, 7.6))
    assert (went_on.instead_of, went_on.message.text) == (first, "Use Redis and Postgres.")


def test_who_goes_on_while_the_beginning_is_being_transcribed_is_waited_for():
    turns = machine()
    begins(turns, 1.0)
    turns.heard([SpeechEnded(2.0, 3.2, EndReason.SILENCE)])
    assert begins(turns, 3.3) == []  # nothing to keep back yet
    first = from_to("Delete the", 1.0, 2.0, 3.4)
    assert turns.heard([first]) == [Keep(first), Deliver(first, Delivery.FOLLOW_UP)]
    turns.take(Waiting(1, spoken=True))
    turns.heard([SpeechEnded(6.0, 7.6, EndReason.SILENCE)])
    acts = turns.heard([from_to("old branch only.", 3.3, 6.0, 7.9)])
    (deliver,) = [act for act in acts if isinstance(act, Deliver)]
    assert (deliver.message.text, deliver.instead_of) == ("Delete the old branch only.", first)
    assert acts[-1] == Keep(None)


def test_words_that_come_at_once_for_both_are_one_message_and_for_one_alone_none():
    turns = machine()
    for began_s in (1.0, 3.3):
        begins(turns, began_s)
    first, rest = from_to("Delete the", 1.0, 2.0, 7.0), from_to("old branch only.", 3.3, 5.0, 7.0)
    acts = turns.heard([first, rest])
    assert [act.message.text for act in acts if isinstance(act, Deliver)] == [
        "Delete the",
        "Delete the old branch only.",
    ]
    for began_s in (8.5, 10.0):
        begins(turns, began_s)
    again = from_to("Delete the", 8.5, 9.0, 12.0)
    turns.take(AgentEnded())
    acts = turns.heard([again, nothing(DiscardReason.CUT_OFF, 10.0, "old")])
    assert any(isinstance(act, CutOff) for act in acts)


def test_a_cough_lets_go_of_nothing_that_somebody_else_goes_on_with():
    turns = machine()
    first = waits(turns)
    begins(turns, 4.0)
    turns.heard([SpeechEnded(4.3, 5.9, EndReason.SILENCE)])
    assert begins(turns, 6.0) == [Keep(first)]
    assert Keep(None) not in turns.heard([nothing(DiscardReason.NO_WORDS, 4.0)])
    assert delivery_of(turns, from_to("and Postgres.", 6.0, 7.0, 8.6)).instead_of is first


def test_what_goes_on_with_something_that_could_not_be_transcribed_is_not_sent_without_it():
    turns = machine()
    for began_s in (1.0, 4.0):
        begins(turns, began_s)
    turns.heard([nothing(DiscardReason.NOT_TRANSCRIBED, 1.0)])
    begins(turns, 6.0)  # they have been told by then
    second = from_to("delete it.", 4.0, 5.0, 6.6)
    assert turns.heard([second]) == [Drop(DiscardReason.CUT_OFF, "delete it."), Play(Earcon.NOT_SENT)]
    assert delivery_of(turns, from_to("Keep it.", 6.0, 7.0, 8.6)).message.text == "Keep it."


def test_a_control_is_obeyed_also_where_what_came_before_it_is_lost():
    turns = machine()
    for began_s in (1.0, 4.0):
        begins(turns, began_s)
    turns.heard([nothing(DiscardReason.NOT_TRANSCRIBED, 1.0)])
    assert Do.LOUDER in turns.heard([from_to("Louder.", 4.0, 5.0, 6.6)])


def test_what_was_begun_for_the_agent_is_one_message_and_an_answer_is_added_to_none():
    turns = machine()
    for began_s in (1.0, 3.3):
        begins(turns, began_s)
    turns.take(Asking(on=True, at_s=4.0))
    begins(turns, 6.0)
    first = from_to("Use Redis", 1.0, 2.0, 4.2)
    assert Keep(first) in turns.heard([first])
    assert delivery_of(turns, from_to("and Postgres.", 3.3, 5.0, 6.6)).instead_of is first
    assert delivery_of(turns, from_to("The second one.", 6.0, 7.0, 8.6)).instead_of is None


def test_what_was_for_a_request_that_has_ended_is_for_the_agent_and_one_message_as_well():
    turns = machine()
    turns.take(Asking(on=True, at_s=0.5))
    for began_s in (1.0, 3.3):
        begins(turns, began_s)
    turns.take(Asking(on=False))
    first = from_to("Use Redis", 1.0, 2.0, 4.2)
    assert Keep(first) in turns.heard([first])
    assert delivery_of(turns, from_to("and Postgres.", 3.3, 5.0, 6.6)).instead_of is first


def test_what_steers_the_agent_and_was_added_to_while_it_waited_is_not_broken_off_either():
    turns = machine(conversation={"while_busy": "steer"})
    turns.take(AgentStarted())
    for began_s in (1.0, 3.3):
        begins(turns, began_s)
    turns.heard([from_to("Use Redis", 1.0, 2.0, 3.6)])
    both = delivery_of(turns, from_to("and Postgres.", 3.3, 4.0, 5.6)).message
    turns.take(Accepted(both, 5.7))
    assert delivery_of(turns, from_to("Please.", 6.0, 7.0, 8.6)).instead_of is None


def test_without_reopen_nothing_is_kept_back():
    turns = machine(conversation={"reopen_s": 0})
    waits(turns)
    assert begins(turns, 4.0) == []


# --- Whatever happens -------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["Yes.", "The second one.", "Stop.", "Mm-hm.", "Scratch that.", "Go on.", "Repeat that.", "Send it.",
     "Stop listening.", "Wake up.", "Louder.", "Read that back.", "That is all, over."]
)  # fmt: skip
HAPPENING = st.one_of(
    st.builds(lambda text: [STARTED, ENDED, spoken(text)], WORDS),
    st.just([STARTED]),
    st.just([STARTED, ENDED, Discarded(DiscardReason.NO_WORDS, "", 4.0)]),
    st.builds(lambda text: [Drafted(text)], st.sampled_from(["", "x", "xy"])),
    st.builds(lambda text: [Typed(text)], st.sampled_from(["", " ", "typed"])),
    st.builds(lambda seconds, busy: [Passed(seconds, busy)], st.floats(0, 70), st.booleans()),
    st.builds(lambda kind: [Speaking("Which one?", kind)], st.sampled_from(Kind)),
    st.builds(lambda rest: [Silent(rest)], st.booleans()),
    st.builds(lambda state: [VoiceStateChanged(state)], st.sampled_from(VoiceState)),
    st.builds(lambda spoken_too: [Waiting(1, spoken_too)], st.booleans()),
    st.sampled_from(
        [[AgentStarted()], [AgentEnded()], [HostLost("x")], [MicrophoneLost()], [MicrophoneBack()]]
    ),
)


@given(st.lists(HAPPENING, max_size=40), st.sampled_from([None, "over"]))
def test_every_word_is_delivered_obeyed_held_or_visibly_dropped_whatever_happens(happenings, end_word):
    turns = machine(controls={"end_word": end_word})
    came, went = [], []
    for happening in [each for step in happenings for each in step]:
        acts = turns.take(happening)
        if isinstance(happening, UserMessage) or (isinstance(happening, Typed) and happening.text.strip()):
            came.append(happening.text)
        for act in acts:
            if isinstance(act, Deliver):
                went.append(act.message.text)
            elif isinstance(act, Drop):
                went.append(act.text)
            elif isinstance(act, Tell) and isinstance(act.event, CommandHeard):
                went.append("a command")
        if not end_word:
            assert turns.held == ""
            if isinstance(happening, UserMessage):
                answers = [act for act in acts if isinstance(act, Deliver | Drop)]
                answers += [
                    act for act in acts if isinstance(act, Tell) and isinstance(act.event, CommandHeard)
                ]
                assert answers, happening
                assert len([act for act in acts if isinstance(act, Deliver)]) <= 1
        assert isinstance(turns.status, Status)
    typed = came.count("typed")
    assert went.count("typed") == typed  # never held back, never doubled


@given(st.lists(HAPPENING, max_size=40))
def test_silence_and_time_alone_never_deliver_anything(happenings):
    turns = machine()
    for happening in [each for step in happenings for each in step]:
        acts = turns.take(happening)
        if not isinstance(happening, UserMessage | Typed):
            assert not [act for act in acts if isinstance(act, Deliver)], happening


@given(st.lists(HAPPENING, max_size=40))
def test_the_microphone_is_held_exactly_while_a_line_stands(happenings):
    turns = machine()
    held, line, on = False, "", True
    for happening in [each for step in happenings for each in step]:
        acts = turns.take(happening)
        line = (
            "" if isinstance(happening, Typed) else happening.text if isinstance(happening, Drafted) else line
        )
        if isinstance(happening, VoiceStateChanged):
            held = False if happening.state is not VoiceState.ACTIVE else held  # its ears are new each time
            on = happening.state is VoiceState.ACTIVE
        for act in acts:
            held = True if act is Do.HOLD else False if act is Do.RELEASE else held
        if on:
            assert held == bool(line), happening
