"""The rows to draw or print: entries for the scrollback, and what stands around the input line. Pure.

A row is fragments of a style (a name of `LOOKS`) and printable text, as `questionnaire.columns` has them;
whatever a terminal would obey is taken out of every text here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from questionnaire import columns
from voice.audio import FRAME_S
from voice.screen.entries import Entry, Kind
from voice.screen.keys import hints
from voice.screen.state import ScreenState

Row = columns.Row

LOOKS: Mapping[str, str] = {
    "name": "dim",
    "mark": "bold",
    "mine": "bold green",
    "state": "cyan",
    "tools": "magenta",
    "dim": "dim",
    "notice": "yellow",
    "strong": "bold",
    "emphasis": "italic",
    "struck": "strike",
    "status": "bold",
    "loud": "green",
    "partial": "italic",
    "prompt": "bold",
}
"""How fragments look, in as few colours as can be; what matters is said in words and signs as well."""

NAME_CELLS = 7
"""Room for the name of who speaks."""

_LINE_BEGINS = {
    Kind.AGENT: "agent: ",
    Kind.NARRATED: "agent: ",
    Kind.SPOKEN: "you said: ",
    Kind.TYPED: "you typed: ",
    Kind.STATE: "voice: ",
    Kind.TOOLS: "tools: ",
    Kind.REFUSED: "agent tries ",
}

_BESIDE_FROM = 40
"""From so many columns on the names have a column of their own."""

_DEVICES_FROM = 8
"""From so many rows on the devices have a row of their own where one does not hold all."""

_METER_CELLS = 8
_QUIETEST_DBFS, _LOUDEST_DBFS = -60.0, -12.0
"""The ends of the meter: a quiet room, and speech close to the microphone."""

Markdown = Callable[[str, int], Sequence[Row]]
"""Lays a text out as rows of at most so many cells."""


@dataclass(frozen=True)
class _Voice:
    """How the entries of a kind begin."""

    name: str
    mark: tuple[str, str] = ("", "")
    style: str = ""


_VOICES = {
    Kind.AGENT: _Voice("agent"),
    Kind.NARRATED: _Voice("agent", ("mark", "♪ ")),
    Kind.SPOKEN: _Voice("you", ("mine", "● ")),
    Kind.TYPED: _Voice("you", ("mine", "> ")),
    Kind.STATE: _Voice("voice", style="state"),
    Kind.TOOLS: _Voice("tools", style="tools"),
    Kind.REFUSED: _Voice("agent"),
    Kind.REMARK: _Voice("", ("", "  "), style="dim"),
    Kind.NOTICE: _Voice("", ("notice", "! "), style="notice"),
}


def plain_text(text: str, width: int) -> tuple[Row, ...]:
    """A text as it is, its lines wrapped."""
    return tuple(
        (("", line),) for written in columns.clean_lines(text) for line in columns.wrapped(written, width)
    )


def entry_rows(entry: Entry, width: int, markdown: Markdown = plain_text) -> list[Row]:
    """An entry for the scrollback of a terminal of this width."""
    voice, beside = _VOICES[entry.kind], width >= _BESIDE_FROM
    mark_style, mark = voice.mark
    room = width - columns.cells(mark) - (NAME_CELLS + 1 if beside else 0)
    text, lay_out = entry.text, markdown if entry.kind is Kind.AGENT else plain_text
    if entry.kind is Kind.REFUSED:
        text = "tries {}, and is told: {}".format(*text.partition(": ")[::2])
    # In few columns the mark says who speaks, where there is one.
    name = "" if entry.goes_on or (mark.strip() and not beside) else voice.name
    rows: list[Row] = [columns.fitted((("name", f"{name}:"),), width)] if name and not beside else []
    rows += [()] if entry.goes_on else []
    for row in lay_out(text, max(1, room)):
        column = [("name", f"{name:<{NAME_CELLS}} ")] if beside else []
        rows.append(columns.fitted((*column, (mark_style, mark), *_styled(row, voice.style)), width))
        name, mark = "", " " * columns.cells(mark)
    return rows


def line_rows(lines: Sequence[str], width: int) -> list[Row]:
    """Lines about the program itself; one that fits keeps its spaces."""
    cleaned = [f"  {columns.clean(line)}" for line in lines]
    return [
        (("dim", part),)
        for line in cleaned
        for part in ([line] if columns.cells(line) <= width else columns.wrapped(line, width))
    ]


def _styled(row: Row, style: str) -> Row:
    return tuple((f"{style} {own}".strip(), text) for own, text in row)


def entry_lines(entry: Entry, width: int | None = None) -> list[str]:
    """An entry as printable lines, for a log or a screen reader: nothing is said by looks.

    Only the first one begins at the edge, so that no text can look like an entry of its own. Without a width
    they are as long as they were written.
    """
    begin = "" if entry.goes_on else _LINE_BEGINS.get(entry.kind, "")
    end = ""
    text = entry.text
    if entry.kind is Kind.REMARK:
        begin, end = "(", ")"
    if entry.kind is Kind.REFUSED:
        text = "{}, and is told: {}".format(*text.partition(": ")[::2])
    first, *others = columns.clean_lines(text.strip("\n")) or [""]
    lines = [f"  {first}" if entry.goes_on else begin + first, *(f"  {line}" for line in others)]
    lines[-1] += end
    if width is None:
        return [line.rstrip() for line in lines]
    return [
        part if number == 0 else f"  {part}"
        for line in lines
        for number, part in enumerate(_broken(line.rstrip(), max(8, width - 3)))
    ]


def _broken(line: str, width: int) -> list[str]:
    """A line in parts that fit, its spaces kept where it begins."""
    if columns.cells(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip())
    return [" " * indent + part for part in columns.wrapped(line, max(4, width - indent))]


def meter(level_dbfs: float | None) -> str:
    """A level as a bar."""
    if level_dbfs is None:
        return ""
    share = (level_dbfs - _QUIETEST_DBFS) / (_LOUDEST_DBFS - _QUIETEST_DBFS)
    full = round(max(0.0, min(1.0, share)) * _METER_CELLS)
    return "▮" * full + "▯" * (_METER_CELLS - full)


def above_rows(state: ScreenState, unfinished: str, width: int, height: int) -> tuple[Row, ...]:
    """What stands above the input line: the end of what the agent is writing, what is heard, what waits."""
    room = max(0, min(8, height - 4))
    waiting = [
        (("dim", columns.shortened(f"  waits: {_line(text)}", width)),)
        for text in state.queued[: max(1, room // 3)]
    ]
    if more := len(state.queued) - len(waiting):
        waiting[-1:] = [(("dim", columns.shortened(f"  {more + 1} messages wait", width)),)]
    partial = [_ending("  … ", state.partial, "partial", width)] if state.partial else []
    rows = [*partial, *waiting][:room]
    end = unfinished[-2 * room * width - 1 :]  # a key draws this anew, however long the whole is
    written = [row for row in plain_text(end, width) if unfinished.strip()]
    return (*written[max(0, len(written) - (room - len(rows))) :], *rows) if room > len(rows) else tuple(rows)


def below_rows(state: ScreenState, width: int, height: int) -> tuple[Row, ...]:
    """What stands below it: the state, the level, the devices, and what the keys do."""
    rows = [*_status(state, width, height)]
    if height >= len(rows) + 3:
        can = hints(
            voice_on=state.voice_on,
            typing=bool(state.draft),
            narrating=state.words.startswith("narrating"),
            working=state.working,
            armed=state.armed,
        )
        rows.append((("notice" if state.armed else "dim", _joined(can, width)),))
    return tuple(rows)


def status_lines(state: ScreenState) -> list[str]:
    """The same in lines."""
    lines = [state.words]
    if state.microphone:
        lines.append(f"microphone: {_line(state.microphone)}")
        lines.append(f"speaker: {_line(state.speaker)}")
    if state.level_dbfs is not None:
        lines.append(f"level: {state.level_dbfs:.0f} dBFS")
    if state.lost_frames:
        lines.append(f"lost: {state.lost_frames * FRAME_S:.1f} s of sound that was not taken in time")
    if state.partial:
        lines.append(f"heard so far: {_line(state.partial)}")
    return [*lines, *(f"waiting to be sent: {_line(text)}" for text in state.queued)]


def _status(state: ScreenState, width: int, height: int) -> list[Row]:
    words = state.words if columns.cells(state.words) <= width else state.words.partition(",")[0]
    row: list[columns.Fragment] = [("status", words)]
    bar = [("", " "), ("loud", meter(state.level_dbfs))] if state.level_dbfs is not None else []
    queued = [("", f" · {len(state.queued)} waiting")] if state.queued else []
    for part in (bar, queued):
        if columns.row_cells((*row, *part)) <= width:
            row += part
    rows = [columns.fitted(tuple(row), width)]
    if not state.microphone:
        return rows
    used = columns.row_cells(tuple(row)) + 3
    devices = f"mic {_line(state.microphone)} · speaker {_line(state.speaker)}"
    if used + columns.cells(devices) > width and height >= _DEVICES_FROM:
        return [*rows, (("dim", _two_names(state, width)),)]
    if width - used >= 8:
        return [(*row, ("", " · "), ("dim", _two_names(state, width - used)))]
    return rows


def _two_names(state: ScreenState, width: int) -> str:
    """Both devices, each with the room that the other leaves."""
    mic, speaker = _line(state.microphone), _line(state.speaker)
    room = width - columns.cells("mic  · speaker ")
    if room < 8:
        return columns.shortened(f"mic {mic}", width)
    most = max(room // 2, room - columns.cells(speaker))
    mic = columns.shortened(mic, most)
    return f"mic {mic} · speaker {columns.shortened(speaker, room - columns.cells(mic))}"


def _ending(mark: str, text: str, style: str, width: int) -> Row:
    """The end of a text, as much as one row holds."""
    room = max(0, width - columns.cells(mark))
    line = _line(text[-8 * room - 1 :])
    while columns.cells(line) > room:
        line = line[1:]
    return columns.fitted((("dim", mark), (style, line)), width)


def _joined(parts: Sequence[str], width: int) -> str:
    kept = ""
    for part in parts:
        longer = f"{kept} · {part}" if kept else part
        if columns.cells(longer) > width:
            break
        kept = longer
    return kept or columns.shortened(parts[0], width)


def _line(text: str) -> str:
    return columns.clean(" ".join(text.split()))
