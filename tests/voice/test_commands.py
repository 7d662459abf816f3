import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.commands import STOPS, Command, Controls, Spoken
from voice.phrases import languages, phrases_of
from voice.wording import words

ENGLISH = Controls("en")
GERMAN = Controls("de")
WITH_END_WORD = Controls("en", None, "over")

SAID = {
    "Stop voice.": Command.STOP_VOICE,
    "Turn the voice off, please.": Command.STOP_VOICE,
    "Voice off!": Command.STOP_VOICE,
    "Pause listening.": Command.PAUSE,
    "Okay, go to sleep now.": Command.PAUSE,
    "Wake up.": Command.WAKE,
    "Hey, wake up!": Command.WAKE,
    "Repeat.": Command.REPEAT,
    "Could you repeat that, please?": Command.REPEAT,
    "Say that again.": Command.REPEAT,
    "Pardon?": Command.REPEAT,
    "Repeat that slowly.": Command.REPEAT_SLOWLY,
    "Say that again, more slowly, please.": Command.REPEAT_SLOWLY,
    "Stop.": Command.STOP_TALKING,
    "STOP!": Command.STOP_TALKING,
    "stop": Command.STOP_TALKING,
    "Stop, stop, stop!": Command.STOP_TALKING,
    "Okay, stop talking, please.": Command.STOP_TALKING,
    "Um, stop.": Command.STOP_TALKING,
    "Please be quiet.": Command.STOP_TALKING,
    "Quiet, please.": Command.STOP_TALKING,
    "Pause.": Command.STOP_TALKING,
    "Go on.": Command.GO_ON,
    "Please continue.": Command.GO_ON,
    "Keep going.": Command.GO_ON,
    "Scratch that.": Command.SCRATCH,
    "Undo.": Command.SCRATCH,
    "Don\N{RIGHT SINGLE QUOTATION MARK}t send that.": Command.SCRATCH,
    "Send it.": Command.SEND,
    "Okay, send.": Command.SEND,
    "What did you hear?": Command.READ_BACK,
    "Read that back to me, please.": Command.READ_BACK,
    "Louder.": Command.LOUDER,
    "Speak up, please.": Command.LOUDER,
    "A little quieter, please.": Command.QUIETER,
    "Speak more quietly.": Command.QUIETER,
    "Faster.": Command.FASTER,
    "Can you speak faster?": Command.FASTER,
    "Slow down.": Command.SLOWER,
    "Speak more slowly.": Command.SLOWER,
}

NO_COMMANDS = [
    "What should we stop talking about?",
    "what",
    "I was wondering whether the server should restart on its own, and if so when, what",
    "Stop the server.",
    "Please stop the old container first.",
    "Don't stop.",
    "Do not stop talking.",
    "Never stop.",
    "Non-stop.",
    "It should stop",
    "The stop button is broken.",
    "Add a stop voice command.",
    "Can you turn off the voice of the narrator in the game?",
    "Turn it off.",
    "Repeat the tests.",
    "Repeat that for every file.",
    "Say that again in the readme.",
    "Wake up the database.",
    "The wake up call should be at six.",
    "Go on with the second one.",
    "Continue with the migration.",
    "Shall we continue or stop?",
    "Keep going until the tests pass.",
    "Scratch that itch.",
    "Undo the last commit.",
    "Undo that commit.",
    "Send it to the team.",
    "Send me the log.",
    "Don't send it to them.",
    "Send a message when the build is done.",
    "What did you hear about the release?",
    "What did I say about using tabs?",
    "Louder music in the intro.",
    "Make the logging quieter.",
    "It should be faster.",
    "Faster tests, please.",
    "Slower is better.",
    "Too slow.",
    "Too fast.",
    "Too loud.",
    "Not so fast.",
    "Not so loud.",
    "More quickly.",
    "More slowly.",
    "More quietly.",
    "Pause the animation.",
    "Pause listening to the queue.",
    "Stop listening on port 80.",
    "Go to sleep for ten seconds between tries.",
    "Yes.",
    "No.",
    "The second one.",
    "Okay.",
    "Please.",
    "Thank you.",
    "Um.",
    "Yes, stop.",
    "I said stop it at once or it will fill the disk.",
    "please please please please please stop",
    "well okay so um could you please stop",
    "",
    "...",
    "?",
]


@pytest.mark.parametrize(("text", "command"), SAID.items())
def test_a_phrase_that_is_all_that_was_said_is_a_command(text, command):
    heard = ENGLISH.command_in(text)
    assert heard is not None
    assert heard.command is command
    assert heard.phrase == " ".join(words(heard.phrase))


@pytest.mark.parametrize("text", NO_COMMANDS)
def test_a_phrase_inside_a_longer_reply_is_part_of_the_reply(text):
    assert ENGLISH.command_in(text) is None


@pytest.mark.parametrize(
    "text", ["Zu laut.", "Zu langsam.", "Zu schnell.", "Nicht so laut.", "Nicht so schnell."]
)
def test_how_something_is_is_a_reply_in_german_too(text):
    assert Controls("de").command_in(text) is None


def test_there_are_many_things_that_are_no_command():
    assert len(NO_COMMANDS) >= 40


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Stopp!", Command.STOP_TALKING),
        ("Hör bitte auf zu reden.", None),
        ("Bitte hör auf.", Command.STOP_TALKING),
        ("Stimme aus.", Command.STOP_VOICE),
        ("Wach auf!", Command.WAKE),
        ("Wie bitte?", Command.REPEAT),
        ("Etwas lauter bitte.", Command.LOUDER),
        ("Was hast du gehört?", Command.READ_BACK),
        ("Stop the server.", None),
        ("Mach weiter.", Command.GO_ON),
        ("Weiter mit dem zweiten.", None),
    ],
)
def test_german_has_phrases_of_its_own(text, command):
    heard = GERMAN.command_in(text)
    assert (heard.command if heard else None) is command


def test_a_language_without_phrases_has_no_commands_and_takes_configured_ones():
    assert Controls("xx").command_in("stop") is None
    french = Controls("fr", {Command.STOP_TALKING: ["arrête", "tais-toi"]})
    assert french.command_in("Tais-toi !") == Spoken(Command.STOP_TALKING, "tais toi")
    assert Controls("en-GB").command_in("Stop.") == Spoken(Command.STOP_TALKING, "stop")


def test_configured_phrases_stand_instead_of_the_languages_own_and_none_switch_a_command_off():
    controls = Controls("en", {Command.STOP_TALKING: ["enough now"], Command.PAUSE: []})
    assert controls.command_in("Enough now!") == Spoken(Command.STOP_TALKING, "enough now")
    assert controls.command_in("Stop.") is None
    assert controls.command_in("Pause listening.") is None
    assert controls.command_in("Louder.") == Spoken(Command.LOUDER, "louder")


def test_a_phrase_that_means_nothing_now_is_a_reply():
    assert ENGLISH.command_in("Continue.", among={Command.STOP_TALKING}) is None
    assert ENGLISH.command_in("Stop.", among=STOPS) == Spoken(Command.STOP_TALKING, "stop")


def test_no_phrase_of_a_language_stands_for_two_commands():
    for language in languages():
        seen = {}
        for name, phrases in phrases_of(language)["commands"].items():
            for phrase in phrases:
                assert seen.setdefault(words(phrase), name) == name, (language, phrase)


def test_every_language_says_and_names_all_that_english_does():
    english = phrases_of("en")
    for language in languages():
        other = phrases_of(language)
        assert set(other["commands"]) == {command.value for command in Command}
        assert set(other["says"]) == set(english["says"]), language
        assert set(english["answers"]) - {"numbers_take_articles"} <= set(other["answers"]), language
        assert set(other["counts"]) == set(english["counts"])
        assert all(len(nouns) == 2 for nouns in other["counts"].values())
        for name, sentence in english["says"].items():
            fields = {part.split("}")[0] for part in sentence.split("{")[1:]}
            assert {part.split("}")[0] for part in other["says"][name].split("{")[1:]} == fields, name


@given(st.text(max_size=80))
def test_any_text_is_looked_at_without_an_error(text):
    controls = WITH_END_WORD
    controls.command_in(text)
    controls.stop_phrase_in(text, "We are saying this.")
    controls.is_backchannel(text)
    rest = controls.without_end_word(text)
    assert rest is None or text.startswith(rest)


# A stop that is heard through our own narration.


@pytest.mark.parametrize(
    ("heard", "spoken_now", "command"),
    [
        ("Stop.", "The tests have passed.", Command.STOP_TALKING),
        ("the tests stop have passed", "The tests have passed.", Command.STOP_TALKING),
        ("The tests have, stop talking.", "The tests have passed.", Command.STOP_TALKING),
        ("The test had passed. Stop voice!", "The tests have passed.", Command.STOP_VOICE),
        ("Stop stop the tests have", "The tests have passed.", Command.STOP_TALKING),
        ("please stop", "The tests have passed.", Command.STOP_TALKING),
        ("stop voice", "Press stop to end it.", Command.STOP_VOICE),
        ("Stop.", "You can stop the server with control C.", None),
        ("the server stopped", "The server stopped at noon.", None),
        ("stop", "The server stopped at noon.", None),
        ("stop", "The first step is over.", Command.STOP_TALKING),
        ("Stop.", "To stop, say stop voice.", None),
        ("stop voice", "Say stop voice to switch it off.", None),
        ("don't stop", "The tests have passed.", None),
        ("never stop", "The tests have passed.", None),
        ("we should stop the old container before lunch", "The tests have passed.", None),
        ("what should we stop talking about", "The tests have passed.", None),
        ("the tests have passed", "The tests have passed.", None),
        ("", "The tests have passed.", None),
        ("louder", "The tests have passed.", None),
        ("stop", "", Command.STOP_TALKING),
        ("stop the server", "", None),
        ("go on", "", None),
    ],
)
def test_a_stop_is_heard_while_we_speak_but_never_in_our_own_words(heard, spoken_now, command):
    found = ENGLISH.stop_phrase_in(heard, spoken_now)
    assert (found.command if found else None) is command


@given(st.sampled_from(["stop", "please stop talking", "stop voice", "be quiet", "hush"]), st.integers(0, 8))
def test_a_sentence_of_our_own_that_holds_a_stop_never_stops_itself(phrase, at):
    sentence = ["We", "will", "now", "look", "at", "the", "other", "files"]
    sentence.insert(at, phrase)
    for begin in range(len(sentence)):
        for end in range(begin + 1, len(sentence) + 1):
            assert ENGLISH.stop_phrase_in(" ".join(sentence[begin:end]), " ".join(sentence)) is None


# Signs of listening, and the word that ends a turn.


@pytest.mark.parametrize(
    "text", ["Mm-hm.", "Mm-hmm", "Mhm", "Uh-huh.", "Yeah.", "Hmm.", "Right, right.", "I see.", "Okay, yeah."]
)
def test_a_sign_of_listening_is_told_from_a_reply(text):
    assert ENGLISH.is_backchannel(text)


@pytest.mark.parametrize(
    "text", ["Yes.", "No.", "Yeah, do it.", "Stop.", "", "The second.", "Sure.", "mm mm mm mm mm"]
)
def test_a_reply_is_no_sign_of_listening(text):
    assert not ENGLISH.is_backchannel(text)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Deploy it to staging, over.", "Deploy it to staging"),
        ("Deploy it to staging. Over.", "Deploy it to staging."),
        ("Deploy it \N{EM DASH} send it!", "Deploy it"),
        ("Over", ""),
        ("Is it over now", None),
        ("Moreover", None),
        ("Deploy it. Send.", "Deploy it."),
        ("Write the mail and send it.", None),
        ("I want to send", None),
        ("Send it.", ""),
        ("", None),
    ],
)
def test_an_end_word_is_taken_off_where_it_was_said_last(text, rest):
    assert Controls("en", None, "over").without_end_word(text) == rest


def test_without_an_end_word_none_is_looked_for():
    assert ENGLISH.without_end_word("Deploy it, send it.") is None


def test_the_shortest_stop_is_what_a_transcriber_is_told_to_expect():
    assert Controls("en").shortest_stop == "stop"
    off = {Command.STOP_TALKING: [], Command.STOP_VOICE: ["voice off"]}
    assert Controls("en", off).shortest_stop == "voice off"
    assert Controls("en", {**off, Command.STOP_VOICE: []}).shortest_stop == ""
