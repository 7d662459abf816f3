import json

import pytest
from pydantic import ValidationError

from questionnaire.errors import BadSettings
from questionnaire.settings import QuestionnaireSettings, load_settings, pi_notifies_herdr, settings_path


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A user who has set nothing."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("VIVA_VOICE_SETTINGS", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def write(home, monkeypatch):
    def write(text):
        path = home / "mine.toml"
        path.write_text(text)
        monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(path))

    return write


def test_without_a_file_the_defaults_hold_and_nothing_times_out(home):
    assert load_settings() == QuestionnaireSettings()
    assert load_settings().timeout_s is None
    assert settings_path() == home / ".config" / "viva-voce" / "settings.toml"


def test_its_own_group_is_read_and_the_others_are_left_alone(write):
    write('[questionnaire]\ncontract = "form"\ntimeout_s = 90\n[hearing]\nnonsense = 1')
    settings = load_settings()
    assert settings.contract == "form"
    assert (settings.timeout_s, settings.timeout_action) == (90, "unanswered")


def test_the_users_folder_is_read(home, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    (home / "config" / "viva-voce").mkdir(parents=True)
    (home / "config" / "viva-voce" / "settings.toml").write_text("[questionnaire]\nbell = true")
    assert load_settings().bell is True


def test_the_composition_file_is_looked_for_beside_the_settings(write, home):
    write('[questionnaire]\nmodes_file = "work/modes.yaml"')
    assert load_settings().modes_file == home / "work" / "modes.yaml"
    write('[questionnaire]\nmodes_file = "~/modes.yaml"')
    assert load_settings().modes_file == home / "modes.yaml"
    write('[questionnaire]\nmodes_file = "/etc/modes.yaml"')
    assert str(load_settings().modes_file) == "/etc/modes.yaml"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[questionnaire]\ntimeout_s = 0", "questionnaire.timeout_s"),
        ("[questionnaire]\ntimeout_s = inf", "questionnaire.timeout_s"),
        ("[questionnaire]\ntimeout_action = 'recommended'", "questionnaire.timeout_action"),
        ("[questionnaire]\ncontract = 'user_select'", "questionnaire.contract"),
        ("[questionnaire]\nbel = true", "questionnaire.bel"),
        ("questionnaire = 3", "questionnaire is no group of settings"),
        ("[questionnaire\n", "cannot be read"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_the_setting_and_the_file(write, text, named):
    write(text)
    with pytest.raises(BadSettings, match=named) as caught:
        load_settings()
    assert "mine.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_named_file_that_is_not_there_is_an_error(home, monkeypatch):
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(home / "none.toml"))
    with pytest.raises(BadSettings, match="does not exist"):
        load_settings()


def test_they_are_frozen():
    with pytest.raises(ValidationError):
        QuestionnaireSettings().contract = "form"


@pytest.mark.parametrize("named", [True, False])
def test_pis_settings_say_whether_herdr_is_told(home, monkeypatch, write, named):
    folder = home / "pi" if named else home / ".pi" / "agent"
    folder.mkdir(parents=True)
    if named:
        monkeypatch.setenv("PI_CODING_AGENT_DIR", str(folder))
    (folder / "settings.json").write_text(json.dumps({"theme": "dark", "userSelect": {"notifyHerdr": True}}))
    assert pi_notifies_herdr()
    assert load_settings().notify_herdr is True
    write("[questionnaire]\nnotify_herdr = false")
    assert load_settings().notify_herdr is False, "what the user says here comes first"


@pytest.mark.parametrize(
    "text",
    ["", "{", "[" * 100_000, "[]", "{}", '{"userSelect": 1}', '{"userSelect": {"notifyHerdr": "yes"}}'],
)
def test_settings_of_pi_that_say_nothing(home, text):
    (home / ".pi" / "agent").mkdir(parents=True)
    (home / ".pi" / "agent" / "settings.json").write_text(text)
    assert pi_notifies_herdr() is False
