"""The review: all answers are read out once more, before they are sent."""

from __future__ import annotations

from questionnaire import Act, Back, Escape, GoTo, Step, Submit
from voice.events import UserMessage
from voice.spoken_answers import LEAST_CONFIDENCE, Wish, place_in, says_send, wish_in, yes_or_no
from voice.spoken_form import listed, spoken_labels, spoken_text, spoken_words
from voice.spoken_presenter.talk import ASKED_AGAIN, Talk


class Review:
    """All answers once more, before they are sent."""

    def __init__(self, talk: Talk, step: Step) -> None:
        self._talk = talk
        self._step = step
        self._heard = False
        self._unclear = 0

    takes_own_words = False
    options = ()

    async def again(self, *, slowly: bool) -> None:
        """Narrate all answers once more."""
        await self.ask("", anew=True, slowly=slowly)

    async def ask(self, notice: str, *, anew: bool, slowly: bool = False) -> None:
        """Narrate what was answered, or the notice alone."""
        if not anew:
            await self._talk.say(notice)
            return
        answers = (self._answer(index) for index in range(len(self._step.responses)))
        self._heard = await self._talk.ask(
            notice,
            self._talk.said("review"),
            *answers,
            self._talk.said("send_or_change"),
            slowly=slowly,
        )
        if self._heard:
            self._talk.shown(None)

    def _answer(self, index: int) -> str:
        language = self._talk.language
        question, response = self._talk.interview.questionnaire.questions[index], self._step.responses[index]
        labels = spoken_labels(question, language)
        taken: list[str] = []
        if response.answer is not None:
            taken = [labels[option] for option in response.answer.selected]
            if response.answer.custom is not None:
                taken.append(spoken_words(response.answer.custom, language))
        said = (
            listed(taken, language) if taken else self._talk.said("skipped" if response.skipped else "open")
        )
        return self._talk.said(
            "reviewed", number=index + 1, question=spoken_text(question, language), answer=said
        )

    async def typed(self, reply: UserMessage) -> Act | None:
        """Take what was sent from the input line."""
        if not self._heard and self._sends(reply.text):
            self._talk.discard(reply)
        return await self._take(reply.text)

    async def spoken(self, reply: UserMessage) -> Act | None:
        """Take what was said."""
        if reply.confidence is not None and reply.confidence < LEAST_CONFIDENCE:
            await self._talk.say(self._talk.said("not_sure"), self._talk.said("send_or_change"))
            return None
        return await self._take(reply.text)

    def _sends(self, text: str) -> bool:
        language = self._talk.answers_in
        return bool(yes_or_no(text, language)) or says_send(text, language)

    async def _take(self, text: str) -> Act | None:
        language, total = self._talk.answers_in, len(self._step.responses)
        place = place_in(text, total, language)
        if place is not None:
            return GoTo(place)
        match wish_in(text, language):
            case Wish.BACK:
                return Back()
            case Wish.CANCEL:
                return Escape()
            case Wish.REPEAT:
                await self.ask("", anew=True)
                return None
        if self._sends(text):
            if self._heard:
                return Submit()
            await self.ask("", anew=True)
            return None
        self._unclear += 1
        await self._talk.say(
            self._talk.said("send_or_change" if self._unclear <= ASKED_AGAIN else "nothing_said")
        )
        return None
