"""One speaker's replies after each other: what was learned from the first ones counts for the later ones."""

import anyio
import numpy as np
import pytest
from learning import TURNS, Reply, Row, follow, report
from questions import OPEN
from rehearing import Recorded

from voice.audio import FRAME_S, FRAME_SAMPLES
from voice.listening.patience import OWN_PAUSES
from voice.ports import Transcript, Verdict
from voice.settings import Settings


class Saying:
    """A transcriber that gives one text, whatever it hears."""

    done = True

    def submit(self, samples, *, vocabulary=()):
        return self

    async def result(self):
        return Transcript("I think so")

    def cancel(self):
        """It is done already."""


def reply(pause_s):
    spoken = [(0.5, 0.0), (0.6, 1.0), (pause_s, 0.0), (0.6, 1.0), (3.0, 0.0)]
    verdicts = [Verdict(p, -30.0) for seconds, p in spoken for _ in range(round(seconds / FRAME_S))]
    samples = np.zeros(len(verdicts) * FRAME_SAMPLES, np.int16)
    return Recorded("r", "paused", samples, tuple(verdicts), ((0.5, 1.7 + pause_s),), "x", OPEN)


def followed(pause_s, *, learns):
    replies = [reply(pause_s)] * (OWN_PAUSES + 3)
    return anyio.run(lambda: follow(replies, Saying(), Settings(), learns=learns))


def test_who_is_cut_off_is_waited_for_once_enough_is_known():
    found = followed(2.0, learns=True)
    assert [one.cut for one in found] == [True] * OWN_PAUSES + [False] * 3
    assert found[-1].decided_after_s == pytest.approx(2.4, abs=0.03)


def test_without_learning_nothing_changes():
    found = followed(2.0, learns=False)
    assert all(one.cut for one in found)
    waits = [one.decided_after_s for one in followed(0.5, learns=False)]
    assert waits == pytest.approx([1.6] * len(waits), abs=0.03)


def test_who_pauses_shortly_is_answered_as_soon_as_before():
    found = followed(0.5, learns=True)
    assert found[-1].decided_after_s == pytest.approx(found[0].decided_after_s)


def test_the_page_tells_what_the_first_half_taught():
    first = [Reply(True, None)] * (TURNS // 2)
    second = [Reply(False, 1.5)] * (TURNS // 2)
    page = "\n".join(report([Row("pauses", [first + first], [first + second])]))
    half = TURNS // 2
    assert f"| pauses | no | {half} of {half} | {half} of {half} | - |" in page
    assert f"| pauses | yes | {half} of {half} | 0 of {half} | 1500 |" in page
