"""``voice doctor`` on whatever machine this is: what it says of libraries, settings and the exit code."""

import re
import tomllib
from pathlib import Path

import pytest

from voice.backends.whisper_models import find_model
from voice.doctor import LIBRARIES, Finding, examine_libraries

NO_HOME = {"XDG_CONFIG_HOME": "/nowhere", "VIVA_VOICE_SETTINGS": "", "VIVA_VOICE_MODEL": ""}


def test_every_library_that_is_declared_is_looked_at():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", dependency)[0] for dependency in project["dependencies"]}
    assert set(LIBRARIES) == declared
    assert [finding.detail for finding in examine_libraries()][1:] == ["all there"]


@pytest.mark.parametrize(
    ("finding", "mark"),
    [
        (Finding("a", True, ""), "ok"),
        (Finding("a", False, ""), "MISSING"),
        (Finding("a", False, "", needed=False), "missing"),
        (Finding("a", False, "", broken=True), "BROKEN"),
        (Finding("a", False, "", needed=False, broken=True), "broken"),
    ],
)
def test_the_mark_tells_missing_from_broken_and_what_the_loop_needs(finding, mark):
    assert finding.mark == mark


@pytest.fixture(scope="module")
def examined(voice, objects):
    """The exit code, and the findings by their part."""

    def examine(**environment):
        done = voice("doctor", "--json", environment={**NO_HOME, **environment})
        assert done.stderr == ""
        return done.returncode, {finding["part"]: finding for finding in objects(done.stdout)}

    return examine


@pytest.mark.slow
def test_the_exit_code_is_whether_the_loop_could_run(voice, examined):
    code, findings = examined()
    assert list(findings) == [
        *("Python", "libraries", "settings", "voice detector", "Whisper", "speech engine", "microphone"),
        "speaker",
    ]
    for finding in findings.values():
        assert list(finding) == ["part", "ok", "detail", "mend", "needed", "broken"]
        assert finding["ok"] or finding["mend"]
    assert all(findings[part]["ok"] for part in ("libraries", "voice detector", "Whisper", "speech engine"))
    assert code == (0 if findings["microphone"]["ok"] else 1)
    told = voice("doctor", environment=NO_HOME)
    assert told.returncode == code
    assert "ok      Whisper         CTranslate2" in told.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "module", ["numpy", "pydantic", "anyio", "soxr", "av", "rich", "markdown_it", "onnxruntime"]
)
def test_with_any_library_missing_it_runs_and_names_it(examined, tmp_path, module):
    (tmp_path / f"{module}.py").write_text(
        f"raise ModuleNotFoundError('No module named {module}', name='{module}')"
    )
    code, findings = examined(PYTHONPATH=str(tmp_path))
    assert code == 1
    assert findings["libraries"]["detail"].startswith(f"The library {module} cannot be loaded")
    assert "pip install" in findings["libraries"]["mend"]


@pytest.mark.slow
def test_a_broken_whisper_library_is_named_and_the_rest_goes_on(examined, tmp_path):
    (tmp_path / "ctranslate2.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object')")
    _, findings = examined(PYTHONPATH=str(tmp_path))
    for part in ("libraries", "Whisper"):
        assert "ctranslate2 cannot be loaded: libgomp" in findings[part]["detail"]
    assert findings["speech engine"]["ok"]


@pytest.mark.slow
def test_without_the_hubs_library_the_weights_on_the_machine_are_found(examined, tmp_path):
    (tmp_path / "huggingface_hub.py").write_text("raise ImportError('broken')")
    _, findings = examined(PYTHONPATH=str(tmp_path))
    assert not findings["libraries"]["needed"]


@pytest.mark.slow
def test_a_settings_file_that_cannot_be_read_is_broken_and_the_parts_are_tried_all_the_same(
    examined, tmp_path
):
    path = tmp_path / "settings.toml"
    path.write_text("[hearing\n")
    code, findings = examined(VIVA_VOICE_SETTINGS=str(path))
    assert code == 1
    assert findings["settings"]["broken"]
    assert findings["Whisper"]["ok"]


@pytest.mark.slow
def test_a_folder_that_overrules_a_named_size_is_told(examined, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('[transcription]\nmodel = "small"')
    weights = str(find_model(download=False))
    _, findings = examined(VIVA_VOICE_SETTINGS=str(path), VIVA_VOICE_MODEL=weights)
    assert findings["Whisper"]["detail"].endswith(f"weights in {weights}; VIVA_VOICE_MODEL overrules small")
