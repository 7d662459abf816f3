"""Which add-on packages a session loads: the modes of `modes.yaml`.

    layers:
      feedback: {packages: [questionnaire]}
      speech: {packages: [voice]}
    majorMode:
      hands-free: {description: Talk and be asked., layers: [feedback, speech]}

The file is read as a tree, never as objects, so that every fault can name its line and nothing in the file
can do anything. Keys that mean nothing here are left to the programs that know them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from questionnaire.display import printable, quoted, shortened
from questionnaire.errors import BadComposition

FOLDER, FILE_NAME = ".po", "modes.yaml"

PACKAGES = ("questionnaire", "voice")
"""The packages that a layer can name."""

ALIASES: Mapping[str, str] = {"@agimon-ai/po-user-feedback": "questionnaire"}
"""Other names of these packages, as other programs know them."""


@dataclass(frozen=True, slots=True)
class Mode:
    """A major mode; `packages` is what a session in it loads, each once, in the order of its layers."""

    name: str
    description: str
    layers: tuple[str, ...]
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Composition:
    """All modes of a file; `source` names it."""

    source: str
    modes: Mapping[str, Mode]

    def mode(self, name: str) -> Mode:
        """Return the mode called `name`, or raise `BadComposition`, which names those there are."""
        if name in self.modes:
            return self.modes[name]
        known = ", ".join(map(quoted, self.modes)) or "none"
        raise BadComposition(f"{self.source} has no mode {_shown(name)}; it has: {known}.")


def packages_for(mode: str | None, file: Path | None = None) -> frozenset[str]:
    """Return the names of the packages that a session loads: exactly those of `mode`, all without one.

    `file` is the composition file; without it the one of the project is looked for. Raises
    `BadComposition` where there is none, where it cannot be used, and where it has no such mode.
    """
    return frozenset(PACKAGES if mode is None else load(file or find()).mode(mode).packages)


def find(start: Path | None = None) -> Path:
    """Return the `.po/modes.yaml` of the folder `start` (the working one) or the nearest one above it.

    Raises `BadComposition` where there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (file := folder / FOLDER / FILE_NAME).is_file():
            return file
    raise BadComposition(f"There is no {FOLDER}/{FILE_NAME} in {here} or above it.")


def load(file: Path) -> Composition:
    """Read a composition file. Raises `BadComposition` where it is not there or cannot be used."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise BadComposition(f"{file} cannot be read: {error.strerror}.") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadComposition(f"{file}, line {line}: this is not UTF-8.") from error
    return parse(text, str(file))


def parse(text: str, source: str = FILE_NAME) -> Composition:
    """Read the text of a composition file, called `source` in errors.

    Raises `BadComposition` for what is not YAML, for a key that stands twice, for an unknown package or
    layer, and for a mode without layers: one sentence with the line.
    """
    return _Reader(source).composition(text)


class _Field(NamedTuple):
    """A value and the line of its name."""

    line: int
    node: Any


class _Reader:
    """Reads the tree of one file: the nodes of PyYAML, which know their `id` and, from 0, their line."""

    def __init__(self, source: str) -> None:
        self._source = source

    def composition(self, text: str) -> Composition:
        root = self._fields(self._tree(text), "the file")
        layers = {
            name: tuple(self._packages(name, *value)) for name, value in self._group(root, "layers").items()
        }
        modes = {
            name: self._mode(name, *value, layers) for name, value in self._group(root, "majorMode").items()
        }
        return Composition(self._source, modes)

    def _tree(self, text: str) -> Any:
        import yaml  # only who composes a session needs it

        try:
            tree = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            told = printable(", ".join(filter(None, (error.context, error.problem))))
            raise self._fault(mark.line if mark else 0, f"this is not YAML: {told}") from error
        except yaml.reader.ReaderError as error:
            line = text.count("\n", 0, error.position)
            raise self._fault(
                line, f"this is not YAML: a character U+{ord(text[error.position]):04X}"
            ) from error
        except RecursionError as error:
            raise self._fault(0, "this is nested too deeply") from error
        if tree is None:
            raise self._fault(0, "this holds nothing")
        return tree

    def _mode(self, name: str, line: int, node: Any, layers: Mapping[str, tuple[str, ...]]) -> Mode:
        what = f"the major mode {_shown(name)}"
        fields = self._fields(node, what)
        if "layers" not in fields or fields["layers"].node.value == []:
            raise self._fault(line, f"{what} names no layers")
        named = []
        for layer, place in self._names(fields["layers"].node, f"the layers of {what}"):
            if layer not in layers:
                known = ", ".join(map(quoted, layers)) or "none"
                raise self._fault(
                    place, f"{what} names the unknown layer {_shown(layer)}; there are: {known}"
                )
            named.append(layer)
        description = ""
        if "description" in fields:
            place, written = fields["description"]
            if written.id != "scalar":
                raise self._fault(place, f"the description of {what} is no text")
            description = written.value
        packages = dict.fromkeys(package for layer in named for package in layers[layer])
        return Mode(name, description, tuple(named), tuple(packages))

    def _packages(self, name: str, line: int, node: Any) -> Iterator[str]:
        what = f"the layer {_shown(name)}"
        fields = self._fields(node, what)
        if "packages" not in fields:
            raise self._fault(line, f"{what} names no packages")
        for package, place in self._names(fields["packages"].node, f"the packages of {what}"):
            known = ALIASES.get(package, package)
            if known not in PACKAGES:
                there_are = ", ".join(map(quoted, PACKAGES))
                fault = f"{what} names the unknown package {_shown(package)}; there are: {there_are}"
                raise self._fault(place, fault)
            yield known

    def _group(self, root: Mapping[str, _Field], key: str) -> dict[str, _Field]:
        if key not in root:
            raise self._fault(0, f"this has no {key}")
        return self._fields(root[key].node, key)

    def _fields(self, node: Any, what: str) -> dict[str, _Field]:
        if node.id != "mapping":
            raise self._fault(_line(node), f"{what} is no mapping of names to values")
        fields: dict[str, _Field] = {}
        for key, value in node.value:
            if key.id != "scalar" or not key.value:
                raise self._fault(_line(key), f"a name in {what} is no text")
            if key.value in fields:
                raise self._fault(_line(key), f"{_shown(key.value)} stands twice in {what}")
            fields[key.value] = _Field(_line(key), value)
        return fields

    def _names(self, node: Any, what: str) -> Iterator[tuple[str, int]]:
        """Give each name of a list with its line."""
        if node.id != "sequence":
            raise self._fault(_line(node), f"{what} are no list of names")
        for item in node.value:
            if item.id != "scalar":
                raise self._fault(_line(item), f"{what} hold something that is no name")
            yield item.value, _line(item)

    def _fault(self, line: int, what: str) -> BadComposition:
        return BadComposition(f"{self._source}, line {line + 1}: {what}.")


def _line(node: Any) -> int:
    line: int = node.start_mark.line
    return line


def _shown(name: str) -> str:
    return quoted(shortened(name, 60))
