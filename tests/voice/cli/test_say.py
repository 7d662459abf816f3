"""``voice say``: which voices there are."""

import pytest


@pytest.mark.parametrize("language", ["de", "zh", "no", "en-GB"])
def test_the_voices_of_a_language_are_listed(voice, language):
    done = voice("say", "--list-voices", "--language", language)
    assert done.returncode == 0
    assert done.stdout
    for line in done.stdout.splitlines():
        id_, name, _tags = line.split("  ")
        assert id_
        assert name


def test_each_voice_that_is_listed_can_be_named(voice, tmp_path):
    lines = voice("say", "--list-voices").stdout.splitlines()
    assert len(lines) > 50
    id_ = next(line.split("  ")[0] for line in lines if "English (Scotland)" in line)
    done = voice("say", "Aye", "--voice", id_, "--out", tmp_path / "aye.wav")
    assert done.returncode == 0
    assert done.stderr == ""


def test_a_language_without_a_voice_is_told(voice):
    done = voice("say", "--list-voices", "--language", "tlh")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "There is no voice for the language tlh" in done.stderr


def test_without_a_text_it_says_so(voice):
    done = voice("say")
    assert done.returncode == 2
    assert "TEXT" in done.stderr
