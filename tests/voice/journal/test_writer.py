"""The journal of a session on a real disk, and on one that is full or hangs."""

import errno
import os
import resource
import shutil
import subprocess
import sys
import threading

import anyio
import numpy as np
import pytest

from voice.audio import FRAME_SAMPLES
from voice.events import DiscardReason
from voice.journal import store as store_module
from voice.journal import writer as writer_module
from voice.journal.entries import Bounds, State, began, decided
from voice.journal.store import Store
from voice.journal.writer import DiskJournal

pytestmark = pytest.mark.anyio

FRAME = np.arange(FRAME_SAMPLES, dtype=np.int16)
BOUNDS = Bounds(longest_days=7, largest_mb=200)


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """A loaded machine has slow disks; what hangs is set here where it is tested."""
    monkeypatch.setattr(writer_module, "WRITTEN_WITHIN_S", 60.0)
    monkeypatch.setattr(writer_module, "PATIENCE_S", 60.0)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "journal"


@pytest.fixture
def notices():
    return []


@pytest.fixture
def make(folder, notices):
    return lambda **how: DiskJournal(folder, notices.append, bounds=how.pop("bounds", BOUNDS), **how)


def found(folder):
    with Store(folder) as store:
        return store.found()


def names(folder):
    return {path.name for path in folder.iterdir()}


def cannot(why):
    return (
        f"What you say and type cannot be kept until the agent has it: {why} The conversation goes on, and it"
        " is tried again."
    )


async def until(so):
    """Wait until something is so."""
    with anyio.fail_after(60):
        while not so():  # noqa: ASYNC110 — a file tells nobody
            await anyio.sleep(0.01)


async def test_what_was_given_is_on_disk_when_it_is_written(make, folder):
    async with make() as journal:
        name = journal.begin(FRAME)
        for _ in range(49):
            journal.append(name, FRAME)
        await journal.written()
        with Store(folder) as store:
            assert np.array_equal(store.samples(name), np.tile(FRAME, 50))
        (entry,) = found(folder).entries
        assert (entry.id, entry.state, found(folder).pending) == (f"{journal.session}-1", State.OPEN, ())
    assert [one.id for one in found(folder).pending] == [name]


async def test_what_the_agent_has_is_nowhere(make, folder, notices):
    async with make() as journal:
        spoken, typed = journal.begin(FRAME), journal.typed("My secret.")
        journal.decided([spoken], "My other secret.")
        await journal.written()
        assert any(b"My secret." in path.read_bytes() for path in folder.iterdir())
        journal.accepted([spoken, typed])
        await journal.written()
        assert names(folder) == {f"{journal.session}.lock"}
    assert (names(folder), notices) == (set(), [])


async def test_what_was_delivered_is_kept_where_the_user_wants_that_and_goes_when_they_do_not(make, folder):
    async with make(keep_delivered=True) as journal:
        spoken = journal.begin(FRAME)
        journal.decided([spoken], "Merge it.")
        journal.accepted([spoken])
    (entry,) = found(folder).entries
    assert (entry.state, entry.text, entry.size, found(folder).pending) == (
        *(State.ACCEPTED, "Merge it.", 640),
        (),
    )
    async with make(keep_delivered=True):
        assert len(found(folder).entries) == 1
    async with make():
        assert found(folder).entries == ()


@pytest.mark.parametrize("reason", list(DiscardReason))
async def test_what_is_no_message_is_kept_for_few_reasons_alone(make, folder, reason):
    async with make() as journal:
        spoken = journal.begin(FRAME)
        journal.append(spoken, FRAME)
        journal.decided([spoken], "", reason)
        journal.append(spoken, FRAME)  # too late
        journal.decided([spoken], "Merge", reason)
        await journal.written()
        kept = [(one.text, one.reason, one.size) for one in found(folder).pending]
        assert kept == ([("Merge", reason, 1280)] if reason in writer_module.KEPT_REASONS else [])
        assert len(names(folder)) == (3 if kept else 1)


async def test_what_is_forgotten_stays_so(make, folder):
    async with make() as journal:
        typed = journal.typed("Merge it.")
        journal.accepted([typed])
        journal.decided([typed], "Merge it.", DiscardReason.CUT_OFF)
        journal.append(typed, FRAME)
        journal.accepted([typed, typed])
        await journal.written()
        assert found(folder).entries == ()


async def test_what_an_earlier_session_has_left_is_forgotten_when_the_agent_has_it(make, folder):
    async with make() as first:
        kept = first.typed("Merge it.")
    async with make() as second:
        with Store(folder) as store:
            assert store.take(kept, second.session).text == "Merge it."
        second.accepted([kept])
        await second.written()
        assert found(folder).entries == ()


async def test_what_is_dropped_by_a_bound_is_told_once(make, folder, notices):
    with Store(folder) as store:
        for number in (1, 2):
            store.begin(f"k7fd-{number}", began("typed", 5.0) + decided("Long ago."))
    async with make() as journal:
        journal.typed("Merge it.")
        await journal.written()
    assert notices == [
        "2 of the oldest things that were kept and never sent are gone ([journal] keeps 7 days, 200 MB)."
    ]
    assert [entry.text for entry in found(folder).entries] == ["Merge it."]


async def test_a_long_session_makes_room_and_keeps_what_is_being_said(make, folder, notices):
    with Store(folder) as store:
        store.begin("k7fd-1", began("spoken", store.now()))
        store.write_sound("k7fd-1", np.zeros(16_000, np.int16))
    async with make(bounds=Bounds(7, 0.03)) as journal:
        await until(lambda: len(notices) == 1)
        open_one = journal.begin(np.zeros(64_000, np.int16))
        journal.decided([journal.typed("Merge it.")], "Merge it.")
        await journal.written()
        assert found(folder).entries[0].id == open_one


async def test_what_was_delivered_makes_room_before_what_was_not_and_while_the_session_lasts(make, folder):
    with Store(folder) as store:
        store.begin("k7fd-1", began("typed", store.now()) + decided("Never sent."))
    second = np.zeros(16_000, np.int16)
    async with make(bounds=Bounds(7, 0.1), keep_delivered=True) as journal:
        for _ in range(10):
            spoken = journal.begin(second)
            journal.decided([spoken], "Merge it.")
            journal.accepted([spoken])
            await journal.written()
        there = found(folder).entries
        assert there[0].text == "Never sent."
        assert sum(entry.size for entry in there) <= 0.1e6
        assert there[-1].id == spoken


async def test_what_was_given_up_in_a_session_makes_room_in_it_too(make, folder, notices):
    second = np.zeros(16_000, np.int16)
    async with make(bounds=Bounds(7, 0.05)) as journal:
        for _ in range(4):
            spoken = journal.begin(second)
            journal.decided([spoken], "Merge", DiscardReason.CUT_OFF)
            await journal.written()
        assert [entry.id for entry in found(folder).entries] == [spoken]
        journal.decided([f"{journal.session}-1"], "Merge it", DiscardReason.CUT_OFF)  # its words come late
        await journal.written()
        assert [entry.id for entry in found(folder).entries] == [spoken]
    assert len(notices) == 3


async def test_of_what_is_said_in_several_parts_each_keeps_its_own_words(make, folder):
    async with make() as journal:
        parts = []
        for text in ("Merge it.", "Then push."):
            parts.append(journal.begin(FRAME))
            journal.decided(parts[-1:], text)
        journal.decided(parts, "Merge it. Then push.", DiscardReason.CUT_OFF)
        await journal.written()
        kept = [(entry.text, entry.reason) for entry in found(folder).pending]
        assert kept == [("Merge it.", DiscardReason.CUT_OFF), ("Then push.", DiscardReason.CUT_OFF)]


async def test_a_power_cut_does_not_take_what_has_just_begun(make, folder, monkeypatch):
    settled = []
    real = Store.settle
    monkeypatch.setattr(Store, "settle", lambda self, name: (real(self, name), settled.append(name)))
    async with make() as journal:
        spoken = journal.begin(FRAME)
        await journal.written()
        assert settled == [spoken]
        journal.append(spoken, FRAME)
        await journal.written()
        assert settled == [spoken]  # a disk that is asked for each frame wears out
        journal.decided([spoken], "Merge it.")
        await journal.written()
        assert settled == [spoken, spoken]


@pytest.mark.parametrize("how", ["deleted", "emptied", "moved away", "moved away and copied back"])
async def test_a_folder_that_is_replaced_takes_what_comes_and_what_was_in_our_hands(
    make, folder, notices, how
):
    async with make() as journal:
        typed, spoken = journal.typed("First."), journal.begin(FRAME)
        cut_off = journal.begin(FRAME)
        journal.decided([cut_off], "Merge", DiscardReason.CUT_OFF)
        await journal.written()
        if how == "emptied":
            for path in folder.iterdir():
                path.unlink()
        elif how == "deleted":
            shutil.rmtree(folder)
        else:
            folder.rename(folder.with_name("away"))
            if "back" in how:
                shutil.copytree(folder.with_name("away"), folder)
        journal.append(spoken, FRAME)
        journal.decided([spoken], "Second.")
        later = journal.typed("Third.")
        await journal.written()
        with Store(folder) as store:
            there = store.found()
        copied = [cut_off] if "back" in how else []  # else it is as gone as they had it
        assert [entry.id for entry in there.entries] == [typed, spoken, *copied, later]
        assert there.running == {journal.session}
        assert [entry.id for entry in there.pending] == copied
        journal.accepted([typed, spoken, later])
        await journal.written()
        assert [entry.id for entry in found(folder).entries] == copied
    assert notices == []


async def test_a_folder_that_answers_late_knows_the_session_by_the_name_that_its_entries_have(
    make, folder, notices, monkeypatch
):
    answers = threading.Event()
    real = Store.claim

    def hangs(self, name, **how):
        answers.wait(60)
        return real(self, name, **how)

    monkeypatch.setattr(Store, "claim", hangs)
    monkeypatch.setattr(writer_module, "PATIENCE_S", 0.1)
    async with make() as journal:
        assert notices == ["The disk does not answer, so what you say is not waited for until it is kept."]
        assert journal.fails
        typed = journal.typed("Merge it.")
        answers.set()
        await until(lambda: not journal.fails)
        assert f"{typed}.jsonl" in names(folder)
        assert (found(folder).running, found(folder).pending) == ({journal.session}, ())
        monkeypatch.setattr(writer_module, "PATIENCE_S", 60.0)


async def test_a_name_that_another_session_has_is_not_taken(make, folder, monkeypatch):
    taken = ["k7fd", "abcd", "mmmm"]
    monkeypatch.setattr(writer_module, "new_session", lambda: taken.pop(0))
    with Store(folder) as store:
        store.begin("k7fd-1", began("typed", store.now()) + decided("Merge it."))
        assert store.claim("abcd", talks=True)
        async with make() as journal:
            assert journal.session == "mmmm"


class Full:
    """A disk that takes nothing, at the door of the operating system."""

    def __init__(self, patch):
        self.full = False
        for name in ("write", "pwrite"):
            real = getattr(os, name)
            patch.setattr(store_module.os, name, self._door(real))

    def _door(self, real):
        def write(*arguments):
            if self.full and threading.current_thread().name == "journal":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(*arguments)

        return write


async def test_a_full_disk_is_told_once_and_what_was_given_is_written_when_there_is_room(
    make, folder, notices, monkeypatch
):
    disk = Full(monkeypatch)
    async with make() as journal:
        before = journal.typed("Before.")
        await journal.written()
        disk.full = True
        spoken = journal.begin(FRAME)
        for _ in range(9):
            journal.append(spoken, FRAME)
        await journal.written()  # and it does not wait for ever
        journal.decided([spoken], "Merge it.")
        journal.accepted([before])
        await until(lambda: notices)
        await until(lambda: before not in {entry.id for entry in found(folder).entries})  # that makes room
        disk.full = False
        journal.append(journal.begin(FRAME), FRAME)
        await until(lambda: spoken in {entry.id for entry in found(folder).entries})
        await journal.written()
        with Store(folder) as store:
            assert np.array_equal(store.samples(spoken), np.tile(FRAME, 10))
    assert notices.count(cannot("No space left on device.")) == 1  # and that it is slow, where it is


async def test_a_full_disk_is_not_asked_again_for_each_frame(make, notices, monkeypatch):
    monkeypatch.setattr(writer_module, "RETRY_S", 60.0)
    tries = []

    def full(self, name, lines):
        tries.append(name)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    async with make() as journal:
        monkeypatch.setattr(Store, "begin", full)
        spoken = journal.begin(FRAME)
        await until(lambda: notices)
        first = len(tries)
        for _ in range(50):
            journal.append(spoken, FRAME)
            await anyio.sleep(0.002)
        assert (len(tries), journal.fails) == (first, True)
    assert len(tries) == first + 1  # at the end, once more


def test_a_file_that_may_grow_no_more_keeps_what_it_has(folder):
    """The real thing: a limit of the operating system, in a process of its own."""
    program = f"""
import anyio, numpy as np, resource
from pathlib import Path
from voice.journal import writer
from voice.journal.entries import Bounds
from voice.journal.writer import DiskJournal
writer.WRITTEN_WITHIN_S = 60.0
async def main():
    async with DiskJournal(Path({str(folder)!r}), print, bounds=Bounds(7, 200)) as journal:
        name = journal.begin(np.ones(16_000, np.int16))
        await journal.written()
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        for _ in range(100):
            journal.append(name, np.ones(320, np.int16))
            await journal.written()
anyio.run(main)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.splitlines() == [cannot("File too large.")]
    (entry,) = found(folder).pending
    assert 32_000 <= entry.size <= 40_000
    with Store(folder) as store:
        assert set(store.samples(entry.id)) == {1}
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 40_000


async def test_a_disk_that_hangs_is_waited_for_once_and_forgets_nothing(make, folder, notices, monkeypatch):
    answers = threading.Event()
    real = Store.begin

    def hangs(self, name, lines):
        answers.wait(60)
        real(self, name, lines)

    async with make() as journal:
        monkeypatch.setattr(Store, "begin", hangs)
        monkeypatch.setattr(writer_module, "WRITTEN_WITHIN_S", 0.1)
        name = journal.begin(FRAME)
        await journal.written()
        assert notices == [
            "The disk does not answer, so what you say is not waited for until it is kept.",
        ]
        for _ in range(200):  # a second wait for it would be told, and take a minute and more
            journal.append(name, FRAME)
            await journal.written()
        assert len(notices) == 1
        answers.set()
        await until(lambda: found(folder).entries and found(folder).entries[0].size == 201 * 640)
        monkeypatch.setattr(writer_module, "WRITTEN_WITHIN_S", 60.0)
        await until(lambda: not journal._slow)
        journal.append(name, FRAME)
        await journal.written()  # it is waited for again
        assert found(folder).entries[0].size == 202 * 640


async def test_a_disk_that_hangs_does_not_keep_a_session_from_ending(make, monkeypatch):
    answers = threading.Event()
    real = Store.begin

    def hangs(self, name, lines):
        answers.wait(60)
        real(self, name, lines)

    with anyio.fail_after(60):
        async with make() as journal:
            monkeypatch.setattr(writer_module, "PATIENCE_S", 0.1)
            monkeypatch.setattr(Store, "begin", hangs)
            journal.typed("Merge it.")
    answers.set()


async def test_what_waits_for_the_disk_is_bounded(make, notices, monkeypatch):
    monkeypatch.setattr(writer_module, "LONGEST_UNWRITTEN_S", 1.0)
    answers = threading.Event()
    real = Store.begin
    monkeypatch.setattr(Store, "begin", lambda self, *what: (answers.wait(60), real(self, *what)))
    async with make() as journal:
        name = journal.begin(FRAME)
        for _ in range(200):
            journal.append(name, FRAME)
        assert notices == [
            "The disk has taken nothing for minutes: what you say now is not kept until the agent has it."
        ]
        answers.set()
        await until(lambda: found(journal._folder).entries and found(journal._folder).entries[0].size)
        assert found(journal._folder).entries[0].size <= 50 * 640
        typed = journal.typed("Merge it.")
        await until(lambda: typed in {entry.id for entry in found(journal._folder).entries})


async def test_a_folder_that_cannot_be_used_is_told_once_and_the_session_goes_on(tmp_path, notices):
    (tmp_path / "file").write_text("")
    async with DiskJournal(tmp_path / "file" / "journal", notices.append, bounds=BOUNDS) as journal:
        name = journal.begin(FRAME)
        journal.append(name, FRAME)
        await journal.written()
        journal.accepted([name])
        await until(lambda: notices)
    assert notices == [cannot(f"{tmp_path / 'file'} is no folder.")]


async def test_two_sessions_at_once_have_nothing_in_common(make, folder):
    async with make() as one, make() as other:
        assert one.session != other.session
        first, second = one.typed("One."), other.typed("Other.")
        await one.written()
        await other.written()
        assert (len(found(folder).entries), found(folder).pending) == (2, ())
        one.accepted([first])
        await one.written()
        assert [entry.id for entry in found(folder).entries] == [second]
