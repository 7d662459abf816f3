"""The ears: what the microphone hears, less what is our own voice.

They wrap the `Hearing` of one microphone and know what is being narrated, so that nothing we said ourselves
becomes a message, in any `Duplex` mode. Three lines stand behind each other:

* The gate. In half duplex nothing is heard while we speak, and until the device has drained. Of a reply that
  began before that and still goes on, what came earlier is heard late: the last seconds are kept, and our
  own voice is taken out of them (`own_voice`), which needs a speaker that tells what it plays.
* The sound. Of what began while we spoke it is looked at how loud it is against our own voice, what of it is
  explained by what was played, and what an echo canceller left of it (`whose`). Without evidence that it is
  not ours it is no message, whatever its words.
* The words. A transcript is held against what was being said (`echo`), but where its sound is wholly theirs.

What was heard is sent whole, or not at all: the rest of a reply may say the contrary of it.

A spoken stop is heard all the while, by a listener of its own (`PhraseListener`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from voice.audio import FRAME_S, FRAME_SAMPLES, Frame, Samples, to_float
from voice.commands import Spoken
from voice.events import (
    CommandHeard,
    Discarded,
    DiscardReason,
    Event,
    Notice,
    Span,
    SpeechEnded,
    SpeechStarted,
    UserMessage,
)
from voice.floor import AT_ONCE_S, Duplex, Floor
from voice.listening.echo import Ours, ours_in
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
    taken_along,
)
from voice.listening.phrases import Overheard, PhraseListener
from voice.listening.whose import TYPICAL, Sound, Whose, above_db, forbidden, whose
from voice.loop import SAME_BREATH_S, Hearing
from voice.ports import EchoCanceller

REMEMBERED_S = 20.0
"""So much sound is kept, to be held against what was played: 1.3 MB."""

LOOK_BACK_S = 3.0
"""A reply that began earlier before the end of a narration loses its beginning, and so is no message: the
half of it may say the contrary of the whole."""

LEARNT_FROM_S = 8.0
"""So much sound before it is looked at to find our own voice in an utterance."""

GOES_ON_S = 0.2
"""A reply that began before the end of a narration is heard when it goes on for so long after it."""

ECHOES_BORNE = 2
"""After so many echoes a session that hears while we speak hears no more."""

A_WORD_S = 0.3
"""What a short word takes."""

WEIGHED_AFTER_S = 8.0
"""A turn that began while we spoke is weighed at its end, and after so long at the latest."""

LOST_S = 0.2
"""With our own voice less of a reply than a word may be taken out. Of replies that began 0.5 s before our end
up to 0.14 s was, and they were understood; of those that began after it, nothing."""

_AS_LOUD_DB = 10.0
"""What is softer than somebody speaks by more than this is not a word of theirs."""

DIES_AWAY_S = 0.4
"""For so long after the end of a narration its echo may still be heard: the delay of a device, and a room."""

_SPEECH_BELOW_LOUDEST_DB = 25.0
"""What is quieter than the loudest frame of an utterance by more than this is no part of a word."""

FELL_BACK = (
    "The microphone hears our own voice, so from now on nothing that is said while we speak is heard, but a"
    " spoken stop. To speak at any time, use headphones."
)


def _never(_stop: Spoken) -> bool:
    return False


@dataclass(frozen=True)
class _HeardLate:
    """What came while we still spoke, or the keyboard held the microphone, and was heard after that."""

    start_s: float
    whole_from_s: float
    """What begins before then may have begun earlier, and have lost that."""
    end_s: float
    lost_to: DiscardReason
    """Why nothing earlier was heard."""
    taken: NDArray[np.float64]
    """For each frame, the energy of what else was taken out of it with our own voice."""

    def holds(self, at_s: float) -> bool:
        return self.start_s - AT_ONCE_S <= at_s < self.end_s - AT_ONCE_S

    def has_taken(self, of: Span, loudness: float) -> bool:
        """Whether a word was taken out of an utterance, or out of the breath before it.

        ``loudness`` is how loud it is after we are silent: the energy of a frame.
        """
        first = round((of.start_s - SAME_BREATH_S - self.start_s) / FRAME_S)
        words = self.taken[max(0, first) :] >= loudness * 10 ** (-_AS_LOUD_DB / 10)
        return FRAME_S * int(words.sum()) >= LOST_S - FRAME_S / 2

    def forbids(self, heard: Span) -> DiscardReason | None:
        """Why an utterance that begins in it is no message; None where it is whole, and goes on after it."""
        if heard.start_s < self.whole_from_s - AT_ONCE_S:
            return self.lost_to
        goes_on = heard.end_s >= self.end_s + GOES_ON_S - AT_ONCE_S
        return None if goes_on else DiscardReason.TALKED_OVER


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
        self._audible = True
        """Whether anything of us can be heard at all."""
        self._played = Played(REMEMBERED_S)
        self._heard = Tape(REMEMBERED_S)
        self._left = Tape(REMEMBERED_S)
        """What the canceller left, where there is one."""
        self._remover = Remover()
        self._echoes = 0
        self._muffled_frames = 0
        """How many of the last frames were not heard, since we spoke; what came before the keyboard let go of
        the microphone is not among them."""
        self._held_frames = 0
        """How many frames before those were not heard, since the keyboard held the microphone."""
        self._late: deque[_HeardLate] = deque(maxlen=8)
        """What was heard late: what began in it must go on after it."""
        self._turn_started_s = 0.0
        self._unweighed_s: float | None = None
        """When the open turn began, where that was while we spoke and its sound is still to be weighed."""
        self._weighed: deque[tuple[float, Sound]] = deque(maxlen=8)
        """What the sound of such turns tells, each with its beginning."""
        self._theirs: deque[Span] = deque(maxlen=8)
        """When somebody spoke while we did."""
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
            self._left.append(frame)
        gate_open = self._floor.hears_next_frame()
        overheard = await self._overhear(listen=self.stop_while_silent or not gate_open, eager=not gate_open)
        if self._held:
            self._muffled_frames = 0
            self._held_frames = 0 if self.speaking else self._held_frames + 1
            events = await self.hearing.skip(keep=True)
        elif gate_open or self._duplex is not Duplex.HALF:
            events = self._heard_late()
            events += await self.hearing.push(frame)
        else:
            self._muffled_frames += 1
            events = await self.hearing.skip()
        fell_back = self._weigh(events)
        return self._judged(events) + fell_back + self._obeyed(overheard)

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

    def spoil_turn(self, reason: DiscardReason) -> None:
        """Have the open turn go on, and be no message when it is over: then its words are told."""
        self.hearing.spoil(reason)

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
        self._audible = False

    # --- The gate -----------------------------------------------------------------------------------------

    def _heard_late(self) -> list[Event]:
        """Hear what came while we still spoke, now that we are silent: a reply may have begun in it.

        Of a reply that began earlier than is looked back, or while the keyboard held the microphone, the
        beginning is lost. So of that a breath is heard as well: to know such a reply, and to send none.
        """
        muffled, self._muffled_frames = self._muffled_frames, 0
        held, self._held_frames = self._held_frames, 0
        breath, unobeyed = round(SAME_BREATH_S / FRAME_S), round((self.now_s - self._obeyed_s) / FRAME_S)
        whole = min(muffled, unobeyed, round(LOOK_BACK_S / FRAME_S))
        late = min(muffled + min(held, breath), unobeyed, whole + breath)
        if late <= 0 or self.speaking or not self._played.known:
            return []
        now_s = self.now_s
        lost_to = DiscardReason.TYPED_INSTEAD if whole == muffled else DiscardReason.TALKED_OVER
        # The frame that is to be heard now is on the tape already.
        known = round(LEARNT_FROM_S / FRAME_S)
        if self._canceller is not None:
            cleaned, taken = self._left.last(known, before=1), np.zeros(known)
        else:
            heard, played = self._heard.last(known, before=1), self._played.last(known, before=1)
            ours = own_voice(heard, played)
            cleaned, taken = less(heard, ours), taken_along(heard, ours)
        began_s, whole_from_s = now_s - late * FRAME_S, now_s - whole * FRAME_S
        self._late.append(_HeardLate(began_s, whole_from_s, now_s, lost_to, taken[-late:]))
        return self.hearing.recall(list(framed(cleaned)[-late:]))

    # --- The spoken stop ----------------------------------------------------------------------------------

    async def _overhear(self, *, listen: bool, eager: bool) -> Overheard | None:
        if self._phrases is None:
            return None
        if not listen:
            return await self._phrases.skip()
        # Not through the canceller: of 16 stops said into an echo as loud as half of them AEC3 left 5.
        return await self._phrases.push(self._remover.remove(self._heard, self._played), eager=eager)

    def _obeyed(self, overheard: Overheard | None) -> list[Event]:
        """The stop in what was overheard; the turn that it was part of is no message."""
        if overheard is None or overheard.start_s < self._obeyed_s:
            return []  # what was obeyed is heard once more, with what came after it
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
                    judged += self._if_theirs(event)
                    continue
                case SpeechStarted(at_s):
                    self._turn_started_s = at_s
                case Discarded(DiscardReason.NO_WORDS | DiscardReason.PHANTOM) if self._last_was_ours():
                    event = replace(event, reason=DiscardReason.ECHO)
            judged.append(event)
        return judged

    def _if_theirs(self, message: UserMessage) -> list[Event]:
        """A message, if all of it is the person's; else why it is none."""
        assert message.heard is not None, "it was spoken"
        heard = message.heard
        late = next((late for late in self._late if late.holds(heard.start_s)), None)
        if late is not None and (reason := late.forbids(heard)) is not None:
            return [_dropped(message, reason, message.text, self.now_s)]
        if self._lost_its_beginning(heard):
            return [_dropped(message, DiscardReason.TALKED_OVER, message.text, self.now_s)]
        ours = ours_in(message.text, heard, self._floor.said)
        weighed = next((sound for start_s, sound in self._weighed if start_s == heard.start_s), None)
        if weighed is not None:
            reason = forbidden(message.text, ours, weighed)
        else:
            reason = self._forbidden_unweighed(message.text, ours, heard, late)
        if reason is None:
            self._theirs.append(heard)
            return [message]
        counted = weighed is not None and whose(weighed) is Whose.OURS
        dropped = _dropped(message, reason, message.text, self.now_s)
        return [dropped, *([] if counted else self._echo_borne())]

    def _lost_its_beginning(self, heard: Span) -> bool:
        """Whether words of what was heard late, or right after it, were taken out with our own voice."""
        late = self._late[-1] if self._late else None
        if late is None or not late.start_s <= heard.start_s < late.end_s + SAME_BREATH_S:
            return False
        since_s = max(heard.start_s, late.end_s)
        after, length = round((self.now_s - heard.end_s) / FRAME_S), round((heard.end_s - since_s) / FRAME_S)
        alone = framed(to_float(self._heard.last(length, before=after))).astype(np.float64)
        if not len(alone):
            return False
        return late.has_taken(heard, float(np.percentile(np.square(alone).sum(axis=1), TYPICAL)))

    def _forbidden_unweighed(
        self, text: str, ours: Ours, heard: Span, late: _HeardLate | None
    ) -> DiscardReason | None:
        """Why what was heard late, or while we were silent, is no message; None where it is one."""
        after = self._sound_of(heard if late is None else Span(late.end_s, heard.end_s))
        ends_ours = whose(replace(after, above_db=None, left_db=None)) is Whose.OURS
        if late is None:
            if ends_ours or ours is Ours.ALL:
                return DiscardReason.ECHO
            return DiscardReason.TALKED_OVER if ours is Ours.IN_PART else None
        if ends_ours:
            return DiscardReason.TALKED_OVER if ours is Ours.IN_PART else DiscardReason.ECHO
        if ours is Ours.NONE:
            return None
        before = self._sound_of(Span(heard.start_s, late.end_s))
        return DiscardReason.TALKED_OVER if forbidden(text, ours, before) is not None else None

    def _weigh(self, events: list[Event]) -> list[Event]:
        """Take down what the sound of a turn tells that began while we spoke, as long as it is on tape.

        Our own voice is counted then, for it has broken off a narration, whether there are words in it or
        not.
        """
        ended_s: float | None = None
        for event in events:
            match event:
                case SpeechStarted(at_s):
                    hears_us = self._audible and self._duplex is not Duplex.HALF
                    hears_us = hears_us and self._floor.heard_at(at_s, DIES_AWAY_S)
                    self._unweighed_s = at_s if hears_us else None
                case SpeechEnded(at_s):
                    ended_s = at_s
        start_s = self._unweighed_s
        if start_s is not None and ended_s is None and self.now_s - start_s >= WEIGHED_AFTER_S:
            ended_s = self.now_s
        if start_s is None or ended_s is None:
            return []
        self._unweighed_s = None
        silent_s = self._floor.said[-1].end_s if self._floor.said else None
        if silent_s is not None:
            if start_s >= silent_s and ended_s >= silent_s + DIES_AWAY_S + A_WORD_S:
                return []  # no echo goes on for so long
            ended_s = max(start_s + FRAME_S, min(ended_s, silent_s + DIES_AWAY_S))
        sound = self._sound_of(Span(start_s, ended_s))
        self._weighed.append((start_s, sound))
        return self._echo_borne() if whose(sound) is Whose.OURS else []

    def _last_was_ours(self) -> bool:
        """Whether the last turn that began was our own voice, by its sound."""
        return any(
            start_s == self._turn_started_s and whose(sound) is Whose.OURS for start_s, sound in self._weighed
        )

    def _sound_of(self, heard: Span) -> Sound:
        """What the sound at that time tells, as far as it is on tape."""
        after = round((self.now_s - heard.end_s) / FRAME_S)
        length = round((heard.end_s - heard.start_s) / FRAME_S)
        known = max(length, round(LEARNT_FROM_S / FRAME_S))
        sound, played = self._heard.last(known, before=after), self._played.last(known, before=after)
        length = min(length, len(sound) // FRAME_SAMPLES)
        if length <= 0:
            return Sound()
        energies = np.square(framed(to_float(sound)).astype(np.float64)).sum(axis=1)
        energy = energies[-length:]
        loud = energy > energy.max() * 10 ** (-_SPEECH_BELOW_LOUDEST_DB / 10)
        before, word = self._energies_of_ours(heard), round(A_WORD_S / FRAME_S)
        above, begins_above = (above_db(some, before, FRAME_S) for some in (energy[loud], energy[:word]))
        left_db = None
        if self._canceller is not None:
            left = np.square(framed(to_float(self._left.last(length, before=after)))).sum()
            left_db = float(10 * np.log10(max(float(left), 1e-12) / max(float(energy.sum()), 1e-12)))
        reach = length + round(LATEST_S / FRAME_S)
        if not self._played.known:
            return Sound(above, begins_above, left_db=left_db)
        if not played.samples[-reach * FRAME_SAMPLES :].any():
            return Sound(above, begins_above, 0.0, left_db=left_db)
        ours = own_voice(sound, played)[-length * FRAME_SAMPLES :]
        sound = sound[-length * FRAME_SAMPLES :]
        ours_s = FRAME_S * int((loud & (shares(sound, ours) >= MOSTLY_OURS)).sum())
        first = word * FRAME_SAMPLES
        begins = share(sound[:first], ours[:first])
        return Sound(above, begins_above, share(sound, ours), begins, ours_s, left_db)

    def _energies_of_ours(self, heard: Span) -> NDArray[np.float64]:
        """The energies of the frames before ``heard`` in which we spoke and, it seems, nobody else."""
        on_tape = framed(to_float(self._heard.last(round(REMEMBERED_S / FRAME_S))))
        first = self.now_s - len(on_tape) * FRAME_S
        times = first + FRAME_S * np.arange(len(on_tape))
        ours = np.zeros(len(on_tape), bool)
        for said in self._floor.said:
            # A device may be so much later than it tells.
            until_s = heard.start_s - A_WORD_S if said.end_s is None else said.end_s
            ours |= (times >= said.start_s + LATEST_S) & (times < until_s)
        ours &= times < heard.start_s - A_WORD_S
        for span in self._theirs:
            ours &= (times < span.start_s - A_WORD_S) | (times > span.end_s + A_WORD_S)
        energies: NDArray[np.float64] = np.square(on_tape[ours].astype(np.float64)).sum(axis=1)
        return energies

    def _echo_borne(self) -> list[Event]:
        """Count an echo; after the second one nothing is heard any more while we speak."""
        self._echoes += 1
        if self._duplex is Duplex.HALF or self._echoes < ECHOES_BORNE:
            return []
        self._duplex = Duplex.HALF
        self._canceller = None
        return [Notice(FELL_BACK)]


def _dropped(message: UserMessage, reason: DiscardReason, text: str, at_s: float) -> Discarded:
    assert message.heard is not None, "it was spoken"
    return Discarded(reason, text, at_s, message.utterances, message.heard.start_s)
