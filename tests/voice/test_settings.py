import pytest

from voice.errors import SettingsError
from voice.settings import Settings, load_settings


@pytest.fixture
def write(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "settings.toml"
        path.write_text(text)
        monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(path))

    return write


def test_without_a_file_the_defaults_hold(monkeypatch, tmp_path):
    monkeypatch.delenv("VIVA_VOICE_SETTINGS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_settings() == Settings()
    assert load_settings().hearing.end_silence_s == 1.6


def test_the_users_folder_is_read(monkeypatch, tmp_path):
    monkeypatch.delenv("VIVA_VOICE_SETTINGS", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "viva-voce").mkdir()
    (tmp_path / "viva-voce" / "settings.toml").write_text('[transcription]\nmodel = "base"')
    assert load_settings().transcription.model == "base"


def test_a_file_changes_what_it_names_and_nothing_else(write):
    write("[hearing]\nend_silence_s = 0.9\n[speaking]\nrate = 2")
    settings = load_settings()
    assert settings.hearing.end_silence_s == 0.9
    assert settings.speaking.rate == 2
    assert settings.transcription == Settings().transcription


def test_the_group_of_the_questionnaire_is_left_to_it(write):
    write("[questionnaire]\nanything = 1\n[hearing]\nend_silence_s = 0.9")
    assert load_settings().hearing.end_silence_s == 0.9


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[hearing]\nend_silence_s = -1", "hearing.end_silence_s"),
        ("[hearing]\nend_silence = 1", "hearing.end_silence"),
        ("[speaking]\nrate = 9", "speaking.rate"),
        ("[transcription]\nlanguage = 'English'", "language should be a code such as en or de, and is 'E"),
        ("[transcription]\nlanguage = 'en-GB'", "transcription.language should be a code such as en or de"),
        ("[speaking]\nlanguage = ''", "speaking.language should be a code such as en or de"),
        ("[transcription]\nmodel = ''", "transcription.model should have at least 1 character"),
        ("[hearing]\nend_silence_s = nan", "end_silence_s should be a finite number"),
        ("hearing = 3", r"hearing should be a group of settings, \[hearing\], and is 3"),
        (
            "[hearing]\nstart_speech_s = 0.4",
            r"\(0.4\) should be at most start_within_s \(0.3, the def",
        ),
        ("[hearing]\nend_threshold = 0.6", r"end_threshold \(0.6\) should be at most start_threshold \(0.5"),
        (
            "[hearing]\nlongest_s = 300",
            r"warn_s \(540, the default\) should be less than longest_s",
        ),
        ("[hearing]\nlongest_s = 300\nwarn_s = 300", r"warn_s \(300\) should be less than longest_s \(300"),
        ("[controls]\nend_word = ''", "controls.end_word should hold a word, or be left out, and is ''"),
        ("[controls]\nend_word = '…'", "controls.end_word should hold a word"),
        ("[controls.phrases]\nstop_voice = ['off', '-']", "controls.phrases.stop_voice.1 should hold a word"),
        ("[questionaire]\nbell = true", "questionaire"),
        ("[hearing\n", "cannot be read"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_the_setting_and_the_file(write, text, named):
    write(text)
    with pytest.raises(SettingsError, match=named) as caught:
        load_settings()
    assert "settings.toml" in str(caught.value)
    assert "\n" not in caught.value.sentence


@pytest.mark.parametrize(
    "text",
    [
        "[hearing]\nstart_speech_s = 0.3",
        "[hearing]\nend_threshold = 0.5",
        "[hearing]\nlongest_s = 300\nwarn_s = 299",
        "[transcription]\nlanguage = 'yue'",
        "[speaking]\nlanguage = 'pt-br'",
    ],
)
def test_what_is_just_possible_is_taken(write, text):
    write(text)
    load_settings()


def test_a_variable_that_is_empty_is_not_set(monkeypatch, tmp_path):
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_settings() == Settings()


def test_a_home_that_nobody_has_is_an_error(monkeypatch):
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", "~nosuchuser/settings.toml")
    with pytest.raises(SettingsError, match=r"~nosuchuser.*VIVA_VOICE_SETTINGS"):
        load_settings()


def test_a_named_file_that_is_not_there_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(tmp_path / "none.toml"))
    with pytest.raises(SettingsError, match="does not exist"):
        load_settings()


def test_the_command_line_changes_one_value_and_none_changes_nothing():
    changed = Settings().changed("transcription", model="base", language=None)
    assert changed.transcription.model == "base"
    assert changed.transcription.language == "en"
    with pytest.raises(SettingsError, match="command line"):
        Settings().changed("speaking", rate=99.0)
