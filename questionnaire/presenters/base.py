"""The port of every presenter."""

from typing import Protocol

from questionnaire.model import Outcome, Questionnaire


class Presenter(Protocol):
    """Shows questionnaires to a person, one at a time."""

    async def present(self, questionnaire: Questionnaire) -> Outcome:
        """Show `questionnaire` and return how it ended, with every answer given up to then.

        Cancelling the call takes the questions off the surface and leaves it usable. Raises
        `NoInterface` where nothing can be shown; then nothing was.
        """
        ...
