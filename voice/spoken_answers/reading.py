"""A reply read as an answer: the order in which it is held against a question."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import chain, count

from questionnaire import Choice, Kind, Option, Question, Unclear
from voice.spoken_answers.grammar import LONGEST_NAMING, Grammar
from voice.spoken_answers.lexicon import Lexicon, Phrases, Words, holds, lexicon_of
from voice.spoken_answers.naming import Options
from voice.spoken_answers.reply import Reply, tokens_of
from voice.wording import words

LEAST_CONFIDENCE = -0.85
"""The average log probability below which nothing that was heard is taken for an answer.

Of 281 answers that tiny.en heard rightly from people 277 are above it, and the two that it invented are
below; the same recordings chose it: ``benchmarks/results/spoken_answers.md``. Another model may want another.
"""


class Wish(StrEnum):
    """What somebody wants who does not answer."""

    SKIP = "skip"
    BACK = "back"
    CANCEL = "cancel"
    REPEAT = "repeat"
    OWN_WORDS = "own_words"
    """To answer in own words: what is said next is the answer, whatever it is."""


Heard = Choice | Wish | Unclear


def read_spoken(
    question: Question,
    text: str,
    *,
    confidence: float | None = None,
    language: str = "en",
    reasons_in: str = "",
) -> Heard:
    """Read what was said in reply to ``question``.

    ``text`` is as a transcriber wrote it, ``confidence`` its average log probability, None where it is not
    known. Own words are given as they were said, without the full stop that a transcriber puts behind a word
    or two. The reason of `Unclear` is a sentence to speak before asking again, in the language
    ``reasons_in``; without it in that of the text.
    """
    lexicon = lexicon_of(language, reasons_in)
    reply = Reply(text, lexicon)
    if not reply.words:
        return lexicon.unclear("nothing_said")
    if confidence is not None and not confidence >= LEAST_CONFIDENCE:
        return lexicon.unclear("not_sure")
    if question.kind is Kind.TEXT:
        return _read_text(reply, lexicon)
    return _Reading(question, reply, lexicon).verdict()


def yes_or_no(text: str, language: str = "en") -> bool | None:
    """Whether all that was said is a yes, or a no; None where it is neither, both, or more than that."""
    lexicon = lexicon_of(language)
    reply = Reply(text, lexicon)
    return None if reply.asks else _yes_or_no(reply.words, lexicon)


def choice_of(labels: Sequence[str], text: str, language: str = "en") -> int | None:
    """The index of the one label that all of ``text`` names, None where it names none, or several."""
    heard = read_spoken(Question("", tuple(map(Option, labels))), text, language=language)
    return heard.selected[0] if isinstance(heard, Choice) else None


def replies_to(labels: Sequence[str], text: str, language: str = "en") -> bool:
    """Whether all of ``text`` is a reply that a question with options of these labels can get.

    One of the options (by name or place), a yes or a no, what confirms, a wish, or what sends the answers.
    """
    lexicon = lexicon_of(language)
    if yes_or_no(text, language) is not None or says_send(text, language):
        return True
    if any(is_confirmation(text, " ".join(phrase), language) for phrase in map(words, lexicon.confirmations)):
        return True
    heard = read_spoken(Question("", tuple(map(Option, labels))), text, language=language)
    return isinstance(heard, Wish) or (isinstance(heard, Choice) and heard.custom is None)


def is_confirmation(text: str, phrase: str, language: str = "en") -> bool:
    """Whether all that was said is ``phrase``, one word of filler aside: "can you confirm" is none."""
    reply, wanted = Reply(text, lexicon_of(language)), words(phrase)
    return reply.bare == wanted != () and len(reply.words) <= len(wanted) + 1 and not reply.asks


def confirmation_for(texts: Iterable[str], language: str = "en") -> str:
    """A phrase that confirms, and that stands in none of these texts: to say it takes another utterance.

    Where all of them do, one is said twice or more: no text can have us ask for what was said already.
    """
    phrases = lexicon_of(language).confirmations or lexicon_of("en").confirmations
    known = [words(text) for text in texts]
    repeated = (" ".join([phrases[0]] * times) for times in count(2))
    return next(p for p in chain(phrases, repeated) if not any(holds(text, [words(p)]) for text in known))


def says_send(text: str, language: str = "en") -> bool:
    """Whether all that was said is to send what was answered."""
    lexicon = lexicon_of(language)
    return Reply(text, lexicon).bare in lexicon.send


def place_in(text: str, total: int, language: str = "en") -> int | None:
    """The index of the one of ``total`` questions that is to be changed; None where none is named."""
    lexicon = lexicon_of(language)
    left = tuple(word for word in Reply(text, lexicon).bare if (word,) not in lexicon.change)
    number = lexicon.number(left[0]) if len(left) == 1 else None
    number = lexicon.ordinals.get(left) if number is None else number
    if left in lexicon.last:
        number = total
    return number - 1 if number and number <= total else None


def is_refusal(label: str, language: str = "en") -> bool:
    """Whether a label says no and nothing else, so that to choose it allows nothing."""
    lexicon = lexicon_of(language)
    return Reply(label, lexicon).words in lexicon.refusals


def wish_in(text: str, language: str = "en") -> Wish | None:
    """The wish that all that was said expresses, None where it is none."""
    lexicon = lexicon_of(language)
    wish = lexicon.wish(Reply(text, lexicon).words)
    return Wish(wish) if wish else None


def _read_text(reply: Reply, lexicon: Lexicon) -> Heard:
    if wish := lexicon.wish(reply.words):
        return Wish(wish)
    if (own := reply.after_own_words()) is not None:
        return Choice(custom=own)
    if reply.asks:
        return lexicon.unclear("a_question")
    if not reply.bare or reply.bare in lexicon.doubt or reply.words in lexicon.doubt:
        return lexicon.unclear("nothing_said")
    return Choice(custom=reply.own)


def _yes_or_no(heard: Words, lexicon: Lexicon) -> bool | None:
    """Whether these words are nothing but a yes, or nothing but a no."""
    heard = lexicon.bare(heard)
    if len(heard) > LONGEST_NAMING:
        return None
    is_yes, is_no = (_is_made_of(heard, phrases, lexicon) for phrases in (lexicon.yes, lexicon.no))
    return is_yes if is_yes != is_no else None


def _is_made_of(heard: Words, phrases: Phrases, lexicon: Lexicon) -> bool:
    """Whether words are some of the phrases one after the other, filler between them aside."""
    return any(
        not rest or _is_made_of(rest, phrases, lexicon)
        for phrase in phrases
        if heard[: len(phrase)] == phrase
        for rest in {heard[len(phrase) :], lexicon.bare(heard[len(phrase) :])}
    )


def _said_once(heard: Words, lexicon: Lexicon) -> Words:
    """What was said twice or more, and nothing else, once: "computer computer".

    Numbers and letters are not: "eight eight" is 88.
    """
    for length in range(1, len(heard) // 2 + 1):
        part = heard[:length]
        if part * (len(heard) // length) == heard and all(map(lexicon.carries, part)):
            return part
    return heard


class _Reading:
    """One reply held against one question with options."""

    def __init__(self, question: Question, reply: Reply, lexicon: Lexicon) -> None:
        self._question = question
        self._reply = reply
        self._lexicon = lexicon
        self._options = Options(question, lexicon)
        self._labels = [label.words for label in self._options.labels]
        yes_means_something = self._row_for(yes=True) is not None or self._rows_that_begin(lexicon.yes_labels)
        self._grammar = Grammar(self._options, lexicon, () if yes_means_something else lexicon.yes)

    def verdict(self) -> Heard:
        """The first thing that the reply can be.

        A whole label comes before everything: an option may be called "Skip", "None" or "Not now".
        """
        for read in (self._whole_label, self._wish, self._asked, self._naming, self._yes_no, self._several):
            if (heard := read()) is not None:
                return heard
        return self._nothing_named()

    def _whole_label(self) -> Heard | None:
        said = self._reply.bare
        article = next((a for a in self._lexicon.article if said[: len(a)] == a), ())
        for whole in (self._reply.words, said, said[len(article) :], _said_once(said, self._lexicon)):
            rows = self._options.called(whole)
            if not rows:
                continue
            if self._reply.text.endswith("?") and not self._reads_as_question(rows[0]):
                return self._lexicon.unclear("a_question")
            number = self._lexicon.number(whole[0]) if len(whole) == 1 else None
            by_number = {number - 1} & set(range(len(self._labels))) if number else set()
            if len(by_number | set(rows)) > 1:
                return self._lexicon.unclear("which_of_them")
            return Choice(tuple(rows))
        return None

    def _reads_as_question(self, row: int) -> bool:
        """Whether a transcriber puts a question mark behind this label, however it was said."""
        label, begun = self._labels[row], (*self._lexicon.questions, *self._lexicon.requests)
        is_one = len(label) > 1 and any(label[: len(phrase)] == phrase for phrase in begun)
        return is_one or self._question.options[row].label.endswith("?")

    def _wish(self) -> Heard | None:
        custom = self._question.custom
        wish = self._lexicon.wish(self._reply.words)
        if custom and self._reply.bare == Reply(custom.label, self._lexicon).words != ():
            wish = Wish.OWN_WORDS
        if wish == Wish.OWN_WORDS and custom is None:
            return self._lexicon.unclear("no_words")
        if wish and wish != Wish.REPEAT and self._grammar.selections(self._reply.tokens):
            return self._lexicon.unclear("which_of_them")  # "skip", where an option is "Skip the tests"
        if wish:
            return Wish(wish)
        own = self._reply.after_own_words() if custom else None
        return None if own is None else Choice(custom=own)

    def _asked(self) -> Heard | None:
        doubt = self._lexicon.doubt
        if self._reply.words in doubt or self._reply.bare in doubt:  # "one second" is no number
            return self._lexicon.unclear("which")
        return self._lexicon.unclear("a_question") if self._reply.asks else None

    def _naming(self) -> Heard | None:
        found = self._grammar.selections(self._reply.tokens)
        if not found:
            return self._agreeing()
        selection = found.pop()
        if found or min(selection) < 0:
            return self._lexicon.unclear("which_of_them")
        if len(selection) > 1 and not self._question.multi_select:
            return self._lexicon.unclear("one_only")
        return Choice(tuple(sorted(selection)))

    def _agreeing(self) -> Heard | None:
        """Read "yes, allow it" or "no, deny it": the yes or no and the naming behind it have to agree."""
        said, lexicon = self._reply.bare, self._lexicon
        for answer, phrases in ((True, lexicon.yes_labels), (False, lexicon.no_labels)):
            row = self._row_for(yes=answer)
            for phrase in phrases if row is not None else ():
                rest = said[len(phrase) :]
                agrees = said[: len(phrase)] == phrase and self._grammar.selections(rest) == {
                    frozenset({row})
                }
                if agrees and row is not None:
                    return Choice((row,))
        return None

    def _yes_no(self) -> Heard | None:
        answer = _yes_or_no(self._reply.words, self._lexicon)
        row = None if answer is None else self._row_for(yes=answer)
        return None if row is None else Choice((row,))

    def _row_for(self, *, yes: bool) -> int | None:
        """The option that a yes (or a no) stands for."""
        lexicon, labels = self._lexicon, self._labels
        if self._question.multi_select:
            return None
        says_yes, says_no = (self._rows_that_begin(p) for p in (lexicon.yes_labels, lexicon.no_labels))
        if says_yes or says_no:
            rows = says_yes if yes else says_no
            return rows[0] if len(rows) == 1 else None
        # "Allow it?", with Allow and Deny: the verb of the question says what yes means, and no is the other.
        asked = tuple(tokens_of(self._question.text))
        if len(labels) != 2 or holds(asked, (*lexicon.negation, *lexicon.alternatives)):
            return None
        verbs = [index for index, label in enumerate(labels) if label[:1] and label[0] in asked]
        refusing = [index for index, label in enumerate(labels) if self._refuses(label, labels[1 - index])]
        if len(verbs) != 1 or len(refusing) != 1 or verbs == refusing:
            return None
        return verbs[0] if yes else refusing[0]

    def _rows_that_begin(self, phrases: Iterable[Words]) -> list[int]:
        return [
            index
            for index, label in enumerate(self._labels)
            if any(label[: len(phrase)] == phrase for phrase in phrases)
        ]

    def _refuses(self, label: Words, other: Words) -> bool:
        """Whether a label says no, or not what the other says."""
        negated = any(label == (*word, *other) for word in self._lexicon.negation)
        return label in self._lexicon.refusals or negated

    def _several(self) -> Heard | None:
        lexicon, said, count = self._lexicon, self._reply.bare, len(self._labels)
        if said in lexicon.all or (said in lexicon.both and count == 2):
            if not self._question.multi_select:
                return lexicon.unclear("one_only")
            sizes = {lexicon.number(word) for word in said} - {None}
            return Choice(tuple(range(count))) if sizes <= {count} else lexicon.unclear("which")
        if said in lexicon.none:
            rows = [index for index, label in enumerate(self._labels) if label in lexicon.none]
            if len(rows) == 1:
                return Choice((rows[0],))
            if self._question.custom:
                return Choice(custom=self._reply.own)
            return lexicon.unclear("not_none" if self._question.multi_select else "none_of_the_options")
        excepted = next((p for p in lexicon.excepted if said[: len(p)] == p), None)
        if excepted and self._question.multi_select:
            begin = self._reply.tokens.index(said[0]) + len(excepted)
            found = self._grammar.selections(self._reply.tokens[begin:])
            left = set(range(count)) - found.pop() if len(found) == 1 else set()
            return Choice(tuple(sorted(left))) if 0 < len(left) < count else lexicon.unclear("which")
        return None

    def _nothing_named(self) -> Heard:
        """Own words where there are any, else the reason why nothing is chosen."""
        lexicon, said = self._lexicon, self._reply.words
        in_labels = {word for label in self._labels for word in label}
        own = [word for word in said if lexicon.carries(word) and word not in in_labels]
        if own and self._question.custom:
            return Choice(custom=self._reply.own)
        numbers = [number for number in map(lexicon.number, said) if number]
        if numbers and len(said) <= 2 and max(numbers) > len(self._labels):
            return lexicon.unclear("no_such_option", number=max(numbers))
        mentioned = numbers or any(word in in_labels and word not in lexicon.function for word in said)
        doubtful = holds(said, (*lexicon.doubt, *lexicon.alternatives, *lexicon.negation, *lexicon.ordinals))
        if mentioned or doubtful:
            return lexicon.unclear("which")
        return lexicon.unclear("none_of_the_options" if own else "nothing_said")
