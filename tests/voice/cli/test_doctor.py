"""``voice doctor`` on whatever machine this is: what it says of libraries and settings, the exit code, the
report, and what stands on a terminal meanwhile."""

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pexpect
import pytest

from voice.backends.whisper_models import find_model
from voice.doctor.findings import Finding, could_run
from voice.doctor.libraries import LIBRARIES, examine_libraries

NO_HOME = {
    "XDG_CONFIG_HOME": "/proc/nowhere",
    "XDG_STATE_HOME": "/proc/nowhere",  # where not even root can make anything
    "VIVA_VOICE_SETTINGS": "",
    "VIVA_VOICE_MODEL": "",
}
NO_WEIGHTS = {"VIVA_VOICE_MODEL": "/nowhere/weights"}
"""Where Whisper is of no interest: it takes seconds."""


def test_every_library_that_is_declared_is_looked_at():
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    declared = {re.match(r"[\w-]+", dependency)[0] for dependency in project["dependencies"]}
    assert set(LIBRARIES) == declared
    assert [finding.detail for finding in examine_libraries()][1:] == ["all there"]


@pytest.mark.parametrize(
    ("finding", "mark", "runs"),
    [
        (Finding("a", True, ""), "ok", True),
        (Finding("a", True, "", mend="louder"), "weak", True),
        (Finding("a", False, ""), "MISSING", False),
        (Finding("a", False, "", needed=False), "missing", True),
        (Finding("a", False, "", broken=True), "BROKEN", False),
        (Finding("a", False, "", needed=False, broken=True), "broken", True),
        (Finding("a", False, "", needed=False, checked=False), "untried", True),
    ],
)
def test_the_mark_tells_missing_from_broken_and_what_the_loop_needs(finding, mark, runs):
    assert (finding.mark, could_run([finding])) == (mark, runs)


@pytest.fixture(scope="module")
def examined(voice, objects):
    """The exit code, and the first finding of each part."""

    def examine(*arguments, **environment):
        # Tests beside this one keep the machine busy: a minute is no fault here.
        done = voice("doctor", "--json", "--within", "60", *arguments, environment={**NO_HOME, **environment})
        assert done.stderr == (
            "" if not arguments else f"Written to {arguments[1]}: read it before you send it.\n"
        )
        found = {}
        for finding in objects(done.stdout):
            found.setdefault(finding["part"], finding)
        return done.returncode, found

    return examine


@pytest.mark.slow
def test_the_exit_code_is_whether_the_loop_could_run(examined, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text('[transcription]\nmodel = "small"')
    weights = str(find_model(download=False))
    code, findings = examined(VIVA_VOICE_SETTINGS=str(path), VIVA_VOICE_MODEL=weights)
    order = [
        *("Python", "libraries", "settings", "terminal", "journal", "agent pi", "agent acp"),
        *("agent pydantic-ai", "MCP servers", "voice detector", "microphone", "speech engine", "speaker"),
        *("Whisper", "transcription", "loopback"),
    ]
    assert list(findings) == [part for part in order if part in findings]
    assert set(order) - set(findings) <= {"loopback"}  # where there is no speaker
    for finding in findings.values():
        assert list(finding) == [
            *("part", "ok", "detail", "mend", "needed", "broken", "checked", "figures"),
        ]
        assert finding["ok"] or finding["mend"] or not finding["checked"]
    for part in ("libraries", "voice detector", "Whisper", "speech engine", "transcription"):
        assert findings[part]["ok"], findings[part]
    assert set(findings["transcription"]["figures"]) == {"reply_s", "words_back"}
    assert code == (0 if findings["microphone"]["ok"] else 1)
    # Nothing can be kept there, and the loop runs all the same.
    assert (findings["journal"]["broken"], findings["journal"]["needed"]) == (True, False)
    # The folder overrules the size that the settings name.
    assert findings["Whisper"]["detail"].endswith(f" in {weights}; VIVA_VOICE_MODEL overrules small")


@pytest.mark.slow
def test_on_a_terminal_it_says_what_it_does_and_what_it_has_found(tmp_path):
    report = tmp_path / "none/report.md"  # which cannot be written: what was found stands there all the same
    spawned = pexpect.spawn(
        str(Path(sys.executable).parent / "voice"),
        ["doctor", "--within", "60", "--report", str(report)],
        env={
            **os.environ,
            **NO_HOME,
            **NO_WEIGHTS,
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMUX": "",
            "COLUMNS": "80",  # of the terminal in which the tests were started
        },
        encoding="utf-8",
        dimensions=(24, 90),
        timeout=120,
    )
    spawned.expect_exact("ok      terminal          xterm-256color, 90 by 24, ")
    spawned.expect_exact("… microphone: say something\r")
    spawned.expect_exact("MISSING Whisper           ")
    spawned.expect_exact(f"voice: The report {report} cannot be written: No such file or directory.")
    spawned.expect(pexpect.EOF)
    spawned.close()
    assert spawned.exitstatus == 1  # there are no weights


@pytest.mark.slow
@pytest.mark.parametrize(
    "modules",
    [["numpy"], ["pydantic"], ["anyio"], ["soxr"], ["onnxruntime"], ["av", "rich", "markdown_it"]],
    ids=lambda modules: modules[0],
)
def test_with_any_library_missing_it_runs_and_names_it(examined, tmp_path, modules):
    for module in modules:
        (tmp_path / f"{module}.py").write_text(
            f"raise ModuleNotFoundError('No module named {module}', name='{module}')"
        )
    report = tmp_path / "report.md"
    code, findings = examined("--report", report, PYTHONPATH=str(tmp_path), **NO_WEIGHTS)
    assert code == 1
    for module in modules:
        assert f"* libraries: MISSING [LibraryMissing] The library {module}" in report.read_text()
    assert findings["libraries"]["detail"].startswith(f"The library {modules[0]} cannot be loaded")
    assert "pip install" in findings["libraries"]["mend"]


@pytest.mark.slow
def test_what_is_broken_is_named_and_the_rest_is_tried_all_the_same(examined, tmp_path):
    (tmp_path / "ctranslate2.py").write_text("raise ImportError('libgomp.so.1: cannot open shared object')")
    path = tmp_path / "settings.toml"
    path.write_text("[hearing\n")
    code, findings = examined(PYTHONPATH=str(tmp_path), VIVA_VOICE_SETTINGS=str(path))
    assert code == 1
    assert findings["settings"]["broken"]
    for part in ("libraries", "Whisper"):
        assert "ctranslate2 cannot be loaded: libgomp" in findings[part]["detail"]
    assert findings["speech engine"]["ok"]


@pytest.mark.slow
def test_a_disk_that_hangs_is_a_finding_wherever_something_is_read_from_it(voice, objects, tmp_path):
    """A pipe that nobody writes to takes the place of each file."""
    (tmp_path / "state/viva-voce").mkdir(parents=True)
    for path in ("settings.toml", "state/viva-voce/last-session.json"):
        os.mkfifo(tmp_path / path)
    report = tmp_path / "report.md"
    done = voice(
        *("doctor", "--json", "--within", "3", "--report", report),
        environment={
            "VIVA_VOICE_SETTINGS": str(tmp_path / "settings.toml"),
            "XDG_STATE_HOME": str(tmp_path / "state"),
            **NO_WEIGHTS,
        },
    )
    assert done.returncode == 1
    findings = {finding["part"]: finding for finding in objects(done.stdout)}
    assert findings["settings"]["broken"]
    assert findings["settings"]["detail"] == "There was no answer within 3 s."
    assert "VIVA_VOICE_SETTINGS" in findings["settings"]["mend"]
    assert "Whisper" in findings
    lines = report.read_text().splitlines()
    assert "* they cannot be read; the defaults were tried" in lines
    assert "* none was kept" in lines


def test_a_library_that_several_need_is_told_once(monkeypatch):
    # Whisper's own library loads that of the hub: without it nothing is transcribed, even with weights here.
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.delitem(sys.modules, "faster_whisper", raising=False)
    _, finding = examine_libraries()
    assert (finding.mark, "huggingface_hub" in finding.detail) == ("MISSING", True)


SECRETS = {
    "settings.toml": """
        [hearing]
        microphone = "Zyxanna's headset"
        patience = "snappy"
        [controls]
        end_word = "zyxover"
        phrases = {stop_voice = ["zyx be quiet"]}
        [questionnaire]
        bell = false
        """,
    "state of Zyx/viva-voce/threads.json": '{"zyx-laptop, 2 cores, /home/zyx/weights, int8": 2}',
    "state of Zyx/viva-voce/last-session.json": json.dumps(
        {"version": 1, "spoken": 3, "typed": 1, "reopened_sent": 0, "reopened_waiting": 0, "waited": 0,
         "discarded": {"echo": 2}, "failures": {"agent_lost": 1},
         "parts": {part: [0.5] for part in ("endpoint_s", "transcribe_s", "deliver_s", "total_s")}}
    ),
    "state of Zyx/viva-voce/journal/abcd-1.jsonl":
        '{"event": "began", "kind": "typed", "at": 1.0}\n'
        '{"event": "decided", "text": "zyx words", "reason": null}\n',
    "bin of zyx/pi": "#!/bin/sh\necho zyx says no version",
}  # fmt: skip


@pytest.mark.slow
def test_a_report_holds_what_helps_and_nothing_private(voice, tmp_path):
    home = tmp_path / "home/zyxanna"
    for name, text in SECRETS.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text("\n".join(line.strip() for line in text.splitlines()))
        path.chmod(0o700)
    project = home / "My Zyx Project"
    project.mkdir()
    report = tmp_path / "report.md"
    done = voice(
        *("doctor", "--within", "60", "--report", report),
        cwd=project,
        environment={
            "HOME": str(home),
            "USER": "zyxanna",
            "LOGNAME": "zyxanna",
            "HOSTNAME": "zyx-laptop",
            "PATH": f"{home / 'bin of zyx'}:{os.environ['PATH']}",
            "OPENAI_API_KEY": "sk-zyx-1234",
            "VIVA_VOICE_TOKEN": "zyx-token-zyx-token",
            "VIVA_VOICE_SETTINGS": str(home / "settings.toml"),
            "VIVA_VOICE_MODEL": str(project / "zyx weights"),
            "XDG_STATE_HOME": str(home / "state of Zyx"),
        },
    )
    assert done.returncode == 1
    text = report.read_text()
    assert "zyx" not in text.lower()
    assert str(tmp_path) not in text
    for line in (
        "* settings: ok a file",
        "* hearing.microphone = (set)",
        "* hearing.patience = snappy",
        "* controls.end_word = (set)",
        "* agent pi: missing [HostMissing] (left out)",
        "* Whisper: MISSING [ModelNotFound]",
        "* spoken 3, typed 1, waited 0, frames_lost 0",
        "* discarded: echo 2",
        "* failures: agent_lost 1",
    ):
        assert line in text.splitlines(), line
    assert re.search(r"^\* viva-voce \d", text, re.MULTILINE)
    assert re.search(r"^  \* pending 1, free_mb", text, re.MULTILINE)
    assert "read it before you send it" in done.stderr
    # What stands on the user's own screen names their folders.
    assert "zyx weights" in done.stdout


def test_a_report_and_json_do_not_both_go_to_standard_output(voice):
    done = voice("doctor", "--json", "--report")
    assert (done.returncode, done.stdout) == (2, "")
    assert "name a FILE" in done.stderr
