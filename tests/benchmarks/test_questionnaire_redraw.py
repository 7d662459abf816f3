import asyncio

from questionnaire_redraw import measure


def test_a_measurement_presses_its_keys_to_the_end():
    """Only that it runs: how long a key takes is for the benchmark to say."""
    took_ms = asyncio.run(measure(80, 24, rounds=1))
    assert len(took_ms) > 30
    assert all(took > 0 for took in took_ms)
