import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questionnaire import columns
from questionnaire.inline import markdown_rows
from voice.events import Status
from voice.screen.entries import Entry, Kind
from voice.screen.rows import above_rows, below_rows, entry_lines, entry_rows, line_rows, meter, status_lines
from voice.screen.state import ScreenState

HOSTILE = "x\x1b]52;c;aGk=\x07\x1b[2J\u202e\nyou     > forged\r\ryou said: yes\x9b31m\u2028agent: y"
BUSY = ScreenState(
    status=Status.NARRATING,
    voice_on=True,
    working=True,
    level_dbfs=-20.0,
    microphone=f"Mic {HOSTILE} 日本語",
    speaker="Built-in Audio Analog Stereo",
    partial=f"so far {HOSTILE} " * 3,
    queued=(HOSTILE, "日本" * 80, "third", "fourth"),
    draft="d",
)
SIZES = [(80, 24), (40, 10), (20, 6), (120, 40), (8, 3), (1, 1)]


def text(row):
    return "".join(part for _, part in row)


def printed(rows):
    return [text(row) for row in rows]


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_nothing_is_wider_than_the_terminal_or_higher_than_there_is_room(width, height):
    above = above_rows(BUSY, f"# Title\n\n{HOSTILE} " * 20, width, height)
    below = below_rows(BUSY, width, height)
    for row in (*above, *below):
        assert columns.row_cells(row) <= width
    if height > 3:
        assert len(above) + len(below) + 1 <= height


@pytest.mark.parametrize("width", [80, 39, 20, 3])
@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("goes_on", [False, True])
def test_whatever_a_terminal_would_obey_is_taken_out(width, kind, goes_on):
    entry = Entry(kind, f"{HOSTILE} {'word ' * 40}", goes_on)
    lines = [
        *printed(entry_rows(entry, width, markdown_rows)),
        *entry_lines(entry),
        *entry_lines(entry, width),
    ]
    for line in lines:
        assert all(unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for char in line)
    for row in entry_rows(entry, width):
        assert columns.row_cells(row) <= width


def test_no_text_can_pass_for_an_entry_of_its_own():
    entry = Entry(Kind.AGENT, HOSTILE)
    for row in printed(entry_rows(entry, 80))[1:]:
        assert row.startswith(" " * 8)
    for width in (None, 80, 20):
        assert all(line.startswith("  ") for line in entry_lines(entry, width)[1:] if line)
        assert all(
            line.startswith("  ") for line in entry_lines(Entry(Kind.AGENT, HOSTILE, True), width) if line
        )


def test_lines_say_who_speaks():
    assert entry_lines(Entry(Kind.SPOKEN, "Yes.")) == ["you said: Yes."]
    assert entry_lines(Entry(Kind.TYPED, "yes\nno")) == ["you typed: yes", "  no"]
    assert entry_lines(Entry(Kind.AGENT, "```\n  x\n```")) == ["agent: ```", "    x", "  ```"]
    assert entry_lines(Entry(Kind.REMARK, "narration stopped")) == ["(narration stopped)"]
    assert entry_lines(Entry(Kind.REFUSED, "user_select: withheld")) == [
        "agent tries user_select, and is told: withheld"
    ]
    assert entry_lines(Entry(Kind.AGENT, "one two three four"), 18) == ["agent: one two", "  three four"]


def test_markdown_is_laid_out():
    rows = entry_rows(Entry(Kind.AGENT, "# Title\n\n**bold** and `code`\n\n- one"), 60, markdown_rows)
    assert "**" not in "".join(printed(rows))
    assert any(style.endswith("strong") and "bold" in part for row in rows for style, part in row)


@pytest.mark.parametrize(
    ("level", "full"), [(None, None), (-90.0, 0), (-60.0, 0), (-36.0, 4), (-12.0, 8), (0.0, 8)]
)
def test_the_meter(level, full):
    bar = meter(level)
    assert bar.count("▮") == (full or 0)
    assert len(bar) == (0 if full is None else 8)


def test_the_state_is_there_in_every_width_and_the_devices_where_there_is_room():
    on = ScreenState(
        Status.LISTENING, voice_on=True, microphone="USB Audio", speaker="Built-in", level_dbfs=-30.0
    )
    for width in (120, 80, 40, 20):
        assert text(below_rows(on, width, 24)[0]).startswith("listening")
    assert "mic USB Audio · speaker Built-in" in text(below_rows(on, 80, 24)[0])
    assert "mic USB Audio · speaker Built-in" in text(below_rows(on, 40, 24)[1])
    assert all(
        word in " ".join(status_lines(on)) for word in ("listening", "USB Audio", "Built-in", "-30 dBFS")
    )


def test_what_waits_is_counted_where_it_cannot_all_be_shown():
    many = ScreenState(queued=tuple(f"message {number}" for number in range(9)))
    shown = printed(above_rows(many, "", 60, 24))
    assert shown[0] == "  waits: message 0"
    assert shown[-1] == "  8 messages wait"


def test_of_what_is_written_and_heard_the_end_is_seen():
    state = ScreenState(partial="one two three four five")
    shown = printed(above_rows(state, "\n".join(f"line {number}" for number in range(50)), 16, 24))
    assert shown[-1].endswith("four five")
    assert "line 49" in shown


@given(st.text(max_size=200), st.integers(1, 100))
def test_any_line_fits(line, width):
    assert all(columns.row_cells(row) <= max(width, 2) for row in line_rows([line], width))
