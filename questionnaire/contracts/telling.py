"""What all contracts tell of an outcome in the same way: answers in words, notes, and what was not sent."""

from collections.abc import Iterable, Iterator
from typing import Any

from questionnaire.display import look, quoted
from questionnaire.model import Answer, Outcome, Question, Questionnaire, Response, State


def taken(question: Question, answer: Answer) -> list[str]:
    """Return the labels that an answer names, and the user's own words after them, raw."""
    own = [] if answer.custom is None else [answer.custom]
    return [*_labels(question, answer.selected), *own]


def notes(question: Question, response: Response) -> str:
    """Return all that the user noted on a question, raw.

    A note on an option that was taken needs no name where nothing else could be meant.
    """
    chosen = response.answer.selected if response.answer else ()
    told = []
    for index, text in response.option_notes:
        plain = chosen == (index,) and not question.multi_select
        told.append(text if plain else f"{question.options[index].label}: {text}")
    return "; ".join(filter(look, [*told, response.note]))


def unsent(question: Question, response: Response) -> str:
    """Return what was ticked and typed on a question and never sent, raw; empty where nothing was."""
    return ", ".join([*_labels(question, response.ticked), *filter(look, [response.draft])])


def states(questionnaire: Questionnaire, outcome: Outcome) -> list[dict[str, Any]]:
    """Return for programs how far each question had come when it all ended early."""
    told = []
    for index, question, response in pairs(questionnaire, outcome):
        entry: dict[str, Any] = {"questionIndex": index, "state": str(response.state)}
        if draft := unsent(question, response):
            entry["draft"] = draft
        if response.state is State.DRAFT and (note := notes(question, response)):
            entry["notes"] = note
        told.append(entry)
    return told


def pairs(questionnaire: Questionnaire, outcome: Outcome) -> Iterator[tuple[int, Question, Response]]:
    """Give every question with its index and response; none where nothing was ever asked."""
    for index, response in enumerate(outcome.responses):
        yield index, questionnaire.questions[index], response


def left_open(questionnaire: Questionnaire, outcome: Outcome) -> Iterator[str]:
    """Give a sentence for each question that has no answer, but on which the user had written something."""
    for _, question, response in pairs(questionnaire, outcome):
        if response.state is State.DRAFT:
            parts = [f"draft {quoted(text)}" for text in [unsent(question, response)] if text]
            parts += [f"notes {quoted(text)}" for text in [notes(question, response)] if text]
            yield f"{quoted(question.text)} was not answered, but something was written: {', '.join(parts)}."


def _labels(question: Question, indices: Iterable[int]) -> list[str]:
    return [question.options[index].label for index in indices]
