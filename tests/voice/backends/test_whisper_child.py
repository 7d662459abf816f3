"""What the transcriber does about a child that dies, hangs, fails or is slow.

The child is a real one. In it another engine takes the place of Whisper, and does what the test says.
"""

import os
import signal
import textwrap

import anyio
import numpy as np
import psutil
import pytest

from voice.audio import SAMPLE_RATE
from voice.backends import whisper as whisper_module
from voice.backends.whisper import TRIES, WhisperTranscriber
from voice.errors import ModelBroken, TranscriberDied, TranscriberError

pytestmark = pytest.mark.anyio

LONG = 60.0

SOUND = np.full(SAMPLE_RATE, 100, np.int16)
POISON = np.full(SAMPLE_RATE, -100, np.int16)
"""For the engine to know it by."""

ENGINE = """
import os, sys, time, types
from pathlib import Path
from types import SimpleNamespace

FOLDER = Path({folder!r})

def first_time(what):
    try:
        (FOLDER / what).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True

def note(what):
    with open(FOLDER / "notes", "a") as file:
        file.write(what + "\\n")

class ShortWindowWhisper:
    full_window = False

    def __init__(self, model, *, device, compute_type, cpu_threads):
        note(f"loaded on {{device}} with {{cpu_threads}}")
        self.device, self.threads = device, cpu_threads
        self.load()

    def load(self):
        pass

    def hear(self, loudness):
        return "well"

    def transcribe(self, samples, **_):
        self.on_step()
        loudness = round(float(samples.max()) * 32768)
        text = self.hear(loudness)
        part = SimpleNamespace(
            text=text, seek=0, tokens=[1], no_speech_prob=0.0, avg_logprob=0.0, compression_ratio=1.0
        )
        return [part], None

{body}

sys.modules["voice.backends.whisper_engine"] = types.SimpleNamespace(ShortWindowWhisper=ShortWindowWhisper)
"""


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture(autouse=True)
def fresh_card(monkeypatch):
    monkeypatch.setattr(WhisperTranscriber, "_card_failed", False)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """A transcriber over an engine with these methods instead of its own, and what it noted."""

    def make(body="", **options):
        code = ENGINE.format(folder=str(tmp_path), body=_as_methods(body))
        (tmp_path / "sitecustomize.py").write_text(code)
        (tmp_path / "model.bin").touch()
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        return WhisperTranscriber(tmp_path, **options)

    def notes():
        path = tmp_path / "notes"
        return path.read_text().splitlines() if path.exists() else []

    make.notes = notes
    return make


def _as_methods(body):
    body = textwrap.dedent(body).strip()
    if not body:
        return ""
    names = [line.split("(")[0].removeprefix("def ") for line in body.splitlines() if line.startswith("def ")]
    return "\n".join([body, *(f"ShortWindowWhisper.{name} = {name}" for name in names)])


async def until(true):
    """Wait for a fact that another process makes."""
    with anyio.fail_after(LONG):
        while not true():  # noqa: ASYNC110
            await anyio.sleep(0.01)


async def text_of(pending):
    with anyio.fail_after(LONG):
        return (await pending.result()).text


# --- Deaths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "death",
    [
        "os.abort()",
        "import faulthandler; faulthandler._sigsegv()",
        "os._exit(0)",
        "sys.exit(0)",
        "os.kill(os.getpid(), 9)",
        "raise MemoryError",
        "raise RuntimeError('mkl_malloc: failed to allocate memory')",
    ],
)
async def test_whatever_ends_it_in_the_middle_it_is_asked_again(made, death):
    body = f"""
    def hear(self, loudness):
        if loudness and first_time("died"):
            {death}
        return "well"
    """
    async with made(body) as transcriber:
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert made.notes() == ["loaded on cpu with 2"] * 2


async def test_memory_that_runs_out_for_real_is_a_death_and_it_is_asked_again(made):
    pytest.importorskip("resource")
    body = """
    def hear(self, loudness):
        if loudness and first_time("died"):
            import resource
            resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
            bytearray(1 << 33)
        return "well"
    """
    async with made(body) as transcriber:
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert len(made.notes()) == 2


async def test_a_piece_that_kills_it_each_time_fails_and_the_next_ones_are_answered(made):
    body = """
    def hear(self, loudness):
        if loudness < 0:
            note("died")
            os.abort()
        return "well"
    """
    async with made(body) as transcriber:
        await transcriber.ready()
        poisoned, healthy = transcriber.submit(POISON), transcriber.submit(SOUND)
        with anyio.fail_after(LONG), pytest.raises(TranscriberDied, match=f"{TRIES} times"):
            await poisoned.result()
        assert await text_of(healthy) == "well"
    assert made.notes().count("died") == TRIES
    assert np.array_equal(poisoned.samples, POISON)


async def test_one_that_fails_each_time_without_dying_is_told_in_its_words(made):
    body = """
    def hear(self, loudness):
        if loudness < 0:
            raise RuntimeError("no such layer")
        return "well"
    """
    async with made(body) as transcriber:
        await transcriber.ready()
        poisoned, healthy = transcriber.submit(POISON), transcriber.submit(SOUND)
        with anyio.fail_after(LONG), pytest.raises(TranscriberError, match="no such layer") as caught:
            await poisoned.result()
        assert not isinstance(caught.value, ModelBroken)
        assert await text_of(healthy) == "well"


async def test_where_there_is_no_memory_for_the_model_that_is_what_is_said(made):
    async with made("def load(self):\n    raise MemoryError") as transcriber:
        with anyio.fail_after(LONG), pytest.raises(TranscriberError, match="not enough memory") as caught:
            await transcriber.ready()
        assert "smaller model" in caught.value.mend
    assert len(made.notes()) == TRIES


async def test_one_that_dies_at_every_start_is_given_up(made):
    async with made("def load(self):\n    os.abort()") as transcriber:
        with anyio.fail_after(LONG), pytest.raises(TranscriberDied, match=f"{TRIES} times"):
            await transcriber.ready()
    assert len(made.notes()) == TRIES


# --- Hanging, and being slow ------------------------------------------------------------------------------


async def test_one_that_goes_round_without_end_is_ended_by_what_such_a_piece_costs(made, monkeypatch):
    monkeypatch.setattr(whisper_module, "SPIN_S", 0.5)
    body = """
    def hear(self, loudness):
        if loudness and first_time("went round"):
            while True:
                pass
        return "well"
    """
    async with made(body) as transcriber:
        await transcriber.ready()
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert len(made.notes()) >= 2


async def test_a_text_that_comes_late_is_told_once_and_nothing_is_lost(made, monkeypatch):
    monkeypatch.setattr(whisper_module, "BEHIND_S", 0.3)
    body = """
    def hear(self, loudness):
        if loudness:
            until = time.process_time() + 0.2
            while time.process_time() < until:
                pass
        return "well"
    """
    told = []
    async with made(body, on_notice=told.append) as transcriber:
        await transcriber.ready()
        pending = [transcriber.submit(SOUND) for _ in range(8)]
        assert [await text_of(one) for one in pending] == ["well"] * 8
    assert len(told) == 1
    assert "s behind" in told[0]


async def test_whoever_waits_for_one_text_is_told_before_it_is_there(made, monkeypatch):
    monkeypatch.setattr(whisper_module, "BEHIND_S", 0.2)
    monkeypatch.setattr(whisper_module, "_LOOK_S", 0.1)
    body = """
    def hear(self, loudness):
        while loudness and not (FOLDER / "told").exists():
            time.process_time()
        return "well"
    """
    told = []
    async with made(body, on_notice=told.append) as transcriber:
        await transcriber.ready()
        pending = transcriber.submit(SOUND)
        await until(lambda: told)
        assert not pending.done
        (transcriber._model / "told").touch()
        assert await text_of(pending) == "well"


async def test_loading_is_not_being_behind(made, monkeypatch):
    monkeypatch.setattr(whisper_module, "_LOOK_S", 0.05)
    body = """
    def load(self):
        while not (FOLDER / "go on").exists():
            time.sleep(0.01)
    """
    told = []
    looked = anyio.Event()
    async with made(body, on_notice=told.append) as transcriber:
        pending = transcriber.submit(SOUND)
        pending.asked_at_s -= 1_000  # it has been waiting for so long
        look = transcriber._tell_if_behind
        monkeypatch.setattr(transcriber, "_tell_if_behind", lambda: (look(), looked.set()))
        with anyio.fail_after(LONG):
            await looked.wait()
            assert not told
            (transcriber._model / "go on").touch()
        assert await text_of(pending) == "well"


async def test_what_is_superseded_never_piles_up(made):
    async with made() as transcriber:
        await until(lambda: transcriber.pid is not None)
        os.kill(transcriber.pid, signal.SIGSTOP)  # it is loading
        for _ in range(500):
            transcriber.submit(SOUND).cancel()
        last = transcriber.submit(SOUND)
        assert len(transcriber._queue) <= 2
        assert await text_of(last) == "well"


async def test_more_than_can_wait_fails_at_once_and_the_rest_is_answered(made, monkeypatch):
    monkeypatch.setattr(whisper_module, "MOST_WAITING_S", 3 * 2.0)
    async with made() as transcriber:
        await transcriber.ready()
        pending = [transcriber.submit(SOUND) for _ in range(5)]
        assert [one.done for one in pending] == [False, False, False, True, True]
        with pytest.raises(TranscriberError, match="too far behind"):
            await pending[-1].result()
        assert [await text_of(one) for one in pending[:3]] == ["well"] * 3


async def test_a_piece_in_work_that_nobody_wants_is_broken_off(made):
    body = """
    def hear(self, loudness):
        if loudness < 0:
            note("begun")
            while True:
                self.on_step()
                time.sleep(0.01)
        return "well"
    """
    async with made(body) as transcriber:
        await transcriber.ready()
        pid = transcriber.pid
        stale = transcriber.submit(POISON)
        await until(lambda: "begun" in made.notes())
        stale.cancel()
        assert await text_of(transcriber.submit(SOUND)) == "well"
        assert transcriber.pid == pid
    assert not stale.done


async def test_what_nobody_wants_gets_no_second_pass(made):
    body = """
    def hear(self, loudness):
        note(f"{loudness} {self.full_window}")
        if loudness < 0:
            until = time.monotonic() + 60
            while self._still_wanted() and time.monotonic() < until:
                time.sleep(0.01)
        return "well " * 40

    def _still_wanted(self):
        try:
            self.on_step()
        except Exception:
            return False
        return True
    """
    async with made(body) as transcriber:
        await transcriber.ready()
        stale = transcriber.submit(POISON)
        await until(lambda: "-100 False" in made.notes())
        stale.cancel()
        await text_of(transcriber.submit(SOUND))
    assert "-100 True" not in made.notes()


# --- Leaving ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "stopped"),
    [
        ("def load(self):\n    time.sleep(600)", True),
        ("def load(self):\n    import ctypes; ctypes.PyDLL(None).sleep(600)", False),
        ("def load(self):\n    os.abort()", False),
        ("def hear(self, loudness):\n    time.sleep(600)", False),
    ],
    ids=["stopped", "loads and holds the interpreter's lock", "is started again", "hangs"],
)
async def test_leaving_waits_for_nothing_and_leaves_no_child(made, body, stopped):
    before = set(psutil.Process().children(recursive=True))
    with anyio.fail_after(LONG):
        async with made(body) as transcriber:
            pending = transcriber.submit(SOUND)
            await until(made.notes)
            if stopped and transcriber.pid is not None:
                os.kill(transcriber.pid, signal.SIGSTOP)
        with pytest.raises(TranscriberError):
            await pending.result()
        await until(lambda: set(psutil.Process().children(recursive=True)) <= before)


async def test_leaving_takes_no_text_back(made):
    async with made() as transcriber:
        pending = transcriber.submit(SOUND)
        with anyio.fail_after(LONG):
            await pending.result()
    assert await text_of(pending) == "well"


# --- The graphics card ------------------------------------------------------------------------------------


FAILS_ON_A_CARD = """
def load(self):
    if self.device == "cuda":
        {how}
"""


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("raise RuntimeError('CUDA driver version is insufficient')", "CUDA driver version is insufficient"),
        (
            "print('Unable to load libcudnn_ops.so.9', file=sys.stderr, flush=True); os.abort()",
            "libcudnn_ops.so.9",
        ),
        ("raise ValueError('Requested int8 compute type, but the device does not support it')", "int8"),
    ],
    ids=["raises", "aborts for want of cuDNN", "cannot compute so"],
)
async def test_a_card_that_cannot_be_used_is_replaced_by_the_processor_with_one_notice(made, how, why):
    told = []
    body = FAILS_ON_A_CARD.format(how=how)
    async with made(body, device="cuda", on_notice=told.append) as transcriber:
        with anyio.fail_after(LONG):
            await transcriber.ready()
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert len(told) == 1
    assert why in told[0]
    assert made.notes() == ["loaded on cuda with 2", "loaded on cpu with 2"]
    async with made(body, device="cuda", on_notice=told.append) as transcriber:  # Voice is switched on again
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert len(told) == 1
    assert made.notes()[2:] == ["loaded on cpu with 2"]


async def test_a_card_that_fails_later_is_replaced_too_and_the_piece_is_not_lost(made):
    told = []
    body = """
    def hear(self, loudness):
        if loudness and self.device == "cuda":
            raise RuntimeError("CUDA failed with error out of memory")
        return "well"
    """
    async with made(body, device="cuda", on_notice=told.append) as transcriber:
        await transcriber.ready()
        assert await text_of(transcriber.submit(SOUND)) == "well"
    assert len(told) == 1


async def test_a_child_that_is_killed_once_costs_no_card(made):
    told = []
    body = """
    def hear(self, loudness):
        if loudness and first_time("killed"):
            os.kill(os.getpid(), 9)
        return self.device
    """
    async with made(body, device="cuda", on_notice=told.append) as transcriber:
        await transcriber.ready()
        assert await text_of(transcriber.submit(SOUND)) == "cuda"
    assert not told


@pytest.mark.parametrize("driver", [True, False])
async def test_auto_is_the_card_where_its_driver_is_loaded(made, monkeypatch, tmp_path, driver):
    card = tmp_path / "nvidiactl"
    if driver:
        card.touch()
    monkeypatch.setattr(whisper_module, "_CARDS", (str(card),))
    body = "def hear(self, loudness):\n    return self.device"
    async with made(body, device="auto") as transcriber:
        assert await text_of(transcriber.submit(SOUND)) == ("cuda" if driver else "cpu")


# --- How many threads -------------------------------------------------------------------------------------

MEASURED = """
def load(self):
    def cost_s(child, whisper):
        note(f"measured {{whisper.threads}}")
        {meanwhile}
        whisper.on_step()
        return {costs}[whisper.threads]

    main = sys.modules["__main__"]
    main._busy_s = lambda: 0.0
    main._Child._cost_s = cost_s

def hear(self, loudness):
    if loudness < 0 and first_time("killed"):
        os.abort()
    return f"with {{self.threads}}"
"""


class Told:
    """What was told of the threads, and when."""

    def __init__(self, monkeypatch):
        monkeypatch.setattr(whisper_module, "MEASURED_AFTER_S", (0.1, 0.1, 0.1))
        monkeypatch.setattr(whisper_module, "THREADS", 2)
        self.numbers = []
        self.once = anyio.Event()

    def __call__(self, number):
        self.numbers.append(number)
        self.once.set()


@pytest.mark.parametrize(("costs", "threads"), [({1: 1.0, 2: 0.9}, 1), ({1: 1.0, 2: 0.5}, 2)])
async def test_the_number_that_was_measured_is_used_and_told_and_never_measured_again(
    made, monkeypatch, costs, threads
):
    told = Told(monkeypatch)
    body = MEASURED.format(costs=costs, meanwhile="pass")
    async with made(body, threads=None, on_threads=told) as transcriber:
        with anyio.fail_after(LONG):
            await transcriber.ready()
            await told.once.wait()
        assert await text_of(transcriber.submit(SOUND)) == f"with {threads}"
        assert await text_of(transcriber.submit(POISON)) == f"with {threads}"  # of another child
    assert told.numbers == [threads]
    assert made.notes().count("measured 1") == 2
    assert made.notes()[-1] == f"loaded on cpu with {threads}"


async def test_whoever_speaks_while_it_is_measured_does_not_wait_for_that(made, monkeypatch):
    told = Told(monkeypatch)
    endless = "while child._wanted(): time.sleep(0.01)"
    async with made(
        MEASURED.format(costs={}, meanwhile=endless), threads=None, on_threads=told
    ) as transcriber:
        await transcriber.ready()
        await until(lambda: "measured 1" in made.notes())
        pid = transcriber.pid
        assert await text_of(transcriber.submit(SOUND)) == "with 2"
        assert transcriber.pid == pid
    assert not told.numbers


async def test_measurements_that_do_not_agree_are_made_again_a_few_times_and_nothing_is_told(
    made, monkeypatch
):
    told = Told(monkeypatch)
    # Each costs twice as much as the one before.
    body = MEASURED.format(
        costs={}, meanwhile="return 2.0 ** len((FOLDER / 'notes').read_text().splitlines())"
    )
    async with made(body, threads=None, on_threads=told) as transcriber:
        await transcriber.ready()
        await until(lambda: made.notes().count("measured 1") == 2 * 3)
        assert await text_of(transcriber.submit(SOUND)) == "with 2"
    assert not told.numbers


async def test_a_large_model_is_not_loaded_twice_to_be_measured(made, monkeypatch):
    told = Told(monkeypatch)
    monkeypatch.setattr(whisper_module, "MEASURED_AT_MOST", -1)
    async with made(threads=None, on_threads=told) as transcriber:
        await transcriber.ready()
        assert not transcriber._measurable()
