"""The Claude agent through its ACP adapter, the real program, with a scripted model and no account."""

import json
import os
import signal
from contextlib import asynccontextmanager

import anyio
import pytest

pytest.importorskip("acp")
from questionnaire import AdjustableToolset, Coordinator, Stop, questionnaire_toolset
from questionnaire import Status as Ending
from questionnaire.testing import ScriptedPresenter
from voice.checks import Abilities, check_host
from voice.events import AssistantText
from voice.hosts.acp.host import AcpHost

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class Claude:
    """The agent behind the host, as the suite has it act."""

    can = Abilities()

    def __init__(self, model, processes):
        self.model = model
        self.processes = processes
        self.asked = 0

    def to_write(self):
        return "write Some words of text."

    def to_work(self):
        return "work"

    def to_call(self, name, arguments):
        return f"call mcp__viva-voce__{name} {json.dumps(arguments)}"

    def to_ask(self):
        self.asked += 1  # each is another, so that none was allowed for good
        command = f"touch {self.asked} && rm {self.asked} && echo it was granted"
        return f"call Bash {json.dumps({'command': command, 'description': 'Touch a file'})}"

    async def finish(self):
        await anyio.to_thread.run_sync(self.model.finish)

    async def die(self):
        (adapter,) = self.processes()
        os.kill(adapter.pid, signal.SIGKILL)

    def read(self):
        return self.model.read

    def told(self):
        return "\n".join(self.model.told)

    def granted(self):
        return sum("it was granted" in told for told in self.model.told)


async def test_it_keeps_the_promises_of_a_host(claude_acp, claude_model, children_with):
    command, environment = claude_acp

    def processes():
        return children_with("HOME", environment["HOME"])

    @asynccontextmanager
    async def make(tools, ask, emit):
        yield (
            AcpHost(command, tools=tools, ask=ask, emit=emit, env=environment),
            Claude(claude_model, processes),
        )

    await check_host(make, within_s=60)


QUESTIONS = [
    {
        "header": "Database",
        "question": "Which database?",
        "multiSelect": False,
        "options": [
            {"label": "SQLite", "description": "A file."},
            {"label": "PostgreSQL", "description": "A server."},
        ],
    },
    {
        "header": "Checks",
        "question": "Which checks?",
        "multiSelect": True,
        "options": [
            {"label": "Types", "description": "mypy"},
            {"label": "Lint", "description": "ruff"},
        ],
    },
]


async def test_its_own_questions_are_answered_by_forms(claude_acp, claude_model):
    """All ways to answer in one session: an option, own words, words beside options, a no, a dismissal."""
    command, environment = claude_acp
    presenter = ScriptedPresenter(
        ["2", "1, 2"], ["a graph database", "2, spelling"], [Stop()], Ending.CANCELLED, "2"
    )
    told, asking = [], f"call AskUserQuestion {json.dumps({'questions': QUESTIONS})}"
    async with Coordinator(presenter) as coordinator:
        tools = AdjustableToolset(questionnaire_toolset(coordinator))
        host = AcpHost(command, tools=tools, ask=coordinator.ask, emit=told.append, env=environment)

        async def turn(text):
            await host.send(text)
            with anyio.fail_after(60):
                while host.busy:  # noqa: ASYNC110
                    await anyio.sleep(0.01)

        async with host.open():
            assert host.name == "Claude Agent"
            await turn("write Hello.")
            assert [event.text for event in told if isinstance(event, AssistantText)] == ["Hello."]
            for _ in range(4):
                await turn(asking)
            asking = {"question": "How?", "options": [{"label": "A"}, {"label": "B"}]}
            await turn(f"call mcp__viva-voce__user_select {json.dumps(asking)}")
    results = [json.loads(result) for result in claude_model.told]
    assert '"Which database?"="PostgreSQL"' in results[0]
    assert '"Which checks?"="Types, Lint"' in results[0]
    assert '"Which database?"="a graph database"' in results[1]
    assert '"Which checks?"="Lint, spelling"' in results[1]
    assert not any("PostgreSQL" in str(result) for result in results[2:4]), "what was not chosen came back"
    assert "User selected: 2. B" in str(results[4])
    assert [len(asked.questions) for asked in presenter.asked] == [2, 2, 2, 2, 1]
