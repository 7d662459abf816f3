"""The switch of Voice, with devices that take their time to open and to close."""

from contextlib import asynccontextmanager

import anyio
import pytest

from questionnaire import AdjustableToolset, FunctionToolset, Tool, ToolResult
from voice.autonomous import AutonomousVoice
from voice.errors import DeviceError
from voice.events import DevicesInUse, VoiceState, VoiceStateChanged
from voice.switch import Switch
from voice.testing import ScriptedMicrophone, ScriptedParts

pytestmark = pytest.mark.anyio

OFF, ON = [VoiceState.DRAINING, VoiceState.INACTIVE], [VoiceState.STARTING, VoiceState.ACTIVE]
ASK = "ask_user_question"


class SlowMicrophone(ScriptedMicrophone):
    """It opens and closes only when it may."""

    def __init__(self):
        super().__init__()
        self.may_open, self.may_close = anyio.Event(), anyio.Event()
        self.may_open.set()
        self.may_close.set()

    @asynccontextmanager
    async def open(self):
        await self.may_open.wait()
        async with super().open() as frames:
            try:
                yield frames
            finally:
                with anyio.CancelScope(shield=True):
                    await self.may_close.wait()


class Stage(ScriptedParts):
    def __init__(self):
        super().__init__()
        self.microphone = SlowMicrophone()

        async def called(_arguments):
            return ToolResult("shown")

        self.tools = AdjustableToolset(FunctionToolset((Tool(ASK, "", {"type": "object"}), called)))
        self.events = []
        self.failures = []
        self.voice = AutonomousVoice(
            self.tools, self.open, emit=self.take, heard=self.events.extend, happened=lambda _: None
        )
        self.switch = Switch(self.voice, self.failures.append)

    def take(self, event):
        self.events.append(event)
        if isinstance(event, VoiceStateChanged):
            self.switch.tell_changed()

    @asynccontextmanager
    async def running(self, *, on=True):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.switch.run)
            with anyio.fail_after(60):
                if on:
                    self.switch.turn(on=True)
                    await self.switch.until(on=True)
                yield tasks
            self.microphone.may_close.set()
            tasks.cancel_scope.cancel()

    @property
    def states(self):
        return [event.state for event in self.events if isinstance(event, VoiceStateChanged)]

    @property
    def listed(self):
        return [tool.name for tool in self.tools.tools()]


async def test_it_is_off_when_it_is_told_to_be_and_settled_when_its_devices_are_closed():
    stage = Stage()
    settled = anyio.Event()

    async def settle():
        await stage.switch.settled()
        settled.set()

    async with stage.running() as tasks:
        stage.microphone.may_close = anyio.Event()
        assert stage.listed == []
        stage.switch.turn(on=False)
        assert (stage.voice.state, stage.switch.on) == (VoiceState.DRAINING, False)
        assert stage.listed == [ASK], "whoever is told that it is off is asked on the screen from then on"
        assert stage.events[-2:] == [DevicesInUse("", ""), VoiceStateChanged(VoiceState.DRAINING)]
        tasks.start_soon(settle)
        await anyio.wait_all_tasks_blocked()
        assert not settled.is_set()
        stage.microphone.may_close.set()
        await settled.wait()
        assert stage.states == ON + OFF
        await stage.switch.until(on=False)


@pytest.mark.parametrize("key", [True, False], ids=["key", "prompts"])
async def test_off_and_on_again_while_its_devices_close_is_on(key):
    stage = Stage()
    async with stage.running():
        stage.microphone.may_close = anyio.Event()
        for on in (False, True):
            if key:
                stage.switch.toggle()
            else:
                stage.switch.turn(on=on)
            await anyio.wait_all_tasks_blocked()
        assert stage.switch.on
        stage.microphone.may_close.set()
        await stage.switch.settled()
        assert stage.states == ON + OFF + ON
        assert stage.listed == []
        stage.switch.turn(on=False)
        await stage.switch.settled()
    assert stage.failures == []


async def test_off_and_on_and_off_while_its_devices_close_is_off():
    stage = Stage()
    async with stage.running():
        stage.microphone.may_close = anyio.Event()
        for _ in range(3):
            stage.switch.toggle()
        stage.microphone.may_close.set()
        await stage.switch.settled()
        await anyio.wait_all_tasks_blocked()
        assert stage.states == ON + OFF


@pytest.mark.parametrize("again", [False, True], ids=["off", "on again"])
async def test_one_that_is_switched_off_while_it_starts_is_never_on_before_it_is_off(again):
    stage = Stage()
    stage.microphone.may_open = anyio.Event()
    async with stage.running(on=False):
        stage.switch.turn(on=True)
        await anyio.wait_all_tasks_blocked()
        assert stage.states == [VoiceState.STARTING]
        stage.microphone.may_open.set()  # both at once
        stage.switch.turn(on=False)
        assert stage.listed == [ASK]
        if again:
            stage.switch.turn(on=True)
        await stage.switch.settled()
        await anyio.wait_all_tasks_blocked()
        assert stage.states == [VoiceState.STARTING, *OFF, *(ON if again else [])]


async def test_what_fails_while_it_is_being_switched_off_is_told():
    stage = Stage()
    async with stage.running():
        stage.opening_fails = DeviceError("It is gone.")
        stage.switch.toggle()
        stage.switch.toggle()
        await stage.switch.settled()
        assert stage.failures == [stage.opening_fails]
        with pytest.raises(DeviceError, match="gone"):
            await stage.switch.until(on=True)
