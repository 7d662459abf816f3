"""The elicitation presenter: all questions on one form of a client's, and what is missing on another."""

from collections.abc import Callable
from typing import Protocol

from anyio import CancelScope, current_time

from questionnaire.errors import NoInterface, QuestionnaireError
from questionnaire.model import Input, Provenance, Status
from questionnaire.presenters.flat_forms import Form, FormDialect, FormDialogue, FormReply
from questionnaire.progress import Act, Interview, Shown


class FormClient(Protocol):
    """A client that shows forms to a person. Cancelling a call takes the form away there."""

    @property
    def dialect(self) -> FormDialect:
        """What its forms can be made of."""
        ...

    async def elicit(self, form: Form, /) -> FormReply:
        """Return what the person did with the form.

        Raises `NoInterface` where it cannot be shown, never "cancel" for that; and `ClientLost` where the
        client goes away before it has answered.
        """
        ...


class ElicitationPresenter:
    """Asks by forms. `client` gives the client of the call that is being conducted, None where it has none.

    `clock` gives the times of showing and answering; without it they are those of the event loop.
    """

    def __init__(
        self, client: Callable[[], FormClient | None], clock: Callable[[], float] = current_time
    ) -> None:
        self._client = client
        self._clock = clock

    async def present(self, interview: Interview) -> None:
        """Ask, form after form, until there is an outcome."""
        client = self._client()
        if client is None:
            raise NoInterface("the client of this call shows no forms")

        def by(at: float) -> Provenance:
            return Provenance("elicitation", Input.KEY, at)

        dialogue = FormDialogue(interview, by, client.dialect)
        answered = False
        try:
            while interview.outcome is None:
                reply = await _undisturbed(client, dialogue.form(self._clock()), interview)
                if reply is not None:
                    answered = True
                    dialogue.take(reply, self._clock())
        except QuestionnaireError as error:
            if isinstance(error, NoInterface) and not answered:
                raise
            interview.end(Status.CANCELLED, str(error))


async def _undisturbed(client: FormClient, form: Form, interview: Interview) -> FormReply | None:
    """Return what comes of a form; None where somebody else acted on the questions while it was open."""
    with CancelScope() as waiting:

        def others_acted(act: Act | None) -> None:
            if not isinstance(act, Shown):
                waiting.cancel()

        with interview.watch(others_acted):
            return await client.elicit(form)
    return None
