"""A scene's file → the scene, or one sentence with the file, the line and the field.

The file is YAML 1.2 as far as plain values go: ``yes``, ``no``, ``on`` and ``4:20`` are texts. It is read as
a tree first, so that every fault has its line.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from voice.errors import SceneError
from voice.scenes.script import Scene

if TYPE_CHECKING:
    import yaml

SUFFIXES = (".yaml", ".yml")

ENDINGS = ("scene.yaml", ".scene.yaml")
"""How the names of scenes end, where a folder is looked through for them."""


def scenes_in(path: Path) -> list[Path]:
    """The scenes below a folder, by name, or the file itself.

    Raises `SceneError` where there is none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*scene.yaml") if file.name.endswith(ENDINGS))
    found = [file for file in found if file.name == ENDINGS[0] or file.name.endswith(ENDINGS[1])]
    if not found:
        raise SceneError(f"There is no scene in {path}.", mend="name a file NAME.scene.yaml")
    return found


def load_scene(path: Path) -> Scene:
    """Read a scene. Raises `SceneError` where it cannot be read or used."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise SceneError(f"There is no file {path}.", mend="check the path") from None
    except OSError as error:
        raise SceneError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SceneError(f"{path} is not UTF-8.") from error
    return parse_scene(text, path)


def parse_scene(text: str, path: Path = Path("scene.yaml")) -> Scene:
    """The scene that a text says; ``path`` is where it is taken to stand.

    Raises `SceneError` for what is not YAML, a field that is unknown or stands twice, a value that cannot be
    used, and a recording that is not there: one sentence with the line.
    """
    tree, values = _tree(text, path)
    _refuse_doubles(tree, path)
    if not isinstance(values, dict):
        raise SceneError(f"{path} holds no scene: it should be fields with values, as title: and happens:.")
    try:
        scene = Scene.model_validate({**values, "file": path})
    except ValidationError as error:
        raise SceneError(_in_words(error, tree, path)) from error
    for number, happening in enumerate(scene.happens):
        if happening.say is not None and not scene.path(happening.say).is_file():
            line = _line(tree, ("happens", number, "say"))
            raise SceneError(f"{path} line {line}: there is no recording {scene.path(happening.say)}.")
        if happening.say is not None and happening.text is None and scene.words == "scripted":
            line = _line(tree, ("happens", number))
            raise SceneError(
                f"{path} line {line}: this has no text, so nothing could be understood of it.",
                mend="say text: …, or words: whisper for the whole scene",
            )
    return scene


def _tree(text: str, path: Path) -> tuple[yaml.Node, Any]:
    """The tree of a file, and the plain values in it."""
    import yaml

    try:
        loader = _loader()(text)
        node = loader.get_single_node()
        if node is None:
            raise SceneError(f"{path} is empty.")
        return node, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f" line {mark.line + 1}" if mark else ""
        told = ", ".join(filter(None, (error.context, error.problem)))
        raise SceneError(
            f"{path}{line}: this is not YAML: {' '.join(told.split())}.",
            mend="put texts with ? : , { } [ ] # in quotes"
            if any(sign in told for sign in ("got '?'", "got ','", "mapping values are not allowed"))
            else None,
        ) from error
    except yaml.YAMLError as error:
        raise SceneError(f"{path} is not YAML: {' '.join(str(error).split())}.") from error
    except RecursionError as error:
        raise SceneError(f"{path} is nested too deeply.") from error


def _loader() -> type[yaml.SafeLoader]:
    """A loader by the core schema of YAML 1.2 (section 10.3.2): what people say stays what they say."""
    import yaml

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # it comes without types
        yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012

    null, number = "tag:yaml.org,2002:null", "tag:yaml.org,2002:float"
    Loader.add_implicit_resolver(
        "tag:yaml.org,2002:bool", re.compile("^(?:true|false)$", re.IGNORECASE), list("tTfF")
    )
    Loader.add_implicit_resolver(null, re.compile("^(?:~|null|)$", re.IGNORECASE), ["~", "n", "N", ""])
    Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile("^[-+]?(?:0|[1-9][0-9]*)$"), _DIGITS)
    Loader.add_implicit_resolver(
        number, re.compile(r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$"), _DIGITS
    )
    return Loader


_DIGITS = list("-+.0123456789")


def _refuse_doubles(node: yaml.Node, path: Path) -> None:
    """Refuse a field that stands twice in one place: YAML would take the last one, wordlessly."""
    for below in _below(node):
        if below.id != "mapping":
            continue
        names = set()
        for key, _ in below.value:
            if key.value in names:
                raise SceneError(f"{path} line {key.start_mark.line + 1}: {key.value!r} stands twice.")
            names.add(key.value if isinstance(key.value, str) else None)


def _below(tree: yaml.Node) -> Iterator[yaml.Node]:
    """The tree and all in it, each node once and in any order: an alias may stand in what it names."""
    seen, pending = set(), [tree]
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        if node.id == "sequence":
            pending += node.value
        elif node.id == "mapping":
            pending += [value for _, value in node.value]


def _in_words(error: ValidationError, tree: yaml.Node, path: Path) -> str:
    """One of pydantic's findings, for a person: a wrong name says more than what it leaves missing."""
    problems = error.errors(include_url=False)
    problem = min(problems, key=lambda one: one["type"] != "extra_forbidden")
    place = problem["loc"]
    where = f"{path} line {_line(tree, place)}"
    key = place[-1:] == ("[key]",)
    if key:
        place = place[:-1]
    name = next((str(part) for part in reversed(place) if isinstance(part, str)), "this")
    more = error.error_count() - 1
    also = f" ({more} more after that)" if more else ""
    if problem["type"] == "extra_forbidden":
        return f"{where}: {no_field(place)}{also}"
    if problem["type"] == "missing":
        return f"{where}: {name!r} is missing.{also}"
    message = problem["msg"]
    for found, said in _PLAINER:
        message = re.sub(found, said, message)
    if problem["type"] == "value_error":
        return f"{where}: {message}{'' if message.endswith('?') else '.'}{also}"
    is_that = "" if key else f", and is {_SHORT.repr(problem['input'])}"
    return f"{where}: {name!r} {message[:1].lower()}{message[1:]}{is_that}.{also}"


_PLAINER = (
    ("^(Value error, |Input |String |Assertion failed, )", ""),
    (", unable to .*", ""),
    ("a valid tuple", "a list"),
    ("a valid dictionary( or instance of .*)?|an object( .*)?", "fields with values"),
    (r"\bTrue\b", "true"),
)
"""What pydantic says, and what that is in a scene."""

_SHORT = reprlib.Repr()
"""What was found may be long, or hold itself."""
_SHORT.maxlevel, _SHORT.maxstring = 3, 80


def no_field(place: tuple[int | str, ...], model: Any = Scene) -> str:
    """The words about a name that no field has, at this place below a model: which one may be meant."""
    name, beside = str(place[-1]), _fields_beside(place, model)
    known = get_close_matches(name, beside, 1, 0.6)
    meant = f"did you mean {known[0]!r}?" if known else f"there are {', '.join(beside)}."
    return f"{name!r} is no field; {meant}"


def _fields_beside(place: tuple[int | str, ...], model: Any) -> list[str]:
    """The names that could stand where an unknown one does."""
    for part in place[:-1]:
        if isinstance(part, int):
            continue
        model = _model_of(model, part)
    return [field.alias or name for name, field in model.model_fields.items() if name != "file"]


def _model_of(model: Any, name: str) -> Any:
    """The model of a field's value, or of the items in it."""
    field = next((field for known, field in model.model_fields.items() if name in (known, field.alias)), None)
    if field is None:
        return model
    pending = [field.annotation]
    while pending:
        kind = pending.pop()
        if hasattr(kind, "model_fields"):
            return kind
        pending += getattr(kind, "__args__", ())
    return model


def _line(tree: yaml.Node, place: tuple[int | str, ...]) -> int:
    """The line (from 1) of what a finding is about: as far as its path can be followed in the tree."""
    node, line = tree, tree.start_mark.line
    for part in place:
        if isinstance(part, int) and node.id == "sequence" and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
        elif isinstance(part, str) and node.id == "mapping":
            found = next(((key, value) for key, value in node.value if key.value == part), None)
            if found is not None:
                line, node = found[0].start_mark.line, found[1]
    return int(line) + 1
