"""What ``voice demo`` plays: a scripted agent, and a person who is recorded or real."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import anyio

from questionnaire import (
    AdjustableToolset,
    BadComposition,
    LinearPresenter,
    LineTerminal,
    NoInterface,
    controlling_terminal,
    packages_for,
)
from voice.assembly import make_microphone, make_speaker, make_transcriber, open_parts
from voice.backends.cues import CuedMicrophone
from voice.backends.recording import RecordingMicrophone
from voice.chat import Chat
from voice.cli.conversation import Conversation
from voice.errors import RecordingError, SettingsError, TranscriberError
from voice.events import Emit, Event, NarrationEnded, ToolsChanged, UserMessage
from voice.hosts.catalog import Ask
from voice.hosts.demo import DemoAgent
from voice.settings import Settings
from voice.tasks import lone_errors

REPLIES = ("yes-please.wav", "second-one.wav", "sentence-commit.wav", "digits-4271.wav")
"""What the recorded person answers to the agent's four questions, in ``audio_fixtures/``."""

KEYS = ("1", "1")
"""What they type when the agent asks on the screen."""

PATIENCE_S = 30.0
"""How long a recorded reply may take to become a message, also where Whisper must be started anew."""


def recorded_replies(folder: Path | None) -> list[Path]:
    """The recorded replies; raises `RecordingError` where they are not."""
    folder = folder or Path(__file__).parents[2] / "audio_fixtures"
    found = [folder / name for name in REPLIES]
    missing = [path.name for path in found if not path.is_file()]
    if missing:
        raise RecordingError(
            f"The recorded replies {', '.join(missing)} are not in {folder}.",
            mend="voice demo --fixtures FOLDER with the project's audio_fixtures, or voice demo --mic",
        )
    return found


def without_questionnaire(mode: str | None) -> bool:
    """Whether a session in this mode has no questionnaire; None is all there is.

    Raises `SettingsError` for a mode that is unknown or has no voice.
    """
    try:
        packages = packages_for(mode)
    except BadComposition as error:
        raise SettingsError(str(error)) from error
    if "voice" not in packages:
        raise SettingsError(f"The mode {mode} does not load voice.", mend="questionnaire modes lists them")
    return "questionnaire" not in packages


async def play(
    settings: Settings, weights: Path, replies: Sequence[Path] | None, *, heard: bool, plain: bool = False
) -> None:
    """Let the three acts follow each other: before Voice, with it, after it.

    With ``plain`` there is no questionnaire: the agent asks in words alone.
    """
    screen = Conversation()
    person = _RecordedPerson(replies) if replies else None
    microphone = (
        person.microphone if person else make_microphone(settings.hearing, screen.remark, stand_in=True)
    )
    speaker = make_speaker(settings.speaking, heard=heard, on_notice=screen.remark)
    transcriber = make_transcriber(settings.transcription, weights)

    def emit(event: Event) -> None:
        screen.show(event)
        if person:
            person.take(event)

    agent = DemoAgent(emit)

    def make_host(tools: AdjustableToolset, _ask: Ask, _emit: Emit) -> DemoAgent:
        agent.tools = tools
        return agent

    with _keyboard(screen, rehearsed=person is not None) as keyboard:
        chat = Chat(
            make_host,
            lambda: open_parts(settings, transcriber, microphone, speaker, screen.remark),
            settings,
            emit,
            presenter=LinearPresenter(keyboard) if keyboard else None,
            questionnaire=not plain,
        )
        screen.title(f"a scripted agent talks with {'a recorded person' if person else 'you'}")
        emit(ToolsChanged(tuple(tool.name for tool in chat.tools.tools())))
        with lone_errors():
            async with anyio.create_task_group() as tasks:
                await tasks.start(partial(chat.run, voice=False))
                await agent.before_voice()
                chat.toggle_voice()
                await chat.until_voice(on=True)
                async with anyio.create_task_group() as talking:
                    talking.start_soon(partial(chat.until_voice, on=False))  # raises where it fails
                    if person:
                        talking.start_soon(person.insist)
                    elif keyboard:
                        talking.start_soon(_type, keyboard, chat)
                    await agent.with_voice()
                    talking.cancel_scope.cancel()
                chat.toggle_voice()
                await chat.until_voice(on=False)
                await agent.after_voice()
                chat.quit()


async def _type(keyboard: LineTerminal, chat: Chat) -> None:
    """Send what is typed while Voice is on: the keyboard may be nearer."""
    while (line := await keyboard.read_line("")) is not None:
        chat.send(line)


class _RecordedPerson:
    """Answers each question when they have heard it, with the next recording."""

    def __init__(self, replies: Sequence[Path]) -> None:
        self.microphone = CuedMicrophone([RecordingMicrophone(path) for path in replies])
        self._reply: str | None = None
        self._changed = anyio.Event()

    def take(self, event: Event) -> None:
        """Hear what the agent does, and whether it has heard us."""
        if isinstance(event, NarrationEnded):
            self._reply = self.microphone.cue()
        elif isinstance(event, UserMessage):
            self._reply = None
        else:
            return
        self._changed.set()
        self._changed = anyio.Event()

    async def insist(self) -> None:
        """Wait for ever, but not for a reply that becomes no message: that raises `TranscriberError`."""
        while True:
            with anyio.move_on_after(PATIENCE_S if self._reply else None) as waiting:
                await self._changed.wait()
            if waiting.cancelled_caught:
                raise TranscriberError(
                    f"The reply in {self._reply} became no message within {PATIENCE_S:.0f} s.",
                    mend="voice doctor",
                )


class _RehearsedKeys:
    """The keyboard of the recorded person: a line terminal that types what was rehearsed."""

    def __init__(self, screen: Conversation) -> None:
        self._screen = screen
        self._lines = iter(KEYS)

    @property
    def width(self) -> int:
        return self._screen.plain_width

    def write_line(self, line: str) -> None:
        self._screen.plain(line)

    async def read_line(self, prompt: str) -> str | None:
        line = next(self._lines, None)
        self._screen.plain(f"{prompt}{line or ''}")
        return line


@contextmanager
def _keyboard(screen: Conversation, *, rehearsed: bool) -> Iterator[LineTerminal | None]:
    """What the structured questions are answered with; None where there is no terminal to ask on."""
    if rehearsed:
        yield _RehearsedKeys(screen)
        return
    with ExitStack() as stack:
        try:
            keyboard = stack.enter_context(controlling_terminal())
        except NoInterface:
            keyboard = None
        yield keyboard
