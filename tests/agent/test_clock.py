"""The agent's clock: the portal's, as far as its messages tell it."""

from gateway.clock import Clock


def clock() -> Clock:
    return Clock(wall=lambda: 1000.0, steady=lambda: 50.0)


def test_it_is_as_late_as_the_portal_says() -> None:
    for said in (900, 1100):
        running = clock()
        running.follow(said)
        assert running() == said


def test_nobody_minds_a_few_seconds_of_reading_and_writing() -> None:
    running = clock()
    running.follow(996)
    running.follow(1001)
    assert running() == 1000


def test_what_was_long_on_its_way_does_not_set_it_back_but_forth() -> None:
    running = clock()
    running.follow(991, prompt=False)
    assert running() == 1000
    running.follow(1009, prompt=False)
    assert running() == 1009


def test_whoever_says_no_time_changes_none() -> None:
    running = clock()
    running.follow(0)
    assert running() == 1000
