import subprocess
import sys
from pathlib import Path

import questionnaire

ROOT = Path(questionnaire.__file__).parents[1]


def test_the_public_names_exist():
    assert sorted(questionnaire.__all__) == sorted(set(questionnaire.__all__))
    for name in questionnaire.__all__:
        assert hasattr(questionnaire, name)


def test_importing_it_is_light_and_silent():
    heavy = "{'asyncio', 'numpy', 'pydantic', 'rich', 'prompt_toolkit', 'sounddevice', 'voice'}"
    script = f"import sys, questionnaire; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.returncode == 0
    assert done.stdout == "[]\n"
    assert done.stderr == ""
