"""What each kind of clip answers: fixed before any wait was tuned, and by the kind alone.

How long a loop may wait depends on the question. A kind whose clips say all sorts of things, because it is
named for how it was recorded, answers an open question.
"""

from __future__ import annotations

CLOSED = "Please choose one option, or say yes or no."
SPELLED = "Please spell it, letter by letter or digit by digit."
OPEN = "What should I know about that?"

QUESTIONS = {
    "short_reply": CLOSED,
    "tiny_reply": CLOSED,
    "digit": CLOSED,
    "digits": SPELLED,
    "letters_digits": SPELLED,
}
"""Every other kind: `OPEN`."""


def question_for(kind: str) -> str:
    """What a clip of this kind answers."""
    return QUESTIONS.get(kind, OPEN)
