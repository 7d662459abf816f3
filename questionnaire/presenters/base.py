"""The port of every presenter."""

from typing import Protocol

from questionnaire.progress import Interview


class Presenter(Protocol):
    """Shows questionnaires to a person, one at a time."""

    async def present(self, interview: Interview) -> None:
        """Show `interview.step`, send what the user does, and so on until `interview.outcome` is there.

        Others may act on the same interview: a presenter watches it, shows it anew after each change, and
        takes the questions off its surface and returns once there is an outcome, whoever brought it. It
        sends `Shown` for every question that it has drawn; without that receipt no answer counts.
        Cancelling the call leaves the surface usable. A surface that fails underway ends the interview
        as cancelled. Raises `NoInterface` where nothing can be shown; then nothing was.
        """
        ...
