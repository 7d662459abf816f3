"""Turn-taking: what becomes of what was said, typed, or not said at all. Pure.

One state machine for a conversation. It is told what happens (`TurnTaking.take`) and returns what is to be
done, as acts in their order; it carries nothing out, and its only clock is the audio time that it is told of.
`voice.chat` acts.

Who has the turn:

* Typing. The first key holds the microphone, an empty line gives it back. A line that only stands holds no
  narration back: after a while what was being said before it is not sent, and shown. What is sent wins over
  a spoken reply that is not finished, and over narration.
* Speaking. What has ended is delivered, also while somebody types. While the agent works it waits, steers or
  interrupts, by setting; the reply to a narrated question goes at once.
* We. What is said while we narrate (where it is heard at all) pauses the narration. Words end it; a sign of
  listening, a control or a mere sound does not.
* Nobody. The count runs only when it is the user's turn: the question is repeated once, shorter, and then the
  session is quiet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from voice.commands import STOPS, Command, Controls, Spoken
from voice.events import (
    AgentEnded,
    AgentStarted,
    CommandHeard,
    Discarded,
    DiscardReason,
    Event,
    HostLost,
    Notice,
    PartialTranscript,
    Span,
    SpeechEnded,
    SpeechStarted,
    Status,
    UserMessage,
    UtteranceNearCap,
    VoiceState,
    VoiceStateChanged,
)
from voice.happenings import (
    Accepted,
    Act,
    Answering,
    Asked,
    Asking,
    Deliver,
    Do,
    Drafted,
    Drop,
    DropTurn,
    Happening,
    Kind,
    MicrophoneBack,
    MicrophoneLost,
    Obeyed,
    Passed,
    Play,
    Say,
    Silenced,
    Silent,
    Speaking,
    Tell,
    Typed,
    Verbatim,
    Waiting,
)
from voice.listening.judging import joined
from voice.phrases import said
from voice.ports import Delivery
from voice.reopening import CutOff, Keep, Reopening
from voice.settings import Settings
from voice.speaking.earcons import Earcon
from voice.speaking.shortening import shortened
from voice.wording import find, words

_PLAIN_COMMANDS = {
    Command.REPEAT: Do.REPEAT,
    Command.REPEAT_SLOWLY: Do.REPEAT_SLOWLY,
    Command.GO_ON: Do.GO_ON,
    Command.LOUDER: Do.LOUDER,
    Command.QUIETER: Do.QUIETER,
    Command.FASTER: Do.FASTER,
    Command.SLOWER: Do.SLOWER,
}
_REPEATS = frozenset({Command.REPEAT, Command.REPEAT_SLOWLY})
_WORTH_A_SIGN = {
    DiscardReason.NO_WORDS,
    DiscardReason.PHANTOM,
    DiscardReason.NOT_TRANSCRIBED,
    DiscardReason.TYPED_INSTEAD,
    DiscardReason.CUT_OFF,
    DiscardReason.TALKED_OVER,
}
"""What the person should hear of: something that they said, or may have said, is not sent."""


_LOSES = {DiscardReason.NOT_TRANSCRIBED, DiscardReason.CUT_OFF, DiscardReason.TALKED_OVER}
"""Why words are not sent that somebody may have said in vain."""


STANDS_S = 3.0
"""After so long without a key whoever began a line is taken to have turned away from it: longer than somebody
looks for a word, shorter than anybody waits for an answer."""


class TurnTaking:
    """Who has the turn in one conversation, and what becomes of what happens."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.conversation
        self._language = settings.speaking.language
        controls = settings.controls
        self._obeys = controls.enabled
        self._ends_by_word = controls.enabled and controls.end_word is not None
        self._controls = Controls(settings.transcription.language, controls.phrases, controls.end_word)
        self._voice = VoiceState.INACTIVE
        self._microphone_lost = False
        self._asleep = False
        self._quiet = False
        self._draft = ""
        self._still_s = 0.0
        """For so long no key has been pressed."""
        self._speaking = False
        self._ended = False
        """Something that was said is being transcribed."""
        self._busy = False
        """Somebody speaks or perhaps begins to, or something said is not yet a message."""
        self._working = False
        self._asking = False
        self._asking_since_s = 0.0
        self._narrating: Kind | None = None
        self._paused_s: float | None = None
        """How long the narration has been paused by a sound; None where it is not."""
        self._unfinished = False
        self._said_anything = False
        self._verbatim = False
        self._options: tuple[str, ...] = ()
        """The labels of what is asked, or was asked last, to choose from."""
        self._question = ""
        """What the agent asked last, until there is a reply or a new turn of its own."""
        self._reply_due = False
        """Whether the next message is the reply to a narrated question."""
        self._held: list[UserMessage] = []
        """What was said and waits for the end word."""
        self._reopening = Reopening(self._settings.reopen_s)
        self._last_heard = ""
        self._obeyed_at_s = 0.0
        self._no_words_told = False
        self._waiting = Waiting(0, spoken=False)
        self._idle_s = 0.0
        self._repeated = False

    # --- What a status line shows -------------------------------------------------------------------------

    @property
    def on(self) -> bool:
        """Whether Voice speaks and listens."""
        return self._voice is VoiceState.ACTIVE

    @property
    def asleep(self) -> bool:
        """Whether listening is paused."""
        return self._asleep

    @property
    def stops_fast(self) -> bool:
        """Whether there is work to stop, and no question to which "stop" may be the answer."""
        return self._working and not (self._reply_due or self._asking)

    @property
    def held(self) -> str:
        """What was said and waits for the end word, "" where nothing does."""
        return " ".join(message.text for message in self._held)

    @property
    def status(self) -> Status:
        """What goes on: the first of these that is so."""
        if self._voice is VoiceState.STARTING:
            return Status.STARTING
        if not self.on:
            return Status.WORKING if self._working else Status.VOICE_OFF
        states = (
            (self._microphone_lost, Status.MICROPHONE_LOST),
            (self._draft, Status.HELD),
            (self._narrating, Status.NARRATING),
            (self._asleep, Status.ASLEEP),
            (self._speaking, Status.HEARING),
            (self._ended, Status.TRANSCRIBING),
            (self._working and not self._asking, Status.WORKING),
            (self._quiet, Status.QUIET),
        )
        return next((status for so, status in states if so), Status.LISTENING)

    # --- What happens -------------------------------------------------------------------------------------

    def take(self, happening: Happening) -> list[Act]:
        """Take note of what happens; return what is to be done."""
        match happening:
            case Passed(seconds, busy, waits):
                self._still_s += seconds
                kept = self._reopening.passed(seconds) if busy else self._reopening.silent()
                return [*self._let_narrate(waits), *kept, *self._passed(seconds, busy)]
            case Drafted(text):
                return self._drafted(text)
            case Typed(text, at_s):
                return self._typed(text, at_s)
            case Speaking(text, kind, options):
                return self._we_speak(text, kind, options)
            case Verbatim(on):
                self._verbatim = on
            case Silent(unfinished):
                return self._we_are_silent(unfinished)
            case Asked(text):
                return self._asked(text)
            case Waiting():
                self._waiting = happening
            case Accepted(message, at_s):
                self._reopening.accepted(message, at_s)
            case Answering():
                self._reopening.answered()
            case Asking(on, at_s):
                self._asking, self._asking_since_s, self._reply_due = on, at_s, False
                self._question, self._idle_s, self._repeated = "", 0.0, False
                self._verbatim, self._options = False, ()
                self._reopening.close()
                if not on:
                    self._reopening.nothing_asked()
            case VoiceStateChanged(state):
                return self._voice_is(state)
            case Silenced():
                return [*self._stir(), *self._fall_silent()]
            case MicrophoneLost():
                self._microphone_lost, self._speaking = True, False
                return self._resume()  # no words will follow, nor time by the microphone
            case MicrophoneBack():
                self._microphone_lost = False
                return [Play(Earcon.LISTENING)]
            case AgentStarted():
                self._working = True
                self._question, self._reply_due = "", False
                return self._stir()
            case AgentEnded(error):
                self._working = False
                self._reopening.agent_ended()
                return [*self._stir(), *([Say(error, written=False)] if error else [])]
            case HostLost(sentence):
                self._working, self._reply_due, self._question = False, False, ""
                self._reopening.agent_ended()
                return [*self._stir(), Say(sentence, written=False)]
            case _:
                return self.heard([happening])
        return []

    def heard(self, events: Iterable[Event]) -> list[Act]:
        """Take what came of one frame of the microphone: what belongs to one turn comes together."""
        events = list(events)
        dropped = [event for event in events if isinstance(event, Discarded)]
        in_words = {event.heard.start_s for event in events if isinstance(event, UserMessage) and event.heard}
        acts: list[Act] = []
        for event in events:
            match event:
                case SpeechStarted(at_s):
                    acts += [Tell(event), *self._somebody_speaks(at_s)]
                case SpeechEnded():
                    self._speaking, self._ended = False, True
                    acts.append(Tell(event))
                case UserMessage():
                    acts += self._heard_in_words(event)
                case Discarded(began_s=began_s):
                    acts += self._heard_for_nothing(event, began_s in in_words)
                    if began_s is not None and began_s not in in_words:
                        of_it = [other for other in dropped if other.began_s == began_s]
                        acts += self._over(began_s, of_it)
                case CommandHeard():
                    acts += self._stopped(event)
                case PartialTranscript(text, at_s):
                    acts.append(Tell(PartialTranscript(f"{self.held} {text}".strip(), at_s)))
                case UtteranceNearCap(remaining_s=remaining_s):
                    # In writing alone: aloud it could come only when they have finished.
                    near = said(self._language, "near_cap", seconds=remaining_s)
                    acts += [Tell(event), Tell(Notice(near))]
                case _:
                    acts.append(Tell(event))
        return acts

    # --- The keyboard -------------------------------------------------------------------------------------

    def _drafted(self, text: str) -> list[Act]:
        before, self._draft, self._still_s = self._draft, text, 0.0
        acts = self._stir()
        if text and not before:
            acts.append(Do.HOLD)
        elif before and not text:
            acts.append(Do.RELEASE)
        return acts

    def _typed(self, text: str, at_s: float) -> list[Act]:
        held_microphone, self._draft = bool(self._draft), ""
        acts = self._stir()
        if not text.strip():
            acts += self._send_held()
        else:
            if self._speaking:
                self._speaking = False
                acts.append(DropTurn(DiscardReason.TYPED_INSTEAD))
            acts += self._drop_held(DiscardReason.TYPED_INSTEAD)
            acts += [*self._fall_silent(), *self._deliver(UserMessage(text, "keyboard", at_s))]
        if held_microphone:
            acts.append(Do.RELEASE)
        return acts

    # --- What was said ------------------------------------------------------------------------------------

    def _somebody_speaks(self, at_s: float) -> list[Act]:
        self._speaking = self._busy = True
        acts = [] if self._asleep else self._stir()
        if self._narrating is not None and not self._asleep:
            self._paused_s = 0.0
            acts.append(Do.PAUSE)
        return [*acts, *self._begins(at_s)]

    def _begins(self, at_s: float) -> list[Keep | CutOff]:
        answers = self._asking and at_s >= self._asking_since_s
        return self._reopening.began(at_s, answers=answers, waits=self._waiting.spoken)

    def _over(self, began_s: float, dropped: Sequence[Discarded]) -> list[Keep | CutOff]:
        """A turn is over, and there is nothing in it that is sent."""
        lost = any(
            one.reason in _LOSES or (one.reason is DiscardReason.TYPED_INSTEAD and bool(one.text))
            for one in dropped
        )
        # What was broken off is followed up where that is known: by the microphone, and the keyboard.
        breaks = any(one.reason is DiscardReason.NOT_TRANSCRIBED for one in dropped)
        return self._reopening.over(began_s, lost=lost, breaks=breaks)

    def _heard_in_words(self, message: UserMessage) -> list[Act]:
        if message.heard is None:
            return self._said(message)
        began_s = message.heard.start_s
        begun: list[Act] = [] if self._reopening.knows(began_s) else [*self._begins(began_s)]
        broken = self._reopening.broken(began_s)
        acts = [*begun, *self._said(message, broken=broken)]
        return [*acts, *self._reopening.over(began_s, lost=broken)]

    def _said(self, message: UserMessage, *, broken: bool = False) -> list[Act]:
        text = message.text
        spoken = self._command_in(text)
        if self._asleep and spoken is None:
            return [Drop(DiscardReason.ASLEEP, "", message.utterances)]
        self._no_words_told = False
        if spoken is not None:
            if self._obeyed_already(spoken.command, message):
                return [Drop(DiscardReason.COMMAND, text, message.utterances)]
            heard = CommandHeard(spoken.command, spoken.phrase, message.at_s)
            obeyed = [Tell(heard), *_obeyed(message), *self._obey(spoken.command)]
            return [*obeyed, *self._reopening.part()]
        if self._over_us and self._controls.is_backchannel(text):
            return [Drop(DiscardReason.BACKCHANNEL, text, message.utterances), *self._resume()]
        self._last_heard = text
        if broken:
            cut: list[Act] = [Drop(DiscardReason.CUT_OFF, text, message.utterances), Play(Earcon.NOT_SENT)]
            return [*self._fall_silent(), *cut]
        return [*self._fall_silent(), *self._take_words(message)]

    def _take_words(self, message: UserMessage) -> list[Act]:
        if not self._ends_by_word or self._asking:
            return self._deliver(message)
        ended = self._controls.without_end_word(message.text)
        if ended is None:
            self._held.append(message)
            return [Play(Earcon.HEARD), Tell(PartialTranscript(self.held, message.at_s))]
        if not ended:
            return [*_obeyed(message), *self._send_held()]
        self._held.append(replace(message, text=ended))
        return self._send_held()

    def _send_held(self) -> list[Act]:
        """Deliver what waits for the end word, as one message."""
        if not self._held:
            return [self._remark("nothing_to_send")] if self.on and self._ends_by_word else []
        joined = joined_message(self._held)
        self._held.clear()
        return self._deliver(joined)

    def _drop_held(self, reason: DiscardReason) -> list[Act]:
        text, utterances = self.held, _utterances(self._held)
        self._held.clear()
        return [Drop(reason, text, utterances), Play(Earcon.NOT_SENT)] if text else []

    def _deliver(self, message: UserMessage) -> list[Act]:
        delivery = self._settings.while_busy
        if self._reply_due and delivery is Delivery.FOLLOW_UP:
            delivery = Delivery.STEER
        self._reply_due, self._question, self._repeated = False, "", False
        if message.heard is None or self._ends_by_word or self._reopening.answers(message.heard.start_s):
            self._reopening.close()
            return [Deliver(message, delivery)]
        began_s = message.heard.start_s
        before = self._reopening.before(began_s)
        if before is not None:
            message = joined_message([before, message])
        steered = self._working and delivery is Delivery.STEER
        kept = self._reopening.told(message, began_s, steered=steered)
        return [*kept, Deliver(message, delivery, before)]

    def _heard_for_nothing(self, event: Discarded, in_words: bool) -> list[Act]:
        if self._asleep:
            return [Drop(DiscardReason.ASLEEP, "", event.utterances)]
        acts: list[Act] = [Drop(event.reason, event.text, event.utterances)]
        if in_words or event.reason not in _WORTH_A_SIGN:
            return acts
        acts.append(Play(Earcon.NOT_SENT))
        wordless = event.reason in (DiscardReason.NO_WORDS, DiscardReason.PHANTOM)
        if wordless and not self._no_words_told and not self._over_us:
            self._no_words_told = True
            acts.append(self._remark("sound_without_words"))
        return acts

    # --- Spoken controls ----------------------------------------------------------------------------------

    def _command_in(self, text: str) -> Spoken | None:
        """The control that an utterance is, if that means something now."""
        if not self._obeys:
            return None
        if self._asleep:
            return self._controls.command_in(text, (Command.WAKE, Command.STOP_VOICE))
        meaningless = {Command.WAKE}
        if not (self._over_us or self._working):
            meaningless.add(Command.STOP_TALKING)
        if not self._unfinished and self._paused_s is None:
            meaningless.add(Command.GO_ON)
        if not self._ends_by_word:
            meaningless.add(Command.SEND)
        if self._asking:
            meaningless |= {Command.SEND, Command.SCRATCH}  # of the answers, not of messages
        spoken = self._controls.command_in(text, frozenset(Command) - meaningless)
        return None if spoken and self.is_answer(spoken) else spoken

    def is_answer(self, spoken: Spoken) -> bool:
        """Whether a control is an answer to what is asked now.

        "Continue, or stop?" "Stop." Never "stop the voice". In the user's own words everything else is one,
        but that it be repeated.
        """
        if spoken.command is Command.STOP_VOICE:
            return False
        if self._verbatim and spoken.command not in _REPEATS:
            return True
        if not (self._question or self._asking):
            return False
        asks = shortened(self._question) if spoken.command is Command.STOP_TALKING else self._question
        phrase = words(spoken.phrase)
        return any(find(phrase, words(asked)) >= 0 for asked in (asks, *self._options))

    def _stopped(self, event: CommandHeard) -> list[Act]:
        """A stop was heard by its own path: the turn that it is in is nothing more than that."""
        command = Command(event.command)
        if not self._obeys or self.is_answer(Spoken(command, event.phrase)):
            return []
        self._obeyed_at_s = event.at_s
        acts: list[Act] = [Tell(event)]
        if self._speaking:
            self._speaking = False
            acts.append(DropTurn(DiscardReason.COMMAND))
        return [*acts, *self._obey(command), *self._reopening.part()]

    def _obeyed_already(self, command: Command, message: UserMessage) -> bool:
        """Whether the stop path has heard this before the turn was over."""
        return command in STOPS and message.heard is not None and message.heard.end_s <= self._obeyed_at_s

    def _obey(self, command: Command) -> list[Act]:
        match command:
            case Command.STOP_VOICE:
                return [Do.SWITCH_OFF]
            case Command.PAUSE:
                self._asleep = True
                return [*self._fall_silent(), *self._drop_held(DiscardReason.CUT_OFF), Do.SLEEP]
            case Command.WAKE:
                self._asleep = False
                return [*self._stir(), Do.WAKE, Play(Earcon.LISTENING)]
            case Command.STOP_TALKING:
                if self._over_us:
                    return self._fall_silent()
                return [Do.INTERRUPT_AGENT] if self._working else []
            case Command.SCRATCH:
                return self._scratch()
            case Command.SEND:
                return self._send_held()
            case Command.READ_BACK:
                heard = self.held or self._last_heard
                name = "read_heard" if heard else "nothing_heard"
                return [*self._fall_silent(), self._remark(name, words=heard)]
            case Command.REPEAT | Command.REPEAT_SLOWLY if not self._said_anything:
                return [self._remark("nothing_spoken")]
            case Command.REPEAT | Command.REPEAT_SLOWLY:
                return [*self._fall_silent(), _PLAIN_COMMANDS[command]]
            case Command.GO_ON:
                return self._resume() if self._paused_s is not None else [Do.GO_ON]
        return [_PLAIN_COMMANDS[command], *self._resume()]

    def _scratch(self) -> list[Act]:
        if self._held:
            return [*self._drop_held(DiscardReason.TAKEN_BACK), *self._resume()]
        if self._waiting.spoken:
            return [Do.TAKE_BACK, *self._resume()]
        return [*self._fall_silent(), self._remark("nothing_to_take_back")]

    # --- Our voice ----------------------------------------------------------------------------------------

    def _remark(self, name: str, **values: object) -> Say:
        """A sentence of our own, in the language that we speak."""
        return Say(said(self._language, name, **values))

    @property
    def _over_us(self) -> bool:
        """Whether we speak, or have only paused."""
        return self._narrating is not None or self._paused_s is not None

    def _we_speak(self, text: str, kind: Kind, options: tuple[str, ...]) -> list[Act]:
        self._narrating, self._paused_s = kind, None
        if kind in (Kind.REMARK, Kind.REPEAT):
            return []
        self._reopening.answered()
        self._said_anything = True
        if kind is Kind.QUESTION:
            self._reply_due = True
        if kind is Kind.QUESTION or text.rstrip().endswith("?"):
            self._question, self._repeated, self._options = text, False, options
        return self._stir()

    def _asked(self, text: str) -> list[Act]:
        self._reply_due, self._question, self._repeated = True, text, False
        return [*self._stir(), *([Play(Earcon.LISTENING)] if self._ready else [])]

    def _we_are_silent(self, unfinished: bool) -> list[Act]:
        asked = self._narrating in (Kind.QUESTION, Kind.REPEAT) and not unfinished
        if self._narrating is not Kind.REMARK:
            self._unfinished = unfinished
        self._narrating = None
        self._idle_s = 0.0
        return [Play(Earcon.LISTENING)] if asked and self._ready else []

    @property
    def _ready(self) -> bool:
        """Whether what is said now would be heard."""
        deaf = self._asleep or self._draft or self._microphone_lost or self._narrating
        return self.on and not deaf

    def _fall_silent(self) -> list[Act]:
        """End our voice, where it is not silent. What waits only for the person to finish goes on waiting."""
        over_us, self._paused_s = self._over_us, None
        return [Do.SILENCE] if over_us else []

    def _resume(self) -> list[Act]:
        if self._paused_s is None:
            return []
        self._paused_s = None
        return [Do.RESUME]

    # --- Time ---------------------------------------------------------------------------------------------

    def _let_narrate(self, waits: bool) -> list[Act]:
        """A line that stands holds the microphone, and not our voice: what it has frozen is not sent."""
        if not (waits and self._draft and self._speaking and self._still_s >= STANDS_S):
            return []
        self._speaking = False
        return [DropTurn(DiscardReason.TALKED_OVER)]

    def _passed(self, seconds: float, busy: bool) -> list[Act]:
        self._busy = busy
        self._ended = self._ended and busy
        if self._paused_s is not None:
            self._paused_s += seconds
            return self._resume() if not busy and self._paused_s >= self._settings.resume_after_s else []
        if not self._users_turn:
            return []
        self._idle_s += seconds
        if self._idle_s < self._settings.answer_within_s:
            return []
        self._idle_s = 0.0
        if not self._repeated:
            self._repeated = True
            return [Do.REPEAT_SHORTER]
        self._quiet = True
        return [Do.CLOSE_MICROPHONE] if self._settings.quiet_microphone == "closed" else []

    @property
    def _users_turn(self) -> bool:
        """Whether nothing is missing but the user's reply to a question that they have heard."""
        working = self._working and not self._asking
        away = self._asleep or self._quiet or self._microphone_lost or not self.on
        replied = self._busy or self._held or self._waiting.messages or self._draft
        return bool(self._question) and not (working or away or replied or self._narrating)

    def _stir(self) -> list[Act]:
        """Somebody does something: the count begins anew, and a quiet session is awake."""
        self._idle_s = 0.0
        if not self._quiet:
            return []
        self._quiet = False
        return [Do.OPEN_MICROPHONE] if self._settings.quiet_microphone == "closed" else []

    # --- Voice --------------------------------------------------------------------------------------------

    def _voice_is(self, state: VoiceState) -> list[Act]:
        before, self._voice = self._voice, state
        if state is VoiceState.ACTIVE:
            self._no_words_told = False
            return [*([Do.HOLD] if self._draft else []), Play(Earcon.LISTENING)]
        acts: list[Act] = []
        if before is VoiceState.ACTIVE:
            self._asleep = self._quiet = False
            self._speaking = self._ended = self._busy = self._unfinished = False
            self._narrating = self._paused_s = None
            self._question, self._idle_s = "", 0.0
            acts = [*self._drop_held(DiscardReason.CUT_OFF), Play(Earcon.OFF)]
        self._microphone_lost = False
        # While it drains, what was said last may still become words.
        return acts if state is VoiceState.DRAINING else [*acts, *self._reopening.end()]


def joined_message(parts: Sequence[UserMessage]) -> UserMessage:
    """Several spoken turns as one message; it is as sure as the least sure of them."""
    first, last = parts[0], parts[-1]
    heard = Span(first.heard.start_s, last.heard.end_s) if first.heard and last.heard else None
    sure = [part.confidence for part in parts if part.confidence is not None]
    text = joined([part.text for part in parts])
    surest = min(sure, default=None)
    return replace(last, text=text, heard=heard, confidence=surest, utterances=_utterances(parts))


def _utterances(parts: Sequence[UserMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for part in parts for one in part.utterances))


def _obeyed(message: UserMessage) -> list[Act]:
    return [Obeyed(message.utterances)] if message.utterances else []
