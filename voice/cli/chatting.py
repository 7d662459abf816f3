"""What ``voice chat`` puts together: a screen, an agent, and a conversation between them."""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskStatus

from questionnaire import Attention, BadSettings, Bell, HerdrSocket, Presenter, TimeOut, TogetherPresenter
from questionnaire.settings import QuestionnaireSettings
from questionnaire.settings import load_settings as load_questionnaire_settings
from voice.assembly import (
    find_weights,
    journal_folder,
    make_detector,
    make_microphone,
    make_speaker,
    make_transcriber,
    open_journal,
    open_parts,
)
from voice.autonomous import Parts
from voice.chat import Chat
from voice.cli.last_resort import SIGNALLED, ended_by_force
from voice.cli.rehearsal import without_questionnaire
from voice.cli.replies import RecordedReplies
from voice.cli.switching import Switching
from voice.errors import SettingsError, StreamClosed, VoiceError
from voice.events import Event
from voice.hosts.catalog import MakeHost, host_maker
from voice.journal.offering import Offering
from voice.journal.writer import DiskJournal
from voice.keeping import LAST_SESSION, keep
from voice.ports import Microphone
from voice.scenes.recorder import RecordedChat, Recorder
from voice.screen.keys import Order
from voice.screen.plain import PlainChat
from voice.screen.terminal import ChatTerminal
from voice.settings import Settings
from voice.statistics import SessionStatistics
from voice.surroundings import names_of_folder

Screen = ChatTerminal | PlainChat

KEPT_EVERY_S = 30.0
"""How often the numbers of a session are written: what a crash loses at most."""


@dataclass(frozen=True)
class Choices:
    """What the command line says."""

    agent: str
    arguments: tuple[str, ...] = ()
    mode: str | None = None
    plain: bool = False
    voice: bool = True
    heard: bool = True
    """Whether there is a speaker."""
    replies: Path | None = None
    record: Path | None = None
    """An empty folder to record the session into."""


async def converse(
    settings: Settings,
    choices: Choices,
    make_host: MakeHost | None = None,
    beside: Presenter | None = None,
) -> int:
    """Carry one conversation; returns the exit code.

    With ``make_host`` the agent is that one, and not one by its name. Structured questions are asked
    ``beside`` as well as on the screen here: the first answer counts. Raises `VoiceError` for choices that
    cannot be used, and where the agent cannot be started.
    """
    questionnaire = not without_questionnaire(choices.mode)
    asking = _asking()
    make_host = make_host or host_maker(choices.agent, choices.arguments)
    replies = RecordedReplies(choices.replies) if choices.replies else None
    weights = _Weights(settings, look_now=choices.voice)
    screen = _screen(choices, told_limits(settings), show_latency=settings.conversation.show_latency)

    microphone: Microphone = (
        replies.microphone if replies else make_microphone(settings.hearing, screen.notice, stand_in=True)
    )
    speaker = make_speaker(settings.speaking, heard=choices.heard, on_notice=screen.notice)
    switching = Switching({"input": microphone, "output": speaker}, screen.tell, screen.notice)
    screen.orders |= {
        Order.MIC: partial(switching.ask, "input"),
        Order.SPEAKER: partial(switching.ask, "output"),
    }

    statistics = SessionStatistics()
    names = names_of_folder(Path())
    recorder = Recorder(choices.record, settings, names, screen.notice) if choices.record else None
    if recorder is not None:
        recorder.overhear_devices(microphone, speaker)
        make_host = recorder.host(make_host)

    def emit(event: Event) -> None:
        if recorder is not None:
            recorder.take(event)
        screen.take(event)
        statistics.take(event)
        if replies is not None:
            replies.take(event)

    @asynccontextmanager
    async def opened() -> AsyncGenerator[Parts]:
        transcriber = make_transcriber(settings.transcription, await weights.found(), remember=True)
        # Loading what detects speech takes a while for the first time; keys are heard meanwhile.
        await anyio.to_thread.run_sync(make_detector)
        overhear = None if recorder is None else recorder.overhear
        parts = open_parts(settings, transcriber, microphone, speaker, screen.notice, journal, overhear)
        async with parts as opened_parts:
            yield opened_parts

    presenter = screen.presenter if beside is None else TogetherPresenter(screen.presenter, beside)
    async with open_journal(settings.journal, screen.notice) as journal:
        chat = (RecordedChat if recorder else Chat)(
            make_host,
            opened,
            settings,
            emit,
            presenter=presenter,
            questionnaire=questionnaire,
            contract=asking.contract,
            time_out=TimeOut(asking.timeout_s, asking.timeout_action) if asking.timeout_s else None,
            attention=tuple(_attention(asking)),
            notify_herdr=asking.notify_herdr,
            names=names,
            journal=journal,
        )
        if isinstance(chat, RecordedChat) and recorder is not None:
            chat.recorder = recorder
        screen.tell(
            f"Viva Voce: you talk with {chat.host_name}. Say or type something; {screen.help_with} helps."
        )
        ended = _Ended()
        with _logged(screen.notice):
            async with anyio.create_task_group() as tasks:
                await tasks.start(_heed_signals, chat, screen, ended)
                tasks.start_soon(_watch_keys, chat, screen, ended)
                tasks.start_soon(_keep_now_and_then, statistics)
                tasks.start_soon(switching.run)
                if journal is not None:
                    tasks.start_soon(_offering(journal, chat, screen).run)
                try:
                    await chat.run(voice=choices.voice)
                finally:
                    screen.close()
                    await ended.screen_closed()
                    _keep(statistics)
                    if recorder is not None:
                        recorder.close()
                tasks.cancel_scope.cancel()
    return ended.code


def _offering(journal: DiskJournal, chat: Chat, screen: Screen) -> Offering:
    """What is told and done about what earlier conversations have left."""
    offering = Offering(journal_folder(), journal, send=chat.send_kept, say=screen.tell, notice=screen.notice)
    screen.orders[Order.JOURNAL] = offering.heed
    return offering


async def _keep_now_and_then(statistics: SessionStatistics) -> None:
    while True:
        await anyio.sleep(KEPT_EVERY_S)
        _keep(statistics)


def _keep(statistics: SessionStatistics) -> None:
    """Keep the numbers for `voice stats`; one in which nothing happened leaves those of the last session."""
    if statistics.counted:
        with suppress(OSError, SettingsError):
            keep(LAST_SESSION, statistics.as_json())


def _asking() -> QuestionnaireSettings:
    """How the user wants to be asked: the group of the settings file that is not ours."""
    try:
        return load_questionnaire_settings()
    except BadSettings as error:
        raise SettingsError(str(error)) from error


def _attention(asking: QuestionnaireSettings) -> Iterator[Attention]:
    if asking.bell:
        yield Bell.of_terminal()
    if asking.notify_herdr and (herdr := HerdrSocket.from_environment(os.environ, "viva-voce")):
        yield herdr


class _Ended:
    """How it ended."""

    def __init__(self) -> None:
        self.code = 0
        self._closed = anyio.Event()

    def close(self, code: int) -> None:
        self.code = self.code or code
        self._closed.set()

    async def screen_closed(self) -> None:
        with anyio.CancelScope(shield=True), anyio.move_on_after(1.0):
            await self._closed.wait()


async def _watch_keys(chat: Chat, screen: Screen, ended: _Ended) -> None:
    try:
        ended.close(await screen.run(chat))
    finally:
        ended.close(0)


async def _heed_signals(chat: Chat, screen: Screen, ended: _Ended, *, task_status: TaskStatus[None]) -> None:
    """Ctrl-C that comes as a signal is the key; the other signals end the conversation in order."""
    receiver = anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    with receiver as signals, ended_by_force(signal.SIGTERM, signal.SIGHUP):
        task_status.started()
        async for number in signals:
            if number is signal.SIGINT:
                screen.interrupt()
            else:
                ended.code = ended.code or SIGNALLED + number
                chat.quit()


def _screen(choices: Choices, told: tuple[str, ...], *, show_latency: bool) -> Screen:
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if stream is None:  # and what is opened next has its number
            raise StreamClosed(name)
    draws = os.isatty(0) and os.isatty(1) and os.environ.get("TERM", "") not in ("", "dumb", "unknown")
    return (
        ChatTerminal(0, 1, settings_told=told, show_latency=show_latency)
        if draws and not choices.plain
        else PlainChat(0, 1, settings_told=told, show_latency=show_latency)
    )


def told_limits(settings: Settings) -> tuple[str, ...]:
    """The limits that the settings set, a line each, for a person."""
    hearing, conversation, controls = settings.hearing, settings.conversation, settings.controls
    silence_s = round(hearing.end_silence_s * hearing.patience.factor, 2)
    ended = f"{silence_s:g} s of silence end what you say"
    if controls.enabled and controls.end_word:
        ended = f"what you say is sent when {controls.end_word!r} was said last, however long you are silent"
    repeated = f"a question is repeated once after {conversation.answer_within_s:g} s without an answer"
    return (
        ended,
        f"you are warned at {hearing.warn_s:g} s, and cut at {hearing.longest_s:g} s",
        f"{repeated}, and then it is quiet, with the microphone {conversation.quiet_microphone}",
        f"narration goes on {conversation.resume_after_s:g} s after a sound without words",
        f"who speaks on within {conversation.reopen_s:g} s of a message that was sent adds to it",
        f"a message that comes while the agent works: {conversation.while_busy.replace('_', ' ')}",
        f"while the agent speaks: {hearing.duplex}",
    )


class _Weights:
    """Where Whisper's weights are. What has to be downloaded is, before there is a screen to spoil."""

    def __init__(self, settings: Settings, *, look_now: bool) -> None:
        self._settings = settings.transcription
        self._found: Path | VoiceError | None = self._look(download=True) if look_now else None

    async def found(self) -> Path:
        """The folder; raises `VoiceError` where there is none."""
        if not isinstance(self._found, Path):
            self._found = await anyio.to_thread.run_sync(partial(self._look, download=False))
        if isinstance(self._found, VoiceError):
            raise self._found
        return self._found

    def _look(self, *, download: bool) -> Path | VoiceError:
        try:
            return find_weights(self._settings, download=download)
        except VoiceError as error:
            return error


@contextmanager
def _logged(notice: Callable[[str], None]) -> Iterator[None]:
    """Show what libraries log instead of letting it be written across the screen."""

    class Notices(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notice(f"{record.name}: {record.getMessage()}")

    handler, root = Notices(logging.WARNING), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
