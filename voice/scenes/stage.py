"""The stage of a scene: all that a session hears, speaks and keeps with, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

import anyio

from voice.assembly import make_ears, make_narrator
from voice.audio import SAMPLE_RATE, Samples
from voice.autonomous import Parts
from voice.ears import Ears
from voice.events import Emit, Notice
from voice.faulty import (
    Fault,
    Faulty,
    FaultyEngine,
    FaultyJournal,
    FaultyMicrophone,
    FaultySpeaker,
    FaultyTranscriber,
)
from voice.ports import SpeechEngine, Transcriber
from voice.scenes.air import Air
from voice.scenes.outside import Outside
from voice.scenes.parts import (
    AudibleSpeaker,
    OutsideEngine,
    QuietEngine,
    SceneMicrophone,
    SceneSpeaker,
    SceneTranscriber,
    scripted_words,
)
from voice.scenes.recorded import (
    RecordedEngine,
    RecordedMicrophone,
    RecordedSpeaker,
    RecordedTranscriber,
    Recording,
)
from voice.scenes.screen import SceneScreen
from voice.scenes.script import Part, Scene, Understood
from voice.scenes.wording import Wording
from voice.testing import ScriptedJournal


class Stage:
    """The parts of one run; ``take`` hears what the speaker plays."""

    def __init__(self, scene: Scene, recording: Recording | None, outside: Outside, take: Emit) -> None:
        self._scene, self._recording, self._outside, self._take = scene, recording, outside, take
        self._air = Air(scene.room.noise_dbfs)
        self._wording = Wording()
        self._sure: dict[int, Understood] = {}
        self._loudspeaker = self._made_speaker()
        self._kept = ScriptedJournal()
        self.screen = SceneScreen()
        self.ears: Ears | None = None
        """What hears, while Voice is on."""
        self.speaker = FaultySpeaker(self._loudspeaker)
        self.microphone = FaultyMicrophone(
            SceneMicrophone(self._air, self._wording)
            if recording is None
            else RecordedMicrophone(recording, self._wording)
        )
        self.transcriber = FaultyTranscriber(self._made_transcriber())
        self.engine = FaultyEngine(self._made_engine())
        self.journal = FaultyJournal(self._kept, lambda sentence: take(Notice(sentence)))
        self.overhear: Callable[[Transcriber, SpeechEngine, Ears], None] | None = None
        """Listens in at what hears and speaks, as `voice.assembly.open_parts` has it."""

    @property
    def playing(self) -> bool:
        """Whether something is heard of the speaker now."""
        return self._loudspeaker.playing

    @property
    def kept(self) -> tuple[str, ...]:
        """The words of what the journal has now."""
        return tuple(entry.text for entry in self._kept.entries.values())

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Parts]:
        """Open what Voice hears and speaks with."""
        scene = self._scene
        self.ears = ears = make_ears(scene.settings, self.transcriber, self.journal)
        if self.overhear is not None:
            self.overhear(self.transcriber, self.engine, ears)
        if isinstance(self._loudspeaker, AudibleSpeaker):
            self._loudspeaker.on_played = ears.on_played
        elif scene.recorded is None or not scene.recorded.speaker_tells:
            ears.plays_nothing()
        narrator = make_narrator(scene.settings.speaking, self.engine, self.speaker)
        yield Parts(self.microphone, ears, narrator, self._loudspeaker.name)

    def sound(self, samples: Samples, *, gain_db: float, text: str | None, sure: Understood) -> float:
        """Let a sound be heard from now on, and the text understood of it; returns how long it lasts."""
        now_s = anyio.current_time()
        self._air.put(now_s, samples, gain_db)
        if text is not None:
            self._sure[self._wording.put(text, samples, now_s)] = sure
        return len(samples) / SAMPLE_RATE

    def hush(self) -> None:
        """What is being said breaks off, and what sounds."""
        self._air.cut(anyio.current_time())
        self._wording.cut(anyio.current_time())

    def strike(self, part: Part, kind: str, host: Faulty | None) -> Callable[[], None]:
        """Have a part fail, the host being this one; returns what mends it."""
        parts: dict[Part, Faulty | None] = {
            Part.TRANSCRIBER: self.transcriber,
            Part.ENGINE: self.engine,
            Part.MICROPHONE: self.microphone,
            Part.SPEAKER: self.speaker,
            Part.JOURNAL: self.journal,
            Part.HOST: host,
        }
        faulty = parts[part]
        assert faulty is not None, "who has no host that can fail has no fault of the host"
        faulty.strike(Fault.KILLED if kind == "dies" else Fault(kind))
        return faulty.mend

    def _made_speaker(self) -> SceneSpeaker:
        room = self._scene.room
        if self._recording is not None:
            return RecordedSpeaker(self._take, self._recording)
        if room.echo_db is None:
            return SceneSpeaker(self._take)
        return AudibleSpeaker(
            self._take, self._air, self._wording, echo_db=room.echo_db, delay_s=room.echo_delay_s
        )

    def _made_transcriber(self) -> Transcriber:
        settings = self._scene.settings.transcription
        if self._scene.words == "recorded" and self._recording is not None:
            return RecordedTranscriber(self._recording, self._wording, settings.replay_delay_s)
        return SceneTranscriber(
            partial(self._outside.transcribe, settings)
            if self._scene.words == "whisper"
            else scripted_words(self._wording, self._sure),
            settings.replay_delay_s,
        )

    def _made_engine(self) -> SpeechEngine:
        if self._scene.engine == "recorded" and self._recording is not None:
            return RecordedEngine(self._recording)
        if self._scene.engine == "real":
            return OutsideEngine(partial(self._outside.render, self._scene.settings.speaking))
        return QuietEngine()
