"""A screen with a scripted conversation behind it: each typed message is a line of Python that makes events.

`python program.py [--plain]`; what the screen asks of the conversation is shown as a notice.
"""

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

CALL = {"question": "Merge how?", "options": [{"label": "Squash"}, {"label": "Rebase"}]}


class Talk:
    waiting = ()

    def __init__(self, screen):
        self.screen = screen
        self.coordinator = Coordinator(screen.presenter)
        self.tasks = None
        self.ended = anyio.Event()

    def quit(self):
        self.ended.set()

    def draft(self, text):
        if text in ("h", ""):
            self.screen.take(StatusChanged(Status.HELD if text else Status.LISTENING))

    def send(self, text):
        if text.startswith("ask"):
            self.tasks.start_soon(self.ask, float(text[3:] or 0))
        elif text == "crash":
            raise RuntimeError("broken on purpose")
        elif text.startswith("!"):
            for event in eval(f"[{text[1:]}]", vars(events)):  # the tests' own lines
                self.screen.take(event)
        else:
            self.screen.take(UserMessage(text, "keyboard", 0.0))
        return bool(text)

    async def ask(self, after_s):
        await anyio.sleep(after_s)
        outcome = await self.coordinator.ask(read_questionnaire("user_select", CALL))
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
        tasks.start_soon(until_ended, talk, tasks.cancel_scope)
        screen.take(DevicesInUse("USB Audio 日本", "Built-in Audio Analog Stereo"))
        screen.take(VoiceStateChanged(VoiceState.ACTIVE))
        screen.take(StatusChanged(Status.LISTENING))
        code = await screen.run(talk)
        tasks.cancel_scope.cancel()
    return code


async def until_ended(talk, scope):
    await talk.ended.wait()


if __name__ == "__main__":
    sys.exit(anyio.run(main))
