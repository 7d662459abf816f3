"""``voice replay``, ``transcribe`` and ``say`` as a user runs them: real detector, Whisper and eSpeak."""

import json
import re
import struct
import subprocess
import sys
import wave
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

VOICE = Path(sys.executable).parent / "voice"


@pytest.fixture(scope="module")
def manifest(fixtures_folder):
    return json.loads((fixtures_folder / "manifest.json").read_text())["fixtures"]


@pytest.fixture(scope="module")
def replayed(voice, objects, fixtures_folder, manifest):
    """The events of every fixture, by its file, from one run."""
    done = voice("replay", "--json", *(entry["file"] for entry in manifest), cwd=fixtures_folder)
    assert done.returncode == 0, done.stderr
    events = {entry["file"]: [] for entry in manifest}
    for event in objects(done.stdout):
        events[event["file"]].append(event)
    return events


def named(events, name):
    return [event for event in events if event["event"] == name]


def words(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def test_every_turn_of_every_fixture_is_one_message(replayed, manifest):
    counts = {entry["file"]: len(named(replayed[entry["file"]], "user_message")) for entry in manifest}
    assert counts == {entry["file"]: len(entry["turns"]) for entry in manifest}


def test_no_fixture_without_speech_gives_more_than_the_word_that_there_was_none(replayed, manifest):
    quiet = [entry["file"] for entry in manifest if not entry["turns"]]
    assert len(quiet) >= 6
    for file in quiet:
        assert [event["event"] for event in replayed[file]] == ["no_speech"]


def test_each_message_lies_where_the_manifest_says_that_it_was_spoken(replayed, manifest):
    for entry in manifest:
        for turn, message in zip(entry["turns"], named(replayed[entry["file"]], "user_message"), strict=True):
            heard = message["heard"]
            assert heard["start_s"] == pytest.approx(turn["start_ms"] / 1000, abs=0.15), entry["file"]
            assert heard["end_s"] == pytest.approx(turn["end_ms"] / 1000, abs=0.2), entry["file"]


def test_latency_is_counted_from_the_known_end_of_speech_and_adds_up(replayed, manifest):
    for entry in manifest:
        for message in named(replayed[entry["file"]], "user_message"):
            latency = message["latency"]
            goes_on = any(kind in entry["file"] for kind in ("digits", "letters"))  # more of them may follow
            assert latency["endpoint_s"] == pytest.approx(2.4 if goes_on else 1.6)
            assert latency["transcribe_s"] >= 0
            assert latency["total_s"] == pytest.approx(latency["endpoint_s"] + latency["transcribe_s"])
            assert message["at_s"] == pytest.approx(message["heard"]["end_s"] + latency["total_s"])


def test_the_words_of_clear_replies_are_right(replayed):
    for file, said in {
        "yes.wav": "yes",
        "no.wav": "no",
        "yes-at-sample-0.wav": "yes",
        "second-one.wav": "the second one",
        "low-level-second-one.wav": "the second one",
        "noise-10db-second-one.wav": "the second one",
        "rate-8000.wav": "the second one",
        "rate-44100.wav": "the second one",
        "stereo-48000.wav": "yes",
        "flac-yes.flac": "yes",
        "pause-500.wav": "i think the second one",
        "pause-800.wav": "all the tests should run before every commit",
        "pause-1400.wav": "i would like to use the faster model",
    }.items():
        (message,) = named(replayed[file], "user_message")
        assert words(message["text"]) == said.split(), file


def test_the_schema_is_the_documented_one(replayed):
    fields = {
        "speech_started": ["event", "file", "at_s"],
        "speech_ended": ["event", "file", "at_s", "decided_at_s", "reason"],
        "user_message": ["event", "file", "text", "source", "at_s", "heard", "latency", "confidence"],
        "no_speech": ["event", "file", "at_s"],
    }
    for events in replayed.values():
        for event in events:
            assert list(event) == fields[event["event"]]


def test_two_runs_give_the_same_bytes(voice, fixtures_folder):
    files = ["pause-1400.wav", "two-turns-yes-second-one.wav", "key-clicks.wav"]
    first, second = (voice("replay", "--json", *files, cwd=fixtures_folder).stdout for _ in range(2))
    assert first == second
    assert first.count("user_message") == 3


def test_raw_samples_on_standard_input_end_the_turn_with_the_input(voice, objects, fixtures_folder):
    with wave.open(str(fixtures_folder / "yes.wav")) as recording:
        samples = recording.readframes(recording.getnframes())
    done = voice("replay", "--json", "-", input=samples[:-2], text=False)
    events = objects(done.stdout.decode())
    assert [event["event"] for event in events] == ["speech_started", "speech_ended", "user_message"]
    assert events[1]["reason"] == "input_ended"
    assert events[2]["text"] == "Yes."
    assert events[2]["file"] == "-"


def test_in_real_time_the_same_words_arrive(voice, objects, fixtures_folder):
    done = voice("replay", "--json", "--realtime", fixtures_folder / "yes.wav")
    (message,) = named(objects(done.stdout), "user_message")
    assert message["text"] == "Yes."


def test_what_is_said_can_be_read_without_json(voice, fixtures_folder):
    done = voice("replay", "two-turns-server-no.wav", "silence-room.wav", cwd=fixtures_folder)
    assert "The database should live on its own server." in done.stdout
    assert "silence-room.wav      3.00 s  no speech" in done.stdout


def test_transcribe_prints_a_line_a_turn_and_nothing_but_words(voice, fixtures_folder):
    done = voice("transcribe", fixtures_folder / "two-turns-yes-second-one.wav")
    assert done.stdout == "Yes.\nThe second one.\n"
    assert done.stderr == ""
    done = voice("transcribe", "yes.wav", "silence-room.wav", cwd=fixtures_folder)
    assert done.stdout == "yes.wav\tYes.\n"
    assert "nobody speaks" in done.stderr


def test_what_say_writes_is_what_transcribe_reads(voice, tmp_path):
    out = tmp_path / "said.wav"
    done = voice("say", "Please open the window in the kitchen.", "--out", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert voice("transcribe", out).stdout == "Please open the window in the kitchen.\n"


def test_a_file_that_is_named_twice_is_heard_twice(voice, fixtures_folder):
    done = voice("transcribe", "yes.wav", "second-one.wav", "yes.wav", cwd=fixtures_folder)
    assert done.stdout == "yes.wav\tYes.\nsecond-one.wav\tThe second one.\nyes.wav\tYes.\n"


def test_say_writes_to_a_pipe(voice, tmp_path):
    written, piped = (
        subprocess.run(f"'{VOICE}' say Yes --out {out} | cat", shell=True, capture_output=True, check=True)
        for out in ("-", "/dev/stdout")
    )
    assert written.stdout == piped.stdout
    assert written.stdout.startswith(b"RIFF")


class TestBadInput:
    """Each is one sentence and an exit code, and nothing is half done."""

    def refused(self, voice, *arguments, code=2, environment=None):
        done = voice(*arguments, environment=environment)
        assert done.returncode == code, done
        assert done.stdout == ""
        assert done.stderr.startswith("voice: ")
        assert "Traceback" not in done.stderr
        return done.stderr

    def test_a_missing_file(self, voice):
        assert "nowhere.wav" in self.refused(voice, "replay", "nowhere.wav")

    def test_an_empty_file(self, voice, tmp_path):
        (tmp_path / "empty.wav").touch()
        assert "empty" in self.refused(voice, "replay", tmp_path / "empty.wav")

    def test_a_text_named_wav(self, voice, tmp_path):
        (tmp_path / "text.wav").write_text("This is no sound at all.\n" * 50)
        assert "text.wav" in self.refused(voice, "replay", tmp_path / "text.wav")

    def test_a_header_that_lies(self, voice, tmp_path, fixtures_folder):
        lying = tmp_path / "lying.wav"
        data = bytearray((fixtures_folder / "yes.wav").read_bytes())
        data[40:44] = struct.pack("<I", 10_000_000)
        lying.write_bytes(data)
        assert "lying.wav" in self.refused(voice, "transcribe", lying)

    def test_a_bad_file_behind_good_ones_is_refused_before_anything_is_printed(
        self, voice, tmp_path, fixtures_folder
    ):
        self.refused(voice, "replay", fixtures_folder / "yes.wav", tmp_path / "missing.wav")

    def test_a_model_folder_without_weights(self, voice, tmp_path, fixtures_folder):
        said = self.refused(voice, "replay", "--model", tmp_path, fixtures_folder / "yes.wav", code=3)
        assert "model.bin" in said

    def test_a_model_that_is_nowhere(self, voice, tmp_path, fixtures_folder):
        said = self.refused(
            voice,
            *("transcribe", "--model", "small", fixtures_folder / "yes.wav"),
            code=3,
            environment={"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)},
        )
        assert "VIVA_VOICE_MODEL" in said

    def test_a_language_that_the_model_does_not_know(self, voice, fixtures_folder):
        said = self.refused(voice, "transcribe", "--language", "de", fixtures_folder / "yes.wav")
        assert "English only" in said

    def test_a_setting_out_of_range(self, voice, fixtures_folder):
        self.refused(voice, "replay", "--end-silence", "-1", fixtures_folder / "yes.wav")

    @pytest.mark.parametrize("text", ["", "?!", "---"])
    def test_a_text_with_nothing_to_say(self, voice, tmp_path, text):
        said = self.refused(voice, "say", "--out", tmp_path / "said.wav", "--", text)
        assert said == "voice: There is nothing to say in that text.\n"
        assert not list(tmp_path.iterdir())

    def test_a_text_from_an_input_that_is_closed(self):
        done = subprocess.run(f"'{VOICE}' say - <&-", shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("voice: Standard input cannot be read.\n  To mend it: ")

    def test_an_unknown_home_of_the_model(self, voice, fixtures_folder):
        said = self.refused(voice, "transcribe", "--model", "~nosuchuser/x", fixtures_folder / "yes.wav")
        assert "~nosuchuser/x" in said

    def test_a_folder_that_say_cannot_write_to(self, voice, tmp_path):
        self.refused(voice, "say", "Hello", "--out", tmp_path / "none" / "x.wav")


def test_a_reader_that_has_had_enough_is_told_nothing(fixtures_folder):
    recording = fixtures_folder / "two-turns-yes-second-one.wav"
    command = f"'{VOICE}' replay --json '{recording}' | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stdout.count("\n") == 1
    assert done.stderr == ""
