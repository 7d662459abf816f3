"""Texts like those that agents narrate: questions with options, reports, explanations.

Two sets of them, with nothing in common: limits were chosen on the one, and figures are of the other.
"""

from __future__ import annotations

from itertools import product

_TEXTS = """\
Question 1: Which {thing} should it use? Options: 1, {a}; 2, {b}. Please choose one option. You may also \
answer in your own words.
I can set up the {thing} with {a} or with {b}. Which of the two do you prefer?
Before I go on: the {thing} is configured for {a}, but the documentation says {b}. Shall I change it?
Question 2: What should happen to the old {thing}? Options: 1, keep it; 2, replace it by {b}; 3, delete it. \
Please choose one option.
Do you want me to remove the {thing}, yes or no?
I have finished the {thing}. It uses {a} now, and all tests pass.
The {thing} failed with an error. It looks as if {a} is missing on this machine. I will try {b} instead.
There are three places that use the {thing}. I changed the first one, left the second one as it is, and the \
third one needs your decision.
I looked through the repository. The {thing} has not been touched for two years, and nothing depends on {b} \
any more. I suggest that we remove it and write that down in the change log.
Okay, done. Next I will write the tests for the {thing}.
"""
_THINGS = (
    ("database", "SQLite", "PostgreSQL"),
    ("build server", "Jenkins", "GitHub Actions"),
    ("payment page", "the new layout", "the old template"),
    ("cache", "Redis", "a file on disk"),
    ("login", "a password", "a one time code"),
    ("export", "a spreadsheet", "plain text"),
    ("backup job", "the nightly schedule", "the weekly schedule"),
    ("search index", "two shards", "a single node"),
    ("release script", "version numbers", "the date"),
    ("mail template", "German", "English"),
    ("test suite", "the staging server", "a container"),
)

NARRATIONS = tuple(
    text.format(thing=thing, a=a, b=b) for text, (thing, a, b) in product(_TEXTS.splitlines(), _THINGS)
)
"""110 of them, to choose limits by."""

_HELD_OUT_TEXTS = """\
Good morning. Overnight the {thing} stopped twice. Should I look into {a} first, or into {b}?
Where do you want the {thing} to live, {a}, {b}, or somewhere else?
Yes, that worked. The {thing} now takes {a}, and nothing else had to change.
No, I could not find it. Neither {a} nor {b} mentions the {thing} at all.
Question 1: How urgent is the {thing}? Options: 1, this can wait; 2, by tomorrow; 3, right away. Please \
choose one option.
You have two choices for the {thing}: {a} or {b}. Say the number, or tell me what you would rather have.
Sorry about that. My last change to the {thing} broke {b}, so I took it back and ran everything again.
Permission needed: may I delete {a} and rebuild the {thing} from {b}? Please say yes or no.
It will take about ten minutes to copy the {thing}. Meanwhile, what should happen with {a}?
Let us start with the {thing}. First comes {a}, then {b}, and at the end we clean up.
"""
_HELD_OUT_THINGS = (
    ("calendar", "the home folder", "a shared drive"),
    ("photo archive", "the attic disk", "a rented server"),
    ("invoice list", "last year's table", "the new form"),
    ("translation", "French", "Portuguese"),
    ("heating plan", "the hall sensor", "the kitchen timer"),
    ("address book", "the phone", "the laptop"),
    ("parser", "the grammar file", "a hand written loop"),
    ("weather page", "the public feed", "our own station"),
    ("shopping app", "the blue theme", "the dark theme"),
    ("firmware", "the stable branch", "the preview"),
    ("lecture notes", "short summaries", "full sentences"),
)

HELD_OUT = tuple(
    text.format(thing=thing, a=a, b=b)
    for text, (thing, a, b) in product(_HELD_OUT_TEXTS.splitlines(), _HELD_OUT_THINGS)
)
"""110 others, to measure with."""
