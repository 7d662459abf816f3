from deployer import agent


def test_where_to_deploy_is_agreed_on_by_voice(voice_session):
    session = voice_session(agent)
    session.send("Deploy the site.")
    assert session.said == ["Staging or production?"]
    session.say("The second one.")
    assert session.messages == ["Deploy the site.", "The second one."]
    assert session.said[-1] == "Deployed to production."
    assert session.tools == ["narrate"]
