import pytest

from voice.listening.mute import GATED_MUTE_S, MUTE_S, Muted, MuteWatch

BLOCK_S = 0.02


def told(*stretches):
    """What is told of stretches of (seconds, silent), and after how many seconds."""
    watch, at, found = MuteWatch(), 0, []
    for seconds, silent in stretches:
        for _ in range(round(seconds / BLOCK_S)):
            at += 1
            if said := watch.push(BLOCK_S, silent=silent):
                found.append((said, round(at * BLOCK_S, 2)))
    return found


SOUND, NOUGHTS = False, True


@pytest.mark.parametrize("before", [[], [(1.0, SOUND)], [(100.0, SOUND)]])
def test_digital_silence_is_told_once_at_the_beginning_and_in_mid_session(before):
    start = sum(seconds for seconds, _ in before)
    assert told(*before, (60.0, NOUGHTS)) == [(Muted.MUTED, start + MUTE_S)]


def test_its_end_is_told_and_when_it_begins_anew():
    assert told((3.0, NOUGHTS), (1.0, SOUND), (3.0, NOUGHTS), (0.1, SOUND)) == [
        (Muted.MUTED, MUTE_S),
        (Muted.BACK, 3.02),
        (Muted.MUTED, 6.0),
        (Muted.BACK, 7.02),
    ]


def test_a_microphone_that_gives_noughts_between_words_is_muted_only_after_long():
    spoken = [(0.5, SOUND), (0.3, NOUGHTS), (0.5, SOUND)]
    assert told(*spoken, (20.0, NOUGHTS), (0.5, SOUND)) == []
    assert told(*spoken, (40.0, NOUGHTS)) == [(Muted.MUTED, 1.3 + GATED_MUTE_S)]


def test_lost_blocks_and_a_hand_do_not_make_a_gate():
    for silent_s in (0.04, 1.8):
        assert told((0.5, SOUND), (silent_s, NOUGHTS), (0.5, SOUND), (5.0, NOUGHTS))[0][0] is Muted.MUTED
    assert told((0.5, NOUGHTS), (0.5, SOUND), (5.0, NOUGHTS)), "nothing was heard before: it had not begun"
