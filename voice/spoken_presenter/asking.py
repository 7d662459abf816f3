"""One question that is asked aloud: what is made of each reply to it."""

from __future__ import annotations

from collections.abc import Iterable

from questionnaire import (
    Act,
    Answer,
    Back,
    Choice,
    Escape,
    Give,
    Input,
    Kind,
    Question,
    Skip,
    Skipped,
    Unclear,
    read_reply,
    read_words,
)
from voice.events import UserMessage
from voice.spoken_answers import (
    LEAST_CONFIDENCE,
    Wish,
    confirmation_for,
    is_confirmation,
    is_refusal,
    read_spoken,
    wish_in,
    yes_or_no,
)
from voice.spoken_form import (
    heard_whole,
    left_out,
    listed,
    spoken_labels,
    spoken_options,
    spoken_question,
    spoken_words,
)
from voice.spoken_presenter.talk import ASKED_AGAIN, Talk


class Asking:
    """One question that is being asked."""

    def __init__(self, talk: Talk, index: int) -> None:
        self._talk = talk
        self._index = index
        self._question: Question = talk.interview.questionnaire.questions[index]
        self._risky = talk.interview.questionnaire.risky
        self._unclear = 0
        self._in_own_words = False
        self._beside: tuple[int, ...] = ()
        """What own words stand beside, in a multi-select question."""
        self._read_back: Choice | None = None
        """What waits to be confirmed."""
        self._phrase = ""
        """What confirms it, also where yes does not."""
        self._heard_out = False
        """Whether it was read back to its end."""

    @property
    def takes_own_words(self) -> bool:
        """Whether what is said now is the answer itself, in whatever words."""
        return self._read_back is None and (self._in_own_words or self._question.kind is Kind.TEXT)

    @property
    def options(self) -> tuple[str, ...]:
        """The labels of what can be chosen."""
        return tuple(option.label for option in self._question.options)

    async def again(self, *, slowly: bool) -> None:
        """Narrate the whole question once more; what waited to be confirmed does so no longer."""
        self._read_back, self._in_own_words = None, False
        self._talk.takes_own_words(self.takes_own_words)
        await self.ask("", anew=True, slowly=slowly)

    async def ask(self, notice: str, *, anew: bool, slowly: bool = False) -> None:
        """Narrate the question, or where it was only just asked the notice alone."""
        if not anew:
            await self._talk.say(notice)
            return
        question = spoken_question(self._question, self._index + 1, self._talk.language)
        optional = "" if self._question.required else self._talk.said("optional")
        everything = range(len(self._question.options))
        rest = "" if self._may_be_allowed_by_voice(everything) else self._talk.said("rest_on_screen")
        if await self._talk.ask(notice, question, optional, rest, slowly=slowly):
            self._talk.shown(self._index, left_out(self._question, self._talk.language))

    @property
    def _shown(self) -> bool:
        return self._talk.interview.step.responses[self._index].shown_at is not None

    async def typed(self, reply: UserMessage) -> Act | None:
        """Take what was sent from the input line: a key, which needs no confirmation.

        It may come while the question is still being narrated, for its text stands on the screen. Nothing
        risky is allowed so soon: then the line is told to be no answer, and the question is asked again.
        """
        text, pending = reply.text, self._read_back
        if pending is not None and self._confirms(text):
            return self._give(pending, Input.KEY)
        if not self._shown and self._risky and not self._refuses_by_key(text):
            self._talk.discard(reply)
            await self.ask("", anew=True)
            return None
        if self._in_own_words:
            words = read_words(self._question, text)
            if isinstance(words, Unclear):
                await self._talk.say(words.reason)
                return None
            return self._give(Choice(self._beside, words), Input.KEY)
        match read_reply(self._question, text):
            case Skipped():
                return Skip(self._talk.by(Input.KEY))
            case Unclear(reason):
                await self.ask(reason, anew=not self._shown)
                return None
            case Choice(selected, opens_custom=True):
                await self._ask_for_words(selected)
                return None
            case choice:
                return self._give(choice, Input.KEY)

    async def spoken(self, reply: UserMessage) -> Act | None:
        """Take what was said."""
        pending = self._read_back
        if pending is not None and self._confirmed(reply):
            return self._give(pending, Input.SPEECH)
        if self._in_own_words:
            return await self._own_words(reply)
        heard = read_spoken(
            self._question,
            reply.text,
            confidence=reply.confidence,
            language=self._talk.answers_in,
            reasons_in=self._talk.language,
        )
        if isinstance(heard, Unclear) and pending is not None:
            return await self._not_confirmed(reply, pending)
        if not (isinstance(heard, Choice) and heard.selected) and (no := self._refused_by(reply)):
            heard = no
        match heard:
            case Unclear(reason):
                await self._ask_again(reason)
                return None
            case Wish():
                return await self._obey(heard)
            case choice:
                return await self._take(choice)

    async def _take(self, choice: Choice) -> Act | None:
        """Answer with a choice, or read it back first."""
        if not self._risky and not self._question.multi_select and self._shown:
            return self._give(choice, Input.SPEECH)
        if not self._shown and self._risky:
            await self.ask("", anew=True)  # whoever allows something has heard what
            return None
        if self._risky and self._refuses(choice):
            return self._give(choice, Input.SPEECH)
        if not self._may_be_allowed_by_voice(choice.selected):
            self._read_back = None
            await self._talk.say(self._talk.said("by_key"))
            return None
        await self._read(choice)
        return None

    def _may_be_allowed_by_voice(self, selected: Iterable[int]) -> bool:
        """Whether nothing is risky of which a part was left out of what is narrated.

        Nobody allows by voice what they did not hear: a long command with its end cut off, a path, code.
        """
        return not self._risky or heard_whole(self._question, selected, self._talk.language)

    async def _read(self, choice: Choice) -> None:
        """Read back what was chosen, and say how to confirm it."""
        language, question = self._talk.language, self._question
        labels = spoken_labels(question, language)
        taken = [f"{index + 1}, {labels[index]}" for index in choice.selected]
        if choice.custom is not None:
            taken.append(self._talk.said("words", words=spoken_words(choice.custom, language)))
        self._read_back, self._in_own_words = choice, False
        texts = (question.text, *labels, choice.custom or "")
        self._phrase = phrase = confirmation_for(texts, self._talk.answers_in)
        name = "read_back_risky" if self._risky else "read_back"
        text = self._talk.said(name, answer=listed(taken, language), phrase=phrase)
        self._heard_out = await self._talk.say(text)

    def _confirmed(self, reply: UserMessage) -> bool:
        """Whether what was said confirms what was read back."""
        sure = reply.confidence is None or reply.confidence >= LEAST_CONFIDENCE
        if self._risky and (self._talk.began_over_us(reply) or not self._heard_out):
            return False
        return sure and self._confirms(reply.text)

    def _confirms(self, text: str) -> bool:
        language = self._talk.answers_in
        confirmed = is_confirmation(text, self._phrase, language)
        return confirmed or (not self._risky and yes_or_no(text, language) is True)

    async def _not_confirmed(self, reply: UserMessage, pending: Choice) -> Act | None:
        """Take back what waits to be confirmed, or read it back once more."""
        self._unclear += 1
        if yes_or_no(reply.text, self._talk.answers_in) is not False and self._unclear <= ASKED_AGAIN:
            await self._read(pending)
            return None
        self._read_back = None
        await self._talk.say(self._talk.said("taken_back"), self._possibilities())
        return None

    def _refuses(self, choice: Choice) -> bool:
        """Whether it allows nothing."""
        options = self._question.options
        return choice.custom is None and all(
            is_refusal(options[index].label, self._talk.language) for index in choice.selected
        )

    def _refuses_by_key(self, text: str) -> bool:
        """Whether a line is a choice that allows nothing."""
        choice = read_reply(self._question, text)
        return isinstance(choice, Choice) and not choice.opens_custom and self._refuses(choice)

    def _refused_by(self, reply: UserMessage) -> Choice | None:
        """What a mere "no" to something risky comes to, whatever verb it was asked with: the one refusal."""
        sure = reply.confidence is None or reply.confidence >= LEAST_CONFIDENCE
        if not (self._risky and sure and yes_or_no(reply.text, self._talk.answers_in) is False):
            return None
        rows = (Choice((index,)) for index in range(len(self._question.options)))
        refusals = [row for row in rows if self._refuses(row)]
        return refusals[0] if len(refusals) == 1 else None

    async def _obey(self, wish: Wish) -> Act | None:
        pending, self._read_back = self._read_back, None
        match wish:
            case Wish.REPEAT:
                await self.again(slowly=False)
                return None
            case Wish.OWN_WORDS:
                beside = pending.selected if pending and self._question.multi_select else ()
                await self._ask_for_words(beside)
                return None
            case Wish.SKIP if not self._shown:
                await self.ask("", anew=True)
                return None
            case Wish.SKIP:
                return Skip(self._talk.by(Input.SPEECH))
            case Wish.BACK:
                return Back()
        return Escape()

    async def _ask_for_words(self, beside: tuple[int, ...] = ()) -> None:
        self._in_own_words, self._beside = True, beside
        self._talk.takes_own_words(True)
        await self._talk.say(self._talk.said("your_words"))

    async def _own_words(self, reply: UserMessage) -> Act | None:
        """Take whatever was said as the answer; beside what was chosen, where several may be."""
        if wish_in(reply.text, self._talk.answers_in) is Wish.CANCEL:
            self._in_own_words = False
            return Escape()
        unsure = reply.confidence is not None and reply.confidence < LEAST_CONFIDENCE
        words = read_words(self._question, reply.text)
        if unsure or isinstance(words, Unclear) or self._talk.repeats_us(reply):
            await self._talk.say(self._talk.said("not_sure"), self._talk.said("your_words"))
            return None
        self._in_own_words = False
        return await self._take(Choice(self._beside, words))

    async def _ask_again(self, reason: str) -> None:
        """Say why nothing was chosen; the first times with what is possible, later no more than that."""
        self._unclear += 1
        if self._unclear < ASKED_AGAIN:
            await self._talk.say(reason, self._possibilities())
        elif self._unclear == ASKED_AGAIN:
            await self._talk.say(reason, self._possibilities(), self._talk.said("help"))
        else:
            await self._talk.say(reason)

    def _possibilities(self) -> str:
        if self._question.kind is Kind.TEXT:
            return self._talk.said("in_own_words")
        return spoken_options(self._question, self._talk.language)

    def _give(self, choice: Choice, means: Input) -> Act:
        if not self._shown:
            self._talk.shown(self._index, left_out(self._question, self._talk.language))
        return Give(Answer(choice.selected, choice.custom), self._talk.by(means))
