"""What reaches a terminal, a file that is full, and whoever reads an exit code."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from voice.cli import running
from voice.cli.app import run_app
from voice.errors import TranscriberError
from voice.events import Discarded, DiscardReason, Notice, UserMessage, UtteranceNearCap, as_json

VOICE = str(Path(sys.executable).parent / "voice")

HOSTILE = b"n\xff\x1b[31m\xc2\x9b\xe2\x80\xae.wav"
"""A file name: a byte that is no UTF-8, escape sequences of one and of two bytes, a turn to the left."""

ESCAPED = "n\\udcff\\u001b[31m\\u009b\\u202e.wav"


@pytest.fixture
def output(monkeypatch):
    """What was printed, as bytes, by streams of an encoding."""

    def open_streams(encoding):
        streams = {name: io.TextIOWrapper(io.BytesIO(), encoding=encoding) for name in ("stdout", "stderr")}
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        running.write_any_text()
        return lambda name: streams[name].buffer.getvalue()

    return open_streams


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_any_name_can_be_printed_and_is_read_back_from_json(output, encoding):
    printed = output(encoding)
    name = os.fsdecode(HOSTILE) + "é🎤"
    running.tell(name)
    assert printed("stdout").startswith(ESCAPED.encode())
    running.tell_json({"file": name})
    assert json.loads(printed("stdout").splitlines()[1].decode(encoding)) == {"file": name}
    running.remark(name)
    assert printed("stderr").startswith(ESCAPED.encode())


def test_letters_of_every_script_are_printed_as_they_are(output):
    printed = output("utf-8")
    line = "a\tü 重　要 नमस्ते می\u200cخواهم 👨\u200d👩\u200d👧"
    running.tell(line)
    assert printed("stdout").decode() == line + "\n"


@pytest.mark.slow
def test_a_hostile_name_of_a_missing_file_is_told_without_obeying_it(voice):
    done = voice("replay", HOSTILE.decode("utf-8", "surrogateescape"))
    assert done.returncode == 2
    assert f"There is no file {ESCAPED}." in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [["--help"], ["doctor"], ["transcribe", "yes.wav"], ["say", "Hi", "--out", "-"]]
)
def test_a_disk_that_is_full_is_a_sentence(voice, fixtures_folder, arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [VOICE, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=fixtures_folder,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "voice: Reading or writing failed: No space left on device.\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("numpy", ["replay", "yes.wav"]),
        ("pydantic", ["say", "Hi"]),
        ("anyio", ["say", "Hi"]),
        ("av", ["transcribe", "yes.wav"]),
        ("rich", ["demo"]),
    ],
)
def test_a_library_that_is_broken_is_a_sentence_with_what_mends_it(
    voice, fixtures_folder, tmp_path, module, arguments
):
    (tmp_path / f"{module}.py").write_text("raise ImportError('libfortran.so: cannot open it')")
    done = voice(*arguments, cwd=fixtures_folder, environment={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert done.stdout == ""
    first, mend = done.stderr.splitlines()
    assert first == f"voice: The library {module} cannot be loaded: libfortran.so: cannot open it."
    assert "pip install" in mend


@pytest.fixture
def scripted(monkeypatch, capsys, tmp_path):
    """Run a command whose replay gives these events; returns exit code, standard output, standard error."""

    def run(command, *events):
        class Weightless:
            async def __aenter__(self):
                return self

            async def __aexit__(self, *_):
                pass

            async def ready(self):
                pass

        async def replay_all(files, transcriber, settings, *, asked="", realtime=False):
            for file, _ in files:
                for event in events:
                    yield file, event

        monkeypatch.setattr("voice.assembly.find_weights", lambda settings: tmp_path)
        monkeypatch.setattr("voice.assembly.make_transcriber", lambda settings, weights: Weightless())
        monkeypatch.setattr("voice.replay.replay_all", replay_all)
        monkeypatch.setattr(sys, "argv", ["voice", *command])
        code = run_app()
        return code, *capsys.readouterr()

    return run


LOST = Discarded(DiscardReason.NOT_TRANSCRIBED, "", 3.0)
PHANTOM = Discarded(DiscardReason.PHANTOM, "Thank you.", 3.0)


@pytest.mark.parametrize("command", [["replay"], ["replay", "--json"], ["transcribe"]])
def test_a_turn_that_was_not_transcribed_is_an_exit_code_at_the_end(scripted, command):
    code, out, err = scripted([*command, "a.wav"], LOST, UserMessage("Yes.", "voice", 9.0))
    assert code == TranscriberError.exit_code == 3
    assert "Yes." in out
    assert "Not all that was said could be transcribed." in err
    code, _, _ = scripted([*command, "a.wav"], PHANTOM)
    assert code == 0


def test_transcribe_tells_what_it_does_not_deliver(scripted):
    code, out, err = scripted(["transcribe", "a.wav"], PHANTOM, Notice("The model is slow."))
    assert (code, out) == (0, "")
    assert err == "a.wav: not delivered (phantom): 'Thank you.'\na.wav: The model is slow.\n"


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        (
            PHANTOM,
            {"event": "discarded", "reason": "phantom", "text": "Thank you.", "at_s": 3.0, "source": "voice"},
        ),
        (Notice("Look."), {"event": "notice", "sentence": "Look."}),
        (UtteranceNearCap(540.0, 60.0), {"event": "utterance_near_cap", "at_s": 540.0, "remaining_s": 60.0}),
    ],
)
def test_the_rarer_events_have_the_fields_that_the_readme_gives(scripted, event, fields):
    _, out, _ = scripted(["replay", "--json", "a.wav"], event)
    assert json.loads(out) == fields | {"file": "a.wav"}
    assert as_json(event) == fields
    readme = (Path(__file__).parents[3] / "README.md").read_text()
    (documented,) = re.findall(rf"^\| `{fields['event']}` \| (.*?) \|", readme, re.MULTILINE)
    assert re.findall(r"`(\w+)`", documented) == [name for name in fields if name != "event"]
