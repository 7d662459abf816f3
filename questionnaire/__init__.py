"""Ask a person, on behalf of a model or a program, and get an answer that cannot be mistaken.

A model calls a tool (`questionnaire_toolset`), a contract turns its arguments into a `Questionnaire`, a
`Presenter` conducts an `Interview` with a person to its `Outcome`, and the contract tells the model how it
ended.
Tool sets meet a host through two doors, `tools()` and `call()`, and restrictions narrow both.
"""

from questionnaire.answers import Choice, Skipped, Unclear, read_picks, read_reply, read_words
from questionnaire.asking import TOOL_NAMES, offer_again, questionnaire_toolset, read_questionnaire
from questionnaire.attention import Attention, Bell, HerdrEvents, HerdrSocket
from questionnaire.composition import packages_for
from questionnaire.contracts import CONTRACTS, Contract
from questionnaire.coordinator import Coordinator
from questionnaire.display import printable
from questionnaire.errors import (
    BadComposition,
    BadSettings,
    ClientLost,
    DuplicateTool,
    InvalidQuestionnaire,
    MalformedAnswers,
    NoInterface,
    NotShown,
    QuestionnaireError,
    SocketUnusable,
    TerminalLost,
)
from questionnaire.limits import TimeOut
from questionnaire.mirrors import Event, Mirrors
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Kind,
    Option,
    Outcome,
    Provenance,
    Question,
    Questionnaire,
    Response,
    State,
    Status,
)
from questionnaire.pending import FolderStore, Pending, Store
from questionnaire.presenters.base import Presenter
from questionnaire.presenters.dialogs import DialogClient, DialogsPresenter
from questionnaire.presenters.elicitation import ElicitationPresenter, FormClient
from questionnaire.presenters.flat_forms import Form, FormAction, FormDialect, FormReply, form_of
from questionnaire.presenters.linear import LinearPresenter
from questionnaire.presenters.lines import FileLines, LineTerminal, controlling_terminal
from questionnaire.presenters.requested_forms import RequestedForm, answer_form, read_form
from questionnaire.presenters.rpc import LineSplitter, RpcDialogs
from questionnaire.presenters.terminal import Surroundings, TerminalPresenter, columns
from questionnaire.presenters.terminal.canvas import Canvas, CanvasPresenter, Drawn, Resized, Typed
from questionnaire.presenters.together import TogetherPresenter
from questionnaire.presenters.writer import BackgroundWriter
from questionnaire.progress import (
    Act,
    Back,
    Draft,
    Escape,
    Give,
    GoTo,
    Interview,
    Next,
    Note,
    Shown,
    Skip,
    Stay,
    Step,
    Stop,
    Submit,
    Touch,
)
from questionnaire.restrictions import AdjustableToolset, Lift, RestrictedToolset, Restriction, Withhold
from questionnaire.sockets import serve_mirrors
from questionnaire.surface import ToolSurface
from questionnaire.tool import tool_call_id
from questionnaire.toolset import CombinedToolset, FunctionToolset, Tool, ToolResult, Toolset

__all__ = [
    "CONTRACTS",
    "TOOL_NAMES",
    "Act",
    "AdjustableToolset",
    "Answer",
    "Attention",
    "Back",
    "BackgroundWriter",
    "BadComposition",
    "BadSettings",
    "Bell",
    "Canvas",
    "CanvasPresenter",
    "Choice",
    "ClientLost",
    "CombinedToolset",
    "Contract",
    "Coordinator",
    "CustomRow",
    "DialogClient",
    "DialogsPresenter",
    "Draft",
    "Drawn",
    "DuplicateTool",
    "ElicitationPresenter",
    "Escape",
    "Event",
    "FileLines",
    "FolderStore",
    "Form",
    "FormAction",
    "FormClient",
    "FormDialect",
    "FormReply",
    "FunctionToolset",
    "Give",
    "GoTo",
    "HerdrEvents",
    "HerdrSocket",
    "Input",
    "Interview",
    "InvalidQuestionnaire",
    "Kind",
    "Lift",
    "LineSplitter",
    "LineTerminal",
    "LinearPresenter",
    "MalformedAnswers",
    "Mirrors",
    "Next",
    "NoInterface",
    "NotShown",
    "Note",
    "Option",
    "Outcome",
    "Pending",
    "Presenter",
    "Provenance",
    "Question",
    "Questionnaire",
    "QuestionnaireError",
    "RequestedForm",
    "Resized",
    "Response",
    "RestrictedToolset",
    "Restriction",
    "RpcDialogs",
    "Shown",
    "Skip",
    "Skipped",
    "SocketUnusable",
    "State",
    "Status",
    "Stay",
    "Step",
    "Stop",
    "Store",
    "Submit",
    "Surroundings",
    "TerminalLost",
    "TerminalPresenter",
    "TimeOut",
    "TogetherPresenter",
    "Tool",
    "ToolResult",
    "ToolSurface",
    "Toolset",
    "Touch",
    "Typed",
    "Unclear",
    "Withhold",
    "answer_form",
    "columns",
    "controlling_terminal",
    "form_of",
    "offer_again",
    "packages_for",
    "printable",
    "questionnaire_toolset",
    "read_form",
    "read_picks",
    "read_questionnaire",
    "read_reply",
    "read_words",
    "serve_mirrors",
    "tool_call_id",
]
