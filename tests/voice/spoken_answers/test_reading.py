import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire import Choice, CustomRow, Option, Question, Unclear
from voice.spoken_answers import (
    LEAST_CONFIDENCE,
    Wish,
    choice_of,
    confirmation_for,
    is_confirmation,
    is_refusal,
    place_in,
    read_spoken,
    says_send,
    spoken_digits,
    spoken_letters,
    yes_or_no,
)
from voice.wording import words

TABLE = Path(__file__).with_name("answers.txt")
WHICH = Question("Which database?", (Option("SQLite"), Option("PostgreSQL"), Option("Redis")))
WHICH_OR_OWN = Question(WHICH.text, WHICH.options, custom=CustomRow("Something else"))


def rows():
    """Each line of the table: its number, the question, the language, what was said, what that is."""
    question, language = None, "en"
    for number, line in enumerate(TABLE.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("?"):
            marks = re.findall(r"\[(\w+)\]", line)
            text, *options = (part.strip() for part in re.sub(r"\[\w+\]", "", line[1:]).split("|"))
            language = next((mark for mark in marks if len(mark) == 2), "en")
            question = Question(
                text,
                tuple(Option(*(part.strip() for part in option.split(" : "))) for option in options),
                multi_select="several" in marks,
                custom=CustomRow("Type something.") if "own" in marks else None,
                required="optional" not in marks,
            )
        elif line and not line.startswith("#"):
            reply, _, meant = line.rpartition(" -> ")
            yield number, question, language, reply, meant


ROWS = list(rows())


def told(heard, reply):
    match heard:
        case Unclear():
            return "unclear"
        case Wish():
            return heard.value
        case Choice(custom=None, opens_custom=False):
            return " ".join(str(index + 1) for index in heard.selected)
        case Choice(custom=words):
            return "own" if words == reply else f"own: {words}"


@pytest.mark.parametrize(
    ("question", "language", "reply", "meant"),
    [pytest.param(*row[1:], id=f"line {row[0]}: {row[3]} -> {row[4]}") for row in ROWS],
)
def test_what_was_said_is_read_as_the_table_says(question, language, reply, meant):
    assert told(read_spoken(question, reply, language=language), reply) == meant


def test_the_table_is_a_table_of_many():
    assert len(ROWS) >= 300
    assert sum(row[4] == "unclear" for row in ROWS) >= 100


def test_a_reply_that_is_unclear_says_why_in_a_sentence():
    for _, question, language, reply, meant in ROWS:
        if meant == "unclear":
            reason = read_spoken(question, reply, language=language).reason
            assert re.fullmatch(r"\S.+[.?]", reason), (reply, reason)


# Words that no label of the questions above has, nor sounds like, and that name no place in a list.
_OTHER_WORDS = st.sampled_from(
    """well please the is it that I you want would like think maybe use go with not no yes okay um what
    why how because cheaper banana tomorrow server green later seven dozen half twenty and or but if then
    only never
    """.split()  # noqa: SIM905
)


@given(
    st.lists(_OTHER_WORDS, max_size=12),
    st.sampled_from([" ", ", ", ". "]),
    st.sampled_from(["", ".", "?", "!"]),
)
def test_a_reply_that_names_no_option_never_chooses_one(said, between, end):
    for question in (WHICH, WHICH_OR_OWN):
        heard = read_spoken(question, between.join(said) + end)
        assert not (isinstance(heard, Choice) and heard.selected)


@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error_and_chooses_only_what_exists(text):
    for question in (WHICH, WHICH_OR_OWN, Question("Name?")):
        heard = read_spoken(question, text)
        if isinstance(heard, Choice):
            assert all(0 <= index < len(question.options) for index in heard.selected)
            assert heard.selected or heard.custom or heard.opens_custom


@given(
    st.sampled_from(["the first", "two", "option three", "Redis", "SQLite"]),
    st.sampled_from(
        [
            "not {}",
            "{} or the last but one",
            "maybe {}",
            "{}, no, wait",
            "don't take {}",
            "{}?",
            "why {}",
            "never {}",
        ]
    ),
)
def test_what_is_negated_doubted_asked_or_corrected_chooses_nothing(named, around):
    assert isinstance(read_spoken(WHICH, around.format(named)), Unclear)


_PLACES = Question("Which?", tuple(map(Option, ("Staging cluster", "Throwaway VM", "Local machine"))))
_NAMES = (
    ("the first", "option one", "staging", "number 1", "Staging cluster"),
    ("the second", "two", "B", "throwaway", "throw away VM"),
    ("the third", "three", "local", "the last one", "letter C"),
)
_BETWEEN = """
    no|or|I mean|not|rather than|instead of|over|then|and|,|wait|sorry|actually|better than|but not
    |because not|if not|unless|after|and not|nor|plus|also|than|to|through|versus|like|is not|minus
    |except|without|with|for|please|um|okay|well|so|just|thanks|is fine|I think|it|use|take|hmm|the
    |I meant|. No,|. Sorry,|? No,|-|/|&|+
""".replace("\n", " ").split("|")


@given(st.permutations(_NAMES), st.data())
def test_two_options_in_one_reply_never_choose_one_of_them(names, data):
    one, other = (data.draw(st.sampled_from(group)) for group in names[:2])
    word = data.draw(st.sampled_from(_BETWEEN)).strip()
    order = data.draw(
        st.sampled_from(["{0} {2} {1}", "{0}, {2} {1}", "{2} {0} {1}", "{2} {0}, {1}", "{0}, {1} {2}"])
    )
    reply = order.format(one, other, word)
    assert isinstance(read_spoken(_PLACES, reply), Unclear), reply


_FRAMES = """
    not {}|no {}|no, {}|never {}|don't take {}|{} no|{}, no|{} not|without {}|anything but {}
    |all but {}|{} is wrong|{} is bad|maybe {}|{} maybe|{} or not|{}, I guess|{} if possible|unless {}
    |{} only if cheap|what about {}|why {}|{}?|wait, {}|{}, wait|{}, I don't know|I don't want {}
    |I don't think {}|I'm not sure about {}|skip {}|cancel {}|forget {}|drop {}|avoid {}|neither {}
    |other than {}|besides {}|I used {}|tell me about {}|{} of them|about {}|half of {}|{} times
    |the other {}|{} and a half|{} percent|at {}|until {}|{} and|and {}|{} or|{} but|{} to|to {}|{} for
    |for {}|I want to {}|{} the|the {} of|{} is|is {}
""".replace("\n", " ").split("|")


@given(st.sampled_from([name for group in _NAMES for name in group]), st.sampled_from(_FRAMES))
def test_an_option_inside_anything_else_that_was_said_is_not_chosen(name, frame):
    reply = frame.strip().format(name)
    assert isinstance(read_spoken(_PLACES, reply), Unclear | Wish), reply


@given(
    st.lists(
        st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1, max_size=12),
        min_size=2,
        max_size=8,
    ),
    st.data(),
)
def test_a_whole_label_is_never_taken_for_another_option(labels, data):
    question = Question("Which?", tuple(map(Option, labels)))
    index = data.draw(st.integers(0, len(labels) - 1))
    heard = read_spoken(question, labels[index])
    if isinstance(heard, Choice):
        assert [words(labels[chosen]) for chosen in heard.selected] == [words(labels[index])] or (
            len(heard.selected) == 1 and _same_letters(labels[heard.selected[0]], labels[index])
        )


def _same_letters(one, other):
    return "".join(words(one)) == "".join(words(other))


def test_low_confidence_chooses_nothing_and_takes_no_words():
    for question in (WHICH, WHICH_OR_OWN, Question("Name?")):
        for text in ("The second one.", "Something of my own", "Skip."):
            heard = read_spoken(question, text, confidence=LEAST_CONFIDENCE - 0.01)
            assert heard == Unclear("I am not sure that I heard you right.")
            assert isinstance(read_spoken(question, text, confidence=float("nan")), Unclear)
    assert read_spoken(WHICH, "The second one.", confidence=LEAST_CONFIDENCE) == Choice((1,))
    assert read_spoken(WHICH, "The second one.") == Choice((1,))


def test_two_labels_that_sound_alike_are_never_guessed_between():
    alike = Question("Which?", (Option("Staging"), Option("Stagings"), Option("Tea"), Option("tea")))
    assert read_spoken(alike, "Stagings") == Choice((1,))
    assert isinstance(read_spoken(alike, "Stagin"), Unclear)
    assert isinstance(read_spoken(alike, "Tea."), Unclear)


def test_a_custom_row_is_opened_by_its_label():
    assert read_spoken(WHICH_OR_OWN, "Something else.") is Wish.OWN_WORDS
    assert isinstance(read_spoken(WHICH, "Something else."), Unclear)


def test_a_hostile_number_of_options_and_words_is_read_soon_enough():
    many = Question(
        "Which?", tuple(Option(f"alternative number {index} of many things") for index in range(200))
    )
    assert isinstance(read_spoken(many, "the blue alternatives of some things, " * 500), Unclear)
    assert read_spoken(many, "Option 117.") == Choice((116,))
    assert yes_or_no("no " * 5_000) is None
    assert isinstance(read_spoken(WHICH, "no, the second, " * 5_000), Unclear)
    assert isinstance(read_spoken(WHICH, "um " * 5_000), Unclear)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Yes.", True), ("Yes, please.", True), ("Yeah, sure.", True), ("That's right.", True),
        ("Um, yes.", True),
        ("No.", False), ("No, thanks.", False), ("No, don't do it.", False), ("Nope", False),
        ("No no no", False),
        ("Yes and no", None), ("Yes, no", None), ("Okay", None), ("Yes?", None), ("Maybe", None), ("", None),
        ("Know", None), ("Not yes", None), ("Yes, later", None), ("Mm-hm", None),
    ],
)  # fmt: skip
def test_yes_and_no(text, meant):
    assert yes_or_no(text) is meant


def test_yes_and_no_in_german():
    assert yes_or_no("Ja, bitte.", "de") is True
    assert yes_or_no("Nein, danke.", "de") is False
    assert yes_or_no("Yes.", "de") is None


def test_a_choice_among_labels_alone():
    assert choice_of(("SQLite", "PostgreSQL"), "Use Postgres SQL.") == 1
    assert choice_of(("SQLite", "PostgreSQL"), "One of them") is None


@pytest.mark.parametrize(
    ("text", "digits"),
    [
        ("4, 2. 7, 1", "4271"), ("four two seven one", "4271"), ("4271.", "4271"), ("4-2-7-1", "4271"),
        ("four oh four", "404"), ("double four two", "442"), ("Um, 80 80, please.", "8080"), ("zero", "0"),
        ("eight oh eight oh", "8080"), ("oh, four two", "42"), ("oh", ""), ("four two oh", "420"),
        ("Oh, four two, please.", "42"), ("oh oh", ""), ("um", ""), ("", ""), ("port 4271", ""),
        ("a hundred", ""), ("double", ""), ("four or five", ""), ("ten", ""),
    ],
)  # fmt: skip
def test_spelled_digits(text, digits):
    assert spoken_digits(text) == digits


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("B, D, F.", "BDF"),
        ("A B C", "ABC"),
        ("Bee, dee", "BD"),
        ("I-P-A-C", "IPAC"),
        ("ABC", ""),
        ("A word", ""),
        ("", ""),
    ],
)
def test_spelled_letters(text, letters):
    assert spoken_letters(text) == letters


def test_a_confirmation_is_a_phrase_that_was_not_heard_before():
    assert confirmation_for(["Delete it?", "Yes", "No"]) == "confirm"
    assert confirmation_for(["Confirm the order?", "Yes"]) == "i am sure"
    hostile = ["Confirm? I am sure.", "That is my decision", "confirm, confirm"]
    assert confirmation_for(hostile) == "confirm confirm confirm"
    assert is_confirmation("Confirm, confirm, confirm.", confirmation_for(hostile))
    assert not is_confirmation("Confirm, confirm.", confirmation_for(hostile))
    assert is_confirmation("Confirm, please.", "confirm")
    assert is_confirmation("Okay, I am sure.", "i am sure")
    for text in (
        "Yes.",
        "Confirm?",
        "I can't confirm",
        "Do not confirm",
        "Confirm deny",
        "Can you confirm",
        "Could you please confirm",
        "",
    ):
        assert not is_confirmation(text, "confirm"), text


def test_only_a_plain_no_is_a_refusal():
    for label in ("No", "Deny", "Reject", "Don't allow", "Not now"):
        assert is_refusal(label), label
    for label in (
        "No, delete everything",
        "Cancel the subscription",
        "Reject always",
        "Allow",
        "Stop the server",
    ):
        assert not is_refusal(label), label


def test_at_the_review_a_question_is_named_by_its_number():
    named = {
        "Two.": 1,
        "Question 2": 1,
        "Change the first answer": 0,
        "Go back to question three": 2,
        "the last": 2,
    }
    for text, index in named.items():
        assert place_in(text, 3) == index, text
    for text in ("Four", "Send", "One or two", "Change", "", "Not the second"):
        assert place_in(text, 3) is None, text
    assert says_send("Send them, please.")
    assert not says_send("Don't send them.")
