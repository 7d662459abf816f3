import re
from pathlib import Path

from voice.cli.chatting import told_limits
from voice.commands import Controls
from voice.screen.keys import KEYS, LINES
from voice.settings import Settings


def test_every_limit_that_ends_or_cuts_something_is_shown():
    settings = (
        Settings()
        .changed("hearing", end_silence_s=2.25, warn_s=111.0, longest_s=222.0, duplex="headphones")
        .changed("conversation", answer_within_s=33.0, quiet_microphone="closed", resume_after_s=4.5)
        .changed("conversation", while_busy="interrupt")
    )
    told = " ".join(told_limits(settings))
    for value in ("2.25 s", "111 s", "222 s", "33 s", "4.5 s", "closed", "interrupt", "headphones"):
        assert value in told


def test_what_ends_a_message_is_told_as_it_is():
    assert told_limits(Settings())[0] == "1.6 s of silence end what you say"
    snappy = Settings().changed("hearing", patience="snappy")
    assert told_limits(snappy)[0] == "1.12 s of silence end what you say"
    by_word = Settings().changed("controls", end_word="over")
    assert "is sent when 'over' was said last" in told_limits(by_word)[0]
    assert told_limits(by_word.changed("controls", enabled=False)) == told_limits(Settings())


def test_the_spoken_controls_that_the_readme_shows_are_obeyed():
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    (shown,) = re.findall(r"Said alone, these are obeyed(.*?)They can be changed", readme, re.DOTALL)
    phrases = re.findall(r'"([^"]+)"', " ".join(shown.split()))
    assert len(phrases) > 10
    assert all(Controls("en").command_in(phrase) for phrase in phrases)


def test_the_keys_that_the_readme_shows_are_those_that_act():
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    rows = "".join(
        line for line in readme.splitlines(keepends=True) if re.match(r"\| .*(Ctrl-|F\d|Esc)", line)
    )
    assert all(key.replace("c-", "Ctrl-").upper() in rows.upper() for key in KEYS)
    assert all(line in rows for line in LINES)
