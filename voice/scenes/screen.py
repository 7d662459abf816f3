"""The screen of a scene: questions stand on it, and are answered when the scene says so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio

from questionnaire import (
    Choice,
    Give,
    Input,
    Interview,
    Provenance,
    Questionnaire,
    Shown,
    Skip,
    Submit,
    Unclear,
    read_reply,
)


class SceneScreen:
    """A presenter. Of several questionnaires on it the one that came last is answered."""

    def __init__(self) -> None:
        self._open: list[Interview] = []

    @property
    def open(self) -> bool:
        """Whether a question stands on it."""
        return bool(self._open)

    async def present(self, interview: Interview) -> None:
        """Show one question after the other until there is an outcome."""
        self._open.append(interview)
        try:
            while interview.outcome is None:
                moved = anyio.Event()

                def look(act: object, moved: anyio.Event = moved) -> None:
                    if not isinstance(act, Shown):
                        moved.set()

                with interview.watch(look):
                    interview.send(Shown(anyio.current_time(), interview.step.index))
                    await moved.wait()
        finally:
            self._open.remove(interview)

    def answer(self, reply: str) -> str:
        """Type a reply to what stands there; returns what is wrong with that, in a clause, else ""."""
        if not self._open:
            return f"nothing stood on the screen that {reply!r} could answer"
        interview = self._open[-1]
        by = Provenance("screen", Input.KEY, anyio.current_time())
        if interview.step.index is not None:
            question = interview.questionnaire.questions[interview.step.index]
            verdict = read_reply(question, reply)
            if isinstance(verdict, Unclear):
                return f"{reply!r} does not answer {question.text!r}: {verdict.reason}"
            interview.send(Give(verdict.answer, by) if isinstance(verdict, Choice) else Skip(by))
        if interview.outcome is None and interview.step.index is None:
            interview.send(Submit())
        return ""


def questionnaire_values(questionnaire: Questionnaire) -> dict[str, Any]:
    """A questionnaire as JSON; `questionnaire_of` makes it again."""
    from pydantic import TypeAdapter

    values: dict[str, Any] = TypeAdapter(Questionnaire).dump_python(questionnaire, mode="json")
    return values


def questionnaire_of(values: Mapping[str, Any]) -> Questionnaire:
    """What `questionnaire_values` was given. Raises `ValueError`."""
    from pydantic import TypeAdapter

    return TypeAdapter(Questionnaire).validate_python(dict(values))
