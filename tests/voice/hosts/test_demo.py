import anyio
import pytest

from questionnaire import AdjustableToolset, FunctionToolset, Tool, ToolResult
from voice.events import AssistantText
from voice.hosts.demo import DemoAgent

pytestmark = pytest.mark.anyio


class Conversation:
    """The agent, with a person who answers each question that it narrates."""

    def __init__(self, *replies):
        self.replies = list(replies)
        self.narrated = []
        self.written = []
        self.agent = DemoAgent(lambda event: self.written.append(event))
        self.agent.tools = AdjustableToolset(FunctionToolset((Tool("narrate", "", {}), self._narrate)))

    async def _narrate(self, arguments):
        self.narrated.append(arguments["text"])
        if self.replies:
            await self.agent.send(self.replies.pop(0))
        return ToolResult("Narration completed.")

    async def summary(self):
        with anyio.fail_after(60):
            await self.agent.before_voice()
            await self.agent.with_voice()
            await self.agent.after_voice()
        return next(
            event.text
            for event in self.written
            if isinstance(event, AssistantText) and event.text.startswith("This is what")
        )


@pytest.mark.parametrize(
    ("replies", "heard", "understood"),
    [
        (
            ("Yes, please.", "The second one.", "Run them all.", "4, 2. 7-1"),
            "Good.",
            ("PostgreSQL", "4271", "Run them all"),
        ),
        (
            ("No.", "Use Postgres SQL.", "None.", "eight oh eight oh"),
            "Quickly, then.",
            ("PostgreSQL", "8080", "None"),
        ),
        (
            ("Perhaps.", "The first or the second.", "Why?", "the usual one"),
            "I take that as a maybe.",
            ("The first or the second", "the usual one", "Why?"),
        ),
    ],
)
async def test_it_says_what_it_understood(replies, heard, understood):
    talk = Conversation(*replies)
    summary = await talk.summary()
    assert talk.narrated[1].startswith(heard)
    for words in understood:
        assert words in summary
