"""Failover of the demo's gateways: when it runs, with which command, and what the terminal says of it."""

import re
from pathlib import Path

import pytest

from firewall.failover import ProgramPaths
from lab import failover as lab_failover
from lab import failover_service
from portal.stack import failover
from portal.stack.commands import GATEWAYS, build_gateway, build_seed
from portal.stack.serve import render_welcome
from portal.stack.state_paths import StatePaths


@pytest.fixture
def places(tmp_path: Path) -> StatePaths:
    return StatePaths.from_directory(tmp_path)


def make_demo(places: StatePaths) -> None:
    places.demo.write_text('{"logins": [], "token": "t"}')


def write_files(places: StatePaths) -> None:
    for name in GATEWAYS:
        (places.failover / name).mkdir(parents=True)
        (places.failover / name / "keepalived.conf").touch()


def test_each_gateway_has_a_program_that_runs_its_failover_in_its_node(places: StatePaths) -> None:
    for name in GATEWAYS:
        command = failover.build_program(places, name).command
        inside = command[command.index("--") + 1 :]
        assert command[command.index("exec") + 1] == name
        assert inside == failover_service.build_command(name, places.failover / name)
        assert inside[-2:] == (name, str(places.failover / name))


def test_the_agent_reads_the_settings_where_the_program_puts_them(places: StatePaths) -> None:
    command = build_gateway(places, "nat-2").command
    assert command[command.index("--failover") + 1] == ProgramPaths.build_for_lab("nat-2").settings


def test_the_seed_sets_failover_and_writes_its_files_only_where_it_can_run(places: StatePaths) -> None:
    command = build_seed(8000, None, places.failover).command
    assert command[command.index("--failover") + 1] == str(places.failover)
    assert "--failover" not in build_seed(8000, None, None).command


def test_a_demo_network_that_was_made_without_failover_stays_without(places: StatePaths) -> None:
    assert failover.find_obstacle(places, "") == lab_failover.find_obstacle()
    make_demo(places)
    assert failover.find_obstacle(places, "") == failover.MADE_WITHOUT
    write_files(places)
    assert failover.find_obstacle(places, "") == lab_failover.find_obstacle()


def test_gateways_in_memory_do_not_stand_in_for_each_other(places: StatePaths) -> None:
    assert failover.find_obstacle(places, "No lab can run here: why") == "No lab can run here: why"


def test_a_switch_is_offered_as_a_thing_to_try_where_it_is_possible(places: StatePaths) -> None:
    make_demo(places)
    assert "Four things to try" in (with_failover := render_welcome(places, 8000, "", True))
    assert f"exec {failover.MEMBER} -- ping " in with_failover
    assert "Three things to try" in (without := render_welcome(places, 8000, "", False))
    assert "Switch over" not in without


def test_roles_that_are_asked_every_ten_seconds_do_not_bury_other_lines(places: StatePaths) -> None:
    hush = build_gateway(places, "nat-1").hush
    assert re.match(hush, "2026-11-25 23:05:29,813 INFO roles: IPv4 primary, IPv6 standby, 3.7 ms")
    assert not re.match(hush, "2026-11-25 23:05:29,813 INFO drain: IPv4, 3.7 ms")
