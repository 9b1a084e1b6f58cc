"""Verdicts of script/bench on figures: by ratio where a baseline program ran beside it."""

import json
import re
from pathlib import Path

from benchmarks.__main__ import BENCHMARKS, ON_A_SERVER, SUMMARIES
from benchmarks.disturbance import filter_unrelated, watch_disturbance
from benchmarks.figures import Figure, render_json, render_table

ROOT = Path(__file__).resolve().parents[2]
QUIET = {"noise": 0.01, "stolen": 0.0, "disturbed_by": [{"program": "firefox", "cores": 0.5}]}


def test_a_goal_of_the_ratio_decides_so_that_a_slow_machine_does_not() -> None:
    slow = Figure("p50", 300, "ms", "<= 100", 100, "an empty Django view", "<= 5")
    assert (slow.ratio, slow.is_met) == (3, True)
    assert Figure("p50", 90, "ms", "<= 100", 10, "an empty Django view", "<= 5").is_met is False
    assert Figure("p50", 90, "ms", "<= 100").is_met is True
    assert (slow.is_goal_reached, Figure("p50", 90, "ms", "<= 100").is_goal_reached) == (False, True)
    assert Figure("p50", 90, "ms", None, 10, "an empty Django view").is_met is None


def test_a_table_names_what_disturbed_and_what_missed() -> None:
    table = render_table("api", [Figure("list_ms", 90, "ms", "<= 100", 10, "nothing", "<= 5")], QUIET)
    assert re.search(r"list_ms +90 ms +9 × nothing \(10\) +<= 100 and <= 5 × +MISSED", table)
    slow = render_table("api", [Figure("list_ms", 300, "ms", "<= 100", 100, "nothing", "<= 5")], QUIET)
    assert re.search(r"<= 100 and <= 5 × +met by the ratio alone", slow)
    assert "disturbed by (cores in use): firefox 0.50" in table
    assert "noise 0.010" in table


def test_the_json_has_ratio_and_verdict_of_each_figure() -> None:
    [figure] = json.loads(render_json("api", [Figure("list_ms", 90, "ms", "<= 100", 10, "nothing", "<= 5")], QUIET))["figures"]
    assert (figure["ratio"], figure["met"], figure["baseline"]) == (9, False, 10)


def test_a_figure_says_what_its_number_belongs_to() -> None:
    figure = Figure("largest_unbounded", 5, "B", "== 0", about="bans_banevent")
    assert re.search(r"largest_unbounded \(bans_banevent\) +5 B +== 0 +MISSED", render_table("years", [figure], QUIET))
    assert json.loads(render_json("years", [figure], QUIET))["figures"][0]["about"] == "bans_banevent"


def test_programs_beside_us_count_and_those_that_we_started_or_come_from_do_not() -> None:
    shell, supervisor, benchmark, child, database = 2, 3, 4, 5, 6
    ours = {1: ("init", 9, 0), shell: ("bash", 9, 1), supervisor: ("python", 9, shell), benchmark: ("python3.13", 9, supervisor)}
    ours |= {child: ("nft", 9, benchmark), database: ("postgres", 9, supervisor)}
    beside = {7: ("firefox", 9, 1), 8: ("postgres", 9, 1), 9: ("mypy", 9, shell)}
    assert filter_unrelated(ours | beside, benchmark) == beside


def test_noise_is_measured_before_and_after_and_the_larger_one_counts() -> None:
    with watch_disturbance() as disturbance:
        disturbance.noise = 10
    assert disturbance.to_dict()["noise"] == 10
    assert 0 <= disturbance.to_dict()["stolen"] <= 1


def test_every_benchmark_has_a_summary_and_stands_in_the_documentation() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    assert set(SUMMARIES) == set(BENCHMARKS)
    assert set(BENCHMARKS) >= ON_A_SERVER
    assert [name for name in (*BENCHMARKS, "all") if f"## `script/bench {name}" not in page] == []
