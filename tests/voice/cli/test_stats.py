import json

import pytest
from click.testing import CliRunner

from voice.cli.stats import stats
from voice.errors import VoiceError
from voice.events import Latency, MessageDelivered, UserMessage
from voice.keeping import LAST_SESSION, keep
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
