"""`voice chat` with real PortAudio streams, on a microphone and a speaker that exist in memory."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.devices, pytest.mark.slow]

VOICE = Path(sys.executable).parent / "voice"
F2, F3, CTRL_D = "\x1bOQ", "\x1bOR", "\x04"


def test_the_devices_in_use_are_shown_and_a_key_silences_what_is_spoken(
    on_terminal, sound_server, fixtures_folder
):
    def speak(recording):
        command = ["paplay", "--device=mic_in", fixtures_folder / recording]
        subprocess.run(command, env=sound_server.env, check=True)

    terminal = on_terminal(VOICE, "chat", environment=sound_server.env, width=120).until("listening")
    terminal.until("mic default (Remapped Monitor of Null Output) · speaker ")
    speak("yes-please.wav")
    terminal.until("● Yes, please.").until("narrating").until("♪ Question 1")
    terminal.send(F3).until("narration interrupted").until("listening")
    speak("second-one.wav")
    terminal.until("● The second one.").until("So it is: A library")
    terminal.send("a draft").until("microphone held").send("\x1b").until("microphone held", gone=True)
    terminal.send(F2).until("F2 voice on")
    assert terminal.send(CTRL_D).ended() == 0
    shown = [line.split(" ")[0] for line in terminal.history]
    assert set(shown) <= {"before", "", "you", "agent", "ended"}  # no library wrote across the screen


def test_another_microphone_is_taken_by_a_line_and_keys_are_heard_while_the_sound_server_hangs(
    on_terminal, make_sound_server
):
    server = make_sound_server()
    server.start()
    server.plug("Headset", rate=48_000, channels=2)
    terminal = on_terminal(VOICE, "chat", "--speaker", "none", environment=server.env, width=120)
    terminal.until("listening").until("mic default (Remapped")
    terminal.send("/mic\r").until("Headset, PulseAudio").until("/mic NAME takes one of them.")
    terminal.send("/mic headset\r").until("Headset is the microphone from now on.")
    terminal.until("mic Headset ·").until("Another microphone was chosen. The microphone is Headset now.")
    terminal.send("/mic nonsense\r").until("There is no microphone called 'nonsense'")
    terminal.send("/speaker\r").until("This conversation has no speaker that could be another one.")
    with server.hanging():
        terminal.until("microphone lost").send("tell me nothing\r").until("> tell me nothing")
        terminal.send("a line that nobody has sent").until("a line that nobody has sent")
        terminal.send("\x1b")
    terminal.until("Headset is back.").until("listening")
    terminal.send(CTRL_D).until("ended 0").ended()
    server.close()
