import json

import pytest
from click.testing import CliRunner

from voice.cli import chatting
from voice.cli.stats import stats
from voice.errors import VoiceError
from voice.events import Latency, MessageDelivered, UserMessage
from voice.keeping import LAST_SESSION, keep, kept
from voice.statistics import SessionStatistics


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_the_last_session_is_told_as_a_table_and_as_json():
    session = SessionStatistics()
    session.take(UserMessage("Yes.", "voice", 1.0))
    session.take(MessageDelivered(Latency(0.5, 0.1, 0.6), 0.02, waited=False))
    keep(LAST_SESSION, session.as_json())
    table = CliRunner().invoke(stats, [], catch_exceptions=False).stdout
    assert "endpoint                     1     0.50     0.50" in table.splitlines()
    told = json.loads(CliRunner().invoke(stats, ["--json"], catch_exceptions=False).stdout)
    assert told == session.summary()


def test_without_a_session_it_says_what_to_do():
    with pytest.raises(VoiceError, match="no session yet") as caught:
        CliRunner().invoke(stats, [], catch_exceptions=False)
    assert caught.value.mend == "talk in one: voice chat"


def test_the_numbers_of_a_session_are_kept_and_one_without_a_message_leaves_those_of_the_last():
    session = SessionStatistics(spoken=2)
    chatting._keep(session)
    chatting._keep(SessionStatistics())
    assert SessionStatistics.from_json(kept(LAST_SESSION)).summary() == session.summary()


def test_a_folder_that_cannot_be_written_ends_no_session(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    chatting._keep(SessionStatistics(typed=1))
