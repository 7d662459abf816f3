"""Ask a person, on behalf of a model or a program, and get an answer that cannot be mistaken.

A model calls a tool (`questionnaire_toolset`), a contract turns its arguments into a `Questionnaire`, a
`Presenter` shows that to a person and returns an `Outcome`, and the contract tells the model how it ended.
Tool sets meet a host through two doors, `tools()` and `call()`, and restrictions narrow both.
"""

from questionnaire.answers import Choice, Unclear, read_reply, read_words
from questionnaire.asking import TOOL_NAMES, questionnaire_toolset, read_questionnaire
from questionnaire.contracts import CONTRACTS, Contract
from questionnaire.display import printable
from questionnaire.errors import (
    DuplicateTool,
    InvalidQuestionnaire,
    MalformedAnswers,
    NoInterface,
    QuestionnaireError,
    TerminalLost,
)
from questionnaire.model import Answer, CustomRow, Option, Outcome, Question, Questionnaire, Status
from questionnaire.presenters.base import Presenter
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import FileLines, LineTerminal, controlling_terminal
from questionnaire.restrictions import AdjustableToolset, Lift, RestrictedToolset, Restriction, Withhold
from questionnaire.toolset import CombinedToolset, FunctionToolset, Tool, ToolResult, Toolset

__all__ = [
    "CONTRACTS",
    "TOOL_NAMES",
    "AdjustableToolset",
    "Answer",
    "Choice",
    "CombinedToolset",
    "Contract",
    "CustomRow",
    "DuplicateTool",
    "FileLines",
    "FunctionToolset",
    "InvalidQuestionnaire",
    "Lift",
    "LineTerminal",
    "LinearPresenter",
    "MalformedAnswers",
    "NoInterface",
    "Option",
    "Outcome",
    "Presenter",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "RestrictedToolset",
    "Restriction",
    "Status",
    "TerminalLost",
    "Tool",
    "ToolResult",
    "Toolset",
    "Unclear",
    "Withhold",
    "controlling_terminal",
    "printable",
    "questionnaire_toolset",
    "read_questionnaire",
    "read_reply",
    "read_words",
]
