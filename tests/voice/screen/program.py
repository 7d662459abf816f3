"""A screen with a scripted conversation behind it: each typed message is a line of Python that makes events.

`python program.py [--plain]`; what the screen asks of the conversation is shown as a notice.
"""

import signal
import sys

import anyio

from questionnaire import Coordinator, read_questionnaire
from voice import events
from voice.events import (
    DevicesInUse,
    Notice,
    Status,
    StatusChanged,
    UserMessage,
    VoiceState,
    VoiceStateChanged,
)


class Talk:
    waiting = ()

    def __init__(self, screen):
        self.screen = screen
        self.coordinator = Coordinator(screen.presenter)
        self.tasks = None
        self.status = Status.LISTENING

    def quit(self):
        pass

    def draft(self, text):
        status = Status.HELD if text else Status.LISTENING
        if status is not self.status:
            self.status = status
            self.screen.take(StatusChanged(status))

    def send(self, text):
        if text.startswith("ask"):
            self.tasks.start_soon(self.ask, float(text[3:] or 0))
        elif text.startswith("!"):
            self.tasks.start_soon(self.happen, text[1:])
        else:
            self.screen.take(UserMessage(text, "keyboard", 0.0))
        return bool(text)

    async def happen(self, text):
        for event in eval(f"[{text}]", vars(events)):  # the tests' own lines
            self.screen.take(event)

    async def ask(self, after_s, question="Merge how?"):
        await anyio.sleep(after_s)
        call = {"question": question, "options": [{"label": "Squash"}, {"label": "Rebase"}]}
        coordinator = self.coordinator if question == "Merge how?" else Coordinator(self.screen.presenter)
        outcome = await coordinator.ask(read_questionnaire("user_select", call))
        self.screen.take(Notice(f"{outcome.status}: {[each.answer for each in outcome.responses]}"))

    def toggle_voice(self):
        self.screen.take(Notice("toggled"))

    def stop_narration(self):
        self.screen.take(Notice("silenced"))
        return True

    def interrupt_agent(self):
        self.screen.take(Notice("interrupted"))


async def main():
    if "--plain" in sys.argv:
        from voice.screen.plain import PlainChat

        screen = PlainChat(0, 1)
    else:
        from voice.screen.terminal import ChatTerminal

        screen = ChatTerminal(0, 1)
    talk = Talk(screen)
    async with anyio.create_task_group() as tasks:
        talk.tasks = tasks
        tasks.start_soon(heed, talk)
        screen.take(DevicesInUse("USB Audio 日本", "Built-in Audio Analog Stereo"))
        screen.take(VoiceStateChanged(VoiceState.ACTIVE))
        screen.take(StatusChanged(Status.LISTENING))
        code = await screen.run(talk)
        tasks.cancel_scope.cancel()
    return code


async def heed(talk):
    """SIGUSR1 is something that happens while a question is open, SIGUSR2 a fault."""
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGUSR1, signal.SIGUSR2) as signals:
        async for number in signals:
            if number is signal.SIGINT:
                talk.screen.interrupt()
                continue
            if number is signal.SIGUSR2:
                raise RuntimeError("broken on purpose")
            talk.screen.take(Notice("meanwhile"))
            talk.tasks.start_soon(talk.ask, 0, "And then?")


if __name__ == "__main__":
    sys.exit(anyio.run(main))
