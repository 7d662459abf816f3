import pytest

from questionnaire.errors import DuplicateTool
from questionnaire.restrictions import RestrictedToolset, Withhold
from questionnaire.testing import check_toolset
from questionnaire.toolset import CombinedToolset, FunctionToolset, Tool, ToolResult

pytestmark = pytest.mark.anyio


def pair(name):
    async def run(arguments):
        return ToolResult(f"{name} ran", arguments)

    return Tool(name, f"The tool {name}.", {"type": "object"}), run


def toolset(*names):
    return FunctionToolset(*map(pair, names))


@pytest.mark.parametrize(
    "make",
    [
        lambda: toolset(),
        lambda: toolset("a", "b"),
        lambda: CombinedToolset(toolset("a"), toolset(), toolset("b", "c")),
        lambda: RestrictedToolset(toolset("a", "b"), Withhold(["z"], "no")),
    ],
)
async def test_every_tool_set_keeps_the_promises(make):
    await check_toolset(make)


async def test_a_call_reaches_its_function():
    result = await CombinedToolset(toolset("a"), toolset("b")).call("b", {"x": 1})
    assert result == ToolResult("b ran", {"x": 1})


@pytest.mark.parametrize("make", [toolset, lambda *names: CombinedToolset(*map(toolset, names))])
async def test_an_unknown_name_is_told_the_tools_there_are(make):
    result = await make("a", "b").call("c", {})
    assert result == ToolResult("There is no tool named 'c'. Tools: a, b.", {"error": "unknown_tool"}, True)


def test_two_tools_of_one_name_are_an_error_at_once():
    with pytest.raises(DuplicateTool, match="'a'"):
        toolset("a", "a")
    with pytest.raises(DuplicateTool, match="'a'"):
        CombinedToolset(toolset("a"), toolset("b", "a"))


async def test_a_set_that_hides_a_tool_refuses_it_in_its_own_words():
    hidden = RestrictedToolset(toolset("b"), Withhold(["b"], "not now"))
    combined = CombinedToolset(toolset("a"), hidden)
    assert [tool.name for tool in combined.tools()] == ["a"]
    assert (await combined.call("b", {})).text == "not now"


def test_a_result_has_empty_details_of_its_own():
    assert ToolResult("x").details == {}
    assert ToolResult("x").details is not ToolResult("x").details
