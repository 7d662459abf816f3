import os
import stat

import pytest

from voice.doctor import places
from voice.doctor.places import Terminal, examine_folder, last_session, read_settings, terminal_fits
from voice.events import DiscardReason
from voice.journal.entries import began, decided
from voice.journal.store import Store
from voice.settings import Settings

FITS = Terminal(True, "xterm-256color", 80, 24, "256", "utf-8")


@pytest.mark.parametrize(
    ("terminal", "mark", "told"),
    [
        (FITS, "ok", "xterm-256color, 80 by 24, 256 colours"),
        (Terminal(False, "", 0, 0, "16", "utf-8"), "ok", "none here"),
        (Terminal(True, "dumb", 80, 24, "16", "utf-8"), "weak", "TERM is dumb"),
        (Terminal(True, "", 80, 24, "16", "utf-8"), "weak", "TERM is not set"),
        (Terminal(True, "xterm", 30, 24, "16", "utf-8"), "weak", "small for a screen"),
        (Terminal(True, "xterm", 80, 5, "16", "utf-8"), "weak", "small for a screen"),
        (Terminal(True, "xterm", 80, 24, "16", "ANSI_X3.4-1968"), "weak", "shown as codes"),
        (Terminal(True, "tmux-256color", 80, 24, "256", "UTF-8", 500), "weak", "holds Esc back for 0.5 s"),
        (Terminal(True, "tmux-256color", 80, 24, "256", "UTF-8", 10), "ok", "80 by 24"),
    ],
)
def test_a_terminal_is_judged(terminal, mark, told):
    finding = terminal_fits(terminal)
    assert (finding.mark, told in finding.detail) == (mark, True)


def test_this_terminal_is_described_whatever_it_is(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("TMUX", raising=False)
    here = Terminal.here()
    assert (here.name, here.colours, here.escape_ms) == ("xterm-256color", "no", None)


def test_a_tmux_that_is_not_there_is_no_fault(monkeypatch):
    monkeypatch.setenv("TMUX", "/nowhere,1,0")
    assert Terminal.here().escape_ms is None or Terminal.here().escape_ms >= 0


def test_the_settings_file_is_read(tmp_path, monkeypatch):
    path = tmp_path / "settings.toml"
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", str(path))
    finding, settings = read_settings()
    assert (finding.kind, settings) == ("SettingsError", None)
    path.write_text("[hearing]\nlongest_s = 700\n")
    finding, settings = read_settings()
    assert (finding.ok, finding.detail, finding.public) == (True, str(path), "a file")
    assert settings.hearing.longest_s == 700
    path.write_text('[hearing]\npatience = "secret"\n')
    finding, settings = read_settings()
    assert (finding.broken, finding.public, settings) == (True, "", None)
    monkeypatch.setenv("VIVA_VOICE_SETTINGS", "")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    finding, settings = read_settings()
    assert finding.detail.startswith("defaults; no ")
    assert settings == Settings()


@pytest.mark.parametrize("kept", [None, "no JSON", "[]", '{"version": 1}'])
def test_a_last_session_that_cannot_be_read_is_none(tmp_path, monkeypatch, kept):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    if kept is not None:
        (tmp_path / "viva-voce").mkdir()
        (tmp_path / "viva-voce/last-session.json").write_text(kept)
    assert last_session() is None


def test_a_folder_that_is_not_there_yet_is_looked_for_and_not_made(tmp_path):
    finding = examine_folder(tmp_path / "a/b/journal")
    assert (finding.mark, finding.public) == ("ok", "writable, nothing waits")
    assert finding.figures["free_mb"] > 0
    assert not list(tmp_path.iterdir())


def test_what_was_not_delivered_is_counted(tmp_path):
    with Store(tmp_path / "journal") as store:
        session = store.begin_session(talks=False)
        store.begin(f"{session}-1", began("typed", 1.0) + decided("secret words", DiscardReason.CUT_OFF))
    finding = examine_folder(tmp_path / "journal")
    assert (finding.mark, finding.figures["pending"]) == ("weak", 1.0)
    assert "voice journal list" in finding.mend
    assert "secret" not in f"{finding.detail}{finding.public}"


def test_a_folder_that_others_can_read_is_told(tmp_path):
    (tmp_path / "journal").mkdir(mode=0o755)
    (tmp_path / "journal").chmod(0o755)
    finding = examine_folder(tmp_path / "journal")
    assert (finding.mark, finding.mend.partition(" '")[0]) == ("weak", "chmod 700")
    assert stat.S_IMODE((tmp_path / "journal").stat().st_mode) == 0o755


def test_a_link_in_its_place_is_told_and_nobody_is_advised_to_close_what_it_names(tmp_path):
    (tmp_path / "shared").mkdir(mode=0o755)
    (tmp_path / "shared").chmod(0o755)
    (tmp_path / "journal").symlink_to("shared")
    finding = examine_folder(tmp_path / "journal")
    assert (finding.mark, "is a link" in finding.detail, finding.mend) == ("broken", True, "move it away")
    assert stat.S_IMODE((tmp_path / "shared").stat().st_mode) == 0o755


def test_a_file_in_its_place_is_told(tmp_path):
    (tmp_path / "journal").write_text("")
    finding = examine_folder(tmp_path / "journal")
    assert (finding.mark, finding.ok) == ("broken", False)
    assert finding.mend


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    tmp_path.chmod(0o500)
    finding = examine_folder(tmp_path / "journal")
    tmp_path.chmod(0o700)
    assert finding.mark == "broken"
    assert "XDG_STATE_HOME" in finding.mend


def test_a_full_disk_is_told_before_it_is_full(tmp_path, monkeypatch):
    monkeypatch.setattr(places, "LEAST_FREE", 10**18)
    finding = examine_folder(tmp_path / "journal")
    assert (finding.mark, finding.mend) == ("weak", "free some space")
