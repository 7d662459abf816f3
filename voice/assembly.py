"""The one place that picks real parts: settings in, the ports' implementations out."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from voice.autonomous import Parts
from voice.backends.aec3 import Aec3
from voice.backends.null_speaker import SkippingSpeaker
from voice.backends.portaudio import PortAudioMicrophone, PortAudioSpeaker
from voice.backends.pyttsx3_engine import Pyttsx3Engine
from voice.backends.silero import SileroModel
from voice.backends.webrtc_vad import WebRtcGate
from voice.backends.whisper import THREADS, WhisperTranscriber
from voice.backends.whisper_models import find_model, languages, named_folder
from voice.commands import Controls
from voice.ears import Ears
from voice.errors import SettingsError
from voice.floor import Duplex
from voice.keeping import remember_threads, remembered_threads, state_folder
from voice.listening.detection import TwoStageDetector
from voice.listening.endpointing import Endpointer, EndRule, StartRule
from voice.listening.patience import Patience, PatienceRule, Wording
from voice.listening.phrases import PhraseListener
from voice.listening.pieces import PieceRule
from voice.listening.utterances import Ear
from voice.listening.vocabulary import Vocabulary
from voice.loop import Hearing
from voice.phrases import phrases_of
from voice.ports import EchoCanceller, Journal, Microphone, Speaker, SpeechDetector, SpeechEngine, Transcriber
from voice.settings import (
    HearingSettings,
    JournalSettings,
    Settings,
    SpeakingSettings,
    TranscriptionSettings,
)
from voice.speaking.manner import Manner
from voice.speaking.narrator import Narrator
from voice.spoken_answers import replies_to

if TYPE_CHECKING:
    from voice.journal.writer import DiskJournal

TakeNotice = Callable[[str], None]

EARLY_S = 0.2
"""After so much silence a piece is transcribed, in case it was the last: the text is ready when the end is
decided. No later tail makes the text better (17.8 % of words wrong with 0.2 s and with 0.5 s)."""


def make_ear(settings: HearingSettings) -> Ear:
    """A listener for one microphone."""
    start = StartRule(settings.start_threshold, settings.start_speech_s, settings.start_within_s)
    end = EndRule(settings.end_threshold, settings.end_silence_s, settings.longest_s, settings.warn_s)
    rule = PieceRule(early_s=EARLY_S, quiet_below=settings.end_threshold)
    return Ear(make_detector(), Endpointer(start, end), rule)


def make_patience(settings: Settings) -> Patience:
    """How long a silence of the user's is waited through."""
    hearing = settings.hearing
    rule = PatienceRule(
        hearing.closed_silence_s,
        hearing.end_silence_s,
        hearing.unfinished_silence_s,
        hearing.patience.factor,
    )
    words = phrases_of(settings.transcription.language).get("patience", {})
    language = settings.transcription.language
    return Patience(rule, Wording.of(words), answers=partial(replies_to, language=language))


def make_detector() -> SpeechDetector:
    """What tells speech from everything else in one stream of sound."""
    return TwoStageDetector(WebRtcGate(), SileroModel())


def find_weights(settings: TranscriptionSettings, *, download: bool = True) -> Path:
    """Where the weights of the model are. Blocks while those that are nowhere here are downloaded.

    Raises `TranscriberError` where there are none, `SettingsError` where they know no such language.
    """
    model, language = settings.model, settings.language
    if model.endswith(".en") and named_folder(model) is None and language != "en":
        raise _english_only(model, language, model.removesuffix(".en"))
    weights = find_model(model, download=download)
    known = languages(weights)
    if language in known:
        return weights
    if known == {"en"}:
        raise _english_only(f"in {weights}", language, "with a multilingual one, such as tiny")
    raise SettingsError(
        f"Whisper knows no language {language}.", mend=f"--language with one of {' '.join(sorted(known))}"
    )


def _english_only(model: str, language: str, instead: str) -> SettingsError:
    return SettingsError(
        f"The model {model} knows English only, and the language is {language}.", mend=f"--model {instead}"
    )


def make_transcriber(
    settings: TranscriptionSettings, weights: Path, *, remember: bool = False
) -> WhisperTranscriber:
    """Whisper, not yet started.

    With ``remember`` the number of threads that was measured for these weights on this machine is used; where
    there is none it is measured when there is time, and kept. A setting overrules both.
    """
    threads: int | None = settings.threads or THREADS
    if remember and settings.threads is None:
        threads = remembered_threads(weights, settings.compute_type)
    return WhisperTranscriber(
        weights,
        language=settings.language,
        threads=threads,
        compute_type=settings.compute_type,
        device=settings.device,
        on_threads=partial(remember_threads, weights, settings.compute_type) if threads is None else _nothing,
    )


def _nothing(_threads: int) -> None:
    pass


def make_engine(settings: SpeakingSettings, on_notice: TakeNotice | None = None) -> Pyttsx3Engine:
    """The speech engine, not yet started."""
    return Pyttsx3Engine(voice=settings.voice, language=settings.language, on_notice=on_notice)


def make_narrator(settings: SpeakingSettings, engine: SpeechEngine, speaker: Speaker) -> Narrator:
    """What speaks texts as the settings say."""
    return Narrator(
        engine,
        speaker,
        manner=Manner(settings.rate, settings.volume),
        longest_sentences=settings.longest_sentences,
        earcons=settings.earcons,
        language=settings.language,
    )


def make_microphone(
    settings: HearingSettings, on_notice: TakeNotice, *, stand_in: bool = False
) -> Microphone:
    """The device that the settings name; with ``stand_in`` the default one while that cannot be had."""
    return PortAudioMicrophone(settings.microphone, on_notice, stand_in=stand_in)


def make_speaker(settings: SpeakingSettings, *, heard: bool, on_notice: TakeNotice | None = None) -> Speaker:
    """The device that the settings name, or with ``heard`` false one that skips all sound.

    With ``on_notice``, which is told, the default one speaks while that cannot be had.
    """
    if not heard:
        return SkippingSpeaker()
    return PortAudioSpeaker(settings.speaker, on_notice, stand_in=on_notice is not None)


def make_hearing(
    settings: Settings,
    transcriber: Transcriber,
    patience: Patience,
    *,
    transcript_after_s: float | None = None,
    partials: bool = False,
    journal: Journal | None = None,
) -> Hearing:
    """What makes messages of what one microphone hears."""
    language = settings.transcription.language
    return Hearing(
        make_ear(settings.hearing),
        transcriber,
        patience=patience,
        transcript_after_s=transcript_after_s,
        partials=partials,
        vocabulary=Vocabulary(language=language),
        phantoms=frozenset(phrases_of(language).get("phantoms", {}).get("texts", ())),
        journal=journal,
    )


def make_ears(settings: Settings, transcriber: Transcriber, journal: Journal | None = None) -> Ears:
    """What hears one microphone, and not our own voice in it.

    Raises `LibraryMissing` where the settings ask for an echo canceller that is not installed.
    """
    hearing = make_hearing(settings, transcriber, make_patience(settings), partials=True, journal=journal)
    controls = Controls(settings.transcription.language, settings.controls.phrases)
    duplex = settings.hearing.duplex
    if not settings.controls.enabled:
        return Ears(hearing, duplex=duplex, canceller=_make_canceller(duplex))
    rule = settings.hearing
    phrases = PhraseListener(
        make_detector(),
        transcriber,
        StartRule(rule.start_threshold, rule.start_speech_s, rule.start_within_s),
        rule.end_threshold,
        vocabulary=filter(None, [controls.shortest_stop]),
    )
    return Ears(
        hearing,
        duplex=duplex,
        canceller=_make_canceller(duplex),
        phrases=phrases,
        stop_phrase_in=controls.stop_phrase_in,
    )


def _make_canceller(duplex: Duplex) -> EchoCanceller | None:
    """An echo canceller where one is asked for."""
    return Aec3() if duplex is Duplex.CANCELLED else None


@asynccontextmanager
async def open_journal(
    settings: JournalSettings, on_notice: TakeNotice, *, talks: bool = True
) -> AsyncGenerator[DiskJournal | None]:
    """What a session keeps until its agent has it; None where the user keeps nothing, or there is no place.

    ``talks`` says whether the session takes messages that `voice journal send` gives it. A system that is no
    Unix has no place either: neither locks that end with a process nor files that only their owner reads.
    """
    if not settings.enabled:
        yield None
        return
    try:
        from voice.journal.entries import Bounds
        from voice.journal.writer import DiskJournal

        folder = journal_folder()
    except SettingsError as error:
        on_notice(error.sentence)
        yield None
        return
    except ModuleNotFoundError as error:
        if error.name != "fcntl":
            raise
        on_notice("What you say and type is not kept until the agent has it: that takes Linux or macOS.")
        yield None
        return
    bounds = Bounds(settings.longest_days, settings.largest_mb)
    async with DiskJournal(
        folder, on_notice, bounds=bounds, keep_delivered=settings.keep_delivered, talks=talks
    ) as journal:
        yield journal


def journal_folder() -> Path:
    """Where what is kept lies; raises `SettingsError` where the home folder is not known."""
    return state_folder() / "journal"


@asynccontextmanager
async def open_parts(
    settings: Settings,
    transcriber: WhisperTranscriber,
    microphone: Microphone,
    speaker: Speaker,
    on_notice: TakeNotice | None = None,
    journal: Journal | None = None,
    overhear: Callable[[Transcriber, SpeechEngine, Ears], None] | None = None,
) -> AsyncGenerator[Parts]:
    """Start what autonomous Voice hears and speaks with; the model loads while the first words are spoken.

    A model that cannot be loaded ends it with `TranscriberError`, as soon as that is known. ``on_notice`` is
    told where another voice speaks than was asked for, and what the transcriber has to say. ``overhear`` is
    given what was made before it is used, to listen in at it.
    """
    if on_notice is not None:
        transcriber.on_notice = on_notice
    engine = make_engine(settings.speaking, on_notice)
    async with transcriber, engine, anyio.create_task_group() as tasks:
        tasks.start_soon(transcriber.ready)
        ears = make_ears(settings, transcriber, journal)
        if overhear is not None:
            overhear(transcriber, engine, ears)
        if isinstance(speaker, PortAudioSpeaker):
            speaker.on_played = ears.on_played
        else:
            ears.plays_nothing()
        narrator = make_narrator(settings.speaking, engine, speaker)
        yield Parts(microphone, ears, narrator, output=speaker)
        tasks.cancel_scope.cancel()
