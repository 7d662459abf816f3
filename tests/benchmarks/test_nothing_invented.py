"""The page counts what was made of noise, and lists each message."""

from corpus import Clip
from nothing_invented import Noise, report


def clip(name, transcript):
    return Clip(name, None, "short_reply", 1.0, transcript, "en", ((0.2, 0.6),), (), "a", False, False)


def test_messages_are_counted_and_listed():
    noise = Noise("fan", 3600.0, "all", 3, ("phantom: “you”",), ("Thank you.",))
    voices = Noise("laughter", 1800.0, "all", 9, (), ("Ha.", "Oh."))
    text = "\n".join(report([noise, voices], [(clip("y", "yes"), "Yes."), (clip("n", "no"), "")]))
    assert "**1 messages in 60 minutes**" in text
    assert "| fan | 60.0 | all | 3 | 1 | 1 | 1 |" in text
    assert "| laughter | 30.0 | all | 9 | 0 | 2 | 4 |" in text
    assert "* fan, delivered: “Thank you.”" in text
    assert "* fan, discarded, phantom: “you”" in text
    assert "1 of 2 replies of 200 to 500 ms were delivered." in text
    assert "* lost: short_reply, n: “no”" in text
