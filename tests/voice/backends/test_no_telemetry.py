"""The libraries below us report nothing to their makers, in whatever way they are loaded."""

import os
import subprocess
import sys

import pytest

CLEARED = ("CI", "ORT_DISABLE_TELEMETRY", "ORT_RUNNING_UNIT_TESTS", "XDG_CACHE_HOME", "HF_HOME")


@pytest.mark.slow
@pytest.mark.parametrize(
    "load",
    [
        "from voice.assembly import make_detector; make_detector()",
        "import voice.backends.whisper_engine",  # as the child process does
        "from voice.doctor.libraries import examine_libraries; list(examine_libraries())",
    ],
)
def test_no_id_of_the_machine_is_kept_in_the_home_to_be_sent(tmp_path, load):
    environment = {name: value for name, value in os.environ.items() if name not in CLEARED}
    done = subprocess.run(
        [sys.executable, "-c", load],
        env={**environment, "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert [path for path in tmp_path.rglob("*") if "Microsoft" in str(path)] == []


def test_who_has_set_it_otherwise_has_their_way():
    code = "import os, voice.backends; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    environment = {**os.environ, "ORT_DISABLE_TELEMETRY": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
