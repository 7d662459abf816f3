"""The picture is well-formed, and places more to the right and less further down."""

from xml.etree import ElementTree as ET

from picture import Point, scatter, ticks

NAMES = "{http://www.w3.org/2000/svg}"


def test_points_stand_where_they_belong():
    points = [
        Point("ours & fast", 1.0, 0.5, (0.5, 2.0), (0.4, 0.6), marked=True),
        Point("slow <b>", 4.0, 1.5, (3.0, 5.0), (1.4, 1.6)),
    ]
    drawn = ET.fromstring(scatter("Title", "cut", "seconds", points))
    ours, slow = drawn.findall(f"{NAMES}circle")
    assert float(ours.get("cx")) < float(slow.get("cx"))
    assert float(ours.get("cy")) > float(slow.get("cy"))  # down is less
    assert ours.get("fill") != slow.get("fill")
    texts = [element.text for element in drawn.findall(f"{NAMES}text")]
    assert {"ours & fast", "slow <b>", "cut", "seconds"} <= {*texts}


def test_points_at_nothing_are_drawn():
    assert "circle" in scatter("T", "x", "y", [Point("p", 0.0, 0.0, (0.0, 0.0), (0.0, 0.0))])


def test_ticks_are_round():
    assert ticks(10.3) == [0, 2, 4, 6, 8, 10]
    assert ticks(3.57) == [0, 1, 2, 3]
    assert ticks(0.6) == [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
