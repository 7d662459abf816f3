"""One part after another, each within its limit: nothing that hangs keeps the others from being tried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from voice.doctor import agents, hearing, places, speaking
from voice.doctor.findings import Finding, fault, slow, unforeseen, untried
from voice.doctor.sentences import sentence_for
from voice.errors import LibraryMissing, VoiceError
from voice.tasks import in_thread

if TYPE_CHECKING:
    from voice.devices import DeviceInfo
    from voice.doctor.speaking import Played
    from voice.settings import Settings

LIMIT_S = 15.0
"""So long each part may take. A model that loads for longer than this is too large for the machine."""

_MENDS = {
    "Whisper": "take a smaller model (voice calibrate), or more time (voice doctor --within 60)",
    "transcription": "take a smaller model (voice calibrate), or more time (voice doctor --within 60)",
    "microphone": "restart the sound server: systemctl --user restart pipewire, or pulseaudio --kill",
    "speaker": "restart the sound server: systemctl --user restart pipewire, or pulseaudio --kill",
    "settings": "see whether its disk still answers, or export VIVA_VOICE_SETTINGS=FILE with another one",
    "journal": "see whether its disk still answers, or export XDG_STATE_HOME=FOLDER on another one",
}
"""What to do where there is no answer; of other parts, to try again."""
_ELSE_MEND = "try again when the machine has less to do"

_T = TypeVar("_T")
Tell = Callable[[Finding], None]


@dataclass
class Examined:
    """What was read meanwhile, and a report is made of."""

    settings: Settings | None = None
    """None where they could not be read."""
    session: Mapping[str, Any] | None = None
    """The summary of the last one; None where there is none that can be read."""
    devices: Sequence[DeviceInfo] = ()


class Examination:
    """Tries every part and tells what it finds; ``trying`` is told which part is next."""

    def __init__(self, tell: Tell, trying: Callable[[str], None], limit_s: float = LIMIT_S) -> None:
        self._tell = tell
        self._trying = trying
        self._limit_s = limit_s
        self._examined = Examined()

    async def run(self) -> Examined:
        """Try them all, in the order in which they are told."""
        read = await self._tried("settings", lambda: in_thread(places.read_settings))
        if read is not None:
            finding, self._examined.settings = read
            self._tell(finding)
        try:
            from voice.settings import Settings
        except ImportError:
            return self._examined  # of which the finding tells
        settings = self._examined.settings or Settings()
        with anyio.move_on_after(self._limit_s):
            self._examined.session = await in_thread(places.last_session)
        for part, look in (
            ("terminal", lambda: places.terminal_fits(places.Terminal.here())),
            ("journal", places.journal_kept),
            ("agent pi", agents.pi),
        ):
            await self._one(part, partial(in_thread, look), needed=False)
        await self._all("agents", agents.libraries_of_agents)
        await self._all("echo canceller", lambda: filter(None, [agents.echo_canceller(settings)]))
        await self._detector(settings)
        await self._one("microphone", lambda: self._microphone(settings))
        await self._sound(settings)
        return self._examined

    async def _detector(self, settings: Settings) -> None:
        await self._one("voice detector", lambda: in_thread(hearing.detector, settings))

    async def _microphone(self, settings: Settings) -> Finding:
        from voice.backends.portaudio import list_devices

        self._examined.devices = await in_thread(list_devices)
        return await hearing.microphone(settings)

    async def _sound(self, settings: Settings) -> None:
        """The engine says a sentence, the speaker plays it, and Whisper hears both."""
        spoken, heard = settings.speaking.language, settings.transcription.language
        sentence = sentence_for(spoken, heard)
        said = sentence or "1 2 3."
        made = await self._tried(
            "speech engine", lambda: speaking.engine(settings.speaking, said), needed=False
        )
        sound = None
        if isinstance(made, tuple):
            finding, sound = made
            self._tell(finding)
        played: Played | None = None
        if sound is None:
            await self._one("speaker", lambda: speaking.find(settings.speaking), needed=False)
        else:
            tried = await self._tried("speaker", lambda: speaking.play(settings, sound), needed=False)
            if isinstance(tried, speaking.Played):
                played = tried
                self._tell(played.speaker)
        why = "there is nothing to hear again: the engine gave no sound" if sound is None else ""
        if sentence is None:
            why = f"it speaks {spoken} and hears {heard}, and there is no sentence for both"
        self._trying("Whisper")
        try:
            async with hearing.whisper(settings, self._limit_s) as (finding, transcriber):
                self._tell(finding)
                if sentence is None or sound is None:
                    self._tell(untried("transcription", why))
                else:
                    reply = speaking.at_16_khz(sound)
                    await self._one(
                        "transcription", lambda: hearing.transcription(transcriber, reply, sentence)
                    )
                if played is not None:
                    if played.loopback is not None or sentence is None:
                        self._tell(played.loopback or untried("loopback", why))
                    else:
                        volume = settings.speaking.volume
                        await self._one(
                            "loopback",
                            lambda: hearing.loopback(transcriber, played.heard, sentence, volume),
                            needed=False,
                        )
        except Exception as error:
            self._tell(self._failed("Whisper", error))

    async def _one(self, part: str, check: Callable[[], Awaitable[Finding]], *, needed: bool = True) -> None:
        found = await self._tried(part, check, needed=needed)
        if isinstance(found, Finding):
            self._tell(replace(found, needed=found.needed and needed))

    async def _all(self, part: str, look: Callable[[], Iterable[Finding]]) -> None:
        for finding in await self._tried(part, lambda: in_thread(lambda: list(look()))) or ():
            self._tell(finding)

    async def _tried(
        self, part: str, check: Callable[[], Awaitable[_T]], *, needed: bool = True
    ) -> _T | None:
        """What a check gives; where it raises, or takes too long, that is told, and None given."""
        self._trying(part)
        try:
            with anyio.fail_after(self._limit_s):
                return await check()
        except Exception as error:
            self._tell(self._failed(part, error, needed=needed))
        return None

    def _failed(self, part: str, error: Exception, *, needed: bool = True) -> Finding:
        """What a check found that raised, be it by a fault of ours: the others are tried all the same."""
        match error:
            case TimeoutError():
                return slow(part, self._limit_s, _MENDS.get(part, _ELSE_MEND), needed=needed)
            case VoiceError():
                return fault(part, error, needed=needed)
            case ImportError():
                return fault(part, LibraryMissing(error), needed=needed)
            case OSError():
                return fault(part, VoiceError(f"{error.strerror or error}."), needed=needed)
        return unforeseen(part, error, needed=needed)


async def examine(
    tell: Tell, *, trying: Callable[[str], None] = lambda _part: None, limit_s: float = LIMIT_S
) -> Examined:
    """Try each part and tell what is found; takes about ten seconds, and speaks a sentence aloud."""
    return await Examination(tell, trying, limit_s).run()
