"""The table of `python -m lab race`: percentiles from a histogram, totals of nodes and intervals, and lines; without a network."""

import json
from argparse import ArgumentParser
from collections import Counter
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.measure.connects import ConnectReport, parse_connect_report
from lab.measure.histogram import LAST, LONGEST, SHORTEST, WIDTH, DurationHistogram, find_bucket
from lab.measure.insert_failed import parse_insert_failed
from lab.measure.output import to_dict
from lab.race import add_command
from lab.race_table import HEADING, ConnectTotals, combine, render_errors, render_line

ROUNDING = 1 + 1e-9  # of the logarithm, at a bucket's bound
durations = st.lists(st.floats(SHORTEST, LONGEST), min_size=1, max_size=200)


def count(values: list[float]) -> DurationHistogram:
    histogram = DurationHistogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(durations, st.integers(0, 100))
def test_a_percentile_is_within_half_a_bucket_of_the_exact_one(values: list[float], percent: int) -> None:
    exact = sorted(values)[max(1, -(-percent * len(values) // 100)) - 1]
    estimate = count(values).compute_percentile(percent)
    assert estimate is not None
    assert exact / WIDTH**0.5 / ROUNDING <= estimate <= exact * WIDTH**0.5 * ROUNDING


@given(st.lists(durations, min_size=1, max_size=5))
def test_added_histograms_are_the_histogram_of_all(parts: list[list[float]]) -> None:
    assert reduce(add, map(count, parts)) == count([value for part in parts for value in part])


@given(durations)
def test_the_longest_is_exact_and_no_percentile_exceeds_it(values: list[float]) -> None:
    histogram = count(values)
    assert histogram.longest == max(values)
    assert (histogram.compute_percentile(100) or 0) <= max(values)


@given(st.floats(0, 1e12))
def test_every_duration_has_one_of_the_buckets(value: float) -> None:
    assert 0 <= find_bucket(value) <= LAST


def test_the_memory_is_bounded() -> None:
    assert LAST + 1 == 1048


def test_an_empty_histogram_has_no_percentile() -> None:
    assert DurationHistogram().compute_percentile(50) is None


@given(durations, st.dictionaries(st.sampled_from(["Connection refused", "Connection timed out"]), st.integers(1, 99)))
def test_a_report_survives_its_line(values: list[float], errors: dict[str, int]) -> None:
    histogram = count(values)
    sent = ConnectReport(5.0, errors, dict(histogram.buckets), histogram.longest)
    assert parse_connect_report(json.dumps(to_dict(sent))) == sent
    assert sent.histogram == histogram


def report(values: list[float], seconds: float = 2.0, **errors: int) -> ConnectReport:
    histogram = count(values)
    return ConnectReport(seconds, errors, dict(histogram.buckets), histogram.longest)


def test_nodes_of_an_interval_count_together_and_their_time_once() -> None:
    totals = combine([report([1.0] * 30, refused=1), report([3000.0] * 10, late=2, refused=2)])
    assert (totals.seconds, totals.durations.count, totals.error_count, totals.total) == (2.0, 40, 5, 45)
    assert totals.errors == Counter(refused=3, late=2)


def test_intervals_add_up_with_their_times() -> None:
    totals = ConnectTotals() + combine([report([1.0], 2.0, late=1)]) + combine([report([2.0, 4.0], 0.5)])
    assert (totals.seconds, totals.durations, totals.total) == (2.5, count([1.0, 2.0, 4.0]), 4)


def test_a_line_stands_below_its_heading_with_rate_errors_times_and_losses() -> None:
    line = render_line("5.0", combine([report([1.0] * 90 + [1000.0] * 9, late=1)]), 7)
    assert line.split() == ["5.0", "50", "1/100", "0.99", "997", "997", "1000", "7"]
    assert len(line) == len(HEADING)


def test_a_line_of_nothing_has_hyphens_instead_of_times() -> None:
    assert render_line("in all", ConnectTotals(), 0).split() == ["in", "all", "-", "0/0", "-", "-", "-", "-", "0"]


def test_errors_are_named_with_the_most_frequent_first() -> None:
    assert render_errors(ConnectTotals(errors=Counter({"Connection refused": 2, "Connection timed out": 9}))) == (
        "9 × Connection timed out, 2 × Connection refused"
    )


STATISTICS = """\
cpu=0   \tfound=0 invalid=0 insert=0 insert_failed=12 drop=12 early_drop=0 error=0 search_restart=0 clash_resolve=0 chaintoolong=0
cpu=1   \tfound=3 invalid=0 insert=0 insert_failed=30 drop=30 early_drop=0 error=0 search_restart=0 clash_resolve=0 chaintoolong=0
"""


def test_failed_insertions_are_summed_over_the_processors() -> None:
    assert parse_insert_failed(STATISTICS) == 42


@pytest.mark.parametrize("text", ["", "cpu=0 found=1 insert=2"])
def test_statistics_without_failed_insertions_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"“conntrack -S” printed no insert_failed: (nothing|cpu=0)"):
        parse_insert_failed(text)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (["m1", "internet", "80"], "internet is not an IP address; write one such as 203.0.113.10"),
        (["m1", "203.0.113.10", "65536"], "65536 is not a number from 1 to 65535"),
        (["m1", "203.0.113.10", "80", "--parallel", "0"], "0 is not a number from 1 to 1000"),
        (["m1", "203.0.113.10", "80", "--rate", "-1"], "-1 is not a number from 1 to 1000000"),
        (["m1", "203.0.113.10", "80", "--seconds", "nan"], "nan is not a time in seconds; write a number from 0.1 to 86400"),
        (["m1", "203.0.113.10", "80", "--every", "soon"], "soon is not a time in seconds; write a number from 0.1 to 86400"),
    ],
)
def test_a_wrong_number_is_told_with_what_may_stand_there(wrong: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser()
    add_command(parser.add_subparsers())
    with pytest.raises(SystemExit):
        parser.parse_args(["race", *wrong])
    assert sentence in capsys.readouterr().err
