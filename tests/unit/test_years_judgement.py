"""Verdict of script/bench years: which table grows more than its bound allows."""

from apps.operations.registry import TableBoundKind, TableRetention
from benchmarks.years.judgement import NOTHING, TableSizes, compute_excess, find_largest_unbounded

MIB = 1 << 20
MEMBERS, YEARS = 6_000, 10
PRUNED = TableRetention("app.Pruned", TableBoundKind.PRUNED, "30 days")
EMPTIED = TableRetention("app.Emptied", TableBoundKind.PRUNED, "30 days", rows_stay=True)
HISTORY = TableRetention("app.History", TableBoundKind.HISTORY)


def grow(mib_a_year: float, retention: TableRetention | None, *, until: int = YEARS) -> TableSizes:
    """Return a table that grows by so much each year, and from the year `until` on not at all."""
    return TableSizes("table", [int(min(month / 12, until) * mib_a_year * MIB) for month in range(1, YEARS * 12 + 1)], retention)


def judge(table: TableSizes) -> int:
    return compute_excess(table, MEMBERS, YEARS)


def test_a_pruned_table_may_not_grow_when_the_time_has_passed_that_its_rows_are_kept() -> None:
    assert judge(grow(100, PRUNED, until=5)) == 0
    assert judge(grow(100, PRUNED)) > 300 * MIB


def test_a_table_of_which_nothing_is_known_is_judged_like_one_that_is_pruned() -> None:
    assert judge(grow(100, None)) == judge(grow(100, PRUNED))


def test_growth_of_less_than_what_is_noted_of_a_table_says_nothing() -> None:
    assert judge(grow(0.19, PRUNED)) == 0


def test_history_may_grow_with_members_and_years_but_not_as_fast_as_a_feed() -> None:
    assert judge(grow(100, HISTORY)) == 0
    assert judge(grow(300, HISTORY)) > 0


def test_a_table_whose_old_rows_are_emptied_grows_like_history() -> None:
    assert judge(grow(100, EMPTIED)) == 0
    assert judge(grow(300, EMPTIED)) > 0


def test_the_table_that_exceeds_its_bound_most_is_named() -> None:
    tables = {"fine": grow(100, HISTORY), "bad": grow(50, PRUNED), "worst": grow(90, PRUNED)}
    name, octets = find_largest_unbounded(tables, MEMBERS, YEARS)
    assert name == "worst" and octets == judge(tables["worst"])
    assert find_largest_unbounded({"fine": tables["fine"]}, MEMBERS, YEARS) == (NOTHING, 0)
