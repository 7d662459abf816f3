"""The ears: what the microphone hears, less what is our own voice.

They wrap the `Hearing` of one microphone and know what is being narrated, so that nothing we said ourselves
becomes a message, in any `Duplex` mode. Three lines stand behind each other:

* The gate. In half duplex nothing is heard while we speak, and until the device has drained. Of a reply that
  began before that and still goes on, what came earlier is heard late: the last seconds are kept, and our
  own voice is taken out of them (`own_voice`), which needs a speaker that tells what it plays.
* The sound. What was heard is held against what was played at that time: what the one explains of the other
  is ours, whatever its words.
* The words. A transcript is held against what was being said (`echo`), whatever its sound.

A spoken stop is heard all the while, by a listener of its own (`PhraseListener`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from voice.audio import FRAME_S, FRAME_SAMPLES, Frame, Samples, to_float
from voice.commands import Spoken
from voice.events import (
    CommandHeard,
    Discarded,
    DiscardReason,
    Event,
    Notice,
    Span,
    SpeechStarted,
    UserMessage,
)
from voice.floor import Duplex, Floor
from voice.listening.echo import Left, without_echo
from voice.listening.own_voice import (
    LATEST_S,
    MOSTLY_OURS,
    Played,
    Remover,
    Tape,
    framed,
    less,
    own_voice,
    share,
    shares,
)
from voice.listening.phrases import Overheard, PhraseListener
from voice.loop import Hearing
from voice.ports import EchoCanceller

REMEMBERED_S = 20.0
"""So much sound is kept, to be held against what was played: 1.3 MB."""

LOOK_BACK_S = 3.0
"""A reply that began earlier before the end of a narration loses its beginning, and so is not heard."""

LEARNT_FROM_S = 8.0
"""So much sound before it is looked at to find our own voice in an utterance."""

GOES_ON_S = 0.2
"""A reply that began before the end of a narration is heard when it goes on for so long after it."""

ECHOES_BORNE = 2
"""After so many echoes a session that hears while we speak hears no more."""

A_WORD_S = 0.3
"""As much of our own voice in an utterance as a short word takes."""

PARTLY_OURS = 0.4
"""The share of an utterance's energy from which it is ours: of a sentence that was broken off at once there
is too little to find all of its echo; of somebody who breaks in at its beginning less than a quarter is."""

BEGINS_WITH_US_S = 0.4
"""Speech that began so soon after a sentence of ours, and ended with us, is ours where no sound can tell: of
a beginning that was broken off Whisper makes any words ("I come." of "I can set up")."""

_SPEECH_BELOW_LOUDEST_DB = 25.0
"""What is quieter than the loudest frame of an utterance by more than this is no part of a word."""

FELL_BACK = (
    "The microphone hears our own voice, so from now on nothing that is said while we speak is heard, but a"
    " spoken stop. To speak at any time, use headphones."
)


def _never(_stop: Spoken) -> bool:
    return False


StopPhrase = Callable[[str, str], Spoken | None]
"""Finds the stop in what was heard, given what we are saying: `voice.commands.Controls.stop_phrase_in`."""


class Ears:
    """One microphone's hearing, through every narration.

    ``narrator.on_sentence`` and ``speaker.on_played`` are to lead to the methods of these names. In
    `Duplex.CANCELLED` a ``canceller`` is needed, and is used in no other. ``phrases`` and ``stop_phrase_in``
    come together; without them no stop is heard while we speak.
    """

    def __init__(
        self,
        hearing: Hearing,
        *,
        duplex: Duplex = Duplex.HALF,
        canceller: EchoCanceller | None = None,
        phrases: PhraseListener | None = None,
        stop_phrase_in: StopPhrase = lambda _text, _ours: None,
    ) -> None:
        if duplex is Duplex.CANCELLED and canceller is None:
            raise ValueError("the mode cancelled needs an echo canceller")
        self.hearing = hearing
        self.stop_while_silent = False
        """Whether a spoken stop has its fast path also while we say nothing: while the agent works."""
        self.is_answer: Callable[[Spoken], bool] = _never
        """Which stop is the answer to what is being asked: it is not obeyed, and is heard like any answer."""
        self._duplex = duplex
        self._canceller = canceller if duplex is Duplex.CANCELLED else None
        self._phrases = phrases
        self._stop_phrase_in = stop_phrase_in
        self._floor = Floor()
        self._held = False
        self._played = Played(REMEMBERED_S)
        self._heard = Tape(REMEMBERED_S)
        self._remover = Remover()
        self._echoes = 0
        self._muffled_frames = 0
        """How many of the last frames were not heard, since we spoke."""
        self._late: deque[Span] = deque(maxlen=8)
        """What was heard late: what began in it must go on after it."""
        self._turn_started_s = 0.0
        self._obeyed_s = 0.0

    @property
    def duplex(self) -> Duplex:
        """The mode in force: after two echoes it is `Duplex.HALF`, whatever was asked for."""
        return self._duplex

    @property
    def now_s(self) -> float:
        """Audio time: how much sound there has been."""
        return self.hearing.now_s

    @property
    def busy(self) -> bool:
        """Whether somebody is speaking or perhaps begins to, or something said is not yet a message."""
        return self.hearing.busy

    @property
    def speaking(self) -> bool:
        """Whether a turn is open: somebody speaks, or pauses."""
        return self.hearing.speaking

    @property
    def held(self) -> bool:
        """Whether the keyboard holds the microphone."""
        return self._held

    async def push(self, frame: Frame) -> list[Event]:
        """Take the next frame of the microphone; return what happened."""
        self._heard.append(frame)
        played = self._played.next_frame()
        if self._canceller is not None:
            frame = self._canceller.cancel(frame, played)
        gate_open = self._floor.hears_next_frame()
        overheard = await self._overhear(listen=self.stop_while_silent or not gate_open)
        if gate_open or self._duplex is not Duplex.HALF:
            events = self._heard_late()
            if self._held:
                events += await self.hearing.skip(keep=True)
            else:
                events += await self.hearing.push(frame)
        else:
            self._muffled_frames += 1
            events = await self.hearing.skip(keep=self._held)
        return self._judged(events) + self._obeyed(overheard)

    def input_ended(self) -> list[Event]:
        """End an open turn: its source gives no more sound. Its message comes with later frames."""
        return self.hearing.input_ended()

    def hold(self) -> None:
        """Let frames pass unheard, for the keyboard; an open turn waits, one that has ended is delivered."""
        self._held = True

    def release(self) -> None:
        """Hear again; a turn that was open goes on."""
        self._held = False

    def drop_turn(self, reason: DiscardReason) -> list[Event]:
        """End the open turn, if there is one: its words come later, as `Discarded` for this reason."""
        return self.hearing.drop(reason)

    @contextmanager
    def narration(self) -> Iterator[None]:
        """To be held while a text is narrated, and until the speaker has really fallen silent."""
        with self._floor.narration():
            yield

    def on_sentence(self, sentence: str | None) -> None:
        """The narrator's hook: this sentence begins to be heard; None when nothing is any more."""
        self._floor.says(sentence)

    def cut_short(self, heard: str) -> None:
        """The sentence that was heard last was broken off after these words: an echo holds no later ones."""
        self._floor.cut_short(heard)

    def on_played(self, samples: Samples, in_s: float) -> None:
        """The speaker's hook: in so many seconds these samples (at SAMPLE_RATE) are heard, and then nothing.

        Without samples: of what was told nothing more is heard.
        """
        self._played.announce(samples, in_s)

    def plays_nothing(self) -> None:
        """Say that the speaker plays nothing that could be heard: all that the microphone hears is theirs."""
        self._played.known = True

    # --- The gate -----------------------------------------------------------------------------------------

    def _heard_late(self) -> list[Event]:
        """Hear what came while we still spoke, now that we are silent: a reply may have begun in it."""
        muffled, self._muffled_frames = self._muffled_frames, 0
        unobeyed = round((self.now_s - self._obeyed_s) / FRAME_S)
        late = min(muffled, unobeyed, round(LOOK_BACK_S / FRAME_S))
        if late <= 0 or self._held or self.speaking or not self._played.known:
            return []
        self._late.append(Span(self.now_s - late * FRAME_S, self.now_s))
        # The frame that is to be heard now is on the tape already.
        known = round(LEARNT_FROM_S / FRAME_S)
        heard, played = self._heard.last(known, before=1), self._played.last(known, before=1)
        cleaned = less(heard, own_voice(heard, played))
        return self.hearing.recall(list(framed(cleaned)[-late:]))

    # --- The spoken stop ----------------------------------------------------------------------------------

    async def _overhear(self, *, listen: bool) -> Overheard | None:
        if self._phrases is None:
            return None
        if not listen:
            return await self._phrases.skip()
        # Not through the canceller: of 16 stops said into an echo as loud as half of them AEC3 left 5.
        return await self._phrases.push(self._remover.remove(self._heard, self._played))

    def _obeyed(self, overheard: Overheard | None) -> list[Event]:
        """The stop in what was overheard; the turn that it was part of is no message."""
        if overheard is None:
            return []
        ours = self._floor.spoken_since(overheard.start_s - 1.0)
        inside = self.speaking and self._turn_started_s < overheard.start_s - A_WORD_S
        if not ours and (inside or not overheard.whole):
            return []
        stop = self._stop_phrase_in(overheard.text, ours)
        if stop is None or self.is_answer(stop):
            return []
        self._obeyed_s = overheard.end_s + A_WORD_S
        heard = CommandHeard(stop.command, stop.phrase, self.now_s)
        return [heard, *self.hearing.drop(DiscardReason.COMMAND)]

    # --- The sound, and the words -------------------------------------------------------------------------

    def _judged(self, events: list[Event]) -> list[Event]:
        judged: list[Event] = []
        for event in events:
            match event:
                case UserMessage(heard=Span()):
                    judged += self._less_echo(event)
                    continue
                case SpeechStarted(at_s):
                    self._turn_started_s = at_s
            judged.append(event)
        return judged

    def _less_echo(self, message: UserMessage) -> list[Event]:
        """What is left of a message without our own voice."""
        assert message.heard is not None, "it was spoken"
        heard = message.heard
        late = next((span for span in self._late if span.start_s <= heard.start_s < span.end_s), None)
        if late is not None:
            if heard.end_s < late.end_s + GOES_ON_S:
                return [Discarded(DiscardReason.TALKED_OVER, message.text, self.now_s)]
            heard = Span(late.end_s, heard.end_s)  # before that our own voice was taken out
        ours, ours_s = self._our_share(heard)
        left = without_echo(message.text, message.heard, self._floor.said)
        # What the canceller takes out is in the sound all the same: with it, most of that must be ours.
        cancelled = self._duplex is Duplex.CANCELLED
        enough_s = max(A_WORD_S, (heard.end_s - heard.start_s) / 2) if cancelled else A_WORD_S
        if not self._played.known and self._began_and_ended_with_us(heard):
            left = Left("", message.text)
        if ours >= PARTLY_OURS or (ours_s >= enough_s and not left.echo):
            left = Left("", message.text)
        events: list[Event] = []
        if left.echo:
            events += [Discarded(DiscardReason.ECHO, left.echo, self.now_s), *self._echo_borne()]
        if left.text:
            events.append(replace(message, text=left.text))
        return events

    def _began_and_ended_with_us(self, heard: Span) -> bool:
        """Whether an utterance is just where an echo of ours would be."""
        said = [one for one in self._floor.said if one.start_s <= heard.start_s]
        if not said or heard.start_s > said[-1].start_s + BEGINS_WITH_US_S:
            return False
        return said[-1].end_s is None or heard.end_s <= said[-1].end_s + A_WORD_S

    def _our_share(self, heard: Span) -> tuple[float, float]:
        """How much of the energy of an utterance was our own voice, and for how many seconds."""
        after = round((self.now_s - heard.end_s) / FRAME_S)
        length = round((heard.end_s - heard.start_s) / FRAME_S)
        known = max(length, round(LEARNT_FROM_S / FRAME_S))
        sound, played = self._heard.last(known, before=after), self._played.last(known, before=after)
        length = min(length, len(sound) // FRAME_SAMPLES)
        reach = length + round(LATEST_S / FRAME_S)
        if not length or not played.samples[-reach * FRAME_SAMPLES :].any():
            return 0.0, 0.0
        ours = own_voice(sound, played)
        sound, ours = sound[-length * FRAME_SAMPLES :], ours[-length * FRAME_SAMPLES :]
        energy = np.square(framed(to_float(sound))).sum(axis=1)
        loud = energy > energy.max() * 10 ** (-_SPEECH_BELOW_LOUDEST_DB / 10)
        return share(sound, ours), FRAME_S * int((loud & (shares(sound, ours) >= MOSTLY_OURS)).sum())

    def _echo_borne(self) -> list[Event]:
        """Count an echo; after the second one nothing is heard any more while we speak."""
        self._echoes += 1
        if self._duplex is Duplex.HALF or self._echoes < ECHOES_BORNE:
            return []
        self._duplex = Duplex.HALF
        self._canceller = None
        return [Notice(FELL_BACK)]
