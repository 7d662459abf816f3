"""What the soak calls flat, and that it really talks."""

import json

import anyio
import pytest
import soak as soaking
from soak import Reading, Soak, main, soak, verdicts

from voice.settings import Settings


def talked(memory, handles=lambda turn: 20, pid=lambda turn: 7, texts=("Yes.", "Yes."), told=()):
    soaked = Soak(500)
    soaked.readings = [
        Reading(
            turn, turn * 14.4, memory(turn), {"whisper": 200.0}, {"whisper": pid(turn)}, handles(turn), 5, 2
        )
        for turn in range(1, 501)
    ]
    soaked.texts["yes.wav"] = list(texts)
    soaked.told = list(told)
    return soaked


def found(*arguments, **named):
    return {one.what for one in verdicts(talked(*arguments, **named)) if not one.flat}


def test_what_stays_within_a_few_megabytes_is_flat_and_what_grows_is_not():
    assert found(lambda turn: 100 + turn % 7) == set()
    assert found(lambda turn: 100 + 30 * (turn < 40)) == set()  # it warms up
    assert found(lambda turn: 100 + 0.03 * turn) == {"memory"}
    assert found(lambda turn: 100 + 3 * (turn // 60)) == {"memory"}


def test_memory_that_is_held_for_a_while_and_given_back_is_flat():
    assert found(lambda turn: 100 + 9 * (turn // 60 % 2)) == set()
    assert found(lambda turn: 100 + 30 * (200 < turn < 230)) == set()


def test_a_leak_is_found_among_steps_of_its_own_size():
    assert found(lambda turn: 100 + 9 * (turn // 60 % 2) + 0.025 * turn) == {"memory"}


def test_a_child_that_dies_now_and_then_and_takes_its_leak_with_it_is_found():
    assert found(lambda turn: 100, pid=lambda turn: 7 + turn // 100) == {"processes"}


def test_a_handle_more_now_and_then_is_found():
    assert found(lambda turn: 100, handles=lambda turn: 20 + turn // 100) == {"handles"}
    assert found(lambda turn: 100, handles=lambda turn: 20 + turn % 2) == set()


def test_a_text_that_changes_and_a_reply_that_is_lost_are_found():
    assert found(lambda turn: 100, texts=("Yes.", "Yes, yes.")) == {"texts"}
    assert found(lambda turn: 100, told=["Discarded"]) == {"delivered"}


@pytest.mark.parametrize(("pid", "code"), [(lambda turn: 7, 0), (lambda turn: turn, 1)])
def test_it_prints_one_object_and_ends_with_what_was_found(monkeypatch, capsys, pid, code):
    async def canned(settings, turns):
        return talked(lambda turn: 100, pid=pid)

    monkeypatch.setattr(soaking, "soak", canned)
    monkeypatch.setattr("sys.argv", ["soak.py", "--json"])
    monkeypatch.setenv("XDG_STATE_HOME", "as it was")
    assert main() == code
    printed = json.loads(capsys.readouterr().out)
    assert len(printed["readings"]) == 500
    assert printed["texts"] == {"yes.wav": ["Yes.", "Yes."]}
    assert {one["what"]: one["flat"] for one in printed["verdicts"]}["processes"] == (code == 0)


@pytest.mark.slow
def test_the_page_is_written_and_printed(monkeypatch, capsys, tmp_path):
    async def canned(settings, turns):
        return talked(lambda turn: 100)

    monkeypatch.setattr(soaking, "soak", canned)
    monkeypatch.setattr("sys.argv", ["soak.py", "--out", str(tmp_path / "results" / "soak.md")])
    monkeypatch.setenv("XDG_STATE_HOME", "as it was")
    assert main() == 0
    page = (tmp_path / "results" / "soak.md").read_text()
    assert capsys.readouterr().out == page + "\n"
    assert "| memory of whisper | yes | +0.0 to +0.0 MB in 500 turns |\n" in page


@pytest.mark.slow
def test_it_talks_and_is_understood():
    soaked = anyio.run(soak, Settings(), 3)
    assert soaked.texts["yes-please.wav"] == ["Yes, please."]
    assert soaked.texts["second-one.wav"] == ["The second one."]
    assert soaked.told == []
    # Other tests may have children in this process too.
    assert all({"whisper_child", "pyttsx3_worker"} <= set(one.children_mb) for one in soaked.readings)
    assert len({one.children for one in soaked.readings}) == 1
    assert "processes" not in {one.what for one in verdicts(soaked) if not one.flat}


@pytest.mark.slow
def test_a_reply_that_is_lost_is_told_and_the_next_one_is_said(monkeypatch):
    monkeypatch.setattr(soaking, "REPLIES", ("silence-digital.wav", "yes-please.wav"))
    monkeypatch.setattr(soaking, "GIVEN_UP_S", 20.0)
    soaked = anyio.run(soak, Settings(), 2)
    assert soaked.told == ["Turn 1, silence-digital.wav, was not answered."]
    assert soaked.texts == {"yes-please.wav": ["Yes, please."]}
    assert len(soaked.readings) == 2
    assert "delivered" in {one.what for one in verdicts(soaked) if not one.flat}
