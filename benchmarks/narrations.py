"""Texts like those that agents narrate: questions with options, reports, explanations."""

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
"""110 of them."""
