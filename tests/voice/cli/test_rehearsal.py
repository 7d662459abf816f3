import anyio
import pytest

from voice.cli import rehearsal
from voice.errors import SettingsError, TranscriberError
from voice.events import NarrationEnded, NarrationEnding, UserMessage

pytestmark = pytest.mark.anyio

ASKED = NarrationEnded("Shall I?", NarrationEnding.COMPLETED, 1.0)


async def test_a_mode_loads_exactly_the_packages_that_it_names(tmp_path, monkeypatch):
    (tmp_path / ".po").mkdir()
    (tmp_path / ".po/modes.yaml").write_text(
        "layers: {ears: {packages: [voice]}, asks: {packages: [questionnaire]}}\n"
        "majorMode:\n"
        "  walk: {description: a, layers: [ears]}\n"
        "  desk: {description: b, layers: [asks]}\n"
        "  both: {description: c, layers: [ears, asks]}\n"
    )
    monkeypatch.chdir(tmp_path)
    assert rehearsal.without_questionnaire("walk")
    assert not rehearsal.without_questionnaire("both")
    assert not rehearsal.without_questionnaire(None)
    with pytest.raises(SettingsError, match="does not load voice"):
        rehearsal.without_questionnaire("desk")
    with pytest.raises(SettingsError, match="no mode"):
        rehearsal.without_questionnaire("swim")


async def test_a_reply_that_becomes_no_message_is_said_so_instead_of_waited_for(monkeypatch, fixtures_folder):
    monkeypatch.setattr(rehearsal, "PATIENCE_S", 0.05)
    person = rehearsal._RecordedPerson([fixtures_folder / "yes.wav"])
    person.take(ASKED)
    with pytest.raises(TranscriberError, match=r"yes\.wav"):
        await person.insist()


async def test_who_was_understood_or_not_asked_waits_for_ever(monkeypatch, fixtures_folder):
    monkeypatch.setattr(rehearsal, "PATIENCE_S", 0.05)
    person = rehearsal._RecordedPerson([fixtures_folder / "yes.wav"])
    with anyio.move_on_after(0.2) as waiting:
        await person.insist()
    assert waiting.cancelled_caught
    person.take(ASKED)
    person.take(UserMessage("Yes.", "voice", 1.0))
    person.take(ASKED)  # no recording is left: nobody is waited for
    with anyio.move_on_after(0.2) as waiting:
        await person.insist()
    assert waiting.cancelled_caught
