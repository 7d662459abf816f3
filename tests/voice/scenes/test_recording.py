"""A session that is recorded: the folder, and what is played again from it."""

import json
import wave
from pathlib import Path

import numpy as np
import pytest

from voice.errors import RecordingError, SceneError
from voice.scenes import log
from voice.scenes.folder import EVENTS, LOG, MICROPHONE, RecordingFolder
from voice.scenes.playing import perform
from voice.scenes.reading import load_scene
from voice.scenes.recorder import Recorder
from voice.settings import Settings

SCENES = Path(__file__).parents[2] / "scenes"


def reasons(played):
    return [event.reason for event in played.events if type(event).__name__ == "Discarded"]


@pytest.mark.parametrize(
    "name",
    ["microphone-lost-in-a-reply", "pause-stays-one-message", "typed-line-wins", "withheld-tool-is-refused"],
)
def test_what_was_recorded_is_played_again_without_agent_engine_and_transcriber(name, tmp_path):
    then = perform(load_scene(SCENES / f"{name}.scene.yaml"), record=tmp_path / "recorded")
    scene = load_scene(tmp_path / "recorded" / "scene.yaml")
    one, other = perform(scene), perform(scene)
    assert then.failures == one.failures == ()
    assert one.messages == then.messages
    assert one.said == then.said
    assert reasons(one) == reasons(then)
    assert [names for _, names in one.tools] == [names for _, names in then.tools]
    assert one.lines == other.lines
    assert scene.expect.messages == then.messages


def test_what_the_speaker_played_is_heard_again(played, tmp_path):
    """With an echo, so that the microphone hears what is recorded of the speaker."""
    then = played(
        """
        engine: real
        room: {echo_db: -6}
        settings: {hearing: {duplex: headphones}}
        agent: [narrates: "Which database do you want to use for that?"]
        happens: [{send: Go.}]
        """,
        record=tmp_path / "recorded",
    )
    again = perform(load_scene(tmp_path / "recorded" / "scene.yaml"))
    assert then.messages == again.messages == ("Go.",)
    assert reasons(then) == reasons(again)
    with wave.open(str(tmp_path / "recorded" / "speaker.wav")) as file:
        assert file.getnframes() > 16_000


def test_structured_requests_and_a_lost_agent_come_again(played, tmp_path):
    then = played(
        """
        agent:
          - asks:
              tool: user_select
              arguments: {question: "Which one?", options: [{label: Red}, {label: Blue}]}
          - dies: It is gone.
          - writes: I am back.
        happens:
          - send: Begin.
          - {after: sentence_heard, plus: 4, say: second-one.wav, text: The second one.}
          - {after: agent_ended, plus: 3, send: Crash.}
          - {after: host_lost, plus: 1, send: "Are you there?"}
        """,
        record=tmp_path / "recorded",
    )
    assert then.messages == ("Begin.", "Crash.", "Are you there?")
    assert "answered: Blue" in [event.text for event in then.events if type(event).__name__ == "ToolCalled"]
    again = perform(load_scene(tmp_path / "recorded" / "scene.yaml"))
    assert again.failures == ()
    assert again.said == then.said
    assert [type(event).__name__ for event in again.events if type(event).__name__ == "HostLost"] == [
        "HostLost"
    ]


def test_an_agent_that_was_real_is_not_needed_any_more(scene, tmp_path):
    from voice.testing import ScriptedHost

    made = []

    def make_host(tools, ask, emit):
        made.append(ScriptedHost(emit, busy_after_send=False))
        return made[-1]

    told = scene("happens: [{send: Hello.}, {pause: 1}, {say: yes.wav, text: Yes.}]")
    then = perform(told, make_host=make_host, record=tmp_path / "recorded")
    again = perform(load_scene(tmp_path / "recorded" / "scene.yaml"))
    assert len(made) == 1
    assert again.messages == then.messages == ("Hello.", "Yes.")


# --- The folder ---


def test_a_recording_is_whole_at_its_end_and_readable_before(tmp_path):
    folder = RecordingFolder(tmp_path / "new")
    frame = np.arange(320, dtype=np.int16)
    folder.sound(MICROPHONE, frame)
    folder.line(LOG, {"at": 0.0, "text": "é\ud800"})
    folder.close()
    with wave.open(str(tmp_path / "new" / MICROPHONE)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert file.readframes(1_000) == frame.tobytes()
    assert (tmp_path / "new" / LOG).read_bytes().endswith(b"\n")
    assert (tmp_path / "new" / EVENTS).read_bytes() == b""


def test_what_cannot_be_recorded_into_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for folder, told in ((tmp_path, "is not empty"), (tmp_path / "file", "Nothing can be recorded into")):
        with pytest.raises(RecordingError, match=told):
            RecordingFolder(folder)


@pytest.mark.anyio
async def test_a_full_disk_stops_the_recording_and_is_told_once(tmp_path):
    told = []
    recorder = Recorder(tmp_path / "new", Settings(), (), told.append)
    recorder._folder._files[LOG].close()
    recorder._folder._files[LOG] = Path("/dev/full").open("wb", buffering=0)  # noqa: ASYNC230, SIM115
    recorder.note(log.LineSent, text="hello")
    recorder._folder._thread.join(60)
    for _ in range(10_000):  # nobody waits for what is not written
        recorder.note(log.LineSent, text="hello")
    recorder.close()
    (sentence,) = told
    assert sentence.startswith(f"The recording into {tmp_path / 'new'} has stopped: No space left on device")


@pytest.mark.anyio
async def test_a_disk_that_hangs_stops_the_recording(tmp_path):
    told = []
    recorder = Recorder(tmp_path / "new", Settings(), (), told.append)
    recorder._folder.close()  # nobody writes any more
    for _ in range(10_000):
        recorder.note(log.LineSent, text="hello")
    (sentence,) = told
    assert "the disk does not keep up" in sentence


# --- The log ---


LINES = [
    '{"at": 0.0, "what": "opened", "frame": 0}',
    '{"at": 0.1, "what": "of a later version"}',
    '{"at": 0.2, "what": "send", "text": "hello"}',
]


def test_a_log_that_is_cut_short_is_read_up_to_there():
    lines = list(log.read_log([*LINES, '{"at": 0.3, "wh']))
    assert lines == [log.MicrophoneOpened(at=0.0, frame=0), log.LineSent(at=0.2, text="hello")]


def test_a_log_that_is_broken_inside_is_refused():
    with pytest.raises(ValueError, match="line 2 is not whole"):
        list(log.read_log([LINES[0], "{", LINES[2]]))


def test_a_recorded_scene_needs_its_files(tmp_path, scene):
    with pytest.raises(SceneError, match="nothing is said to be recorded"):
        scene("words: recorded")
    (tmp_path / "scene.yaml").write_text("recorded: {}\nwords: recorded")
    with pytest.raises(SceneError, match=r"log\.jsonl cannot be read"):
        perform(load_scene(tmp_path / "scene.yaml"))
    (tmp_path / "log.jsonl").write_text("{\n" + LINES[0])
    with pytest.raises(SceneError, match="line 1 is not whole"):
        perform(load_scene(tmp_path / "scene.yaml"))


def test_lines_are_what_the_log_reads(tmp_path, scene):
    perform(scene("happens: [{send: Hello.}]"), record=tmp_path / "recorded")
    written = (tmp_path / "recorded" / LOG).read_text().splitlines()
    assert [line.model_dump(mode="json") for line in log.read_log(written)] == [
        json.loads(line) for line in written
    ]
