"""A session that is led step by step, from a thread without an event loop."""

import threading
import time

import anyio
import anyio.to_thread
import pytest
from pydantic_ai import Agent
from pydantic_ai.models.test import TestModel

from voice.errors import RecordingError, SceneError
from voice.events import MessageSent
from voice.hosts.own import FunctionHost
from voice.scenes.live import LiveSession, Voices
from voice.scenes.outside import Outside

WHICH = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}


async def shop(text):
    return "Which one do you want to have?" if "order" in text else "It is on its way."


def asking(tools, ask, emit):
    """An agent that asks on the screen."""

    async def agent(text):
        return (await tools.call("user_select", WHICH)).text

    return FunctionHost(agent, emit=emit)


@pytest.fixture(scope="module")
def voices():
    with Outside() as outside:
        yield Voices(outside)


@pytest.fixture
def live(voices, fixtures_folder):
    """Begin sessions with an agent; all are ended at last."""
    begun = []
    with Outside() as outside:

        def begin(agent, *, whisper=False, **fields):
            session = LiveSession(
                agent, folder=fixtures_folder, outside=outside, voices=voices, whisper=whisper, fields=fields
            )
            begun.append(session)
            return session.__enter__()

        yield begin
        for session in begun:
            session.end()


def test_each_step_is_over_when_it_returns(live):
    session = live(shop)
    assert (session.messages, session.said, session.tools) == ([], [], ["narrate"])
    session.send("Please order it.")
    assert session.said == ["Which one do you want to have?"]
    session.say("The second one.")
    assert session.messages == ["Please order it.", "The second one."]
    assert session.said == ["Which one do you want to have?", "It is on its way."]
    session.say("I would like … the faster model.", recording="pause-1400.wav")
    assert session.messages[2:] == ["I would like the faster model."]
    assert session.discarded == session.notices == session.complaints == []
    assert session.events.count(MessageSent("The second one.")) == 1
    session.say("Stop the voice.")
    assert session.discarded == []
    assert [names for _, names in session.tools_over_time] == [
        ("ask_user_question", "user_select", "narrate"),
        ("narrate",),
        ("ask_user_question", "user_select", "narrate"),
    ]
    assert session.complaints == []


def test_the_same_steps_give_the_same_events_however_slow_the_test_is(live):
    def told(pause_s):
        session = live(shop)
        session.send("Please order it.", wait=False)
        time.sleep(pause_s)
        session.say("The second one.")
        time.sleep(pause_s)
        session.end()
        return session.timeline

    assert told(0) == told(0.2)


def test_something_is_done_in_the_middle_of_something_else(live):
    session = live(shop)
    session.send("Please order it.", wait=False)
    session.until("sentence_begun", text="Which one do you want to have?")
    session.do(pause=0.5, wait=False)
    session.do(key="Esc")
    assert session.said == []
    session.say("The second one.")
    assert session.said == ["It is on its way."]
    assert session.complaints == []


def test_a_question_on_the_screen_waits_for_its_answer(live):
    session = live(asking, voice=False)
    session.send("Merge it.")
    assert "User selected" not in session.timeline
    session.answer("2")
    assert "agent    writes: User selected: 2. Rebase" in session.timeline
    with pytest.raises(AssertionError, match="nothing stood on the screen that '1' could answer"):
        session.answer("1")
    assert session.complaints == []


def test_what_the_caller_overrides_in_an_agent_holds_in_the_session(live):
    agent = Agent("openai:gpt-5", defer_model_check=True)
    with agent.override(model=TestModel(call_tools=[], custom_output_text="Hello there.")):
        session = live(agent)
        session.send("Hello.")
    assert session.said == ["Hello there."]


def test_an_error_of_the_agent_is_raised_by_the_step_and_the_session_goes_on(live):
    async def agent(text):
        if text == "Bad.":
            raise LookupError("no such order")
        return "Good."

    session = live(agent)
    with pytest.raises(LookupError, match="no such order"):
        session.send("Bad.")
    session.send("Better.")
    assert session.said[-1] == "Good."
    assert session.complaints == []


def test_an_agent_can_be_made_to_fail(live):
    session = live(shop)
    session.do(fault={"part": "host", "kind": "errors", "seconds": 30})
    session.send("Please order it.")
    assert session.messages == []
    assert any("does not take the message" in sentence for sentence in session.notices)
    session.do(pause=30)
    session.send("Now.")
    assert session.messages == ["Please order it.", "Now."]


def test_what_is_said_in_vain_is_a_complaint(live):
    session = live(shop, voice=False)
    session.say("The second one.")
    (complaint,) = session.complaints
    assert complaint.endswith("nobody heard it (status then: voice_off).")
    with pytest.raises(AssertionError, match="No complaint holds 'something else'"):
        session.forgive("something else")
    session.forgive("nobody heard it")
    assert session.complaints == []


def test_what_is_said_while_we_speak_is_discarded_and_no_complaint(live):
    session = live(shop)
    session.send("Please order it.", wait=False)
    session.until("sentence_begun")
    session.say("No.")
    assert session.discarded == [("talked_over", "No.")]
    assert session.complaints == []


def test_a_transcriber_that_is_asked_without_a_word_said_is_a_complaint(live):
    session = live(shop)
    session.do(say="second-one.wav", text="")
    assert session.discarded == [("no_words", "")]
    (complaint,) = session.complaints
    assert complaint.startswith("The transcriber was asked at")
    other = live(shop)
    other.do(sound={"kind": "white", "dbfs": -30.0, "seconds": 1.0})
    assert other.complaints == []


def test_a_message_that_the_agent_never_took_is_a_complaint(live):
    async def busy(text):
        await anyio.sleep_forever()

    session = live(busy)
    session.send("Work.", wait=False)
    session.send("And then?", wait=False)
    session.end()
    assert session.messages == ["Work."]
    assert session.complaints == ["The agent never accepted 'And then?'."]


def test_an_agent_that_does_not_finish_its_turn_is_a_complaint(live):
    async def hangs(text):
        await anyio.sleep(0 if text == "Hello." else 1e6)

    session = live(hangs)
    session.send("Hello.")
    assert session.complaints == []
    session.send("Work.")
    told = ["The agent did not finish its turn: it was waited for 120 s."]
    assert session.complaints == told
    session.do(interrupt=True)
    assert session.complaints == []  # nobody waits for it any more
    session.send("Work again.")
    session.end()
    assert session.complaints == told


def test_a_failed_turn_is_a_complaint(live):
    def make(tools, ask, emit):
        async def agent(text):
            raise LookupError("no such order")

        return FunctionHost(agent, emit=emit)

    session = live(make)
    session.send("Please order it.")
    (complaint,) = session.complaints
    assert complaint.startswith("A turn of the agent ended by an error: ")
    assert complaint.endswith("no such order")


def test_what_cannot_be_used_is_one_sentence(live):
    session = live(shop)
    for step, error, sentence in [
        (lambda: session.do(kei="F2"), SceneError, "'kei' is no field; did you mean 'key'"),
        (lambda: session.do(key="F9"), SceneError, "key: "),
        (lambda: session.until("naration_ended"), SceneError, "did you mean 'narration_ended'"),
        (lambda: session.say(), SceneError, "Nothing is given that could be understood"),
        (lambda: session.say(recording="yes.wav"), SceneError, "Nothing is given that could be understood"),
        (lambda: session.say("Yes.", recording="nowhere.wav"), RecordingError, "There is no file"),
        (lambda: session.until("host_lost", within_s=1), AssertionError, "host_lost did not come within 1 s"),
    ]:
        with pytest.raises(error, match=sentence):
            step()
    with pytest.raises(SceneError, match="'setings' is no field; did you mean 'settings'"):
        live(shop, setings={})
    with pytest.raises(SceneError, match="'loud' is no field; there are microphone, duplex"):
        live(shop, settings={"hearing": {"loud": True}})
    assert session.complaints == []
    session.end()
    with pytest.raises(SceneError, match="The session has ended"):
        session.send("Hello.")


def test_it_ends_in_the_middle_of_a_step(live):
    begun, gate, raised = threading.Event(), threading.Event(), []

    async def stuck(text):
        begun.set()
        await anyio.to_thread.run_sync(gate.wait, abandon_on_cancel=True)

    session = live(stuck)

    def send():
        try:
            session.send("Hello.")
        except SceneError as error:
            raised.append(str(error))

    step = threading.Thread(target=send)
    step.start()
    assert begun.wait(60)
    session.end()
    gate.set()
    step.join(60)
    assert raised == ["The session has ended."]


@pytest.mark.slow
def test_whisper_hears_recordings_and_the_speech_engine(live):
    session = live(shop, whisper=True)
    session.say(recording="second-one.wav")
    session.say("The second one.")
    assert session.messages == ["The second one."] * 2
    assert session.complaints == []
