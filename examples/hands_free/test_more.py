"""What Whisper understands of a recording; and what a spoken control does to the tools of the agent."""

from deployer import agent


def test_whisper_understands_the_reply(whisper_session):
    session = whisper_session(agent)
    session.send("Deploy the site.")
    session.say(recording="second-one.wav")
    assert session.messages == ["Deploy the site.", "The second one."]
    assert session.discarded == []


def test_the_keyboard_is_there_when_voice_is_off(voice_session):
    session = voice_session(agent)
    session.say("Stop the voice.")
    assert session.tools == ["ask_user_question", "user_select", "narrate"]
    session.send("The second one.")
    assert session.messages == ["The second one."]
    assert session.said == []
