import stat

import pytest

from voice.keeping import keep, kept, state_folder


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
