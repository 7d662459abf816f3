import platform
import stat
import subprocess
import sys

import pytest

from voice.errors import SettingsError
from voice.keeping import (
    THREADS,
    keep,
    kept,
    remember_threads,
    remembered_threads,
    state_folder,
    write_whole,
)


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


@pytest.mark.parametrize("rubbish", [b"", b"{", b"\xff\xfe", b"[1", b"[" * 100_000])
def test_what_cannot_be_read_counts_as_not_there(folder, rubbish):
    folder.mkdir(parents=True)
    (folder / "numbers.json").write_bytes(rubbish)
    assert kept("numbers") is None


def test_without_a_folder_for_state_it_is_in_the_home(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert state_folder() == tmp_path / ".local/state/viva-voce"


def test_where_no_home_is_known_nothing_is_kept_and_it_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr("voice.keeping.state_folder", unknown_home)
    remember_threads(tmp_path, "int8", 2)
    assert remembered_threads(tmp_path, "int8") is None


def unknown_home():
    raise SettingsError("No home.")


def test_a_file_goes_to_its_place_whole_through_a_link_and_keeps_its_mode(tmp_path):
    place, link = tmp_path / "dotfiles/settings.toml", tmp_path / "settings.toml"
    place.parent.mkdir()
    place.write_text("before")
    place.chmod(0o640)
    link.symlink_to("dotfiles/settings.toml")
    write_whole(link, b"after")
    assert link.is_symlink()
    assert (place.read_text(), stat.S_IMODE(place.stat().st_mode)) == ("after", 0o640)
    write_whole(link, b"again", mode=0o600)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


# A file may grow to so many bytes and no more: what a full disk does, in the middle of writing.
FULL = """
import resource, signal, sys
from pathlib import Path
from voice.keeping import write_whole
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    write_whole(Path(sys.argv[1]), b"x" * 1_000)
except OSError as error:
    print(error.strerror)
"""


def test_where_the_disk_is_full_the_file_is_as_it_was_and_no_draft_is_left(tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("before")
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    assert done.stdout == "File too large\n"
    assert [one.read_text() for one in tmp_path.iterdir()] == ["before"]


def test_the_threads_that_were_fastest_are_remembered_for_these_weights_alone(folder, tmp_path):
    assert remembered_threads(tmp_path, "int8") is None
    remember_threads(tmp_path, "int8", 2)
    remember_threads(tmp_path / "other", "int8", 1)
    assert remembered_threads(tmp_path, "int8") == 2
    assert remembered_threads(tmp_path / "other", "int8") == 1
    assert remembered_threads(tmp_path, "float32") is None
    keep(THREADS, ["rubbish"])
    assert remembered_threads(tmp_path, "int8") is None


def test_the_file_names_neither_the_machine_nor_its_folders_and_an_older_one_that_does_goes(folder, tmp_path):
    keep(THREADS, {f"{platform.node()}, 2 cores, {tmp_path}, int8": 2})
    assert remembered_threads(tmp_path, "int8") is None
    assert not list(folder.iterdir())
    remember_threads(tmp_path, "int8", 2)
    told = (folder / "threads.json").read_text()
    assert platform.node() not in told
    assert tmp_path.name not in told


def test_other_weights_in_the_same_folder_are_measured_anew(tmp_path):
    remember_threads(tmp_path, "int8", 2)
    (tmp_path / "model.bin").write_bytes(b"new")
    assert remembered_threads(tmp_path, "int8") is None


def test_where_nothing_can_be_kept_it_goes_on(folder, tmp_path):
    folder.parent.mkdir()
    folder.write_text("a file where the folder should be")
    remember_threads(tmp_path, "int8", 2)
    assert remembered_threads(tmp_path, "int8") is None
