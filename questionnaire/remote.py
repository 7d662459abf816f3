"""What other programs see of a question, and what they may answer. Pure.

Names and shapes are those of the Pi extension `pi-user-select`, which knows one question with one choice.
Beyond it: `optionIndices` and `value` for a multi-select question, `skip` for one that may be skipped.
"""

from collections.abc import Mapping
from typing import Any

from questionnaire.answers import misfit
from questionnaire.display import look
from questionnaire.model import Answer, CustomRow, Kind, Option, Question, Questionnaire, Response

ACCEPTED: Mapping[str, Any] = {"accepted": True}
ALREADY_RESOLVED: Mapping[str, Any] = {"accepted": False, "reason": "already_resolved"}
INVALID: Mapping[str, Any] = {"accepted": False, "reason": "invalid_response"}
UNKNOWN: Mapping[str, Any] = {"accepted": False, "reason": "unknown_request"}


class Cancel:
    """The remote user wants to answer nothing."""


class Skip:
    """The remote user leaves an optional question unanswered."""


def request_data(questionnaire: Questionnaire, index: int) -> dict[str, Any]:
    """Return what a request says of a question; option indices count from 0."""
    question = questionnaire.questions[index]
    return {
        "question": question.text,
        "options": [_option_data(number, option) for number, option in enumerate(question.options)],
        "allowCustom": question.takes_words,
        "multiSelect": question.multi_select,
        "required": question.required,
        "questionIndex": index,
        "questionCount": len(questionnaire.questions),
    }


def _option_data(index: int, option: Option) -> dict[str, Any]:
    described = {"description": option.description} if option.description else {}
    return {"index": index, "label": option.label, **described}


def question_of(data: Mapping[str, Any]) -> Question:
    """Return the question of a request. Raises `KeyError` or `TypeError` where it has none."""
    options = tuple(Option(option["label"], option.get("description", "")) for option in data["options"])
    return Question(
        text=data["question"],
        options=options,
        multi_select=bool(data.get("multiSelect")),
        custom=CustomRow("Type an answer") if options and data["allowCustom"] else None,
        required=bool(data.get("required", True)),
    )


def response_of(question: Question, response: Response) -> dict[str, Any]:
    """Return what another program sends to answer `question` as `response` does, or to skip it."""
    answer = response.answer
    if answer is None:
        return {"source": "remote", "kind": "skip"}
    if not answer.selected:
        return {"source": "remote", "kind": "custom", "value": answer.custom}
    if not question.multi_select:
        return {"source": "remote", "kind": "select", "optionIndex": answer.selected[0]}
    words = {} if answer.custom is None else {"value": answer.custom}
    return {"source": "remote", "kind": "select", "optionIndices": list(answer.selected), **words}


def read_response(question: Question, sent: object, *, custom_input: bool) -> Answer | Cancel | Skip | None:
    """Read what another program sent; None where it is no response to `question`.

    `custom_input` says that it was sent to the request for own words, and not to the question.
    """
    if not isinstance(sent, Mapping) or sent.get("source") != "remote":
        return None
    kind, value = sent.get("kind"), sent.get("value")
    answer: Answer | None = None
    if kind == "cancel":
        return Cancel()
    if kind == "skip" and not question.required:
        return Skip()
    if kind == ("submit" if custom_input else "custom") and isinstance(value, str):
        answer = Answer(custom=value)
    elif kind == "select" and not custom_input:
        answer = _selection(question, sent)
    if answer is None or misfit(question, answer):
        return None
    # A blank text is no answer from afar, even where the user may send one here.
    return None if answer.custom is not None and not look(answer.custom) else answer


def _selection(question: Question, sent: Mapping[str, Any]) -> Answer | None:
    if not question.multi_select:
        index = sent.get("optionIndex")
        return Answer((index,)) if type(index) is int else None  # true is no index
    indices, value = sent.get("optionIndices"), sent.get("value")
    if not isinstance(indices, list | tuple) or not all(type(index) is int for index in indices):
        return None
    if value is not None and not isinstance(value, str):
        return None
    return Answer(tuple(sorted(set(indices))), value)


def result_data(question: Question, response: Response) -> dict[str, Any]:
    """Return how a question was resolved, as other programs are told."""
    answer = response.answer
    if answer is None:
        return {"kind": "skip" if response.skipped else "cancel"}
    if not answer.selected:
        # A blank text, where the contract takes one, means the same as a cancel.
        blank = answer.custom is None or not look(answer.custom)
        return {"kind": "cancel"} if blank else {"kind": "custom", "value": answer.custom}
    labels = [question.options[index].label for index in answer.selected]
    if not question.multi_select:
        return {"kind": "select", "optionIndex": answer.selected[0], "label": labels[0]}
    words = {} if answer.custom is None else {"value": answer.custom}
    return {"kind": "select", "optionIndices": list(answer.selected), "labels": labels, **words}


def asks_for_words(question: Question) -> bool:
    """Return whether a question is itself a request for own words."""
    return question.kind is Kind.TEXT
