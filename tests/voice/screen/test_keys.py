import pytest

from voice.screen.keys import KEYS, LINES, Act, Order, act_of, help_lines, hints, message_of, order_of


@pytest.mark.parametrize("act", list(Act))
def test_every_act_has_a_line(act):
    assert act_of(f" /{act} ") is act


@pytest.mark.parametrize("line", ["/compact", "/", "voice", "/voice on", "say /quit", "//quit", "", "/QUIT"])
def test_any_other_line_is_a_message(line):
    assert act_of(line) is None


@pytest.mark.parametrize(
    ("line", "sent"),
    [("//quit", "/quit"), ("/compact", "/compact"), ("//compact", "//compact"), (" a\n b ", " a\n b ")],
)
def test_a_second_slash_sends_what_would_act(line, sent):
    assert message_of(line) == sent


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("/mic", (Order.MIC, "")),
        (" /mic  USB Headset ", (Order.MIC, "USB Headset")),
        ("/speaker none", (Order.SPEAKER, "none")),
        ("/journal send 1", (Order.JOURNAL, "send 1")),
        ("/microphone", None),
        ("//mic", None),
        ("mic", None),
        ("say /mic", None),
    ],
)
def test_an_order_is_a_word_with_a_slash_and_what_follows(line, order):
    assert order_of(line) == order


def test_a_second_slash_sends_an_order():
    assert message_of("//mic USB Headset") == "/mic USB Headset"


def test_no_key_that_acts_is_text():
    assert all(len(key) > 1 for key in KEYS)


def test_the_help_names_every_key_and_line():
    shown = " ".join(help_lines(keys=True)).lower()
    for key in KEYS:
        assert key.replace("c-", "ctrl-") in shown
    in_lines = " ".join(help_lines(keys=False))
    for line in [*LINES, *(f"/{order}" for order in Order)]:
        assert line in in_lines
    assert "F2" not in in_lines


def test_the_hint_says_what_can_be_done_now():
    now = {"voice_on": True, "typing": False, "narrating": False, "working": False, "armed": False}
    assert hints(**now)[0] == "F2 voice off"
    assert hints(**{**now, "voice_on": False})[0] == "F2 voice on"
    assert hints(**{**now, "narrating": True})[0] == "F3 silences"
    assert hints(**{**now, "typing": True})[:2] == ["Enter sends", "Esc clears"]
    assert hints(**{**now, "working": True})[0] == "Ctrl-C interrupts"
    assert hints(**{**now, "armed": True}) == ["Ctrl-C again quits"]
