"""Questionnaires that nobody has settled yet, and the folder in which they outlive a crash.

A questionnaire is in the store from before it is drawn until it is settled, with all that was answered and
typed meanwhile. What is found there at a start was left behind by a process that died.
"""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Protocol, get_args, get_origin, get_type_hints

from questionnaire.answers import check_outcome
from questionnaire.errors import QuestionnaireError
from questionnaire.model import (
    Answer,
    CustomRow,
    Input,
    Option,
    Outcome,
    Provenance,
    Question,
    Questionnaire,
    Response,
    Status,
)

_log = logging.getLogger(__name__)

_VERSION = 1

_END_OF_DATES_S = 253_402_300_800
"""When the year 9999 ends, in seconds since 1970: no later date can be written."""

_DAMAGED = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    QuestionnaireError,
)
"""What a file may raise that was damaged, or written by somebody else."""


@dataclass(frozen=True, slots=True)
class Pending:
    """One questionnaire that has no outcome yet, and how its questions stand.

    `request_id` names it in events and in the store, `kind` the contract that tells its result, and
    `tool_call_id` the host's call, empty where it has none. `created_at` is in seconds on the coordinator's
    clock.
    """

    request_id: str
    questionnaire: Questionnaire
    responses: tuple[Response, ...]
    kind: str = ""
    tool_call_id: str = ""
    created_at: float = 0.0


class Store(Protocol):
    """Where pending questionnaires are kept. Where it raises `OSError`, they are asked all the same."""

    def put(self, pending: Pending) -> None:
        """Keep it; in place of what was kept under its id."""
        ...

    def remove(self, request_id: str) -> None:
        """Forget it. One that is not there is no error."""
        ...

    def left_over(self) -> tuple[Pending, ...]:
        """Return all that is kept, oldest first."""
        ...


class FolderStore:
    """Keeps each pending questionnaire as a JSON file, readable by the user alone.

    A folder serves one session at a time, or one would take up what another is still asking.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, pending: Pending) -> None:
        """Write it beside the old one, then put it in its place, so that a crash leaves one or the other."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(pending.request_id)
        draft = path.with_suffix(".new")
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w") as file:
            json.dump({"version": _VERSION, **asdict(pending)}, file)
        draft.replace(path)

    def remove(self, request_id: str) -> None:
        """Delete its file."""
        self._path(request_id).unlink(missing_ok=True)

    def left_over(self) -> tuple[Pending, ...]:
        """Read all files. One that holds no questionnaire is logged and left where it is."""
        found = []
        for path in sorted(self._folder.glob("*.json")):
            try:
                pending = _read(json.loads(path.read_bytes()))
                _check(pending, path.stem)
                found.append(pending)
            except _DAMAGED as error:
                _log.warning("%s holds no pending questionnaire: %r", path, error)
        return tuple(sorted(found, key=lambda pending: pending.created_at))

    def _path(self, request_id: str) -> Path:
        return self._folder / f"{request_id}.json"


def _read(data: Mapping[str, Any]) -> Pending:
    fields = dict(data)
    if fields.pop("version") != _VERSION:
        raise ValueError("it was written by another version")
    asked = fields["questionnaire"]
    questions = tuple(_question(question) for question in asked["questions"])
    questionnaire = Questionnaire(**{**asked, "questions": questions, "repairs": tuple(asked["repairs"])})
    responses = tuple(_response(response) for response in fields["responses"])
    return Pending(**{**fields, "questionnaire": questionnaire, "responses": responses})


def _check(pending: Pending, name: str) -> None:
    """Raise one of `_DAMAGED` where `pending` could not have been written as the file `name`."""
    if not _fits(pending, Pending):
        raise TypeError("a value in it is of another type")
    if pending.request_id != name:
        raise ValueError("it is another one's file")
    if not pending.questionnaire.questions:
        raise ValueError("it asks nothing")
    if not 0 <= pending.created_at < _END_OF_DATES_S:
        raise ValueError("others could not be told its date")
    check_outcome(pending.questionnaire, Outcome(Status.CANCELLED, pending.responses))


def _fits(value: object, hint: Any) -> bool:
    """Return whether `value` is what the annotation `hint` of a field says, all the way down."""
    arguments = get_args(hint)
    if get_origin(hint) is UnionType:
        return any(_fits(value, kind) for kind in arguments)
    if get_origin(hint) is tuple:
        if not isinstance(value, tuple):
            return False
        kinds = arguments[:1] * len(value) if arguments[-1] is ... else arguments
        return len(kinds) == len(value) and all(map(_fits, value, kinds))
    if is_dataclass(hint):
        hints = get_type_hints(hint)
        return type(value) is hint and all(_fits(getattr(value, name), hints[name]) for name in hints)
    # In JSON a whole number may stand for a float; true is no number, though it is an int here.
    return type(value) in (int, float) if hint is float else type(value) is hint


def _question(data: Mapping[str, Any]) -> Question:
    options = tuple(Option(**option) for option in data["options"])
    custom = CustomRow(**data["custom"]) if data["custom"] else None
    return Question(**{**data, "options": options, "custom": custom})


def _response(data: Mapping[str, Any]) -> Response:
    answer, by = data["answer"], data["by"]
    return Response(
        **{
            **data,
            "answer": Answer(tuple(answer["selected"]), answer["custom"]) if answer else None,
            "ticked": tuple(data["ticked"]),
            "unshown": tuple(data["unshown"]),
            "option_notes": tuple((index, text) for index, text in data["option_notes"]),
            "by": Provenance(**{**by, "input": Input(by["input"])}) if by else None,
        }
    )
