"""What the last probes of a gateway have shown, as a function of their results and times."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from apps.gateways.packet_probes.judgement import ProbeVerdict, compute_figures, do_all_pass, judge_status
from apps.gateways.packet_probes.models import LOST, ProbeStatus

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
RESULTS = st.lists(st.one_of(st.just(LOST), st.integers(1, 1_000_000)), max_size=30)


def status(
    state: str = "passed", failures: int = 0, recent: list[int] | None = None, age: float = 5, answered: float | None = 15
) -> ProbeStatus:
    """Build a status that was probed `age` seconds ago, and through which a packet came back `answered` seconds ago."""
    came = None if answered is None else NOON - timedelta(seconds=answered)
    return ProbeStatus(
        family=4, state=state, failures=failures, recent=recent or [], at=NOON - timedelta(seconds=age), answered=came, since=NOON
    )


def test_one_lost_probe_is_no_outage_and_two_are() -> None:
    assert judge_status(status("lost", 1, [LOST]), NOON) is ProbeVerdict.PASSES
    assert judge_status(status("lost", 2, [LOST, LOST]), NOON) is ProbeVerdict.LOST
    assert judge_status(status("unknown", 2), NOON) is ProbeVerdict.NOT_PROBED


def test_what_is_older_than_a_minute_says_nothing() -> None:
    assert judge_status(status(age=60, answered=60), NOON) is ProbeVerdict.PASSES
    assert judge_status(status(age=61), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 9, [LOST] * 9, age=61), NOON) is ProbeVerdict.STALE


def test_nothing_passes_through_which_no_packet_came_back_lately() -> None:
    assert judge_status(status("lost", 1, [LOST], answered=None), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 1, [900, LOST], answered=61), NOON) is ProbeVerdict.STALE
    assert judge_status(status("unknown", 1, answered=None), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 1, [900, LOST], answered=60), NOON) is ProbeVerdict.PASSES


@given(recent=RESULTS)
def test_three_losses_among_the_last_ones_are_loss(recent: list[int]) -> None:
    assert judge_status(status(recent=recent), NOON) is (ProbeVerdict.LOSSY if recent.count(LOST) >= 3 else ProbeVerdict.PASSES)


@given(recent=RESULTS)
def test_figures_count_every_probe_and_times_are_of_those_that_came_back(recent: list[int]) -> None:
    figures = compute_figures(recent)
    answered = [each for each in recent if each != LOST]
    assert (figures.sent, figures.lost) == (len(recent), len(recent) - len(answered))
    assert figures.slowest_ms == (max(answered) / 1000 if answered else None)
    if figures.median_ms is not None:
        assert min(answered) / 1000 <= figures.median_ms <= max(answered) / 1000


def test_all_pass_only_if_there_are_probes_and_each_passed() -> None:
    assert not do_all_pass([], NOON)
    assert do_all_pass([status(), status()], NOON)
    assert not do_all_pass([status(), status("lost", 2, [LOST, LOST])], NOON)
    assert not do_all_pass([status(), status(age=90)], NOON)
