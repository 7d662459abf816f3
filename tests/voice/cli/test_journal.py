"""`voice journal`, and what it does with real sound."""

import json
import shutil

import numpy as np
import pytest
from click.testing import CliRunner

from voice import assembly
from voice.assembly import journal_folder
from voice.backends.recording import RecordingMicrophone
from voice.cli.journal import journal
from voice.errors import JournalError
from voice.events import DiscardReason
from voice.journal.entries import ACCEPTED, began, decided
from voice.journal.store import Store
from voice.testing import ScriptedSpeaker


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def store():
    with Store(journal_folder()) as opened:
        yield opened


def run(*arguments):
    return CliRunner().invoke(journal, arguments, catch_exceptions=False)


def keep(store, name, text="", reason=None, samples=None, at=1_700_000_000.0):
    store.begin(name, began("typed" if samples is None else "spoken", at))
    if samples is not None:
        store.write_sound(name, samples)
        store.end_sound(name)
    if text:
        store.write(name, decided(text, reason))


def kept(store):
    return [entry.id for entry in store.found().entries]


def test_where_nothing_was_ever_kept_it_says_so_and_makes_nothing():
    done = run()
    assert (done.stdout, done.stderr, done.exit_code) == ("", "voice: nothing is kept.\n", 0)
    assert not journal_folder().exists()
    assert run("forget", "--all").exit_code == 0
    for command in ("play", "retry", "send", "forget"):
        with pytest.raises(JournalError):
            run(command, "k7fd-1")
    assert not journal_folder().exists()


def test_it_lists_what_was_not_delivered(store):
    keep(store, "k7fd-1", "Merge it.\x1b[2J")
    keep(store, "k7fd-2", "Then", DiscardReason.CUT_OFF, np.zeros(24_000, np.int16), at=1_700_000_100.0)
    keep(store, "k7fd-3", "Done.")
    store.write("k7fd-3", ACCEPTED)
    lines = run().stdout.splitlines()
    assert lines == run("list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["k7fd-1", "k7fd-2"]
    assert lines[0].endswith("  typed: Merge it.\\u001b[2J")
    assert lines[1].endswith("  spoken, 1.5 s, cut off: Then")
    assert len(run("list", "--all").stdout.splitlines()) == 3


def test_as_json_each_entry_is_an_object(store):
    keep(store, "k7fd-2", "Then", DiscardReason.CUT_OFF, np.zeros(24_000, np.int16))
    (told,) = map(json.loads, run("list", "--json").stdout.splitlines())
    assert told == {
        "id": "k7fd-2",
        "kind": "spoken",
        "began_at": 1_700_000_000.0,
        "state": "pending",
        "reason": "cut_off",
        "text": "Then",
        "whole": True,
        "seconds": 1.5,
    }


def test_what_a_running_conversation_has_in_its_hands_is_not_listed_nor_touched(store):
    session = store.begin_session(talks=True)
    keep(store, f"{session}-1", "Merge it.")
    keep(store, "k7fd-1", "Mine.")
    assert [line.split()[0] for line in run().stdout.splitlines()] == ["k7fd-1"]
    told = [json.loads(line) for line in run("list", "--json", "--all").stdout.splitlines()]
    assert {one["id"]: one["state"] for one in told} == {f"{session}-1": "on_its_way", "k7fd-1": "pending"}
    for command in ("retry", "send", "forget"):
        with pytest.raises(JournalError, match="in the hands of a conversation"):
            run(command, f"{session}-1")
    run("forget", "--all")
    assert kept(store) == [f"{session}-1"]


def test_entries_are_forgotten_by_name_or_all(store):
    for number in (1, 2, 3):
        keep(store, f"k7fd-{number}", "Merge it.")
    assert run("forget", "k7fd-1", "K7FD-3").stderr == "voice: 2 forgotten.\n"
    assert kept(store) == ["k7fd-2"]
    with pytest.raises(JournalError, match="no k7fd-1"):
        run("forget", "k7fd-2", "k7fd-1")
    assert kept(store) == ["k7fd-2"]  # all or nothing
    assert run("forget").exit_code == 2
    assert run("forget", "k7fd-2", "--all").exit_code == 2
    assert run("forget", "--all").stderr == "voice: 1 forgotten.\n"
    assert kept(store) == []


def test_what_is_sent_is_marked_and_told_who_sends_it(store):
    keep(store, "k7fd-1", "Merge it.")
    assert "the next one sends k7fd-1 at its start" in run("send", "k7fd-1").stderr
    assert store.asked() == ["k7fd-1"]
    store.begin_session(talks=True)
    assert "The conversation in process" in run("send", "k7fd-1").stderr


def test_what_has_no_words_is_not_sent(store):
    keep(store, "k7fd-1", "half", DiscardReason.NOT_TRANSCRIBED, np.zeros(320, np.int16))
    with pytest.raises(JournalError) as caught:
        run("send", "k7fd-1")
    assert caught.value.mend == "voice journal retry k7fd-1"
    assert store.asked() == []


def test_it_is_played(store, monkeypatch):
    sound = np.arange(16_000, dtype=np.int16)
    keep(store, "k7fd-1", samples=sound)
    keep(store, "k7fd-2", "Typed.")
    speaker = ScriptedSpeaker()
    monkeypatch.setattr(assembly, "make_speaker", lambda _settings, *, heard: speaker)
    assert run("play", "k7fd-1").exit_code == 0
    (played,) = speaker.played
    assert (played.rate, list(played.samples)) == (16_000, list(sound))
    with pytest.raises(JournalError, match="no sound"):
        run("play", "k7fd-2")


async def _samples(path):
    frames = []
    async with RecordingMicrophone(path).open() as heard:
        frames.extend([frame async for frame in heard])
    return np.concatenate(frames)


@pytest.fixture
def spoken(fixtures_folder):
    import anyio

    return anyio.run(_samples, fixtures_folder / "second-one.wav")


@pytest.mark.slow
def test_a_failed_transcription_is_tried_again_with_the_recording_that_was_kept(store, voice, spoken):
    keep(store, "k7fd-1", "half", DiscardReason.NOT_TRANSCRIBED, spoken)
    done = voice("journal", "retry", "k7fd-1")
    assert (done.stdout, done.returncode) == ("The second one.\n", 0), done.stderr
    (entry,) = store.found().pending
    assert (entry.text, entry.whole) == ("The second one.", True)


@pytest.mark.slow
def test_what_broke_off_in_the_middle_is_transcribed_as_far_as_it_goes(store, voice, spoken):
    keep(store, "k7fd-1", samples=spoken)
    keep(store, "k7fd-2", samples=np.zeros(16_000, np.int16))
    path = journal_folder() / "k7fd-1.wav"
    path.write_bytes(path.read_bytes()[:-7])
    done = voice("journal", "retry", "k7fd-1")
    assert (done.stdout, done.returncode) == ("The second one.\n", 0), done.stderr
    silent = voice("journal", "retry", "k7fd-2")
    assert (silent.stdout, silent.returncode) == ("", 2)
    assert silent.stderr.startswith("voice: No words were found in k7fd-2; it is kept as it was.")
    assert len(store.found().pending) == 2


def test_an_error_is_one_sentence_with_what_to_do(voice, store):
    done = voice("journal", "send", "k7fd-1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "voice: There is no k7fd-1 in the journal.\n  To mend it: voice journal list --all\n"
    )
    shutil.rmtree(journal_folder())
