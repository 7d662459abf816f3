"""The page of the vocabulary benchmark, from scores that are made up."""

from vocabulary import OPTIONS, PROJECT, WAYS, page
from words import Score

from voice.listening.vocabulary import capped
from voice.settings import Settings


def test_more_wrong_words_are_more_points():
    scores = {
        WAYS[0]: [Score(10, 1), Score(10, 1)],
        WAYS[1]: [Score(10, 0), Score(10, 1)],
        WAYS[2]: [Score(10, 2), Score(10, 2)],
    }
    rows = [line for line in page(scores, Settings()) if line.startswith(("| no ", "| four", "| thirty"))]
    without, options, project = ([cell.strip() for cell in row.split("|")[1:-1]] for row in rows)
    assert without[1:3] == ["2", "10.0"]
    assert options[2] == "5.0"
    assert options[3].startswith("-5.0")
    assert project[3].startswith("+10.0")


def test_no_name_is_left_out_of_the_list():
    assert len(capped(PROJECT)) == len(PROJECT) == 30
    assert not set(OPTIONS) - set(PROJECT)
