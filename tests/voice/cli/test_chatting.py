from voice.cli.chatting import told_limits
from voice.settings import Settings


def test_every_limit_that_ends_or_cuts_something_is_shown():
    settings = (
        Settings()
        .changed("hearing", end_silence_s=2.25, warn_s=111.0, longest_s=222.0, duplex="headphones")
        .changed("conversation", answer_within_s=33.0, quiet_microphone="closed", resume_after_s=4.5)
        .changed("conversation", while_busy="interrupt")
        .changed("controls", end_word="over")
    )
    told = " ".join(told_limits(settings))
    for value in ("2.25 s", "111 s", "222 s", "33 s", "4.5 s", "closed", "'over'", "interrupt", "headphones"):
        assert value in told
