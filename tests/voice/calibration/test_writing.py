import tomllib

import pytest

from voice.calibration.writing import in_toml, with_settings
from voice.errors import SettingsError
from voice.settings import Settings

VALUES = {"transcription": {"model": "base", "threads": 2}, "hearing": {"start_threshold": 0.75}}


def test_a_file_of_its_own_is_one_that_the_settings_take():
    read = Settings.model_validate(tomllib.loads(in_toml(VALUES)))
    assert (read.transcription.model, read.transcription.threads) == ("base", 2)
    assert read.hearing.start_threshold == 0.75


def test_everything_else_in_a_file_stays_as_it_is():
    before = (
        '# mine\n[transcription]  # Whisper\nlanguage = "de"\n model = "tiny"\n\n[controls]\n'
        'phrases = {stop_voice = ["voice off"]}\n\n[hearing]\n# microphone = "x"\n'
    )
    after = with_settings(before, VALUES)
    assert [line for line in before.splitlines() if line not in after.splitlines()] == [' model = "tiny"']
    read = tomllib.loads(after)
    assert read["transcription"] == {"language": "de", "model": "base", "threads": 2}
    assert read["controls"] == {"phrases": {"stop_voice": ["voice off"]}}
    assert with_settings(after, VALUES) == after


def test_names_with_odd_characters_are_written_so_that_they_are_read_again():
    name = 'C:\\models\\"base" é'
    assert tomllib.loads(in_toml({"transcription": {"model": name}}))["transcription"]["model"] == name


def test_a_remark_behind_a_value_stays_and_one_on_the_next_group_stays_before_it():
    before = '[transcription]\nmodel = "tiny"  # small\n# threads = 1\n\n# ears\n[hearing]\n'
    assert with_settings(before, VALUES) == (
        '[transcription]\nmodel = "base"  # small\n# threads = 1\nthreads = 2\n\n# ears\n[hearing]\n'
        "start_threshold = 0.75\n"
    )


def test_what_only_looks_like_a_setting_is_none():
    before = '[controls]\nend_word = """\n[hearing]\nstart_threshold = 3\n"""\n'
    after = with_settings(before, VALUES)
    assert after.startswith(before)
    assert tomllib.loads(after)["hearing"] == {"start_threshold": 0.75}


@pytest.mark.parametrize(
    "before", ['transcription = {model = "tiny"}\n', 'transcription.model = "tiny"\n', "", "# mine"]
)
def test_a_group_may_be_written_in_any_way(before):
    read = tomllib.loads(with_settings(before, VALUES))
    assert read == VALUES


def test_line_ends_stay_what_they_are():
    before = "[transcription]\r\nmodel = 'tiny'\r\n"
    after = with_settings(before, VALUES)
    assert after.count("\r\n") == after.count("\n") > 4
    assert "\r" not in with_settings(before.replace("\r", ""), VALUES)


@pytest.mark.parametrize(
    "before", ["[hearing\n", "transcription = 3\n", "[[hearing]]\nx = 1\n", "a = 1\na = 2\n"]
)
def test_what_cannot_be_changed_is_said_and_not_spoiled(before):
    with pytest.raises(SettingsError, match="cannot change") as caught:
        with_settings(before, VALUES)
    assert "by hand" in caught.value.mend
