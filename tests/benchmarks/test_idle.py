"""What it costs to listen is measured in processor time, of the real parts."""

import anyio
import pytest
from idle import rooms, silero_hears

from voice.audio import FRAME_SAMPLES, level_dbfs
from voice.settings import Settings


def test_rooms_are_whole_frames():
    made = rooms(0.2)
    assert all(len(samples) % FRAME_SAMPLES == 0 for samples in made.values())
    assert level_dbfs(made["digital silence"]) < level_dbfs(made["a quiet room"]) < level_dbfs(made["a fan"])


@pytest.mark.slow
def test_silero_is_really_run():
    async def heard():
        await (await silero_hears(rooms(0.4)["a fan"], Settings()))()

    anyio.run(heard)
