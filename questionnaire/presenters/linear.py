"""The linear presenter: plain numbered lines in and out, for screen readers and dumb terminals.

Whatever is not one of its few commands is judged by `questionnaire.answers`; an unclear reply is asked
again with the reason.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from anyio import CancelScope, current_time, get_cancelled_exc_class

from questionnaire.answers import Choice, Skipped, Unclear, read_picks, read_reply, read_words
from questionnaire.display import look, wrapped
from questionnaire.errors import NoInterface, TerminalLost
from questionnaire.model import Input, Provenance, Question, Response, Status
from questionnaire.presenters.lines import LineTerminal, TypesAhead
from questionnaire.presenters.pages import hint, question_page, review_page
from questionnaire.progress import (
    Act,
    Back,
    Draft,
    Escape,
    Give,
    GoTo,
    Interview,
    Next,
    Note,
    Shown,
    Skip,
    Step,
    Stop,
    Submit,
    Touch,
)

_PLAIN_COMMANDS: Mapping[str, Act] = {
    "/back": Back(),
    "/next": Next(),
    "/review": GoTo(None),
    "/stop": Stop(),
}
_NOTE = re.compile(r"\s*/note(?:\s+(.*?))?\s*")
_ON_OPTION = re.compile(r"(\d{1,4})(?:\s+(.*))?")
_HELP = (
    "/back goes to the question before, /next to the one after, /review to all answers.",
    "/skip leaves an optional question unanswered.",
    "/note TEXT keeps a note on the question, /note 2 TEXT one on option 2; without TEXT it is dropped.",
    "/long begins an answer of several lines, which a line with /end ends.",
    "/stop stops at once. An answer that begins with one of these words needs a second / before it.",
)
_WORDS = ("/skip", "/help", "/long", *_PLAIN_COMMANDS)


class _Moved(Exception):
    """Somebody else answered or ended the questions while a line was awaited."""


class LinearPresenter:
    """Asks on a line-based terminal.

    The end of input (Ctrl-D) declines, the second time where something was answered before. `clock` gives
    the times of showing and answering; without it they are those of the event loop.
    """

    def __init__(self, terminal: LineTerminal, clock: Callable[[], float] = current_time) -> None:
        self._terminal = terminal
        self._clock = clock
        self._here: int | None = None

    async def present(self, interview: Interview) -> None:
        """Ask, one question after the other, until there is an outcome."""
        shown: Step | None = None
        nothing_yet = True
        try:
            while interview.outcome is None:
                step = interview.step
                anew = shown is None or shown.index != step.index
                self._show(interview, anew=anew)
                if anew:
                    self._discard()
                self._here, shown, nothing_yet = step.index, step, False
                interview.send(Shown(self._clock(), step.index))
                try:
                    act = await self._act(interview)
                except _Moved:
                    shown = None
                    continue
                if isinstance(act, Back | Next | GoTo):
                    shown = None  # who asks to go somewhere hears where they are
                interview.send(act)
        except TerminalLost as error:
            if nothing_yet:
                raise NoInterface(str(error)) from error
            interview.end(Status.CANCELLED, str(error))
        except get_cancelled_exc_class():
            self._end_line()
            raise

    def _show(self, interview: Interview, *, anew: bool) -> None:
        asked, step, width = interview.questionnaire, interview.step, self._terminal.width
        if anew and step.index is None:
            self._write(review_page(asked, step.responses, width))
        elif anew and step.index is not None:
            self._write(question_page(asked, step.index, step.responses[step.index], width))
        if step.notice:
            self._say(step.notice)
        if step.stopping:
            self._say("Ctrl-D again to stop; anything else goes on.")
        elif anew and step.index is None:
            self._say("Type send to send them, or a number to change that answer. Ctrl-D declines.")
        elif anew and step.index is not None:
            can_type = hint(asked.questions[step.index], step.responses[step.index])
            self._say(f"{can_type} Ctrl-D declines, /help helps.")

    async def _act(self, interview: Interview) -> Act:
        """Read what the user does next."""
        heard = await self._heard(interview)
        if not isinstance(heard, str):
            return heard
        index, responses = interview.step.index, interview.step.responses
        if index is None:
            return self._on_review(heard, len(responses))
        question = interview.questionnaire.questions[index]
        return await self._on_question(interview, question, responses[index], heard)

    async def _heard(self, interview: Interview) -> Act | str:
        """Return what the next line does, or else the words that it holds."""
        line = await self._read(interview)
        if line is None:
            return Escape()
        command = await self._command(interview, line)
        return _unescaped(line) if command is None else command

    def _on_review(self, line: str, total: int) -> Act:
        typed = look(line).removesuffix(".")
        if typed in ("send", "submit"):
            return Submit()
        if typed.isdecimal() and len(typed) <= 4 and 1 <= int(typed) <= total:
            return GoTo(int(typed) - 1)
        return self._again(f"Type send, or a number from 1 to {total}.")

    async def _on_question(
        self, interview: Interview, question: Question, response: Response, line: str
    ) -> Act:
        if response.settled and not look(line):  # Enter keeps what is there
            return Give(response.answer, self._by()) if response.answer else Skip(self._by())
        verdict = read_reply(question, line)
        match verdict:
            case Unclear(reason):
                return self._again(f"{reason} {hint(question, response)}")
            case Skipped():
                return Skip(self._by())
            case Choice(opens_custom=True):
                return await self._own_words(interview, question, response, verdict)
        return Give(verdict.answer, self._by())

    async def _own_words(
        self, interview: Interview, question: Question, response: Response, chosen: Choice
    ) -> Act:
        """Ask for the words of the custom row; what was chosen beside it is a draft meanwhile."""
        if chosen.selected:
            interview.send(Draft(response.draft, chosen.selected))
        self._say("Type your answer.")
        while isinstance(heard := await self._heard(interview), str):
            words = read_words(question, heard)
            if not isinstance(words, Unclear):
                return Give(Choice(chosen.selected, words).answer, self._by())
            self._say(f"{words.reason} Type your answer.")
        return heard

    async def _command(self, interview: Interview, line: str) -> Act | None:
        """Return what a command asks for; None where `line` is no command."""
        word = line.strip()
        if word == "/review" and not interview.questionnaire.review:
            return self._again("There is no review here: your answer is sent as soon as you give it.")
        if word in _PLAIN_COMMANDS:
            return _PLAIN_COMMANDS[word]
        if word == "/skip":
            return Skip(self._by())
        if word == "/long":
            return await self._several_lines(interview)
        if word == "/help":
            return self._again(*_HELP)
        note = _NOTE.fullmatch(line)
        return self._note(interview, note[1] or "") if note else None

    def _note(self, interview: Interview, text: str) -> Act:
        """Read whose note it is: that of the option whose number comes first, or else the question's."""
        index = interview.step.index
        options = interview.questionnaire.questions[index].options if index is not None else ()
        numbered = _ON_OPTION.fullmatch(text)
        if index is not None:
            self._say("Noted.")
        if numbered and 1 <= int(numbered[1]) <= len(options):
            return Note(numbered[2] or "", int(numbered[1]) - 1)
        return Note(text)

    async def _several_lines(self, interview: Interview) -> Act:
        """Read the lines of one answer. They are kept as a draft as they come, so that none gets lost."""
        index = interview.step.index
        if index is None or not (question := interview.questionnaire.questions[index]).takes_words:
            return self._again("No answer of several lines is taken here.")
        self._say("Type your answer; a line with /end ends it.")
        ticked, lines = interview.step.responses[index].ticked, list[str]()
        while (line := await self._read(interview)) != "/end":
            if line is None:
                return Escape()
            lines.append(line)
            interview.send(Draft("\n".join(lines), ticked))
        verdict = read_picks(question, ticked, "\n".join(lines))
        if isinstance(verdict, Choice):
            return Give(verdict.answer, self._by())
        return self._again(verdict.reason) if isinstance(verdict, Unclear) else Skip(self._by())

    async def _read(self, interview: Interview) -> str | None:
        """Return the next line, or None at the end of input; leaves the line where others moved on."""

        def moved() -> bool:
            return interview.outcome is not None or interview.step.index != self._here

        def others_acted(_: Act | None) -> None:
            if moved():
                waiting.cancel()

        if not moved():  # as they may have on the receipt itself
            with CancelScope() as waiting, interview.watch(others_acted):
                line = await self._terminal.read_line("> ")
                if line is None:  # no Enter has ended the line of the prompt
                    self._write([""])
                return line
            self._end_line()
        self._discard()
        self._say("This was answered or closed elsewhere.")
        raise _Moved

    def _by(self) -> Provenance:
        return Provenance("linear", Input.KEY, self._clock())

    def _again(self, *sentences: str) -> Act:
        """Say why the same is asked once more."""
        for sentence in sentences:
            self._say(sentence)
        return Touch()

    def _discard(self) -> None:
        """Drop what was typed at something else than what is shown now, and say so: it is no answer to it."""
        if isinstance(self._terminal, TypesAhead) and (dropped := self._terminal.discard().split()):
            self._say(f"This was typed before, and is dropped: {' '.join(dropped)}")

    def _say(self, text: str) -> None:
        self._write(wrapped(text, self._terminal.width))

    def _end_line(self) -> None:
        """End the line on which the prompt stands; an end in any case, also where the terminal is gone."""
        with suppress(TerminalLost):
            self._terminal.write_line("")

    def _write(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._terminal.write_line(line)


def _unescaped(line: str) -> str:
    """Return an answer without the stroke that tells it from a command."""
    bare = line.lstrip()[1:]
    is_command = bare.strip() in _WORDS or _NOTE.fullmatch(bare)
    return bare if line.lstrip().startswith("//") and is_command else line
