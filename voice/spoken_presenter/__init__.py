"""Questionnaires by voice: each question is narrated, and what is said in reply is its answer.

    question ─ say ─► reply ─► named one ──────────────────────────────► answer
                        │  └─► several, or risky: read back ─► confirmed ─► answer
                        └─ unclear: asked again with the options; from the third time on only the reason

Silence, noise and time are never an answer. What is risky needs two different utterances: the second is a
phrase that no option and no first answer holds, said after it was asked for, so that neither an echo nor a
repeated "yes" confirms anything. Where a part of it cannot be read aloud it takes a key: nobody allows by
voice what they did not hear. A refusal is taken as it comes.
"""

from voice.spoken_presenter.presenter import SpokenPresenter
from voice.spoken_presenter.talk import SURFACE, Again, Ear

__all__ = ["SURFACE", "Again", "Ear", "SpokenPresenter"]
