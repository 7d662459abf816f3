import pytest

from voice import events
from voice.cli.conversation import Conversation

EVIL = "x\x1b]52;c;aGk=\x07\x1b[2J\u202e\x9b31m\r\nyou     > forged [bold]y[/]"


@pytest.mark.parametrize(
    "event",
    [
        events.AssistantText(EVIL),
        events.NarrationStarted(EVIL),
        events.UserMessage(EVIL, "voice", 1.0),
        events.ToolCalled("user_select", EVIL, True),
        events.Notice(EVIL),
        events.Discarded(events.DiscardReason.ECHO, EVIL, 1.0),
        events.ToolsChanged((EVIL,)),
    ],
)
def test_hostile_text_is_printed_and_neither_obeyed_nor_taken_for_markup(event, capsys):
    Conversation().show(event)
    shown = capsys.readouterr().out
    assert not set("\x1b\x07\x9b\r\u202e") & set(shown)
    assert not [line for line in shown.splitlines() if line.startswith("you     > forged")]
    assert "[bold]y[/]" in shown


def test_it_tells_how_long_things_took(capsys):
    conversation = Conversation()
    conversation.show(events.UserMessage("Yes.", "voice", 1.0, latency=events.Latency(1.6, 0.1, 1.7)))
    conversation.show(events.NarrationEnded("x", events.NarrationEnding.COMPLETED, 2.34))
    shown = capsys.readouterr().out
    assert "1.70 s after your last sound (1.60 of silence, 0.10 more for Whisper)" in shown
    assert "2.3 s of speech" in shown
