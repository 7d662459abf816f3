"""Voice with real streams on devices that come and go: noticed, told, listening again, and nothing unsaid.

Recordings are spoken into microphones that exist in memory; the words are scripted, all else is real. It
takes its time: so several of these sessions run beside one another, each on a sound server of its own.
"""

import contextlib
import functools
import inspect
import json
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

pytestmark = [pytest.mark.devices, pytest.mark.slow]

WITHIN_S = 60.0
"""What takes longer hangs."""

TOGETHER = 4
"""So many sessions run beside one another."""

SESSION = """
from contextlib import asynccontextmanager
from dataclasses import asdict
from questionnaire import AdjustableToolset, FunctionToolset
from voice.assembly import make_ears, make_microphone, make_narrator, make_speaker
from voice.autonomous import AutonomousVoice, Parts
from voice.events import LevelMeasured, Notice, PartialTranscript, event_name
from voice.ports import Transcript
from voice.settings import Settings

class Words:
    done = True
    def submit(self, samples, *, vocabulary=()):
        return self
    async def result(self):
        return Transcript("what was said", average_log_probability=-0.1)
    def cancel(self):
        pass

class Engine:
    # Each word is a second of a chirp; the sentence says how many there are.
    async def render(self, sentence, *, rate=1.0):
        words = sentence.split()
        made = sound(len(words))
        at, places = 0, []
        for second, word in enumerate(words):
            places.append((float(second), at))
            at += len(word) + 1
        return Sound(made.samples, made.rate, tuple(places))

def tell(event):
    if not isinstance(event, (LevelMeasured, PartialTranscript)):
        fields = json.loads(json.dumps(asdict(event), default=str))
        say(**{"event": event_name(event), **fields})

settings = Settings().changed("hearing", end_silence_s=0.6)
if sys.argv[1:] and sys.argv[1]:
    settings = settings.changed("hearing", microphone=sys.argv[1])
if sys.argv[2:]:
    settings = settings.changed("speaking", speaker=sys.argv[2])
notice = lambda sentence: tell(Notice(sentence))
microphone = make_microphone(settings.hearing, notice, stand_in=True)
speaker = make_speaker(settings.speaking, heard=True, on_notice=notice)

@asynccontextmanager
async def opened():
    ears = make_ears(settings, Words())
    speaker.on_played = ears.on_played
    yield Parts(microphone, ears, make_narrator(settings.speaking, Engine(), speaker), output=speaker)

def heard(events):
    for event in events:
        tell(event)

async def obey(voice, tasks):
    while line := (await anyio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)).strip():
        match line.split(" ", 1):
            case ["mic", name]: microphone.use(name)
            case ["speaker", name]: speaker.use(name)
            case ["narrate", text]: tasks.start_soon(voice.narrate, text)
            case ["hear", seconds]:
                while speaker.played_s < float(seconds):
                    await anyio.sleep(0.01)
                say(event="heard")
            case ["block", seconds]:
                microphone._arrived._most = 50  # of the stream that is open, a second
                time.sleep(float(seconds))
    voice.stop()

async def main():
    tools = AdjustableToolset(FunctionToolset())
    voice = AutonomousVoice(tools, opened, emit=tell, heard=heard, happened=lambda _: None)
    async with anyio.create_task_group() as tasks:
        await tasks.start(voice.run)
        await obey(voice, tasks)
        while voice.state != "inactive":
            await anyio.sleep(0.01)
        say(event="stopped")
        tasks.cancel_scope.cancel()

anyio.run(main)
"""


class Session:
    """Voice in a process of its own, that obeys lines and tells its events."""

    def __init__(self, server, *names):
        self._program = server.program(SESSION, *names)
        self.pid = self._program.pid
        self._told = queue.Queue()
        self.events = []
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._complaints, daemon=True).start()
        self.until("voice_state_changed", state="active")

    def _read(self):
        with contextlib.suppress(ValueError):  # closed where a test has failed
            for line in self._program.stdout:
                self._told.put(json.loads(line))
        self._told.put({"event": "gone"})

    def _complaints(self):
        with contextlib.suppress(ValueError):
            for line in self._program.stderr:
                self._told.put({"event": "complaint", "line": line})

    def order(self, line):
        self._program.stdin.write(f"{line}\n")
        self._program.stdin.flush()

    def until(self, name, *, since=None, **fields):
        """The next event of this name, of which the fields are so, or hold such a text.

        ``since`` so many events it may have come already.
        """
        return self.until_any(name, since=since, **fields)

    def until_any(self, *names, since=None, **fields):
        """The next event of one of these names."""
        at = len(self.events) if since is None else since
        limit = time.monotonic() + WITHIN_S
        while True:
            if at == len(self.events):
                self._take(names, fields, limit)
            event, at = self.events[at], at + 1
            if event["event"] in names and all(
                value in event[key] if isinstance(value, str) else value == event[key]
                for key, value in fields.items()
            ):
                return event

    def _take(self, names, fields, limit):
        try:
            self.events.append(self._told.get(timeout=max(0.1, limit - time.monotonic())))
        except queue.Empty:
            pytest.fail(f"no {names} with {fields} in {self.events}")
        assert self.events[-1]["event"] not in ("gone", "complaint"), self.events

    def of(self, name):
        return [event for event in self.events if event["event"] == name]

    def end(self):
        """Stop it, and wait until all is closed."""
        self.order("")
        self.until("stopped")


@pytest.fixture(scope="module")
def running(request, make_sound_server, fixtures_folder):
    """The tests of this file that were asked for, under way."""

    def run(case):
        server = make_sound_server()
        with contextlib.closing(server):
            server.start()
            case(server, fixtures_folder)

    asked = [item for item in request.session.items if item.path == request.path]
    with ThreadPoolExecutor(TOGETHER) as pool:
        cases = [item.function.__wrapped__ for item in asked]
        yield {case.__name__: pool.submit(run, case) for case in cases}


def beside_the_others(case):
    """Have a test run beside the others of this file, with a sound server of its own."""

    @functools.wraps(case)
    def test(running):
        running[case.__name__].result()

    test.__signature__ = inspect.signature(lambda running: None)
    return test


def modules(server):
    """The server's modules by their numbers, with their arguments."""
    lines = [line.split("\t") for line in server.pactl("list", "short", "modules").splitlines()]
    return {number: arguments for number, _, arguments, *_ in lines}


MIC = "Remapped Monitor of Null Output"


def say_until_it_is_a_message(server, session, recording, into="mic_in"):
    """Speak, and again where that was taken for the other half of what was cut off."""
    for _ in range(5):
        server.speak(recording, into)
        if session.until_any("user_message", "discarded")["event"] == "user_message":
            return
    pytest.fail(f"no message in {session.events}")


@beside_the_others
def test_the_default_microphone_is_followed_and_one_pulled_out_in_a_reply_is_told(server, fixtures_folder):
    session = Session(server)
    assert session.of("devices_in_use")[-1]["microphone"] == f"default ({MIC})"

    pull = server.plug("Headset", rate=44_100, channels=2)
    server.pactl("set-default-source", "Headset")
    told = session.until("notice", sentence="Another microphone is the system's default now.")
    assert told["sentence"].endswith("The microphone is default (Headset) now.")
    session.until("devices_in_use", microphone="default (Headset)")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav", "Headset_in")

    server.speak(fixtures_folder / "two-sentences.wav", "Headset_in")
    session.until("speech_started")
    pull()
    session.until("discarded", reason="cut_off", text="what was said")
    session.until("notice", sentence=f"Headset is gone. The microphone is default ({MIC}) now.")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")
    assert not [told for told in session.of("notice") if "looking for it again" in told["sentence"]]
    session.end()
    assert str(session.pid) not in server.pactl("list", "source-outputs")


@beside_the_others
def test_a_named_microphone_is_stood_in_for_and_taken_again_when_it_is_back_in_another_shape(
    server, fixtures_folder
):
    pull = server.plug("Headset", rate=44_100, channels=2)
    session = Session(server, "heads")
    assert session.of("devices_in_use")[-1]["microphone"] == "Headset"
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav", "Headset_in")
    pull()
    missing = session.until("notice", sentence="There is no microphone called 'Headset, PulseAudio'")
    assert "default is used until Headset, PulseAudio is there again" in missing["sentence"]
    session.until("notice", sentence=f"Headset is gone. The microphone is default ({MIC}) now.")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")

    server.plug("Headset", rate=8_000, channels=1)
    session.until("notice", sentence="is there again. The microphone is Headset now.")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav", "Headset_in")
    session.end()


@beside_the_others
def test_a_server_that_hangs_or_dies_is_told_and_found_again_and_what_is_said_meanwhile_is_refused(
    server, fixtures_folder
):
    session = Session(server)
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")
    with server.hanging():
        session.until("notice", sentence="looking for it again")
        session.order("narrate one two three")
        ended = session.until("narration_ended")
        assert ended["ending"] == "failed"
    session.until("notice", sentence="is back")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")

    session.order("narrate one")
    assert session.until("narration_ended")["ending"] == "completed"
    session.order("narrate one two three four five six seven eight")
    session.until("narration_started")
    server.speak(fixtures_folder / "two-sentences.wav")
    before = len(session.events)
    server.kill()
    session.until("notice", sentence="looking for it again")
    assert session.until("narration_ended", since=before)["ending"] == "failed"
    session.order("narrate one")
    assert session.until("narration_ended")["ending"] == "failed"
    server.start()
    session.until("notice", sentence="is back")
    session.order("narrate one")
    assert session.until("narration_ended")["ending"] == "completed"
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")
    silent = [
        one for one in session.of("notice") if "Nothing can be heard of what is said" in one["sentence"]
    ]
    assert len(silent) == 2, "once for each time that the speaker was lost"
    session.end()


@beside_the_others
def test_without_a_microphone_our_own_voice_is_not_taken_for_one(server, fixtures_folder):
    session = Session(server)
    (mic,) = [number for number, arguments in modules(server).items() if "source_name=mic" in arguments]
    server.pactl("unload-module", mic)
    told = session.until("notice", sentence="There is no microphone: the sound server has none")
    assert "looking for it again" in told["sentence"]
    server.plug("Webcam")
    session.until("notice", sentence="is back")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav", "Webcam_in")
    session.end()


@beside_the_others
def test_a_microphone_that_is_muted_in_mid_session_is_told_and_its_return_too(server, fixtures_folder):
    with server.humming():
        session = Session(server)
        server.pactl("set-source-mute", "mic", 1)
        session.until("notice", sentence="gives digital silence: it is muted, or may not be listened to")
        server.pactl("set-source-mute", "mic", 0)
        session.until("notice", sentence="gives sound again")
        session.end()


@beside_the_others
def test_another_microphone_and_speaker_are_taken_in_mid_session(server, fixtures_folder):
    server.plug("Headset", rate=48_000, channels=2)
    session = Session(server)
    server.speak(fixtures_folder / "two-sentences.wav")
    session.until("speech_started")
    session.order("mic Headset")
    session.until("discarded", reason="cut_off", text="what was said")
    session.until("devices_in_use", microphone="Headset")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav", "Headset_in")
    session.order("narrate one two three four")
    session.until("narration_started")
    session.order("speaker vl_heard")  # of which there is no such speaker
    session.order("speaker Headset_in")
    ended = session.until("narration_ended")
    assert (ended["ending"], ended["played_s"]) == ("completed", 4.0)
    with server.hanging():
        session.end()


@beside_the_others
def test_narration_goes_on_where_its_speaker_is_pulled_out(server, fixtures_folder):
    sink = server.pactl(
        "load-module", "module-null-sink", "sink_name=phones", "sink_properties=device.description=Phones"
    )
    session = Session(server, "", "phones")
    session.order("narrate one two three four five")
    session.order("hear 0.5")
    session.until("heard")
    assert session.of("devices_in_use")[-1]["speaker"] == "Phones"
    server.pactl("unload-module", sink)
    ended = session.until("narration_ended")
    assert (ended["ending"], ended["played_s"]) == ("completed", 5.0)
    session.order("narrate one")
    assert session.until("narration_ended")["ending"] == "completed"
    assert any("default speaks until phones" in told["sentence"] for told in session.of("notice"))
    session.end()


@beside_the_others
def test_more_than_may_wait_is_lost_in_one_piece_counted_and_told(server, fixtures_folder):
    session = Session(server)
    server.speak(fixtures_folder / "two-sentences.wav")
    session.until("speech_started")
    session.order("block 4")
    lost = session.until("frames_lost")
    assert lost["frames"] > 50
    assert "too busy to listen" in session.until("notice")["sentence"]
    session.until("discarded", reason="cut_off")
    session.until("notice", sentence="is back")
    say_until_it_is_a_message(server, session, fixtures_folder / "yes-please.wav")
    session.end()
