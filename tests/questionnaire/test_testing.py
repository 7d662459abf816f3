import pytest

from questionnaire.contracts import user_select
from questionnaire.model import Answer, Outcome, Status
from questionnaire.testing import ScriptedLines, ScriptedPresenter, answered, check_toolset
from questionnaire.toolset import Tool, ToolResult

ASKED = user_select.read({"question": "Which?", "options": [{"label": "A"}]})


@pytest.mark.anyio
async def test_a_double_complains_when_it_is_asked_too_often():
    presenter = ScriptedPresenter(Outcome(Status.DECLINED))
    assert await presenter.present(ASKED) == Outcome(Status.DECLINED)
    with pytest.raises(AssertionError, match=r"no line left for: Which\?"):
        await presenter.present(ASKED)
    with pytest.raises(AssertionError, match="no line left"):
        await ScriptedLines().read_line("> ")


def test_a_double_complains_when_lines_are_left():
    with pytest.raises(AssertionError, match="never asked for"), ScriptedPresenter(["1"]):
        pass
    with pytest.raises(AssertionError, match="never asked for"):
        ScriptedLines("1").finish()


def test_a_double_does_not_hide_the_error_of_its_block():
    with pytest.raises(KeyError), ScriptedLines("1"):
        raise KeyError


@pytest.mark.anyio
@pytest.mark.parametrize("line", ["A", ["1"], Outcome(Status.ANSWERED, (Answer(0, (0,)),))])
async def test_an_outcome_may_be_written_as_replies(line):
    with ScriptedPresenter(line) as presenter:
        assert await presenter.present(ASKED) == answered(ASKED, "1")


def test_a_scripted_reply_has_to_be_clear():
    with pytest.raises(AssertionError, match="no row 9"):
        answered(ASKED, "9")


class Careless:
    """Lists one tool, runs every name."""

    def __init__(self, *names):
        self.names = names

    def tools(self):
        return tuple(Tool(name, "A tool.", {"type": "object"}) for name in self.names)

    async def call(self, name, arguments):
        return ToolResult("ran")


@pytest.mark.anyio
@pytest.mark.parametrize(("names", "fault"), [("a", "not listed was run"), ("aa", "share a name")])
async def test_the_suite_finds_a_careless_tool_set(names, fault):
    with pytest.raises(AssertionError, match=fault):
        await check_toolset(lambda: Careless(*names))
