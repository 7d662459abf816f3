"""What was said, read as an answer to a question: a choice, a wish, or the reason why it is neither. Pure.

A wrong choice is worse than an unclear one, so an option is chosen only where *all* that was said names it:
filler, "I'd like", an article, then its number, ordinal, letter, label or a distinctive part of the label,
and "please". One word that this does not explain ("no, not the second one", "the second one if it is free")
and nothing is chosen. The words of a language are data (`voice.phrases`), the rules are these:

==============================  ==========================================================================
named in two ways               "the second one, Redis" has to name one and the same option
a number that is a label too    "two", where the labels are 2, 4 and 8, is unclear
a number where labels have some "three" is unclear there too: it may be an amount that is not offered
numbers                         are the same however written: "enter seven oh three" is "Enter 703"; a digit
                                is never misheard: "release 2.5" is no "Release 2.4"
part of a label                 whole words of it, that no other label has; "not" and its like may not be
                                left out: "deploy" is no part of "Don't deploy"
misheard labels                 a letter in five may differ, not the first one, and no other label may be
                                near; words may be split or joined ("post gres" for PostgreSQL)
"to", "for", "be", "ate"        are 2, 4, B and 8 where they are all that was said, or after "option";
                                and 2, 4 and 8 in a whole label: "enter to" is "Enter 2"
"yes" and "no"                  choose the one label that says so, or the verb that the question asks about
several                         joined by "and" or commas; "all", "both", "all except …" in a multi-select
own words                       where the question takes them and the reply says something of its own
questions, doubt, "either"      choose nothing, but for a whole label that is a question: "what time is it"
==============================  ==========================================================================
"""

from voice.spoken_answers.reading import (
    LEAST_CONFIDENCE,
    Heard,
    Wish,
    choice_of,
    confirmation_for,
    is_confirmation,
    is_refusal,
    place_in,
    read_spoken,
    replies_to,
    says_send,
    wish_in,
    yes_or_no,
)
from voice.spoken_answers.spelling import spoken_digits, spoken_letters

__all__ = [
    "LEAST_CONFIDENCE",
    "Heard",
    "Wish",
    "choice_of",
    "confirmation_for",
    "is_confirmation",
    "is_refusal",
    "place_in",
    "read_spoken",
    "replies_to",
    "says_send",
    "spoken_digits",
    "spoken_letters",
    "wish_in",
    "yes_or_no",
]
