"""A small agent on the ACP SDK, a program of its own: it does what the last message says.

``small_agent.py FOLDER``: what it reads and is told goes to FOLDER/log, a line of JSON each; it goes on with
its work when FOLDER/finish is there.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import anyio
from acp import (
    RequestError,
    run_agent,
    update_agent_message_text,
    update_agent_thought_text,
)
from acp.schema import (
    AgentCapabilities,
    AuthMethodAgent,
    ElicitationFormSessionMode,
    ElicitationSchema,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ToolCallUpdate,
)

FOLDER = Path(sys.argv[1])
MODE = sys.argv[2] if len(sys.argv) > 2 else ""


def log(kind, what):
    with (FOLDER / "log").open("a") as file:
        file.write(json.dumps([kind, what]) + "\n")


class SmallAgent:
    def on_connect(self, client):
        self.client = client
        self.cancelled = anyio.Event()

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **meta):
        log("pid", os.getpid())
        log("capabilities", client_capabilities.model_dump(mode="json", exclude_none=True))
        return InitializeResponse(
            protocol_version=99 if MODE == "newer" else protocol_version,
            agent_capabilities=AgentCapabilities(),
            agent_info=Implementation(name="small", title="Small Agent", version="1"),
            auth_methods=[AuthMethodAgent(id="login", name="Log in", description="Run small-agent login")],
        )

    async def new_session(self, cwd, additional_directories=None, mcp_servers=None, **meta):
        if MODE == "login":
            raise RequestError.auth_required()
        self.servers = mcp_servers
        if MODE == "banner":
            await self.client.session_update("one", update_agent_message_text("Small Agent\nversion 1"))
        return NewSessionResponse(session_id="one")

    async def cancel(self, session_id, **meta):
        self.cancelled.set()

    async def prompt(self, session_id, prompt, **meta):
        self.cancelled = anyio.Event()
        text = "".join(block.text for block in prompt)
        log("read", text)
        reason = "end_turn"
        async with anyio.create_task_group() as tasks:

            async def stop():
                nonlocal reason
                await self.cancelled.wait()
                reason = "cancelled"
                tasks.cancel_scope.cancel()

            tasks.start_soon(stop)
            await self.act(text.strip("\u200b"))
            tasks.cancel_scope.cancel()
        return PromptResponse(stop_reason=reason)

    async def act(self, text):
        what, _, rest = text.partition(" ")
        if what == "work":
            (FOLDER / "finish").unlink(missing_ok=True)
            log("works", text)
            await self.write("I am ")
            while not (FOLDER / "finish").exists():  # noqa: ASYNC110 - it is another program that tells it
                await anyio.sleep(0.005)
            await self.write("done.")
        elif what == "stall":
            (FOLDER / "finish").unlink(missing_ok=True)
            log("works", text)
            while not (FOLDER / "finish").exists():  # noqa: ASYNC110 - it is another program that tells it
                await anyio.sleep(0.005)
        elif what == "wonder":
            await self.client.session_update("one", update_agent_thought_text("I wonder."))
            await self.act("stall")
        elif what == "ask":
            await self.request_permission()
        elif what == "choose":
            await self.choose(json.loads(rest))
        elif what == "form":
            await self.fill_in(json.loads(rest))
        elif what == "call":
            name, _, arguments = rest.partition(" ")
            await self.call(name, json.loads(arguments))
        elif what == "think":
            await self.client.session_update("one", update_agent_thought_text("I wonder."))
            await self.write("I know.")
        elif what == "say":
            await self.write(rest)
        else:
            for word in ("One ", "two ", "three."):
                await self.write(word)

    async def write(self, text):
        await self.client.session_update("one", update_agent_message_text(text))

    async def request_permission(self):
        options = [
            PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
            PermissionOption(option_id="no", name="Reject", kind="reject_once"),
        ]
        call = ToolCallUpdate(
            tool_call_id="1", title="Delete everything", kind="execute", raw_input={"command": "rm -rf /"}
        )
        answer = await self.client.request_permission("one", call, options)
        log("outcome", answer.outcome.model_dump(mode="json"))

    async def choose(self, names):
        options = [
            PermissionOption(option_id=f"choice-{index}", name=name, kind="allow_once")
            for index, name in enumerate(names[1:])
        ]
        call = ToolCallUpdate(tool_call_id="2", title=names[0], kind="other")
        answer = await self.client.request_permission("one", call, options)
        log("outcome", answer.outcome.model_dump(mode="json"))

    async def fill_in(self, form):
        mode = ElicitationFormSessionMode(
            session_id="one", requested_schema=ElicitationSchema.model_validate(form["schema"])
        )
        try:
            answer = await self.client.create_elicitation(form["message"], mode)
            log("outcome", answer.model_dump(mode="json", exclude_none=True))
        except RequestError as error:
            log("outcome", {"error": str(error), "data": error.data})

    async def call(self, name, arguments):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client

        (server,) = self.servers
        parameters = StdioServerParameters(command=server.command, args=server.args)
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as session:
            await session.initialize()
            log("tools", [tool.name for tool in (await session.list_tools()).tools])
            result = await session.call_tool(name, arguments)
            log("told", "\n".join(block.text for block in result.content))


async def main():
    await run_agent(SmallAgent(), use_unstable_protocol=True)


asyncio.run(main())
