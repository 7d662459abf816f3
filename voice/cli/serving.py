"""What ``voice mcp`` runs: a server with the real devices and engines, until its client leaves."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial

import anyio
from anyio import to_thread
from anyio.abc import TaskStatus

from questionnaire import QuestionnaireError
from questionnaire.endpoints import TOKEN, check_streams, open_port, until_signalled, waiting_told
from questionnaire.server import configured_toolset
from voice import __version__
from voice.assembly import (
    find_weights,
    journal_folder,
    make_microphone,
    make_speaker,
    make_transcriber,
    open_journal,
    open_parts,
)
from voice.autonomous import Parts
from voice.cli.running import remark, run
from voice.errors import SettingsError
from voice.events import Event, Notice, VoiceState, VoiceStateChanged
from voice.journal.offering import left_over
from voice.ports import Journal
from voice.server import VoiceServer
from voice.settings import Settings


def serve_until_signalled(settings: Settings, *, on: bool, port: int | None) -> signal.Signals | None:
    """Serve on standard input and output, or at a port; return the signal that ended it, where one did.

    SIGUSR1 switches Voice on and off. Raises `SettingsError` for a port or a token that cannot be used.
    """
    try:
        asking = configured_toolset()
        at = None if port is None else open_port(port, os.environ)
        if at is None:
            check_streams()
    except QuestionnaireError as error:
        raise SettingsError(str(error)) from error
    came: signal.Signals | None = None

    async def serve(voice: VoiceServer) -> None:
        remark(f"voice: kill -USR1 {os.getpid()} switches Voice on and off.")
        if at is None:
            if waiting := waiting_told("voice mcp"):
                remark(waiting)
            await voice.run(voice.server.serve_stdio, on=on)
        else:
            token = f"with the token {at.token}" if at.made else f"with the token in {TOKEN}"
            remark(f"voice: serving at {at.address} {token}")
            await voice.run(partial(voice.server.serve_http, at), on=on)

    async def toggle_on_signal(voice: VoiceServer, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGUSR1) as signals:
            task_status.started()
            async for _ in signals:
                voice.toggle()

    async def main() -> None:
        nonlocal came
        async with open_journal(settings.journal, _notice, talks=False) as journal:
            voice = VoiceServer(
                partial(_real_parts, settings, journal),
                settings,
                emit=_show,
                asking=asking,
                version=__version__,
                journal=journal,
            )
            async with anyio.create_task_group() as tasks:
                await tasks.start(toggle_on_signal, voice)
                if journal is not None:
                    tasks.start_soon(left_over, journal_folder(), _notice)
                came = await until_signalled(partial(serve, voice))
                tasks.cancel_scope.cancel()

    run(main)
    return came


@asynccontextmanager
async def _real_parts(settings: Settings, journal: Journal | None) -> AsyncGenerator[Parts]:
    """Open the devices and the engines; what is missing is told when Voice is switched on, not before."""
    weights = await to_thread.run_sync(find_weights, settings.transcription, abandon_on_cancel=True)
    transcriber = make_transcriber(settings.transcription, weights, remember=True)
    microphone = make_microphone(settings.hearing, _notice, stand_in=True)
    speaker = make_speaker(settings.speaking, heard=True, on_notice=_notice)
    async with open_parts(settings, transcriber, microphone, speaker, _notice, journal) as parts:
        yield parts


def _notice(sentence: str) -> None:
    remark(f"voice: {sentence}")


def _show(event: Event) -> None:
    """Tell on standard error what the user should know; standard output is the client's."""
    match event:
        case Notice(sentence):
            remark(f"voice: {sentence}")
        case VoiceStateChanged(VoiceState.ACTIVE):
            remark("voice: Voice is on.")
        case VoiceStateChanged(VoiceState.INACTIVE):
            remark("voice: Voice is off.")
        case _:
            pass
