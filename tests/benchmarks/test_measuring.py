"""What was taken back is waited for by nobody."""

import anyio
from measuring import model_name, through_loop

from voice.backends.recording import RecordingMicrophone
from voice.ports import Transcript
from voice.settings import Settings


class Pending:
    done = False
    cancelled = False

    async def result(self):
        if self.cancelled:
            await anyio.sleep_forever()
        self.done = True
        return Transcript("yes", compute_s=0.5)

    def cancel(self):
        self.cancelled = True


class Lazy:
    """Transcribes only what somebody waits for, as one does whose queue is long."""

    def __init__(self):
        self.made = []

    def submit(self, samples, *, vocabulary=()):
        self.made.append(Pending())
        return self.made[-1]


def test_a_transcription_that_was_taken_back_is_not_waited_for(fixtures_folder):
    async def heard():
        settings = Settings().changed("transcription", replay_delay_s=0.9)  # longer than the pause in it
        with anyio.fail_after(60):
            return await through_loop(RecordingMicrophone(fixtures_folder / "pause-500.wav"), lazy, settings)

    lazy = Lazy()
    outcome = anyio.run(heard)
    assert any(pending.cancelled for pending in lazy.made)
    assert len(outcome.pieces) == sum(pending.done for pending in lazy.made) >= 1
    assert outcome.whisper_s == 0.5 * len(outcome.pieces)


def test_a_folder_is_called_by_its_name():
    assert model_name(Settings().changed("transcription", model="/models/base")) == "base"
    assert model_name(Settings()) == "tiny.en"
