"""The presenter: from step to step, until there is an outcome."""

from __future__ import annotations

from collections.abc import Callable

import anyio

from questionnaire import Act, Back, GoTo, Interview, NoInterface, Status, Step, Touch
from voice.errors import VoiceError
from voice.spoken_presenter.asking import Asking
from voice.spoken_presenter.review import Review
from voice.spoken_presenter.talk import Again, Ear, Talk


class SpokenPresenter:
    """A questionnaire `Presenter` that asks aloud.

    ``language`` is that of its own words, ``answers_in`` that in which the answers are transcribed; without
    it they are in the same. ``clock`` gives the times of showing and answering; without it they are those of
    the event loop. A question counts as shown once it was narrated to
    its end, or what was chosen of it was read back. Where narration fails, or nothing can be heard any more,
    the surface is gone.
    """

    def __init__(
        self,
        ear: Ear,
        language: str = "en",
        clock: Callable[[], float] = anyio.current_time,
        answers_in: str = "",
    ) -> None:
        self._ear = ear
        self._language = language
        self._answers_in = answers_in
        self._clock = clock

    async def present(self, interview: Interview) -> None:
        """Ask, one question after the other, until there is an outcome."""
        with self._ear.replies() as replies:
            talk = Talk(interview, self._ear, replies, self._language, self._clock, self._answers_in)
            try:
                await _carry(talk)
            except VoiceError as error:
                if not talk.shown_any:
                    raise NoInterface(error.sentence) from error
                interview.end(Status.CANCELLED, error.sentence)
            finally:
                talk.let_go()


async def _carry(talk: Talk) -> None:
    """Ask until there is an outcome, whoever brings it."""
    interview, before = talk.interview, None
    elsewhere = asked_to_go = False
    while interview.outcome is None:
        step = interview.step
        anew = before is None or before.index != step.index or elsewhere or asked_to_go
        before = step
        act = None
        with anyio.CancelScope() as asking, interview.watch(_stops_when_moved(interview, asking, step)):
            act = await _conduct(talk, step, anew=anew, notice=talk.said("elsewhere") if elsewhere else "")
        elsewhere = asking.cancel_called  # then what was said was said to something that is over
        asked_to_go = isinstance(act, Back | GoTo)
        if act is not None and not elsewhere and interview.send(act):
            talk.settle()
        talk.let_go()


def _stops_when_moved(
    interview: Interview, asking: anyio.CancelScope, step: Step
) -> Callable[[Act | None], None]:
    """Fall silent when somebody else answers, moves on or ends it."""

    def look(_: Act | None) -> None:
        if interview.outcome is not None or interview.step.index != step.index:
            asking.cancel()

    return look


async def _conduct(talk: Talk, step: Step, *, anew: bool, notice: str) -> Act:
    """Ask what the step says, until something is said that leads on."""
    place = Review(talk, step) if step.index is None else Asking(talk, step.index)
    notices = [notice, step.notice, talk.said("cancel_again") if step.stopping else ""]
    talk.options = place.options
    if anew:
        talk.begin()
    talk.takes_own_words(place.takes_own_words)
    await place.ask(" ".join(filter(None, notices)), anew=anew)
    while True:
        talk.takes_own_words(place.takes_own_words)
        reply = await talk.reply()
        if isinstance(reply, Again):
            await place.again(slowly=reply.slowly)
            continue
        act = await (place.spoken(reply) if reply.source == "voice" else place.typed(reply))
        if act is not None:
            return act
        if step.stopping:
            talk.interview.send(Touch())  # something else was said: a later "cancel" is a first one again
