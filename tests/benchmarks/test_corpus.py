"""A corpus is found through the environment only, and a bad one is refused in a sentence."""

import json
import os
from collections import Counter

import pytest
from corpus import ENVIRONMENT, Clip, CorpusError, corpus_folder, read_corpus, stratified

ENTRY = {"file": "yes.wav", "duration_s": 1.5, "kind": "short_reply", "transcript": "yes"}


@pytest.fixture
def written(tmp_path):
    def write(*entries):
        (tmp_path / "yes.wav").touch()
        lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
        (tmp_path / "manifest.jsonl").write_text("\n".join(lines), "utf-8")
        return tmp_path

    return write


def test_without_the_variable_there_is_no_corpus(monkeypatch):
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    with pytest.raises(CorpusError, match=ENVIRONMENT):
        corpus_folder()


def test_the_variable_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path))
    assert corpus_folder() == tmp_path


def test_a_clip_needs_four_fields(written):
    folder = written(ENTRY)
    (clip,) = read_corpus(folder)
    assert (clip.path, clip.kind, clip.transcript) == (folder / "yes.wav", "short_reply", "yes")
    assert clip.turns == ((0.0, 1.5),)
    assert (clip.language, clip.echo, clip.composed) == ("en", False, False)


def test_bounds_make_a_turn(written):
    (clip,) = read_corpus(written({**ENTRY, "start_s": 0.3, "end_s": 1.2}))
    assert clip.turns == ((0.3, 1.2),)


def test_several_turns(written):
    (clip,) = read_corpus(written({**ENTRY, "turns": [[0.1, 0.4], [0.9, 1.4]]}))
    assert clip.turns == ((0.1, 0.4), (0.9, 1.4))


def test_nobody_speaks_where_the_transcript_is_empty(written):
    (clip,) = read_corpus(written({**ENTRY, "transcript": ""}))
    assert clip.turns == ()


def test_speech_without_words_of_its_own_is_a_turn(written):
    (clip,) = read_corpus(written({**ENTRY, "transcript": None}))
    assert clip.transcript is None
    assert clip.turns == ((0.0, 1.5),)


@pytest.mark.parametrize(
    ("entries", "complaint"),
    [
        ([], "names no recording"),
        (["{"], "line 1"),
        ([ENTRY, '"text"'], "line 2"),
        ([{name: value for name, value in ENTRY.items() if name != "kind"}], "'kind' is missing"),
        ([{**ENTRY, "transcript": 5}], "a transcript is text or null"),
        ([{**ENTRY, "duration_s": "long"}], "line 1"),
        ([{**ENTRY, "turns": [[2.0, 1.0]]}], "ends before it starts"),
        ([{**ENTRY, "file": "no.wav"}], "no.wav"),
    ],
)
def test_a_bad_manifest_is_refused(written, entries, complaint):
    with pytest.raises(CorpusError, match=complaint):
        read_corpus(written(*entries))


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(CorpusError, match=r"manifest\.jsonl"):
        read_corpus(tmp_path)


@pytest.mark.skipif(ENVIRONMENT not in os.environ, reason=f"{ENVIRONMENT} is not set")
def test_the_corpus_at_hand_can_be_read():
    clips = read_corpus(corpus_folder())
    assert any(clip.transcript for clip in clips)


def test_a_sample_has_its_share_of_each_kind():
    def of(kind, count):
        return [
            Clip(f"{kind}{n}", None, kind, 1.0, "x", "en", (), (), None, False, False) for n in range(count)
        ]

    clips = [*of("short", 60), *of("long", 30), *of("rare", 2)]
    sample = stratified(clips, 20)
    counts = Counter(clip.kind for clip in sample)
    assert len(sample) <= 20
    assert counts["rare"] == 1
    assert counts["short"] == pytest.approx(2 * counts["long"], abs=1)
    assert sample == stratified(clips, 20)
    assert [clip.id for clip in sample] == [clip.id for clip in clips if clip in sample]
    assert stratified(clips, 200) == clips
