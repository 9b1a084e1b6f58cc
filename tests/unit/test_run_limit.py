"""Runs of one task at the same time in one process."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event

import pytest

from workers.run_limit import RunLimit


class Work:
    """Work that lasts until it is told to end."""

    def __init__(self, more: bool = False) -> None:
        self.begun, self.may_end, self._more = Event(), Event(), more

    def __call__(self) -> bool:
        self.begun.set()
        assert self.may_end.wait(60)
        return self._more


def fail() -> bool:
    raise ZeroDivisionError


def start(pool: ThreadPoolExecutor, limit: RunLimit, work: Work) -> Future[bool]:
    started = pool.submit(limit.run, work)
    assert work.begun.wait(60)
    return started


def never() -> bool:
    raise AssertionError("a run too many")


@pytest.mark.parametrize("more", [True, False])
def test_a_run_alone_says_whether_there_is_more(more: bool) -> None:
    assert RunLimit().run(lambda: more) is more


@pytest.mark.parametrize("most", [1, 2])
def test_a_run_too_many_does_nothing_and_one_of_the_others_asks_for_another(most: int) -> None:
    limit, works = RunLimit(most), [Work() for _ in range(most)]
    with ThreadPoolExecutor(most) as pool:
        runs = [start(pool, limit, work) for work in works]
        assert limit.run(never) is False
        for work in works:
            work.may_end.set()
        assert any(run.result(60) for run in runs)
    assert limit.run(lambda: False) is False


@pytest.mark.parametrize("work", [fail, lambda: False])
def test_a_run_that_has_ended_or_failed_gives_its_place_back(work: Callable[[], bool]) -> None:
    limit = RunLimit()
    for _time in range(3):
        try:
            limit.run(work)
        except ZeroDivisionError:
            continue
    assert limit.run(lambda: True) is True
