"""What the last probes of a gateway have shown, as a function of their results and times."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.deployments.rollouts.probing import ProbeResult
from apps.gateways.packet_probes.history import KEPT, add_result
from apps.gateways.packet_probes.judgement import IN_A_ROW, ProbeVerdict, compute_figures, do_all_pass, judge_status
from apps.gateways.packet_probes.models import LOST, NOT_SENT, REFUSED, ProbeStatus
from firewall.probe_messages import ECHOES

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
ROUND = timedelta(seconds=2)
PASSED = ProbeResult(4, True, 2.5, "it answered.", echoes=ECHOES, full_size=True)
CUT = ProbeResult(4, False, None, "no answer.", echoes=0, full_size=False)
DAMAGED = ProbeResult(4, True, 2.5, "it answered.", echoes=ECHOES - 1, full_size=True)
SMALL = ProbeResult(4, True, 2.5, "it answered.", echoes=ECHOES, full_size=False, mtu=1300)
DEAF = ProbeResult(4, True, None, "it answers echoes.", echoes=ECHOES, full_size=True)
WITHOUT_ECHOES = ProbeResult(4, True, 2.5, "it answered.")
RESULTS = st.lists(st.sampled_from([PASSED, CUT, DAMAGED, SMALL, DEAF, WITHOUT_ECHOES]), min_size=1, max_size=200)


def status(state: str = "passed", failures: int = 0, age: float = 2, answered: float | None = 2) -> ProbeStatus:
    """Build a status that was probed `age` seconds ago, and through which a packet came back `answered` seconds ago."""
    came = None if answered is None else NOON - timedelta(seconds=answered)
    return ProbeStatus(family=4, state=state, failures=failures, at=NOON - timedelta(seconds=age), answered=came, since=NOON)


def see(*results: ProbeResult, before: int = 60) -> ProbeStatus:
    """Return the status after so many probes that passed, and these results, the last one at noon."""
    history = ProbeStatus(family=4)
    seen = [*[PASSED] * before, *results]
    for number, result in enumerate(seen):
        add_result(history, result, NOON - (len(seen) - 1 - number) * ROUND)
    return history


def judge(*results: ProbeResult, before: int = 60) -> ProbeVerdict:
    return judge_status(see(*results, before=before), NOON)


def test_one_lost_probe_is_no_outage_and_two_are() -> None:
    assert judge(CUT) is ProbeVerdict.PASSES
    assert judge(CUT, CUT) is ProbeVerdict.LOST
    assert judge_status(status("unknown", 2), NOON) is ProbeVerdict.NOT_PROBED


def test_what_is_older_than_a_minute_says_nothing() -> None:
    assert judge_status(status(age=60, answered=60), NOON) is ProbeVerdict.PASSES
    assert judge_status(status(age=61, answered=61), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 9, age=61), NOON) is ProbeVerdict.STALE


def test_nothing_passes_through_which_no_packet_came_back_lately() -> None:
    assert judge_status(status("lost", 1, answered=None), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 1, answered=61), NOON) is ProbeVerdict.STALE
    assert judge_status(status("lost", 1, answered=60), NOON) is ProbeVerdict.PASSES


def test_a_packet_missing_in_three_probes_of_a_minute_is_loss_and_one_break_is_none() -> None:
    assert judge(DAMAGED, PASSED, PASSED, DAMAGED) is ProbeVerdict.PASSES
    assert judge(*[DAMAGED, PASSED, PASSED] * 3) is ProbeVerdict.LOSSY
    assert judge(*[DAMAGED, PASSED, PASSED] * 3, *[PASSED] * 30) is ProbeVerdict.PASSES
    assert judge(CUT, PASSED) is ProbeVerdict.PASSES


def test_loss_is_over_when_it_would_have_shown_again() -> None:
    heavy = [DAMAGED, PASSED] * 8
    assert judge(*heavy, *[PASSED] * 2) is ProbeVerdict.LOSSY
    assert judge(*heavy, *[PASSED] * 6) is ProbeVerdict.PASSES
    light = [DAMAGED, *[PASSED] * 11] * 8
    assert judge(*light, *[PASSED] * 10) is ProbeVerdict.LOSSY
    assert judge(*light, *[PASSED] * 25) is ProbeVerdict.PASSES


def test_one_in_a_hundred_is_loss_if_it_lasts() -> None:
    rare = [DAMAGED, *[PASSED] * 19]
    assert judge(*rare * 5) is ProbeVerdict.PASSES
    frequent = [DAMAGED, *[PASSED] * 17]
    assert judge(*frequent * 8) is ProbeVerdict.LOSSY


def test_without_echoes_loss_is_seen_in_connections() -> None:
    missing = ProbeResult(4, False, None, "no answer.")
    assert judge(*[WITHOUT_ECHOES] * 150, before=0) is ProbeVerdict.PASSES
    assert judge(*[missing, *[WITHOUT_ECHOES] * 5] * 4, before=0) is ProbeVerdict.LOSSY


def test_a_target_that_limits_echoes_loses_nothing() -> None:
    limiting = ProbeResult(4, True, 2.5, "it answered.", echoes=1, full_size=False)
    assert compute_figures(see(*[limiting] * 150)).lost == 0
    assert judge(*[limiting] * 150) is not ProbeVerdict.LOSSY


@given(length=st.integers(2, 40), edges=st.integers(0, 2))
def test_an_outage_that_is_over_is_no_loss_nor_are_its_edges(length: int, edges: int) -> None:
    over = see(*[DAMAGED] * edges, *[CUT] * length, DAMAGED, PASSED)
    assert judge_status(over, NOON) is ProbeVerdict.PASSES
    assert compute_figures(over).lost == 0


def test_packets_of_full_size_that_came_back_and_no_longer_do_are_missed() -> None:
    assert judge(*[SMALL] * (IN_A_ROW - 1)) is ProbeVerdict.PASSES
    assert judge(*[SMALL] * IN_A_ROW) is ProbeVerdict.SMALL_ONLY
    assert see(*[SMALL] * IN_A_ROW).mtu == 1300
    assert judge(*[SMALL] * IN_A_ROW, PASSED) is ProbeVerdict.PASSES
    assert judge(*[SMALL] * 100, before=0) is ProbeVerdict.PASSES


def test_a_week_later_smaller_packets_are_how_the_network_is() -> None:
    small = see(*[SMALL] * IN_A_ROW)
    small.at = small.answered = NOON + timedelta(days=8)
    assert judge_status(small, NOON + timedelta(days=8)) is ProbeVerdict.PASSES


def test_a_target_that_answers_but_not_at_its_port_shows_that_packets_pass_and_is_no_good_target() -> None:
    assert do_all_pass([see(DEAF)], NOON)
    assert judge(*[DEAF] * IN_A_ROW) is ProbeVerdict.NOT_PROBED
    refusing = ProbeResult(4, True, None, "refused.", echoes=ECHOES, full_size=True, refused=True)
    assert see(refusing).recent[-1] == REFUSED and compute_figures(see(refusing)).lost == 0
    assert judge(*[refusing] * IN_A_ROW) is ProbeVerdict.NOT_PROBED


@given(results=RESULTS)
def test_a_history_is_complete_and_bounded(results: list[ProbeResult]) -> None:
    history = see(*results, before=0)
    assert len(history.recent) == len(history.lost_echoes) <= KEPT
    assert (history.failures == 0) == (history.state == ProbeStatus.State.PASSED)
    assert history.answered is not None or history.state != ProbeStatus.State.PASSED
    assert all(NOT_SENT <= each <= ECHOES for each in history.lost_echoes)


@given(results=RESULTS)
def test_figures_count_every_packet_and_times_are_of_connections(results: list[ProbeResult]) -> None:
    history = see(*results, before=0)
    figures = compute_figures(history)
    times = [each / 1000 for each in history.recent if each >= 0]
    assert 0 <= history.recent.count(LOST) <= figures.lost <= figures.sent <= (1 + ECHOES) * len(history.recent)
    assert figures.slowest_ms == max(times, default=None)
    if figures.median_ms is not None and figures.high_ms is not None and figures.slowest_ms is not None:
        assert min(times) <= figures.median_ms <= figures.high_ms <= figures.slowest_ms


@pytest.mark.parametrize(("answered", "passes"), [(2, True), (10, True), (11, False)])
def test_a_gateway_forwards_only_while_a_packet_came_back_within_ten_seconds(answered: float, passes: bool) -> None:
    assert do_all_pass([status(), status(answered=answered)], NOON) is passes


def test_all_pass_only_if_there_are_probes_and_each_passed() -> None:
    assert not do_all_pass([], NOON)
    assert do_all_pass([see(), see()], NOON)
    assert not do_all_pass([see(), see(CUT, CUT)], NOON)
    assert not do_all_pass([see(), status(age=90)], NOON)
