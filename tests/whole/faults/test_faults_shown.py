"""Faults that are really caused, and a test that knows only what people see: a page, a mailbox, a webhook.

Each fault is one line of the dashboard (or as many as its table says), in the right words, with nothing false beside it, within 30 s of
the portal's clock, which is the schedule of its periodic work. Mail and webhook tell it after the 15 s that an alarm has to last. When
it is mended, the page says within 30 s that all is well, and mail and webhook say that it is over.
"""

import re
from collections.abc import Callable, Collection
from contextlib import ExitStack
from datetime import timedelta

import pytest

from apps.alarms.lifecycle import OVER_AFTER, REPORT_AFTER
from tests.whole.faults.injected_fault import ImpossibleFault, InjectedFault, ToldBy, Traffic, pass_nothing
from tests.whole.faults.portal_clock import STEP, PortalClock
from tests.whole.faults.scene import FaultScene
from tests.whole.faults.table import FAULTS, IMPOSSIBLE
from tests.whole.faults.witnesses import DashboardPage, Witnesses

pytestmark = [pytest.mark.kernel, pytest.mark.long, pytest.mark.xdist_group("whole")]

IN_TIME = 30  # seconds within which what is observed all the time is shown
BEGAN, OVER = "Alarm: ", "Over: "


def step_until(
    clock: PortalClock, witnesses: Witnesses, done: Callable[[DashboardPage], bool], within: int, traffic: Traffic = pass_nothing
) -> tuple[int, DashboardPage]:
    """Step until the page is so. Return after how many seconds of the portal's clock, and the page; fail with its words if it is not in
    time.
    """
    waited = max(within - IN_TIME, 0)
    if waited:
        clock.wait(timedelta(seconds=waited))
    for seconds in range(waited + STEP, within + 1, STEP):
        clock.step(traffic)
        page = witnesses.read_dashboard()
        if done(page):
            return seconds, page
    raise AssertionError(f"after {within} s the page says: {page.title}: {[str(need) for need in page.needs]}\n{page.words}")


def is_told(witnesses: Witnesses, beginning: str, headlines: Collection[str], *, mail: bool, webhook: bool) -> bool:
    """True if these headlines, and no others, were told in these ways."""
    expected = {hide_times(each) for each in headlines}
    letters, deliveries = hide_times(witnesses.read_mails(beginning)), {hide_times(each) for each in witnesses.read_deliveries(beginning)}
    mailed = all(each in letters for each in expected) if mail else letters == ""
    return mailed and deliveries == (expected if webhook else set())


def quote_sentences(fault: InjectedFault, page: DashboardPage) -> list[str]:
    """Return what the page says of the fault, to the end of the last sentence that is expected."""
    found = [re.search(rf"(?:{words})(?:(?<=[.?])|[^.?]*[.?]?)", str(need)) for words in fault.says for need in page.needs]
    return [each[0] for each in found if each]


def hide_times(words: str) -> str:
    """Return the words in one line without times of day, which move with the portal's clock."""
    return re.sub(r"\b\d\d:\d\d\b", "…", " ".join(words.split()))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: each.name)
def test_a_fault_is_shown_and_told_in_words_and_so_is_its_end(
    scene: FaultScene, clock: PortalClock, witnesses: Witnesses, fault: InjectedFault, record_property: Callable[[str, object], None]
) -> None:
    step_until(clock, witnesses, lambda page: page.is_well, IN_TIME)
    with ExitStack() as broken:
        broken.enter_context(fault.cause(scene))
        seconds, page = step_until(clock, witnesses, lambda page: page.shows(fault.says), fault.seen_after, fault.traffic)
        record_property("seen after", seconds)
        record_property("shown", quote_sentences(fault, page))
        assert not page.title.startswith("Nothing needs you"), page.title
        assert [each for each in fault.hides if re.search(each, page.words)] == []
        clock.tell(REPORT_AFTER)
        headlines = {need.headline for need in page.needs}
        now = {"mail": fault.mail is ToldBy.AT_ONCE, "webhook": fault.webhook is ToldBy.AT_ONCE}
        assert is_told(witnesses, BEGAN, headlines, **now), (headlines, witnesses.read_mails(""), witnesses.read_deliveries(""))
    step_until(clock, witnesses, lambda page: page.is_well, IN_TIME)
    clock.tell(OVER_AFTER)
    afterwards = {"mail": fault.mail is not ToldBy.NEVER, "webhook": fault.webhook is not ToldBy.NEVER}
    assert is_told(witnesses, OVER, headlines, **afterwards), (headlines, witnesses.read_mails(""), witnesses.read_deliveries(""))
    assert is_told(witnesses, BEGAN, headlines, **afterwards), (headlines, witnesses.read_mails(""), witnesses.read_deliveries(""))


@pytest.mark.parametrize("fault", IMPOSSIBLE, ids=lambda each: each.name)
def test_a_fault_that_cannot_be_caused_here(fault: ImpossibleFault) -> None:
    pytest.skip(fault.reason)
