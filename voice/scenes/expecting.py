"""Whether what happened is what a scene expects. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from voice.events import Event, as_json
from voice.scenes.script import Between, Dropped, EventPattern, Expected, Tools
from voice.wording import find, words

CLOCK = "clock_s"
"""The field that says when something happened, in seconds since the scene began."""


@dataclass(frozen=True)
class Happened:
    """An event, and when it came, in seconds since the scene began."""

    clock_s: float
    event: Event

    @property
    def fields(self) -> dict[str, Any]:
        """It as a JSON object: that of the event, with the time before all other fields."""
        return {CLOCK: round(self.clock_s, 3), **as_json(self.event)}


@dataclass(frozen=True)
class Verdict:
    """What became of one expectation."""

    expected: str
    failure: str = ""
    """What is not so; empty where it was met."""

    @property
    def met(self) -> bool:
        """Whether it is as expected."""
        return not self.failure


@dataclass(frozen=True)
class Ending:
    """How things stood at the end."""

    waiting: tuple[str, ...] = ()
    """The messages that the agent had not accepted."""
    kept: tuple[str, ...] = ()
    """What the journal still had."""
    events: int | None = None
    """How many events were before the session was ended; None: all."""


def judged(expected: Expected, happened: Sequence[Happened], ending: Ending) -> tuple[Verdict, ...]:
    """A verdict on each expectation, in the order of the fields."""
    return tuple(_Judge(expected, [one.fields for one in happened], ending).verdicts())


def messages_in(happened: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the agent accepted, in order."""
    return [one["text"] for one in happened if one["event"] == "message_sent"]


class _Judge:
    def __init__(self, expected: Expected, happened: Sequence[dict[str, Any]], ending: Ending) -> None:
        self._expected = expected
        self._happened = happened
        self._ending = ending
        self._end = len(happened) if ending.events is None else ending.events

    def verdicts(self) -> Iterator[Verdict]:
        expected, ending = self._expected, self._ending
        if expected.messages is not None:
            yield _same("messages", expected.messages, messages_in(self._happened))
        if expected.waiting is not None:
            yield _same("waiting", expected.waiting, ending.waiting)
        if expected.discarded is not None:
            yield self._discarded(expected.discarded)
        if expected.kept is not None:
            yield _same("kept", expected.kept, ending.kept)
        for tools in expected.tools:
            yield self._tools(tools)
        if expected.said is not None:
            yield self._said(expected.said)
        for text in expected.never_said:
            yield self._never_said(text)
        for text in expected.notices:
            yield self._notice(text)
        if expected.events:
            yield self._in_order(expected.events)
        for pattern in expected.never:
            yield self._never(pattern)
        for status in expected.no_messages_while:
            yield self._no_messages_while(status)
        for name, bound in expected.latency.items():
            yield self._latency(name, bound)
        for between in expected.between:
            yield self._between(between)
        if expected.status is not None:
            yield self._status(expected.status)

    def _of(self, *kinds: str) -> list[dict[str, Any]]:
        return [one for one in self._happened if one["event"] in kinds]

    def _discarded(self, wanted: tuple[Dropped, ...]) -> Verdict:
        found = [(one["reason"], one["text"]) for one in self._of("discarded")]
        fits = len(found) == len(wanted) and all(
            one.reason == reason and (one.text is None or words(one.text) == words(text))
            for one, (reason, text) in zip(wanted, found, strict=False)
        )
        told = [f"{one.reason}" if one.text is None else f"{one.reason} {one.text!r}" for one in wanted]
        there = ", ".join(f"{reason} {text!r}" for reason, text in found) or "nothing"
        return Verdict(f"discarded: {_listed(told)}", "" if fits else f"discarded was {there}")

    def _tools(self, wanted: Tools) -> Verdict:
        when = "at the end"
        upto = self._end
        if wanted.after is not None:
            when, at = f"after {wanted.after}", self._first(wanted.after)
            if at is None:
                return Verdict(f"tools {when}", f"{wanted.after} never came")
            # What belongs to the event happens at the same moment.
            upto = self._end_of_moment(self._happened[at][CLOCK])
        elif wanted.at is not None:
            when = f"at {wanted.at:g} s"
            upto = self._end_of_moment(wanted.at)
        changes = [one for one in self._happened[:upto] if one["event"] == "tools_changed"]
        found = tuple(changes[-1]["names"]) if changes else ()
        same = set(found) == set(wanted.are)
        expectation = f"tools {when}: {_listed(wanted.are)}"
        return Verdict(expectation, "" if same else f"they were {_listed(found)}")

    def _end_of_moment(self, clock_s: float) -> int:
        later = (at for at, one in enumerate(self._happened) if one[CLOCK] > clock_s + 0.0005)
        return next(later, len(self._happened))

    def _said(self, wanted: tuple[str, ...]) -> Verdict:
        heard = [one["text"] for one in self._of("sentence_heard") if one["whole"]]
        spoken = words(" ".join(heard))
        at = 0
        for text in wanted:
            found = find(words(text), spoken, at)
            if found < 0:
                there = " ".join(heard) or "nothing"
                after = " after what comes before it" if at else ""
                return Verdict(f"said: {_listed(wanted)}", f"{text!r} was not said{after}; it was: {there}")
            at = found + len(words(text))
        return Verdict(f"said: {_listed(wanted)}")

    def _never_said(self, text: str) -> Verdict:
        said = next(
            (one for one in self._of("sentence_begun") if find(words(text), words(one["text"])) >= 0),
            None,
        )
        failure = "" if said is None else f"at {said[CLOCK]:g} s it was said: {said['text']}"
        return Verdict(f"never said: {text!r}", failure)

    def _notice(self, text: str) -> Verdict:
        notices = [one["sentence"] for one in self._of("notice")]
        there = any(text.casefold() in sentence.casefold() for sentence in notices)
        failure = "" if there else f"the notices were: {_listed(notices)}"
        return Verdict(f"a notice with {text!r}", failure)

    def _in_order(self, patterns: tuple[EventPattern, ...]) -> Verdict:
        expectation = f"events: {', '.join(map(str, patterns))}"
        at = 0
        for pattern in patterns:
            found = self._first(pattern, at)
            if found is None:
                return Verdict(expectation, f"{pattern} did not come{' after those before it' if at else ''}")
            at = found + 1
        return Verdict(expectation)

    def _never(self, pattern: EventPattern) -> Verdict:
        found = self._first(pattern)
        failure = "" if found is None else f"it came at {self._happened[found][CLOCK]:g} s"
        return Verdict(f"never: {pattern}", failure)

    def _no_messages_while(self, status: str) -> Verdict:
        present = ""
        for one in self._happened:
            if one["event"] == "status_changed":
                present = one["status"]
            elif one["event"] == "user_message" and present == status:
                return Verdict(f"no messages while {status}", f"at {one[CLOCK]:g} s came {one['text']!r}")
        return Verdict(f"no messages while {status}")

    def _latency(self, name: str, bound: Any) -> Verdict:
        expectation = f"{name} {bound}"
        if name == "deliver_s":
            found = [one[name] for one in self._of("message_delivered")]
        else:
            found = [one["latency"][name] for one in self._of("user_message") if one["latency"] is not None]
        if not found:
            return Verdict(expectation, "no spoken message came")
        beyond = [f"{seconds:g} s" for seconds in found if not bound.holds(seconds)]
        return Verdict(expectation, f"it was {', '.join(beyond)}" if beyond else "")

    def _between(self, wanted: Between) -> Verdict:
        expectation = f"{wanted.start} to {wanted.end}: {wanted.seconds} s"
        first = self._first(wanted.start)
        if first is None:
            return Verdict(expectation, f"{wanted.start} never came")
        last = self._first(wanted.end, first + 1)
        if last is None:
            return Verdict(expectation, f"{wanted.end} did not come after {wanted.start}")
        took_s = self._happened[last][CLOCK] - self._happened[first][CLOCK]
        return Verdict(expectation, "" if wanted.seconds.holds(took_s) else f"it was {took_s:.3f} s")

    def _status(self, wanted: str) -> Verdict:
        until = self._happened[: self._end]
        found = [one["status"] for one in until if one["event"] == "status_changed"]
        last = found[-1] if found else "voice_off"
        return Verdict(f"status at the end: {wanted}", "" if last == wanted else f"it was {last}")

    def _first(self, pattern: EventPattern, since: int = 0) -> int | None:
        matching = (at for at in range(since, len(self._happened)) if pattern.fits(self._happened[at]))
        return next(matching, None)


def _same(what: str, wanted: Sequence[str], found: Sequence[str]) -> Verdict:
    same = [words(text) or text for text in wanted] == [words(text) or text for text in found]
    return Verdict(f"{what}: {_listed(wanted)}", "" if same else f"{what} were {_listed(found)}")


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(map(repr, texts)) if texts else "none"
