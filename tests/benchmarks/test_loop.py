"""The page of results says what was measured; what measures still fits the loop."""

import json
import wave

import anyio
import pytest
from corpus import Clip, read_corpus
from loop import Measured, details, limited, measure, report
from measuring import Outcome, Piece
from turn_counts import Ended

from voice.events import Discarded, DiscardReason
from voice.ports import Transcript
from voice.settings import Settings


def clip(name="one", *, kind="short_reply", transcript="yes please", turns=((0.5, 1.5),), echo=False):
    return Clip(name, None, kind, 2.0, transcript, "en", turns, (), "a", False, echo)


def outcome(*texts, heard=None, ends=(), discarded=()):
    pieces = [Piece(2.0, Transcript(text, compute_s=0.1)) for text in texts]
    spans = [(0.5, 1.5)] * len(texts) if heard is None else heard
    return Outcome(list(texts), spans, list(ends), list(discarded), pieces, 0.2)


def page(*measured):
    return report(measured, Settings())


def row(text, kind):
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(f"| {kind} |")]


def test_words_and_turns_by_kind():
    text = page(
        Measured(clip(), outcome("Yes, please."), outcome("Yes, peas.")),
        Measured(
            clip("two"), outcome("Yes.", "Please.", heard=[(0.5, 0.8), (1.2, 1.5)]), outcome("Yes please")
        ),
        Measured(clip("three", kind="sentence"), outcome(), outcome("yes please")),
    )
    words, turns = row(text, "short_reply")
    assert words[:4] == ["short_reply", "2", "4", "0.0"]
    assert words[5] == "25.0"
    assert turns == ["short_reply", "2", "1", "0", "0", "0", "0"]
    assert row(text, "sentence")[1] == ["sentence", "1", "0", "0", "1", "0", "0"]
    assert row(text, r"**all**")[0][1:3] == ["3", "6"]
    assert "* short_reply, two: “Yes.” / “Please.”" in text
    assert "* sentence, three: nothing" in text
    assert "Fewer errors in the loop: 1 clips; as many: 1; more: 1." in text


def test_speech_without_a_transcript_counts_for_turns_only():
    text = page(
        Measured(clip(), outcome("Yes please"), outcome("Yes please")),
        Measured(clip("slots", kind="order", transcript=None), outcome("One coffee"), outcome("One")),
    )
    assert row(text, "order") == [["order", "1", "0", "0", "0", "0", "0"]]


def test_echoes_are_in_no_other_figure():
    echo = Measured(clip("echo", kind="echo", echo=True), outcome("Is it? Yes please"), outcome("Is it?"))
    text = page(Measured(clip(), outcome("Yes please"), outcome("Yes please")), echo)
    assert row(text, "short_reply")[0][1:4] == ["1", "2", "0.0"]
    assert text.index("own voice") < text.index("| echo |")


def test_what_was_made_of_silence_is_listed():
    dropped = Discarded(DiscardReason.PHANTOM, "Thank you.", 3.0)
    silent = clip("hiss", kind="noise", transcript="", turns=())
    text = page(
        Measured(silent, outcome("Hmm.", ends=[Ended(1.0, 2.6)]), outcome("you")),
        Measured(silent, outcome(ends=[Ended(1.0, 2.6)], discarded=[dropped]), outcome("you")),
        Measured(silent, outcome(), outcome()),
    )
    assert row(text, "noise") == [["noise", "3", "2", "1", "2"]]
    assert "* noise, hiss: “Hmm.”" in text
    assert "nothing (discarded phantom: “Thank you.”)" in text


def test_details_are_json():
    line = json.loads(details(Measured(clip(), outcome("Yes"), outcome("Yes please"))))
    assert line["errors_loop_whole"] == [1, 0]
    assert line["loop"]["texts"] == ["Yes"]


def test_a_limit_is_for_each_kind():
    clips = [clip(f"{kind}{n}", kind=kind) for n in range(3) for kind in ("a", "b")]
    assert [one.id for one in limited(clips, 2)] == ["a0", "b0", "a1", "b1"]
    assert limited(clips, None) == clips


@pytest.mark.slow
def test_the_loop_at_work(tmp_path, fixtures_folder):
    with wave.open(str(tmp_path / "silence.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(64_000))
    entries = [
        {"file": str(fixtures_folder / "yes.wav"), "duration_s": 2, "kind": "reply", "transcript": "yes"},
        {"file": "silence.wav", "duration_s": 2, "kind": "silence", "transcript": ""},
    ]
    (tmp_path / "manifest.jsonl").write_text("\n".join(map(json.dumps, entries)), "utf-8")
    reply, silence = anyio.run(measure, read_corpus(tmp_path), Settings())
    assert reply.scores[0].errors == reply.scores[1].errors == 0
    assert reply.loop.whisper_s > 0
    assert silence.loop.texts == []
