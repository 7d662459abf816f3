"""A spoken conversation in a program of one's own: `run` carries one with a pydantic-ai agent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import anyio

from questionnaire import AdjustableToolset, Presenter
from voice.assembly import find_weights, make_microphone, make_speaker, make_transcriber, open_parts
from voice.chat import Chat
from voice.events import Emit, Event, Notice
from voice.hosts.catalog import Ask
from voice.ports import Host, Microphone, Speaker
from voice.settings import Settings
from voice.tasks import lone_errors


async def run(
    agent: Any,
    *,
    prompt: str = "",
    deps: Any = None,
    history: Sequence[Any] = (),
    settings: Settings | None = None,
    microphone: Microphone | None = None,
    speaker: Speaker | None = None,
    presenter: Presenter | None = None,
    emit: Emit = lambda _: None,
) -> list[Any]:
    """Talk with a pydantic-ai ``agent`` until Voice is switched off; return the messages of it all.

    That is by voice ("stop voice"), or where the microphone ends. ``history`` are the messages of an earlier
    conversation, ``prompt`` is a first message for the agent. What is returned is valid as the ``history`` of
    the next conversation, or as the ``message_history`` of any run of the agent's. Cancelled, it ends.

    Without a microphone and a speaker of their own the devices of the settings are used. ``presenter`` shows
    what has to be answered in its structure; without one it is asked by voice alone. ``emit`` hears what
    happens (`voice.events`).

    Raises `VoiceError` where Voice cannot be switched on, `HostError` where the agent cannot be started.
    """
    from voice.hosts.pydantic_ai import PydanticAiHost

    settings = settings or Settings()

    def notice(sentence: str) -> None:
        emit(Notice(sentence))

    heard_by = microphone or make_microphone(settings.hearing, notice, stand_in=True)
    spoken_by = speaker or make_speaker(settings.speaking, heard=True, on_notice=notice)
    weights = await anyio.to_thread.run_sync(find_weights, settings.transcription)
    transcriber = make_transcriber(settings.transcription, weights, remember=True)
    hosts: list[PydanticAiHost] = []
    idle = anyio.Event()

    def tell(event: Event) -> None:
        nonlocal idle
        emit(event)
        idle.set()

    def make_host(tools: AdjustableToolset, ask: Ask, told: Emit) -> Host:
        host = PydanticAiHost(agent, tools=tools, ask=ask, emit=told, deps=deps, history=history)
        hosts.append(host)
        return host

    chat = Chat(
        make_host,
        partial(open_parts, settings, transcriber, heard_by, spoken_by),
        settings,
        tell,
        presenter=presenter,
    )
    with lone_errors():
        async with anyio.create_task_group() as tasks:
            await tasks.start(chat.run)
            await chat.until_voice(on=True)
            if prompt:
                chat.send(prompt)
            await chat.until_voice(on=False)
            while chat.waiting or hosts[0].busy:  # what was said last gets its answer
                idle = anyio.Event()
                await idle.wait()
            chat.quit()
    return list(hosts[0].messages)
