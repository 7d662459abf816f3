import sys
from importlib import import_module

import pytest

from voice.errors import HostMissing, SettingsError
from voice.hosts.catalog import AGENTS, Agent, host_maker


def test_a_name_that_nobody_has_is_told_with_those_that_there_are():
    with pytest.raises(SettingsError, match="There is no agent nobody") as error:
        host_maker("nobody", [])
    assert all(name in error.value.mend for name in AGENTS)


@pytest.mark.parametrize("name", sorted(AGENTS))
def test_every_agent_has_a_maker(name):
    agent = AGENTS[name]
    if agent.extra:
        pytest.importorskip({"acp": "acp", "pydantic-ai": "pydantic_ai"}[agent.extra])
    assert callable(import_module(agent.module).make_host)
    assert agent.about


def test_a_missing_library_is_a_sentence_with_the_extra_that_brings_it(monkeypatch, tmp_path):
    (tmp_path / "needs_one.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("voice.hosts.catalog.AGENTS", {"x": Agent("needs_one", "x", "some-extra")})
    with pytest.raises(HostMissing, match="no_such_library") as error:
        host_maker("x", [])
    assert "some-extra" in error.value.mend
    assert "needs_one" not in sys.modules


def test_a_fault_of_our_own_is_no_missing_library(monkeypatch, tmp_path):
    (tmp_path / "broken_one.py").write_text("import voice.no_such_part\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("voice.hosts.catalog.AGENTS", {"x": Agent("broken_one", "x", "some-extra")})
    with pytest.raises(ModuleNotFoundError):
        host_maker("x", [])
