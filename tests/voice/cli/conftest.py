import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

VOICE = str(Path(sys.executable).parent / "voice")


@pytest.fixture(scope="session")
def voice():
    """Run the command; returns what it printed and its exit code."""

    def run(*arguments, environment=None, **options):
        return subprocess.run(
            [VOICE, *map(str, arguments)],
            capture_output=True,
            text=options.pop("text", True),
            env={**os.environ, **(environment or {})},
            timeout=240,
            check=False,
            **options,
        )

    return run


@pytest.fixture(scope="session")
def objects():
    """The JSON objects of some lines."""
    return lambda text: [json.loads(line) for line in text.splitlines()]
