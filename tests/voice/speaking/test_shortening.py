"""What is said again to somebody who has not answered."""

from __future__ import annotations

import pytest

from voice.speaking.shortening import shortened

QUESTIONS = {
    "nothing": ("", ""),
    "nothing to say": ("---", ""),
    "a question alone": ("Shall I go on?", "Shall I go on?"),
    "after a report": ("All 12 tests pass. I moved the lock.\n\nShall I commit it?", "Shall I commit it?"),
    "before a last word": ("Shall I commit it? I can wait.", "Shall I commit it?"),
    "the last of two": ("Is it red? Or is it blue?", "Or is it blue?"),
    "in quotation marks": ("He asked: “Is it red?”", "He asked: “Is it red?”"),
    "options after it": (
        "I looked around. Which one?\n\n1. Staging\n2. Production\n\nTake your time.",
        "Which one? 1. Staging. 2. Production.",
    ),
    "the spoken form of a questionnaire": (
        "Question 1: Where shall it go?. Options: 1, Staging; 2, Production. Please choose one option.",
        "Question 1: Where shall it go?. Options: 1, Staging; 2, Production.",
    ),
    "options that ask": ("Which? 1. Why not? 2. Yes.", "Which? 1. Why not? 2. Yes."),
    "options without a question": (
        "Tell me where. Options: 1, Staging; 2, Production. Please choose.",
        "Options: 1, Staging; 2, Production.",
    ),
    "no question": ("I am done. Tell me what is next.", "Tell me what is next."),
    "Chinese": ("你好。继续吗？", "继续吗？"),
}


@pytest.mark.parametrize(("written", "again"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_is_said_again_shorter(written: str, again: str) -> None:
    assert shortened(written) == again
    assert shortened(again) == again
