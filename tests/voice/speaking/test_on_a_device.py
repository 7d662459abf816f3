"""Narration on a device: real speech through PortAudio, again and again."""

import json

import pytest

STOP_AND_SPEAK = """
from voice.backends.pyttsx3_engine import Pyttsx3Engine
from voice.backends.portaudio import PortAudioSpeaker
from voice.speaking.earcons import Earcon
from voice.speaking.narrator import Narrator

async def main():
    async with Pyttsx3Engine() as engine:
        narrator = Narrator(engine, PortAudioSpeaker("vl_spk"))
        for number in range(20):
            endings = []

            async def narrate():
                endings.append((await narrator.narrate("This is stopped again and again.")).ending)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(narrate)
                await anyio.sleep(0.02 * number)  # anywhere: rendering, opening, playing
                narrator.interrupt()
            say(ending=endings[0])
        whole = await narrator.narrate("One.\\n\\nTwo.")
        say(ending=whole.ending, position=whole.position.sentence, played_s=whole.ended.played_s)
        say(heard=await narrator.earcon(Earcon.SENT))

anyio.run(main)
"""


@pytest.mark.devices
def test_stop_and_speak_twenty_times(sound_server):
    program = sound_server.program(STOP_AND_SPEAK)
    printed, errors = program.communicate(timeout=120)
    assert (program.returncode, errors) == (0, "")
    *stopped, whole, earcon = [json.loads(line) for line in printed.splitlines()]
    assert [said["ending"] for said in stopped] == ["interrupted"] * 20
    assert (whole["ending"], whole["position"]) == ("completed", 2)
    assert 0.5 < whole["played_s"] < 3
    assert earcon["heard"]
