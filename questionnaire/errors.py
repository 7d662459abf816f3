"""What can go wrong when a program asks a person something.

    QuestionnaireError
    ├── InvalidQuestionnaire   the arguments of a call cannot be shown, and were not
    ├── NoInterface            there is nobody to ask here, and nothing was shown
    ├── TerminalLost           the terminal went away while a question stood on it
    ├── ClientLost             the session client went away while a dialog was open there
    ├── MalformedAnswers       a presenter gave answers that do not fit its questions
    ├── NotShown               an answer came for a question that nobody saw
    ├── DuplicateTool          two tools of one tool set share a name
    ├── SocketUnusable         the mirrors cannot be served or reached at a path
    ├── PortUnusable           a server cannot be reached at a port: it is taken, or its token is too short
    ├── LibraryMissing         a library that an extra brings is not installed
    ├── BadSettings            the user's settings cannot be used
    └── BadComposition         modes.yaml cannot be used, or holds no such mode

A caller that only wants to know that asking failed catches `QuestionnaireError`.
"""


class QuestionnaireError(Exception):
    """The root of the tree. `code` is stable, for programs; `str()` is a sentence, for readers."""

    code: str = "error"


class InvalidQuestionnaire(QuestionnaireError):
    """The arguments of a call cannot be shown to a person, and nothing of them was.

    The sentence is written for the model that made the call: where the fault is, what came, what is
    expected, a tiny example, and that the user saw nothing.

    Codes shared with public tools of this kind: `no_questions`, `too_many_questions`,
    `duplicate_question`, `empty_options`, `duplicate_option_label`, `reserved_label`. Our own:
    `too_few_options`, `too_many_options`, `duplicate_id`, `duplicate_option_value`, `empty_text`,
    `wrong_type`, `unreadable`.
    """

    def __init__(self, code: str, where: str, *, came: str, expected: str, example: str) -> None:
        self.code = code
        self.where = where
        self.came = came
        self.expected = expected
        self.example = example
        super().__init__(
            f"{where}: {came}, but {expected}. Example: {example}. "
            "The user saw nothing; correct the call and send it again."
        )


class NoInterface(QuestionnaireError):
    """Nobody can be asked here: no terminal, no client. Never to be told as "the user declined"."""

    code = "no_ui"


class TerminalLost(QuestionnaireError):
    """The terminal failed while it was being read or written, for example because it hung up."""

    code = "terminal_lost"


class ClientLost(QuestionnaireError):
    """The session client was gone before it had answered a dialog."""

    code = "client_lost"


class MalformedAnswers(QuestionnaireError):
    """A presenter returned answers that do not fit the questions it was given."""

    code = "malformed_answers"


class NotShown(QuestionnaireError):
    """An answer came for a question that was never before anybody's eyes, so nobody gave it."""

    code = "not_shown"


class SocketUnusable(QuestionnaireError):
    """A path cannot be used as the socket of the mirrors: it is taken, not allowed, or nobody is there."""

    code = "socket_unusable"


class DuplicateTool(QuestionnaireError):
    """Two tools of one tool set share a name, so a call could not say which one it means."""

    code = "duplicate_tool"


class PortUnusable(QuestionnaireError):
    """A server cannot be offered: its port is taken, its token is too short, or its streams are closed."""

    code = "port_unusable"


class LibraryMissing(QuestionnaireError):
    """A library that an extra brings, for some commands alone, is not installed or cannot be loaded."""

    code = "library_missing"

    def __init__(self, extra: str, error: ImportError) -> None:
        why = " ".join(str(error).split())
        super().__init__(
            f"This needs the extra {extra} ({why}). To install it: pip install 'viva-voce[{extra}]'"
        )


class BadSettings(QuestionnaireError):
    """The user's settings cannot be used; the sentence names the file and the setting."""

    code = "bad_settings"


class BadComposition(QuestionnaireError):
    """A session cannot be composed; the sentence names the file, the line and what is wrong there."""

    code = "bad_composition"
