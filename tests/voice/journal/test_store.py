"""The files of a journal, on a real disk."""

import os
import stat
import subprocess
import sys
import wave

import numpy as np
import pytest

from voice.backends.recording import RecordingMicrophone
from voice.errors import JournalError
from voice.events import DiscardReason
from voice.journal.entries import ACCEPTED, FORGOTTEN, Bounds, State, began, decided, taken
from voice.journal.store import Store

SECOND = np.arange(16_000, dtype=np.int16)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "viva-voce" / "journal"


@pytest.fixture
def store(folder):
    with Store(folder) as opened:
        yield opened


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def spoken(store, name="k7fd-1", seconds=1, at=None):
    store.begin(name, began("spoken", store.now() if at is None else at))
    for _ in range(seconds):
        store.write_sound(name, SECOND)


def elsewhere(folder, body, **options):
    """Run Python with a store of its own, in another process."""
    program = f"""
import os, sys, numpy as np
from pathlib import Path
from voice.journal.store import Store
from voice.journal.entries import *
store = Store(Path({str(folder)!r}))
{body}
"""
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True, **options
    )


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_nobody_else_can_read_it_whatever_the_umask_says(folder, umask):
    before = os.umask(umask)
    try:
        with Store(folder.parent.parent / "journal") as store:
            store.begin_session(talks=True)
            spoken(store)
            store.ask_to_send("k7fd-1")
            found = folder.parent.parent / "journal"
            assert mode(found) == 0o700
            assert {mode(path) for path in found.iterdir()} == {0o600}
            assert len(list(found.iterdir())) == 4
    finally:
        os.umask(before)


def test_a_folder_that_others_could_read_is_closed_to_them(folder):
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "k7fd-1.jsonl").write_bytes(began("typed", 1.0))
    (folder / "k7fd-1.jsonl").chmod(0o644)
    with Store(folder) as store:
        store.write("k7fd-1", decided("Merge it."))
    assert (mode(folder), mode(folder / "k7fd-1.jsonl")) == (0o700, 0o600)


def test_no_link_is_followed(tmp_path, folder, store):
    secret = tmp_path / "secret"
    secret.write_text("kept")
    for ending in ("jsonl", "wav"):
        (folder / f"k7fd-1.{ending}").symlink_to(secret)
    with pytest.raises(OSError, match=r"[Ss]ymbolic"):
        store.begin("k7fd-1", began("typed", 1.0))
    with pytest.raises(OSError, match=r"[Ss]ymbolic"):
        store.write_sound("k7fd-1", SECOND)
    found = store.found()
    assert (found.entries, found.skipped) == ((), ("k7fd-1.jsonl", "k7fd-1.wav"))
    store.forget("k7fd-1")
    assert secret.read_text() == "kept"
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(JournalError, match="a link"):
        Store(tmp_path / "link")


def test_an_entry_is_there_as_it_was_written(store):
    spoken(store, seconds=2)
    store.write("k7fd-1", decided("Merge it."))
    (entry,) = store.found().entries
    assert (entry.id, entry.text, entry.seconds) == ("k7fd-1", "Merge it.", 2.0)
    assert np.array_equal(store.samples("k7fd-1"), np.tile(SECOND, 2))


def test_the_sound_is_a_wav_file_at_any_moment(folder, store):
    for seconds in range(1, 4):
        spoken(store, seconds=1)
        with wave.open(str(folder / "k7fd-1.wav")) as wav:
            assert (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (16_000, 1, 2)
            assert wav.getnframes() == seconds * 16_000
    RecordingMicrophone(folder / "k7fd-1.wav").open()


@pytest.mark.parametrize("torn", [1, 43, 44, 45, 47, 1_001])
def test_a_torn_tail_is_read_as_far_as_it_goes(folder, store, torn):
    spoken(store)
    path = folder / "k7fd-1.wav"
    whole = path.read_bytes()
    path.write_bytes(whole[:torn])
    assert len(store.samples("k7fd-1")) == max(0, torn - 44) // 2
    assert len(store.found().entries) == 1
    path.write_bytes(whole + whole[-2_001:])  # sound that the header does not know of yet
    assert len(store.samples("k7fd-1")) == 16_000 + 1_000
    path.write_bytes(bytes(44) + whole[44:])  # none is written yet
    assert len(store.samples("k7fd-1")) == 16_000


def test_what_is_broken_or_somebody_elses_is_skipped_and_never_deleted(folder, store):
    os.mkfifo(folder / "k7fd-1.jsonl")
    (folder / "k7fd-2.wav").write_bytes(b"RIFF no sound of ours at all, but long enough")
    (folder / "k7fd-3.jsonl").write_bytes(b"\x00\xff" * 50)
    (folder / "notes.txt").write_text("mine")
    (folder / "k7fd-4.jsonl").mkdir()
    spoken(store, "k7fd-5", at=1.0)
    found = store.found()
    assert [entry.id for entry in found.entries] == ["k7fd-5"]
    assert set(found.skipped) == {"k7fd-1.jsonl", "k7fd-2.wav", "k7fd-3.jsonl", "notes.txt", "k7fd-4.jsonl"}
    dropped = store.prune(Bounds(longest_days=1, largest_mb=1))
    assert [entry.id for entry in dropped] == ["k7fd-5"]
    assert {path.name for path in folder.iterdir()} == set(found.skipped)


def test_a_line_that_was_not_written_whole_does_not_take_the_next_one_with_it(folder, store):
    store.begin("k7fd-1", began("typed", 1.0))
    with (folder / "k7fd-1.jsonl").open("ab") as file:
        file.write(decided("Merge it.")[:20])
    store.write("k7fd-1", decided("Merge it."))
    assert store.found().entries[0].text == "Merge it."


def test_what_was_forgotten_when_a_crash_came_goes_with_the_next_look(folder, store):
    spoken(store)
    store.write("k7fd-1", FORGOTTEN)
    assert store.found().entries == ()
    assert list(folder.iterdir()) == []
    spoken(store)
    store.write("k7fd-1", ACCEPTED)
    assert store.found().entries[0].state is State.ACCEPTED


def test_a_session_that_runs_has_its_entries_to_itself(folder, store):
    other = elsewhere(
        folder,
        "session = store.begin_session(talks=True)\n"
        "store.begin(f'{session}-1', began('typed', 1.0) + decided('Merge it.'))\n"
        "print(session, flush=True); sys.stdin.read()",
    )
    with other:
        session = other.stdout.readline().strip()
        found = store.found()
        assert (found.running, found.talking, found.pending) == ({session}, (other.pid,), ())
        assert len(found.entries) == 1
        assert store.take(f"{session}-1", "abcd") is None
        other.kill()
    found = store.found()
    assert (found.running, [entry.id for entry in found.pending]) == (set(), [f"{session}-1"])
    assert not (folder / f"{session}.lock").exists()


def test_a_session_that_takes_no_messages_runs_all_the_same(folder, store):
    session = store.begin_session(talks=False)
    with Store(folder) as other:
        assert (other.found().running, other.found().talking) == ({session}, ())
    store.close()
    assert list(folder.iterdir()) == []


def test_a_session_runs_where_a_full_disk_takes_no_word_of_it(folder, store):
    store.begin("k7fd-1", began("typed", 1.0) + decided("Merge it."))
    other = elsewhere(
        folder,
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "print(store.begin_session(talks=True), flush=True); sys.stdin.read()",
    )
    with other:
        session = other.stdout.readline().strip()
        store.write("k7fd-1", taken(session))
        assert (store.found().running, store.found().pending) == ({session}, ())
        assert store.take("k7fd-1", "abcd") is None
        other.kill()
    assert [entry.id for entry in store.found().pending] == ["k7fd-1"]


def test_a_session_takes_nothing_twice_also_where_its_lock_is_gone(store):
    store.begin("k7fd-1", began("typed", 1.0) + decided("Merge it."))
    assert store.take("k7fd-1", "abcd").text == "Merge it."
    assert store.take("k7fd-1", "abcd") is None
    assert (store.found().pending_beside("abcd"), len(store.found().pending)) == ((), 1)
    store.write("k7fd-1", decided(None, DiscardReason.CUT_OFF))
    assert store.take("k7fd-1", "abcd").text == "Merge it."  # it gave it up meanwhile


def test_what_is_to_be_sent_is_in_the_order_in_which_it_was_said(store):
    for at, name in enumerate(("zzzz-2", "zzzz-10", "aaaa-1")):
        store.begin(name, began("typed", float(at)) + decided("Merge it."))
    for name in ("aaaa-1", "aaaa-9", "zzzz-10", "zzzz-2"):
        store.ask_to_send(name)
    assert store.asked() == ["zzzz-2", "zzzz-10", "aaaa-1", "aaaa-9"]  # there is no such, which comes last


def test_no_session_has_the_name_of_an_entry_that_is_kept(store):
    spoken(store, "k7fd-1")
    assert not store.claim("k7fd", talks=True)
    assert store.claim("k7fd", talks=True, again=True)  # they are its own


def test_one_of_two_takes_an_entry(folder, store):
    store.begin("k7fd-1", began("typed", 1.0) + decided("Merge it."))
    store.ask_to_send("k7fd-1")
    assert store.asked() == ["k7fd-1"]
    session = store.begin_session(talks=True)
    assert store.take("k7fd-1", session).text == "Merge it."
    with Store(folder) as other:
        assert (other.take("k7fd-1", "abcd"), other.asked(), other.found().pending) == (None, [], ())
    store.close()
    with Store(folder) as other:
        assert [entry.id for entry in other.found().pending] == ["k7fd-1"]  # it was not accepted


def test_to_take_what_is_not_there_leaves_nothing_there(folder, store):
    store.ask_to_send("k7fd-1")
    assert store.take("k7fd-1", "abcd") is None
    assert list(folder.iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made_by_who_only_looks(folder):
    with pytest.raises(FileNotFoundError):
        Store(folder, create=False)
    assert not folder.exists()


def test_a_line_that_was_not_written_whole_does_not_take_with_it_that_it_is_taken(folder, store):
    store.begin("k7fd-1", began("typed", 1.0) + decided("Merge it."))
    with (folder / "k7fd-1.jsonl").open("ab") as file:
        file.write(b'{"event": "tak')
    session = store.begin_session(talks=True)
    assert store.take("k7fd-1", session).text == "Merge it."
    with Store(folder) as other:
        assert (other.take("k7fd-1", "abcd"), other.found().pending) == (None, ())


def test_what_is_forgotten_or_sent_meanwhile_does_not_come_back(folder, store):
    spoken(store)
    with Store(folder) as other:
        other.forget("k7fd-1")
    assert not store.write("k7fd-1", decided("Merge it."))
    assert not store.tell("k7fd-1", "Merge it.")
    assert list(folder.iterdir()) == []
    spoken(store)
    store.write("k7fd-1", ACCEPTED)
    assert not store.tell("k7fd-1", "Merge it.")
    assert store.found().pending == ()


def test_what_a_running_session_gave_up_is_pending_still_when_its_words_are_found_out(store):
    session = store.begin_session(talks=True)
    spoken(store, f"{session}-1")
    store.write(f"{session}-1", decided("", DiscardReason.NOT_TRANSCRIBED))
    assert store.take(f"{session}-1", session).whole is False
    assert store.tell(f"{session}-1", "Merge it.")
    (entry,) = store.found().pending
    assert (entry.text, entry.whole) == ("Merge it.", True)
    assert store.take(entry.id, session).text == "Merge it."
    assert store.found().pending == ()


@pytest.mark.parametrize("lines", [None, b"", b"\x00" * 60, began("spoken", 5.0)[:-9]])
def test_sound_that_lost_its_first_line_is_as_old_as_its_file(folder, store, lines):
    spoken(store)
    path = folder / "k7fd-1.jsonl"
    if lines is None:
        path.unlink()
    else:
        path.write_bytes(lines)
    os.utime(folder / "k7fd-1.wav", (1_700_000_000.0, 1_700_000_000.0))
    if lines is not None:
        os.utime(path, (1_700_000_000.0, 1_700_000_000.0))
    assert store.found().entries[0].began_at == 1_700_000_000.0
    os.utime(folder / "k7fd-1.wav")
    assert store.prune(Bounds(longest_days=1, largest_mb=1)) == []
    assert store.tell("k7fd-1", "Merge it.")
    assert [entry.text for entry in store.found().pending] == ["Merge it."]


def test_what_is_forgotten_at_the_moment_at_which_it_is_taken_leaves_nothing_there(
    folder, store, monkeypatch
):
    store.begin("k7fd-1", began("spoken", 1.0))
    store.write_sound("k7fd-1", SECOND)
    (folder / "k7fd-1.jsonl").unlink()
    real = Store._read

    def read(self, name):
        (folder / "k7fd-1.wav").unlink(missing_ok=True)
        return real(self, name)

    monkeypatch.setattr(Store, "_read", read)
    assert store.take("k7fd-1", "abcd") is None
    assert list(folder.iterdir()) == []
