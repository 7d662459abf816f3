import stat

import pytest

from voice.keeping import THREADS, keep, kept, remember_threads, remembered_threads, state_folder


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/viva-voce"


def test_what_is_kept_is_there_again_and_nobody_else_can_read_it(folder):
    assert kept("numbers") is None
    keep("numbers", {"a": 1})
    keep("numbers", {"a": 2})
    assert kept("numbers") == {"a": 2}
    assert [path.name for path in folder.iterdir()] == ["numbers.json"]
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "numbers.json").stat().st_mode) == 0o600


@pytest.mark.parametrize("rubbish", [b"", b"{", b"\xff\xfe", b"[1"])
def test_what_cannot_be_read_counts_as_not_there(folder, rubbish):
    folder.mkdir(parents=True)
    (folder / "numbers.json").write_bytes(rubbish)
    assert kept("numbers") is None


def test_without_a_folder_for_state_it_is_in_the_home(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local/state/viva-voce"


def test_the_threads_that_were_fastest_are_remembered_for_these_weights_alone(folder, tmp_path):
    assert remembered_threads(tmp_path, "int8") is None
    remember_threads(tmp_path, "int8", 2)
    remember_threads(tmp_path / "other", "int8", 1)
    assert remembered_threads(tmp_path, "int8") == 2
    assert remembered_threads(tmp_path / "other", "int8") == 1
    assert remembered_threads(tmp_path, "float32") is None
    keep(THREADS, ["rubbish"])
    assert remembered_threads(tmp_path, "int8") is None


def test_where_nothing_can_be_kept_it_goes_on(folder, tmp_path):
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    remember_threads(tmp_path, "int8", 2)
    assert remembered_threads(tmp_path, "int8") is None
