import pytest

from questionnaire.contracts import user_select
from questionnaire.model import Answer, Status
from questionnaire.progress import Give, Interview, Stop
from questionnaire.testing import BY, ScriptedLines, ScriptedPresenter, answered, check_toolset
from questionnaire.toolset import Tool, ToolResult

ASKED = user_select.read({"question": "Which?", "options": [{"label": "A"}]})


@pytest.mark.anyio
async def test_a_double_complains_when_it_is_asked_too_often():
    presenter = ScriptedPresenter(Status.TIMED_OUT)
    interview = Interview(ASKED)
    await presenter.present(interview)
    assert interview.outcome.status is Status.TIMED_OUT
    with pytest.raises(AssertionError, match=r"no line left for: Which\?"):
        await presenter.present(Interview(ASKED))
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
@pytest.mark.parametrize("line", ["A", ["1"], [Give(Answer((0,)), BY)]])
async def test_what_the_user_does_may_be_written_as_replies(line):
    interview = Interview(ASKED)
    with ScriptedPresenter(line) as presenter:
        await presenter.present(interview)
    assert interview.outcome == answered(ASKED, "1")


@pytest.mark.anyio
async def test_a_script_may_not_go_on_after_the_end():
    with pytest.raises(AssertionError, match="it had ended before '1'"):
        await ScriptedPresenter([Stop(), "1"]).present(Interview(ASKED))


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
