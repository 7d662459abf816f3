from voice.floor import REMEMBERED_S, Floor, Said


def test_nothing_is_heard_while_we_narrate_nor_what_waited_in_the_buffers():
    floor = Floor()
    assert floor.hears_next_frame()
    with floor.narration():
        assert floor.narrating
        assert not floor.hears_next_frame()
    assert [floor.hears_next_frame() for _ in range(5)] == [False, False, False, True, True]
    assert not floor.narrating


def test_of_two_narrations_the_last_one_gives_the_floor_back():
    floor = Floor()
    with floor.narration():
        with floor.narration():
            pass
        assert not any(floor.hears_next_frame() for _ in range(10))
    assert [floor.hears_next_frame() for _ in range(4)] == [False, False, False, True]


def test_what_was_said_is_remembered_with_its_time():
    floor = Floor()
    pass_frames(floor, 50)
    with floor.narration():
        floor.says("One.")
        pass_frames(floor, 50)
        floor.says("Two.")
        pass_frames(floor, 25)
        assert floor.said == (Said("One.", 1.0, 2.0), Said("Two.", 2.0, None))
    assert floor.said == (Said("One.", 1.0, 2.0), Said("Two.", 2.0, 2.5))


def test_what_is_being_said_is_told_with_what_was_said_just_before():
    floor = Floor()
    assert not floor.spoken_since(0.0)
    floor.says("One.")
    pass_frames(floor, 50)
    floor.says("Two.")
    pass_frames(floor, 100)
    assert floor.spoken_since(1.5) == "Two."
    assert floor.spoken_since(0.5) == "One. Two."
    floor.says(None)
    assert not floor.spoken_since(3.5)


def test_of_a_sentence_that_was_broken_off_only_what_was_heard_is_remembered():
    floor = Floor()
    floor.cut_short("Nothing.")
    assert not floor.said
    floor.says("One two three.")
    pass_frames(floor, 50)
    floor.says(None)
    floor.cut_short("One two")
    assert floor.said == (Said("One two", 0.0, 1.0),)


def test_what_was_said_long_ago_is_forgotten():
    floor = Floor()
    floor.says("One.")
    pass_frames(floor, 5)
    floor.says(None)
    pass_frames(floor, round(REMEMBERED_S * 50) - 5)
    assert floor.said
    pass_frames(floor, 10)
    assert not floor.said


def pass_frames(floor, count):
    for _ in range(count):
        floor.hears_next_frame()
