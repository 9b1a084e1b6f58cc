"""Calculations of `script/bench packets`, and the frames that it sends."""

from ipaddress import IPv4Address
from pathlib import Path

import pytest

from benchmarks.packets import read_addresses
from benchmarks.packets.costs import WAYS, Round, compute_cost, compute_ratio, compute_spread, iter_figures, render_explanation
from benchmarks.packets.rulesets import WITHOUT, build_full_policy
from benchmarks.packets.sender import Datagram, build_frame, read
from firewall.compile import compile_policy
from lab.datagram import compute_checksum

DATAGRAM = Datagram(int(IPv4Address("10.0.0.7")), 1031, int(IPv4Address("44.0.0.1")), 53)


def rounds(*pairs: tuple[float, float], way: str = "up") -> list[Round]:
    return [Round(way, {"full": [ours] * 3, "masquerade": [theirs] * 3}) for ours, theirs in pairs]


def test_a_burst_that_was_disturbed_moves_no_cost() -> None:
    assert Round("up", {"full": [100, 101, 9000]}).compute_cost("full") == 101


def test_a_ratio_is_the_middle_of_the_rounds_own_ratios_so_that_a_slower_minute_moves_nothing() -> None:
    found = rounds((120, 100), (240, 200), (130, 100))
    assert compute_ratio(found, "up", "full", "masquerade") == pytest.approx(1.2)
    assert compute_cost(found, "up", "full") == 130


def test_only_the_way_that_is_asked_for_counts() -> None:
    assert compute_ratio(rounds((120, 100)) + rounds((300, 100), way="new"), "new", "full", "masquerade") == 3


def test_the_spread_is_between_the_quartiles() -> None:
    found = rounds((110, 100), (120, 100), (130, 100))
    assert compute_spread(found, "up", "full", "masquerade") == pytest.approx(0.2)
    assert compute_spread(found[:1], "up", "full", "masquerade") == 0


def test_ratios_are_judged_only_in_a_network_of_the_size_that_goals_are_set_for() -> None:
    found = [each for way in WAYS for each in rounds((140, 100), way=way)]
    judged = {each.name: each.is_met for each in iter_figures(found, "full", "masquerade", judged=True)}
    assert (judged["up_ratio"], judged["down_ratio"], judged["new_ratio"], judged["up_ns"]) == (False, False, True, None)
    assert all(each.is_met is None for each in iter_figures(found, "full", "masquerade", judged=False))


def test_what_a_feature_costs_is_what_goes_away_without_it() -> None:
    found = [Round(way, {"full": [150.0], "bans": [120.0], "masquerade": [100.0]}) for way in WAYS]
    assert render_explanation(found, "bans", "full", "masquerade").split() == ["bans", "+0.300", "+0.300", "+0.300"]


def test_a_frame_says_what_was_put_into_it_with_a_right_checksum() -> None:
    octets = build_frame(DATAGRAM, "02:00:00:00:00:02", "02:00:00:00:00:01")
    assert len(octets) == 60
    assert read(octets) == DATAGRAM
    assert compute_checksum(octets[14:34]) == 0


def test_an_answer_goes_the_other_way() -> None:
    assert DATAGRAM.build_answer() == Datagram(DATAGRAM.destination, 53, DATAGRAM.source, 1031)


def test_of_a_feed_the_addresses_are_read_each_once(tmp_path: Path) -> None:
    feed = tmp_path / "feed.txt"
    feed.write_text("# remark\n\n192.0.2.1\t9\n192.0.2.2\n192.0.2.1 3\n")
    assert read_addresses(feed) == [IPv4Address("192.0.2.1"), IPv4Address("192.0.2.2")]


def test_each_thing_that_can_be_left_out_makes_the_ruleset_smaller() -> None:
    policy = build_full_policy(200, [IPv4Address("100.0.0.1")])
    whole = compile_policy(policy)
    smaller = {name: compile_policy(without(policy)) for name, without in WITHOUT.items()}
    assert {name for name, each in smaller.items() if each.count_rules() >= whole.count_rules()} == set()
