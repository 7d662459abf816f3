from contextlib import asynccontextmanager, contextmanager
from functools import partial

import anyio
import pytest
from anyio.lowlevel import checkpoint

from questionnaire import (
    Answer,
    CustomRow,
    Give,
    Input,
    Interview,
    NoInterface,
    Option,
    Provenance,
    Question,
    Questionnaire,
    Shown,
    State,
    Status,
    TogetherPresenter,
)
from questionnaire.testing import Abilities, FakeClock, HeldPresenter, all_quiet, check_presenter
from voice.errors import VoiceError
from voice.events import NarrationEnding, Span, UserMessage
from voice.spoken_presenter import SURFACE, Again, SpokenPresenter

pytestmark = pytest.mark.anyio

_SENTENCE_S = 4.0
"""How long each narration lasts here, in audio time."""


class Air:
    """An `Ear` in memory: what is narrated takes audio time, and a test is the person.

    Narrations end as ``endings`` say, and as completed where nothing is left there.
    """

    def __init__(self, *endings):
        self.now_s = 100.0
        self.said = []
        self.endings = list(endings)
        self.waiting = 0
        self.open = 0
        self.off = False
        self.discarded = []
        self.asked = []
        self.own_words = False
        self.options = []
        self._send = self._receive = None

    def takes_own_words(self, on):
        self.own_words = on

    def discard(self, reply):
        self.discarded.append(reply.text)

    async def say(self, text, *, options=(), repeats=True, slowly=False):
        self.options.append(tuple(options))
        if repeats:
            self.asked.append((text, slowly))
        assert text.strip(), "there is nothing to say"
        await checkpoint()
        if self.off:
            raise VoiceError("Voice is off.")
        self.said.append(text)
        self.now_s += _SENTENCE_S
        ending = self.endings.pop(0) if self.endings else NarrationEnding.COMPLETED
        if callable(ending):
            ending = await ending()
        return ending

    @contextmanager
    def replies(self):
        self._send, self._receive = anyio.create_memory_object_stream(10)
        self.open += 1
        try:
            with self._send, self._receive:
                yield self
        finally:
            self.open -= 1

    def __aiter__(self):
        return self

    async def __anext__(self):
        self.waiting += 1
        try:
            return await self._receive.__anext__()
        finally:
            self.waiting -= 1

    async def hear(self, text, *, typed=False, confidence=-0.2, began_s=None):
        """Have the person say (or type) this once they are listened to, and wait until it was taken."""
        await self.listening()
        self.now_s += 1.0
        if typed:
            message = UserMessage(text, "keyboard", self.now_s)
        else:
            begin = self.now_s - 0.5 if began_s is None else began_s
            message = UserMessage(text, "voice", self.now_s, Span(begin, self.now_s), confidence=confidence)
        self.send(message)
        await all_quiet()

    def send(self, message):
        self._send.send_nowait(message)

    async def wants_it_again(self, *, slowly=False):
        await self.listening()
        self._send.send_nowait(Again(slowly))
        await all_quiet()

    async def listening(self):
        for _ in range(1_000):
            if self.waiting:
                return
            await checkpoint()
        raise AssertionError("nobody listens")

    def lose(self):
        self.off = True
        if self._send is not None:
            self._send.close()


# The promises of every presenter.


class Voice:
    """A person who speaks to the presenter."""

    can = Abilities(SURFACE, Input.SPEECH, notes=False)

    def __init__(self, air):
        self._air = air

    async def pick(self, row):
        await self._air.hear(f"Option {row + 1}.")

    async def tick(self, rows, words=""):
        if rows:
            await self._air.hear(" and ".join(f"option {row + 1}" for row in rows))
        if words:
            await self._air.hear("Own words.")
            await self._air.hear(words)
        await self._air.hear("Yes.")

    async def words(self, text):
        await self._air.listening()
        if "Options: " in self._air.said[-1]:
            await self._air.hear("Own words.")
        await self._air.hear(text)

    async def skip(self):
        await self._air.hear("Skip.")

    async def stop(self):
        await self._air.hear("Cancel.")
        if "cancel again" in self._air.said[-1]:
            await self._air.hear("Cancel.")

    async def change(self, index):
        await self._air.hear(f"Question {index + 1}.")

    async def send(self):
        await self._air.hear("Send them.")

    async def lose(self):
        self._air.lose()

    def seen(self):
        return "\n".join(self._air.said)


@asynccontextmanager
async def by_voice():
    air = Air()
    yield SpokenPresenter(air), Voice(air)
    assert air.open == 0


async def test_it_keeps_the_promises_of_every_presenter():
    await check_presenter(by_voice)


@asynccontextmanager
async def by_voice_beside_a_screen():
    air = Air()
    yield TogetherPresenter(SpokenPresenter(air), _Silent()), Voice(air)


class _Silent:
    """A presenter that finds nobody."""

    async def present(self, interview):
        raise NoInterface("there is no screen")


async def test_together_with_a_surface_that_finds_nobody_it_keeps_them_too():
    await check_presenter(by_voice_beside_a_screen)


# Dialogs.

WHERE = Question("Where?", (Option("Staging cluster"), Option("Throwaway VM")), custom=CustomRow("Other"))
CHECKS = Question("Which checks?", (Option("Lint"), Option("Tests"), Option("Docs")), multi_select=True)
NAME = Question("What is it called?")
NOTE = Question("Anything else?", required=False)
ALLOW = Question("Allow the command?", (Option("Allow"), Option("Deny")))


class Dialog:
    """One questionnaire, presented by voice to a test."""

    def __init__(self, air, interview):
        self.air = air
        self.interview = interview
        self.hear = air.hear
        self.error = None

    @property
    def last(self):
        return self.air.said[-1]

    @property
    def outcome(self):
        return self.interview.outcome

    @property
    def answers(self):
        responses = (self.outcome or self.interview.step).responses
        return [response.answer for response in responses]


@asynccontextmanager
async def asked(*questions, endings=(), presenter=None, language="en", answers_in="", **kind):
    air = Air(*endings)
    interview = Interview(Questionnaire(questions, **kind))
    dialog = Dialog(air, interview)
    clock = FakeClock()
    spoken = SpokenPresenter(air, language, clock.now, answers_in)

    async def present():
        try:
            await (presenter(spoken) if presenter else spoken).present(interview)
        except NoInterface as error:
            dialog.error = error

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(present)
        await all_quiet()
        yield dialog
        tasks.cancel_scope.cancel()


async def test_a_question_is_narrated_and_what_is_said_answers_it():
    async with asked(WHERE) as dialog:
        assert len(dialog.air.said) == 1
        assert dialog.last == (
            "Question 1: Where? Options: 1, Staging cluster; 2, Throwaway VM. Please choose one option."
            " You may also answer in your own words."
        )
        await dialog.hear("The second one.")
        assert dialog.outcome.status is Status.ANSWERED
        [response] = dialog.outcome.responses
        assert response.answer == Answer((1,))
        assert (response.by.surface, response.by.input) == ("voice", Input.SPEECH)


async def test_each_narration_comes_with_the_options_that_can_be_chosen_then():
    """They say how long a reply is waited for: those of another question would be wrong."""
    async with asked(WHERE, CHECKS) as dialog:
        await dialog.hear("Own words.")
        await dialog.hear("My laptop.")
        await dialog.hear("Lint and docs.")
        await dialog.hear("Yes.")
    where, checks = ("Staging cluster", "Throwaway VM"), ("Lint", "Tests", "Docs")
    assert dialog.air.options == [where, (), checks, checks]


async def test_own_words_are_the_answer_as_they_were_said():
    async with asked(WHERE) as dialog:
        await dialog.hear("On my laptop, please.")
        assert dialog.outcome.responses[0].answer == Answer(custom="On my laptop, please.")


async def test_an_unclear_reply_is_asked_again_with_the_options_and_then_not_nagged_about():
    async with asked(WHERE) as dialog:
        for text in (
            "No, not the second one.",
            "Either.",
            "The first or the second.",
            "I don't know.",
            "Um.",
        ):
            await dialog.hear(text)
        first, second, *later = dialog.air.said[1:]
        assert first == "I am not sure which one you mean. Options: 1, Staging cluster; 2, Throwaway VM."
        assert second.startswith(first)
        assert "keyboard" in second
        assert later == ["I am not sure which one you mean."] * 2 + ["I heard no answer in that."]
        assert dialog.outcome is None
        assert dialog.answers == [None]
        await dialog.hear("The first.")
        assert dialog.answers == [Answer((0,))]


async def test_what_was_hardly_heard_is_asked_again():
    async with asked(WHERE) as dialog:
        await dialog.hear("The second one.", confidence=-1.4)
        assert dialog.outcome is None
        assert dialog.last.startswith("I am not sure that I heard you right.")


async def test_silence_and_time_are_no_answer():
    async with asked(WHERE) as dialog:
        dialog.air.now_s += 10_000
        await all_quiet()
        assert dialog.outcome is None
        assert len(dialog.air.said) == 1


async def test_skip_back_repeat_and_cancel_are_obeyed():
    async with asked(WHERE, NOTE, NAME) as dialog:
        await dialog.hear("Repeat the question, please.")
        assert dialog.air.said[0] == dialog.air.said[1]
        await dialog.hear("Skip.")
        assert dialog.last == "This question needs an answer; it cannot be skipped."
        await dialog.hear("Go back.")
        assert dialog.last == dialog.air.said[0]
        await dialog.hear("One.")
        assert (
            dialog.last
            == "Question 2: Anything else? Please answer in your own words. You may also say skip."
        )
        await dialog.hear("Go back.")
        assert dialog.last == dialog.air.said[0]
        await dialog.hear("Two.")
        await dialog.hear("Skip.")
        assert dialog.interview.step.responses[1].state is State.SKIPPED
        await dialog.hear("Cancel.")
        assert dialog.last == "Say cancel again to stop. Anything else goes on."
        await dialog.hear("Hmm.")
        await dialog.hear("Cancel.")
        assert dialog.outcome is None
        await dialog.hear("Cancel.")
        assert dialog.outcome.status is Status.DECLINED
        assert dialog.outcome.responses[0].answer == Answer((1,))


async def test_several_are_read_back_before_they_count():
    async with asked(CHECKS) as dialog:
        await dialog.hear("One and three.")
        assert dialog.last == "You chose 1, Lint and 3, Docs. Is that right?"
        assert dialog.outcome is None
        await dialog.hear("No.")
        assert dialog.last == "Then nothing is chosen yet. Options: 1, Lint; 2, Tests; 3, Docs."
        await dialog.hear("Yes.")
        assert dialog.outcome is None
        await dialog.hear("All of them.")
        await dialog.hear("Two and three.")
        assert dialog.last == "You chose 2, Tests and 3, Docs. Is that right?"
        await dialog.hear("Yes, please.")
        assert dialog.answers == [Answer((1, 2))]


async def test_own_words_stand_beside_what_was_chosen_of_several():
    several = Question("Which?", CHECKS.options, multi_select=True, custom=CustomRow("Other"))
    async with asked(several) as dialog:
        await dialog.hear("One.")
        await dialog.hear("Own words.")
        await dialog.hear("Whatever is quick.")
        assert dialog.last == "You chose 1, Lint and in your own words: Whatever is quick. Is that right?"
        await dialog.hear("Yes.")
        assert dialog.answers == [Answer((0,), "Whatever is quick.")]


# What is risky.


async def test_what_is_risky_needs_a_second_and_different_utterance():
    async with asked(ALLOW, risky=True) as dialog:
        for text in ("Allow.", "Yes.", "Allow.", "Yes, yes.", "Option one.", "Okay.", "Mm-hm."):
            await dialog.hear(text)
            assert dialog.outcome is None, text
        await dialog.hear("Allow it.")
        assert dialog.last == "You chose 1, Allow. Only if you say confirm will that be done."
        await dialog.hear("Confirm.")
        assert dialog.answers == [Answer((0,))]


async def test_a_confirmation_that_was_not_asked_for_confirms_nothing():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Confirm.")
        await dialog.hear("Confirm.")
        assert dialog.outcome is None
        assert dialog.answers == [None]


async def test_no_allows_nothing_and_needs_no_confirmation():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("No.")
        assert dialog.answers == [Answer((1,))]
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Yes.")
        await dialog.hear("No, deny it.")
        assert dialog.answers == [Answer((1,))]


async def test_no_refuses_whatever_verb_the_question_has():
    for custom in (None, CustomRow("Other")):
        run = Question("Run this? ls", ALLOW.options, custom=custom)
        async with asked(run, risky=True) as dialog:
            await dialog.hear("No.", confidence=-1.4)
            await dialog.hear("No, not that.")
            assert dialog.outcome is None
            await dialog.hear("No.")
            assert dialog.answers == [Answer((1,))]
    async with asked(Question("Run this? ls", (*ALLOW.options, Option("Reject"))), risky=True) as dialog:
        await dialog.hear("No.")
        assert dialog.outcome is None, "which of two"


async def test_anything_but_the_phrase_takes_back_what_is_risky_in_the_end():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Allow.")
        for text in ("Hmm.", "Well, perhaps.", "Whatever."):
            await dialog.hear(text)
        assert dialog.last.startswith("Then nothing is chosen yet.")
        await dialog.hear("Confirm.")
        assert dialog.outcome is None


async def test_an_echo_of_the_request_to_confirm_confirms_nothing():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Allow.")
        for echo in (dialog.last, "Only if you say confirm will that be done.", "You chose 1, allow."):
            await dialog.hear(echo)
            assert dialog.outcome is None
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Allow.")
        during = dialog.air.now_s - _SENTENCE_S / 2
        await dialog.hear("Confirm.", began_s=during)
        assert dialog.outcome is None


async def test_a_confirmation_that_was_hardly_heard_confirms_nothing():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Allow.")
        await dialog.hear("Confirm.", confidence=-1.2)
        assert dialog.outcome is None


async def test_where_the_phrase_stands_in_the_question_another_confirms():
    async with asked(Question("Confirm the order?", ALLOW.options), risky=True) as dialog:
        await dialog.hear("Allow.")
        assert "say i am sure" in dialog.last
        await dialog.hear("Confirm.")
        assert dialog.outcome is None
        await dialog.hear("I am sure.")
        assert dialog.answers == [Answer((0,))]


BY_KEY = "Please confirm that with a key: not all of it could be read aloud."
LONG = Question("Run this? " + "echo harmless; " * 30 + "rm -rf ~", ALLOW.options)


@pytest.mark.parametrize("text", [LONG.text, "Run `rm -rf ~ && x`?", "Delete /home/me/thesis?"])
async def test_what_was_not_all_read_aloud_is_allowed_by_a_key_alone(text):
    async with asked(Question(text, ALLOW.options), risky=True) as dialog:
        assert "the rest is on the screen" in dialog.last
        for said in ("Allow.", "Confirm.", "Yes.", "Option one.", "I am sure.", "Confirm."):
            await dialog.hear(said)
            assert dialog.outcome is None, said
        assert BY_KEY in dialog.air.said
        await dialog.hear("1", typed=True)
        assert dialog.answers == [Answer((0,))]
        assert dialog.outcome.responses[0].by.input is Input.KEY


async def test_what_was_not_all_read_aloud_is_refused_by_voice():
    async with asked(LONG, risky=True) as dialog:
        await dialog.hear("Allow.")
        assert dialog.last == BY_KEY
        await dialog.hear("No.")
        assert dialog.answers == [Answer((1,))]
    async with asked(LONG, risky=True) as dialog:
        await dialog.hear("Cancel.")
        assert dialog.outcome.status is Status.DECLINED


async def test_an_option_whose_label_was_cut_is_taken_by_a_key_alone():
    options = (Option("Allow"), Option("Allow everything " + "and more " * 20), Option("Deny"))
    async with asked(Question("Allow the command?", options), risky=True) as dialog:
        assert "the rest is on the screen" in dialog.last
        await dialog.hear("Option one.")
        await dialog.hear("Option two.")
        assert dialog.last == BY_KEY
        await dialog.hear("Confirm.")
        assert dialog.outcome is None, "what was read back before is no longer what is meant"
        await dialog.hear("Option one.")
        await dialog.hear("Confirm.")
        assert dialog.answers == [Answer((0,))]


async def test_own_words_allow_nothing_that_was_not_all_read_aloud():
    async with asked(Question(LONG.text, LONG.options, custom=CustomRow("Other")), risky=True) as dialog:
        await dialog.hear("Allow it for today.")
        assert dialog.last == BY_KEY
        await dialog.hear("Confirm.")
        assert dialog.outcome is None


async def test_what_is_not_risky_is_answered_by_voice_however_long_it_is():
    async with asked(LONG) as dialog:
        assert "the rest is on the screen" not in dialog.last
        await dialog.hear("Allow.")
        assert dialog.answers == [Answer((0,))]


async def test_own_words_in_answer_to_something_risky_are_read_back_too():
    async with asked(Question(ALLOW.text, ALLOW.options, custom=CustomRow("Other")), risky=True) as dialog:
        await dialog.hear("Allow it for today.")
        assert dialog.outcome is None
        assert "in your own words: Allow it for today." in dialog.last
        await dialog.hear("Confirm.")
        assert dialog.answers == [Answer(custom="Allow it for today.")]


async def test_a_key_confirms_what_is_risky():
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("1", typed=True)
        assert dialog.answers == [Answer((0,))]
        assert dialog.outcome.responses[0].by.input is Input.KEY
    async with asked(ALLOW, risky=True) as dialog:
        await dialog.hear("Allow.")
        await dialog.hear("confirm", typed=True)
        assert dialog.answers == [Answer((0,))]


async def test_who_interrupts_a_risky_question_hears_it_whole_before_it_is_answered():
    async with asked(ALLOW, risky=True, endings=[NarrationEnding.INTERRUPTED]) as dialog:
        await dialog.hear("Allow.")
        assert dialog.air.said[0] == dialog.air.said[1]
        assert dialog.answers == [None]


async def test_a_line_that_allows_something_risky_before_it_was_narrated_whole_is_told_to_be_no_answer():
    async with asked(ALLOW, risky=True, endings=[NarrationEnding.INTERRUPTED]) as dialog:
        await dialog.hear("1", typed=True)
        assert dialog.air.discarded == ["1"]
        assert dialog.air.said[0] == dialog.air.said[1]
        assert dialog.answers == [None]
        await dialog.hear("1", typed=True)
        assert dialog.answers == [Answer((0,))]


async def test_a_line_that_refuses_something_risky_is_an_answer_at_any_time():
    async with asked(ALLOW, risky=True, endings=[NarrationEnding.INTERRUPTED]) as dialog:
        await dialog.hear("2", typed=True)
        assert dialog.answers == [Answer((1,))]
        assert dialog.air.discarded == []


async def test_a_line_while_a_question_is_narrated_answers_it_or_has_it_asked_again_with_the_reason():
    interrupted = [NarrationEnding.INTERRUPTED, NarrationEnding.INTERRUPTED]
    async with asked(WHERE, endings=interrupted) as dialog:
        await dialog.hear("7", typed=True)
        assert dialog.last.startswith("There is no row 7")
        assert "Throwaway VM" in dialog.last
        await dialog.hear("2", typed=True)
        assert dialog.answers == [Answer((1,))]
        assert dialog.outcome.responses[0].shown_at is not None


async def test_a_line_that_comes_in_the_moment_of_an_answer_elsewhere_is_told_to_be_no_answer():
    async with asked(WHERE, WHERE) as dialog:
        await dialog.air.listening()
        at_s = dialog.air.now_s
        dialog.air.send(UserMessage("2", "keyboard", at_s))
        dialog.interview.send(Give(Answer((0,)), Provenance("terminal", Input.KEY, 0.0)))
        await all_quiet()
        assert dialog.answers == [Answer((0,)), None]
        assert dialog.air.discarded == ["2"]


async def test_a_line_of_which_nothing_can_be_said_any_more_is_told_to_be_no_answer():
    async with asked(WHERE) as dialog:
        await dialog.air.listening()
        dialog.air.off = True
        await dialog.hear("7", typed=True)
        assert dialog.air.discarded == ["7"]


async def test_of_an_unclear_line_no_more_is_told_than_why():
    async def for_ever():
        await anyio.sleep_forever()

    async with asked(WHERE, endings=[NarrationEnding.COMPLETED, for_ever]) as dialog:
        await dialog.hear("7", typed=True)
        dialog.interview.end(Status.TIMED_OUT)
        await all_quiet()
        assert dialog.last.startswith("There is no row 7")
        assert dialog.air.discarded == []


async def test_a_line_that_shows_nothing_is_told_to_be_no_own_words():
    async with asked(WHERE) as dialog:
        await dialog.hear("other", typed=True)
        await dialog.hear("\u200b", typed=True)
        assert dialog.last == "Nothing was typed."
        await dialog.hear("my laptop", typed=True)
        assert dialog.answers == [Answer(custom="my laptop")]


async def test_a_read_back_that_was_interrupted_is_heard_before_it_is_confirmed():
    endings = [NarrationEnding.COMPLETED, NarrationEnding.INTERRUPTED]
    async with asked(ALLOW, risky=True, endings=endings) as dialog:
        await dialog.hear("Allow.")
        await dialog.hear("Confirm.")
        assert dialog.outcome is None
        await dialog.hear("Confirm.")
        assert dialog.answers == [Answer((0,))]


async def test_an_echo_is_no_answer_in_own_words():
    async with asked(NAME) as dialog:
        await dialog.hear("Own words.")
        await dialog.hear("in your own words", began_s=dialog.air.now_s - 1.0)
        assert dialog.outcome is None
        await dialog.hear("In your own words")  # said in the silence after it, it is the person's
        assert dialog.answers == [Answer(custom="In your own words")]


async def test_a_typed_confirmation_counts_although_its_first_key_silenced_the_read_back():
    endings = [NarrationEnding.COMPLETED, NarrationEnding.INTERRUPTED]
    async with asked(ALLOW, risky=True, endings=endings) as dialog:
        await dialog.hear("Allow.")
        await dialog.hear("confirm", typed=True)
        assert dialog.answers == [Answer((0,))]
        assert dialog.outcome.responses[0].by.input is Input.KEY


# What was heard, and what was not.


async def test_an_answer_to_a_question_that_was_not_narrated_to_its_end_is_read_back():
    async with asked(WHERE, endings=[NarrationEnding.INTERRUPTED]) as dialog:
        assert dialog.interview.step.responses[0].shown_at is None
        await dialog.hear("The second one.")
        assert dialog.last == "You chose 2, Throwaway VM. Is that right?"
        await dialog.hear("Yes.")
        assert dialog.outcome.status is Status.ANSWERED
        assert dialog.outcome.responses[0].shown_at is not None


async def test_what_is_not_narrated_of_a_question_is_told():
    described = Question("Which?", (Option("A", "Long", "# Preview"), Option("B")))
    async with asked(described) as dialog:
        assert dialog.interview.step.responses[0].unshown == ("descriptions", "previews")


async def test_what_was_cut_or_kept_out_of_what_is_narrated_is_told():
    cut = Question("Which of them? " + "And so on. " * 40, (Option("A"), Option("Keep `rm -rf ~ && x` " * 8)))
    async with asked(cut) as dialog:
        assert dialog.interview.step.responses[0].unshown == ("parts of the text", "parts of labels")
    async with asked(WHERE) as dialog:
        assert dialog.interview.step.responses[0].unshown == ()


async def test_what_was_said_before_a_question_is_no_answer_to_it():
    async with asked(WHERE, NAME) as dialog:
        before = dialog.air.now_s
        await dialog.hear("One.")
        await dialog.hear("The first.", began_s=before)
        assert dialog.answers == [Answer((0,)), None]
        await dialog.hear("Ledger.")
        assert dialog.answers == [Answer((0,)), Answer(custom="Ledger")]


async def test_what_is_no_answer_any_more_is_shown_and_not_lost_without_a_word():
    async with asked(WHERE, NAME) as dialog:
        before = dialog.air.now_s
        await dialog.hear("One.")
        await dialog.hear("No, the second.", began_s=before)
        assert dialog.air.discarded == ["No, the second."]
        assert dialog.answers == [Answer((0,)), None]


@pytest.mark.parametrize("slowly", [False, True])
async def test_wanted_again_the_whole_question_is_said_and_no_remark(slowly):
    async with asked(ALLOW) as dialog:
        await dialog.hear("I like trains.")
        question, remark = dialog.air.said
        assert question != remark
        await dialog.air.wants_it_again(slowly=slowly)
        assert dialog.last == question
        assert dialog.air.asked == [(question, False), (question, slowly)]


async def test_asked_again_what_was_read_back_waits_for_no_confirmation_any_more():
    async with asked(WHERE, risky=True) as dialog:
        await dialog.hear("The second one.")
        await dialog.air.wants_it_again()
        await dialog.hear("Confirm.")
        assert dialog.answers == [None]


async def test_own_words_are_taken_as_they_are_where_nothing_else_can_be_meant():
    async with asked(WHERE, NAME) as dialog:
        await dialog.air.listening()
        assert not dialog.air.own_words
        await dialog.hear("Own words.")
        assert dialog.air.own_words
        await dialog.air.wants_it_again()
        assert not dialog.air.own_words
        await dialog.hear("The first one.")
        assert dialog.air.own_words  # the next asks for a text
        await dialog.hear("Undo.")
        assert dialog.answers == [Answer((0,)), Answer(custom="Undo")]


async def test_typed_text_counts_as_soon_as_the_time_of_the_sound_begins_anew():
    async with asked(WHERE) as dialog:
        dialog.air.now_s = -1.0  # Voice is off: there is no audio time
        await dialog.hear("2", typed=True)
        assert dialog.answers == [Answer((1,))]


async def test_typed_replies_are_judged_as_everywhere():
    async with asked(WHERE, NAME) as dialog:
        await dialog.hear("7", typed=True)
        assert dialog.last.startswith("There is no row 7")
        await dialog.hear("other", typed=True)
        assert dialog.last == "Say it in your own words."
        await dialog.hear("my laptop", typed=True)
        await dialog.hear("what is it", typed=True)
        assert dialog.answers == [Answer(custom="my laptop"), Answer(custom="what is it")]


async def test_a_narration_that_fails_is_a_surface_that_is_gone():
    async with asked(WHERE, endings=[NarrationEnding.FAILED]) as dialog:
        assert isinstance(dialog.error, NoInterface)
        assert dialog.outcome is None
    async with asked(WHERE, NAME, endings=[NarrationEnding.COMPLETED, NarrationEnding.FAILED]) as dialog:
        await dialog.hear("One.")
        assert dialog.outcome.status is Status.CANCELLED
        assert dialog.outcome.responses[0].answer == Answer((0,))


# With a screen.


async def test_an_answer_on_the_screen_ends_the_narration():
    silenced = []

    async def for_ever():
        try:
            await anyio.sleep_forever()
        finally:
            silenced.append(True)

    async with asked(WHERE, NAME, endings=[for_ever]) as dialog:
        dialog.interview.send(Shown(0.0, 0))
        dialog.interview.send(Give(Answer((0,)), Provenance("terminal", Input.KEY, 0.0)))
        await all_quiet()
        assert silenced == [True]
        assert dialog.last.startswith("That was answered elsewhere. Question 2: What is it called?")
        dialog.interview.end(Status.TIMED_OUT)
        await all_quiet()
        assert dialog.air.open == 0


async def test_the_first_answer_wins_on_screen_and_by_voice():
    screen = HeldPresenter()
    together = partial(lambda spoken: TogetherPresenter(screen, spoken))
    async with asked(WHERE, presenter=together) as dialog:
        assert screen.open is not None
        await dialog.hear("Two.")
        assert dialog.answers == [Answer((1,))]
        assert screen.open is None
    async with asked(WHERE, presenter=together) as dialog:
        screen.open.send(Give(Answer((0,)), Provenance("terminal", Input.KEY, 0.0)))
        await all_quiet()
        assert dialog.outcome.responses[0].by.surface == "terminal"
        assert dialog.air.open == 0


async def test_a_voice_that_is_lost_leaves_the_screen():
    screen = HeldPresenter()
    async with asked(WHERE, presenter=lambda spoken: TogetherPresenter(screen, spoken)) as dialog:
        dialog.air.lose()
        await all_quiet()
        assert dialog.outcome is None
        screen.open.send(Give(Answer((0,)), Provenance("terminal", Input.KEY, 0.0)))
        await all_quiet()
        assert dialog.outcome.status is Status.ANSWERED


# The review, and other languages.


async def test_all_answers_are_read_out_before_they_are_sent():
    async with asked(WHERE, NOTE, CHECKS, review=True) as dialog:
        await dialog.hear("Two.")
        await dialog.hear("Skip.")
        await dialog.hear("Lint.")
        await dialog.hear("Yes.")
        assert dialog.last == (
            "These are your answers. Question 1: Where? Throwaway VM. Question 2: Anything else? Skipped."
            " Question 3: Which checks? Lint."
            " Say send to send them, or the number of a question to change its answer."
        )
        for text in ("Hmm.", "No.", "I don't know.", "One or two."):
            await dialog.hear(text)
            assert dialog.outcome is None
        await dialog.hear("Change question one.")
        await dialog.hear("The first.")
        assert "Where? Staging cluster." in dialog.last
        await dialog.hear("Send.", confidence=-2.0)
        assert dialog.outcome is None
        await dialog.hear("Yes.")
        assert dialog.answers == [Answer((0,)), None, Answer((0,))]
        assert dialog.outcome.status is Status.ANSWERED


async def test_a_review_that_was_not_heard_is_not_sent():
    async with asked(
        NAME, review=True, endings=[NarrationEnding.COMPLETED, NarrationEnding.INTERRUPTED]
    ) as dialog:
        await dialog.hear("Ledger.")
        await dialog.hear("Send.")
        assert dialog.outcome is None
        await dialog.hear("Send.")
        assert dialog.outcome.status is Status.ANSWERED


async def test_a_line_that_sends_a_review_before_it_was_heard_is_told_to_be_no_answer():
    async with asked(
        NAME, review=True, endings=[NarrationEnding.COMPLETED, NarrationEnding.INTERRUPTED]
    ) as dialog:
        await dialog.hear("Ledger.")
        await dialog.hear("send", typed=True)
        assert dialog.outcome is None
        assert dialog.air.discarded == ["send"]
        await dialog.hear("send", typed=True)
        assert dialog.outcome.status is Status.ANSWERED
        assert dialog.air.discarded == ["send"]


async def test_german_is_asked_and_answered_in_german():
    loeschen = Question("Löschen?", (Option("Ja"), Option("Nein")))
    async with asked(loeschen, language="de", risky=True) as dialog:
        await dialog.hear("Ja.")
        assert dialog.last == "Du hast gewählt: 1, Ja. Nur wenn du bestätigen sagst, geschieht das."
        await dialog.hear("Ja, ja.")
        assert dialog.outcome is None
        await dialog.hear("Bestätigen.")
        assert dialog.answers == [Answer((0,))]


async def test_answers_are_read_in_the_language_of_the_transcript_and_told_of_in_that_of_the_voice():
    async with asked(WHERE, WHERE, language="en", answers_in="de", review=True) as dialog:
        await dialog.hear("Vielleicht die zweite, ich weiß nicht.")
        assert dialog.outcome is None
        assert "nicht" not in dialog.last
        await dialog.hear("Die zweite.")
        await dialog.hear("Zurück.")
        assert "Question 1" in dialog.last
        await dialog.hear("Die erste.")
        await dialog.hear("Die zweite.")
        await dialog.hear("Absenden.")
        assert dialog.answers == [Answer((0,)), Answer((1,))]
        assert dialog.outcome.status is Status.ANSWERED


async def test_what_confirms_something_risky_is_in_the_language_of_the_transcript():
    async with asked(ALLOW, language="en", answers_in="de", risky=True) as dialog:
        await dialog.hear("Die erste.")
        assert "Only if you say bestätigen" in dialog.last
        await dialog.hear("Bestätigen.")
        assert dialog.outcome.status is Status.ANSWERED
