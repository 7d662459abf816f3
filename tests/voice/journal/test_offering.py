"""What a conversation tells and does about what earlier ones have left."""

import threading
from contextlib import asynccontextmanager

import anyio
import pytest

from voice.events import DiscardReason, UserMessage
from voice.journal import offering as offering_module
from voice.journal.entries import began, decided
from voice.journal.offering import Offering, left_over
from voice.journal.requests import USAGE
from voice.journal.store import Store

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    """Threads that nothing waits for are asyncio's here."""
    return "asyncio"


class Stage:
    session = "mmmm"

    def __init__(self, folder):
        self.folder = folder
        self.sent, self.said, self.notices = [], [], []
        self.offering = Offering(
            folder,
            self,
            send=self.sent.append,
            say=lambda *lines: self.said.extend(lines),
            notice=self.notices.append,
        )

    def keep(self, name, text, reason=None, kind="typed"):
        with Store(self.folder) as store:
            store.begin(name, began(kind, store.now()) + decided(text, reason))

    def kept(self):
        with Store(self.folder) as store:
            return [entry.id for entry in store.found().pending]

    @asynccontextmanager
    async def going_on(self, *, locked=True):
        async with anyio.create_task_group() as tasks:
            with Store(self.folder) as store:
                assert not locked or store.claim(self.session, talks=True)
                tasks.start_soon(self.offering.run)
                yield
                tasks.cancel_scope.cancel()


async def until(so):
    with anyio.fail_after(60):
        while not so():  # noqa: ASYNC110 — a file tells nobody
            await anyio.sleep(0.01)


@pytest.fixture
def stage(tmp_path):
    return Stage(tmp_path / "journal")


async def test_it_tells_what_is_left_and_sends_nothing_by_itself(stage):
    stage.keep("k7fd-1", "Merge it.")
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed("")
        await until(lambda: stage.said)
    assert stage.notices[0].startswith('What you had typed was not delivered: "Merge it." (')
    assert stage.said[0].startswith("1  k7fd-1  ")
    assert (stage.said[1], stage.sent) == (USAGE, [])


async def test_where_nothing_is_left_nothing_is_told(stage):
    async with stage.going_on():
        stage.offering.heed("list")
        await until(lambda: stage.said)
    assert (stage.notices, stage.said) == (
        [],
        ["Nothing is kept: all that you said and typed was delivered."],
    )


async def test_what_it_is_told_to_send_is_sent_once_as_what_it_was(stage):
    stage.keep("k7fd-1", "Merge it.", kind="spoken")
    stage.keep("k7fd-2", "Push it.", DiscardReason.CUT_OFF)
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed("send all")
        await until(lambda: len(stage.sent) == 2)
        stage.offering.heed("send 1")
        await until(lambda: stage.said)
    assert stage.sent == [
        UserMessage("Merge it.", "voice", 0.0, utterances=("k7fd-1",)),
        UserMessage("Push it.", "keyboard", 0.0, utterances=("k7fd-2",)),
    ]
    assert stage.said == ["k7fd-1 is not there any more, or on its way."]


async def test_nothing_is_sent_twice_where_the_disk_takes_no_lock(stage):
    stage.keep("k7fd-1", "Merge it.")
    async with stage.going_on(locked=False):
        await until(lambda: stage.notices)
        stage.offering.heed("send all")
        await until(lambda: stage.sent)
        stage.offering.heed("send 1")
        stage.offering.heed("")
        await until(lambda: len(stage.said) == 2)
    assert [message.text for message in stage.sent] == ["Merge it."]
    assert stage.said == [
        "k7fd-1 is not there any more, or on its way.",
        "Nothing is kept: all that you said and typed was delivered.",
    ]


async def test_what_is_to_be_sent_at_the_start_is_sent_in_order_and_not_offered(stage):
    for number in (2, 10, 11):
        stage.keep(f"k7fd-{number}", f"The {number}.")
    with Store(stage.folder) as store:
        store.ask_to_send("k7fd-10")
        store.ask_to_send("k7fd-2")
    async with stage.going_on():
        await until(lambda: len(stage.sent) == 2)
        stage.offering.heed("send 1")  # of what was offered
        await until(lambda: len(stage.sent) == 3)
    assert [message.text for message in stage.sent] == ["The 2.", "The 10.", "The 11."]
    (offered,) = stage.notices
    assert offered.startswith('What you had typed was not delivered: "The 11."')


async def test_the_numbers_are_those_of_the_last_list(stage):
    stage.keep("k7fd-1", "First.")
    stage.keep("k7fd-2", "Second.")
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed("forget 1")
        await until(lambda: stage.said)
        stage.offering.heed("send 2")
        await until(lambda: stage.sent)
        assert stage.kept() == []
    assert (stage.said, stage.sent[0].text) == (["k7fd-1 is forgotten."], "Second.")


async def test_what_is_not_transcribed_is_not_sent_and_it_says_what_to_do(stage):
    stage.keep("k7fd-1", "half of", DiscardReason.NOT_TRANSCRIBED, kind="spoken")
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed("send 1")
        await until(lambda: stage.said)
        assert stage.kept() == ["k7fd-1"]
    assert stage.said == ["k7fd-1 is not transcribed yet: voice journal retry k7fd-1 does that."]
    assert stage.sent == []


@pytest.mark.parametrize(
    ("words", "told"),
    [("sing", USAGE), ("send", USAGE), ("send 7", "There is no 7 in the journal."), ("forget x", None)],
)
async def test_what_it_does_not_know_changes_nothing(stage, words, told):
    stage.keep("k7fd-1", "Merge it.")
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed(words)
        await until(lambda: stage.said)
        assert stage.kept() == ["k7fd-1"]
    assert stage.said == [told or "There is no x in the journal."]


async def test_what_another_program_asks_to_be_sent_is_sent(stage, monkeypatch):
    monkeypatch.setattr(offering_module, "LOOKS_EVERY_S", 0.01)
    stage.keep("k7fd-1", "Merge it.")
    async with stage.going_on():
        await until(lambda: stage.notices)
        with Store(stage.folder) as store:
            store.ask_to_send("k7fd-1")
            store.ask_to_send("k7fd-9")  # which is gone
            await until(lambda: stage.sent and not store.asked())
    assert [message.text for message in stage.sent] == ["Merge it."]


async def test_what_is_none_of_ours_is_told_and_left_alone(stage):
    stage.keep("k7fd-1", "Merge it.")
    (stage.folder / "notes.txt").write_text("mine")
    async with stage.going_on():
        await until(lambda: len(stage.notices) == 2)
    assert stage.notices[1] == (
        "Not everything in the journal's folder can be read, and that is left alone: notes.txt."
    )
    assert (stage.folder / "notes.txt").read_text() == "mine"


async def test_a_folder_that_cannot_be_read_is_told_once_and_keeps_nobody_from_talking(stage, monkeypatch):
    monkeypatch.setattr(offering_module, "LOOKS_EVERY_S", 0.01)
    stage.folder.write_text("")
    told = f"The journal's folder {stage.folder} is a link, or no folder."
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stage.offering.run)
        await until(lambda: stage.notices)
        stage.offering.heed("")  # who asks is answered each time
        stage.offering.heed("send 1")
        await until(lambda: len(stage.notices) == 3)
        stage.folder.unlink()
        stage.keep("k7fd-1", "Merge it.")
        stage.offering.heed("")
        await until(lambda: stage.said)
        tasks.cancel_scope.cancel()
    assert stage.notices[:3] == [told] * 3
    assert stage.said[0].startswith("1  k7fd-1  ")
    stage.offering.heed("")  # and it does not raise when it is over
    assert stage.notices[-1] == offering_module.NO_ANSWER


@pytest.fixture
def hanging(monkeypatch):
    """A disk that lists nothing until it is set; how often it was asked is its list."""
    answers = threading.Event()
    real = Store.found

    def found(self):
        answers.asked += 1
        assert answers.wait(60)
        return real(self)

    answers.asked = 0
    monkeypatch.setattr(Store, "found", found)
    monkeypatch.setattr(offering_module, "ANSWERS_WITHIN_S", 0.1)
    yield answers
    answers.set()


async def test_a_disk_that_hangs_is_told_and_asked_once_and_what_is_left_is_offered_when_it_goes_on(
    stage, hanging, monkeypatch
):
    monkeypatch.setattr(offering_module, "LOOKS_EVERY_S", 0.01)
    stage.keep("k7fd-1", "Merge it.")
    async with stage.going_on():
        await until(lambda: stage.notices)
        stage.offering.heed("")
        await until(lambda: len(stage.notices) == 2)
        assert stage.notices == [offering_module.NO_ANSWER] * 2
        assert hanging.asked == 1
        monkeypatch.setattr(offering_module, "ANSWERS_WITHIN_S", 60.0)
        hanging.set()
        await until(lambda: len(stage.notices) == 3)
    assert stage.notices[2].startswith('What you had typed was not delivered: "Merge it."')


async def test_a_disk_that_hangs_keeps_no_server_from_ending(stage, hanging):
    with anyio.fail_after(60):
        await left_over(stage.folder, stage.notices.append)
    assert stage.notices == [offering_module.NO_ANSWER]


async def test_what_was_transcribed_since_it_was_listed_is_sent_as_it_reads_now(stage):
    stage.keep("k7fd-1", "half of", DiscardReason.NOT_TRANSCRIBED, kind="spoken")
    async with stage.going_on():
        await until(lambda: stage.notices)
        with Store(stage.folder) as store:
            assert store.tell("k7fd-1", "All of it.")
        stage.offering.heed("send 1")
        await until(lambda: stage.sent)
    assert [message.text for message in stage.sent] == ["All of it."]


async def test_where_nothing_can_be_typed_it_names_the_command(stage):
    await left_over(stage.folder, stage.notices.append)
    stage.keep("k7fd-1", "Merge it.")
    await left_over(stage.folder, stage.notices.append)
    assert len(stage.notices) == 1
    assert stage.notices[0].endswith("; voice journal shows it.")
