"""What a packet costs is written down with the chains that cost it."""

from benchmarks.packets import instructions
from benchmarks.packets.costs import WAYS


def test_a_change_of_the_chains_says_what_a_packet_costs_now() -> None:
    remedy = "run “script/bench packets --count --record”, and say in the commit why a packet costs more or less"
    assert instructions.read_record().rules == instructions.compute_rules_digest(), remedy


def test_the_figures_compare_with_masquerading_and_with_the_record() -> None:
    recorded = instructions.RecordedCounts("", dict.fromkeys(WAYS, 100.0), dict.fromkeys(WAYS, 200.0))
    counts = {"masquerade": dict.fromkeys(WAYS, 100.0), "full": {"up": 110.0, "down": 200.0, "new": 203.0}}
    found = {each.name: (each.value, each.is_met) for each in instructions.iter_figures(counts, recorded)}
    assert found["up_instructions_ratio"] == (1.1, True) and found["down_instructions_ratio"] == (2.0, False)
    assert found["up_to_recorded"] == (0.55, True) and found["new_to_recorded"] == (1.015, False)


def test_an_explanation_has_a_line_for_each_part_that_was_left_out() -> None:
    of = {"masquerade": 100.0, "full": 200.0, "without bans": 150.0, "without the chain forward": 120.0}
    lines = list(instructions.iter_explanation({name: dict.fromkeys(WAYS, value) for name, value in of.items()}))
    assert [line.split() for line in lines] == [["bans", "+50", "+50", "+50"], ["forward", "+80", "+80", "+80"]]
