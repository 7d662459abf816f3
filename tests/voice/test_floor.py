from voice.floor import Floor


def test_nothing_is_heard_while_we_narrate_nor_what_waited_in_the_buffers():
    floor = Floor()
    assert floor.hears_next_frame()
    with floor.narration():
        assert not floor.hears_next_frame()
    assert [floor.hears_next_frame() for _ in range(5)] == [False, False, False, True, True]


def test_of_two_narrations_the_last_one_gives_the_floor_back():
    floor = Floor()
    with floor.narration():
        with floor.narration():
            pass
        assert not any(floor.hears_next_frame() for _ in range(10))
    assert [floor.hears_next_frame() for _ in range(4)] == [False, False, False, True]
