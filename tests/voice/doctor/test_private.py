"""What must not stand in a report."""

import pytest

from voice.doctor.private import LEFT_OUT, Private

PRIVATE = Private(
    names=["anna.berg", "annas-laptop", "Anna Maria Berg", "root", "pi"],
    texts=["My Secret Project", "/home/anna/x y", "ab", "over"],
    environment={"OPENAI_API_KEY": "sk-abc", "GH_TOKEN": "ghp123456", "PATH": "/usr/bin", "AUTH": "ab"},
)


@pytest.mark.parametrize(
    "text",
    [
        "/home/somebody/project/models",
        "~/project",
        "~somebody/project/x",
        "https://somebody:secret@example.org/x?key=1",
        "somebody@example.org",
        "bluez_source.AA_BB_CC_DD_EE_FF",
        "AA:BB:CC:DD:EE:FF",
        "192.168.1.20",
        "usb-Blue_Microphones_2042BAB04D8",
        "my secret project",
        "/home/anna/x y",
        "sk-abc",
        "ghp123456",
        "ANNA",
        "Annas-Kopfhoerer",
        "annas-laptop",
    ],
)
def test_it_is_left_out(text):
    told = PRIVATE.hidden(f"It is {text} there.")
    assert told.startswith("It is ")
    assert told.endswith(" there.")
    assert LEFT_OUT in told
    assert not [
        word for word in ("somebody", "secret", "anna", "192", "AA", "2042", "ghp", "sk-") if word in told
    ]


@pytest.mark.parametrize(
    "text",
    [
        "CTranslate2 4.8.5, loaded in 2.9 s, weights of 76 MB",
        "Debian GNU/Linux 12 (bookworm), Linux 6.18.44-fc-v657, x86_64, 2 processors",
        "pulsectl 24.12.0, webrtcvad-wheels 2.0.14.post1",
        "HDA Intel PCH: ALC257 Analog (hw:0,0): -15 dBFS at most",
        "agent pi: missing",
        "Turn it up in the system's sound settings, or the speaker's own, or the users' too.",
        "libportaudio2 and/or libpulse",
        "VIVA_VOICE_MODEL overrules it",  # and not "over", which somebody says at the end
    ],
)
def test_what_a_bug_report_needs_stays(text):
    assert PRIVATE.hidden(text) == text


NAMED = (
    *("Bob Smith's iPhone", "AirPods de Maria Lopez", "Headset von Anna Meier", "écouteurs d'Anna"),
    *(
        "Annas AirPods",
        "Jane\u2019s-Beats",
        "AirPods - Bob",
        "bluez_input.bob",
        "Anna (Kopfhörer)",
        "A+B [*]",
    ),
)


@pytest.mark.parametrize("name", NAMED)
def test_a_device_is_told_by_its_kind_whoever_it_is_named_after(name):
    kinds = dict.fromkeys(NAMED, "(PulseAudio, 48000 Hz, 1 in, 0 out)") | {
        "Bob": "(ALSA)",
        "PulseAudio": "(x)",
    }
    private = Private(kinds=kinds)
    for before, after in (("", ": -20 dBFS at most"), ("There are: A, ", "."), ("It gives (", ") instead.")):
        assert private.sentence(f"{before}{name}{after}") == f"{before}{kinds[name]}{after}"
    assert name not in private.sentence(f"There is no microphone called {name!r}.")
    assert private.sentence("Bobby cannot be opened.") == "Bobby cannot be opened."


def test_of_a_sentence_what_is_quoted_is_left_out_and_an_apostrophe_quotes_nothing():
    told = PRIVATE.sentence(
        "There is no microphone called 'my \\'own\\' mic' or \"Lena's\"; the server's list has A."
    )
    assert told == "There is no microphone called (left out) or (left out); the server's list has A."


def test_of_a_sentence_all_that_follows_a_path_is_left_out_since_paths_have_spaces_in_them():
    told = PRIVATE.sentence("There is no model in /srv/the client's project/x, from y.")
    assert told == "There is no model in (left out)"
    told = PRIVATE.sentence(
        "It cannot be loaded: /usr/lib/x86_64-linux-gnu/libgomp.so.1: undefined symbol: x."
    )
    assert told == "It cannot be loaded: /usr/lib/x86_64-linux-gnu/libgomp.so.1: undefined symbol: x."


def test_a_short_name_is_left_out_and_not_the_words_that_begin_with_it():
    assert Private(names=["jo"]).hidden("The journal of Jo is joined.") == (
        "The journal of (left out) is joined."
    )


def test_without_anything_known_it_works_all_the_same():
    assert Private().hidden("plain words") == "plain words"
