"""Roles in failover: the agent tells what netzwart-failover and the kernel know, and drains by the files that keepalived watches."""

import os
import subprocess
import time
from ipaddress import ip_address
from pathlib import Path

import pytest

from firewall import wire
from firewall.roles import Drain, FailoverRole, FamilyRole, Roles, RolesAre
from lab.failover import PROGRAM
from tests.agent.conftest import restrict_to_gateways
from tests.agent.failover_runtime import set_up_failover
from tests.agent.gateways import AnyGateway, InProcess, OnKernel, get_failover_path

FOUR, SIX = ip_address("10.0.0.254"), ip_address("fe80::7")


@pytest.fixture
def runtime(gateway: AnyGateway) -> Path:
    """Set failover up on the gateway, and return the directory of its roles: primary for IPv4, standby and drained for IPv6."""
    made = set_up_failover(gateway)
    for name, text in {
        "role4": "primary 1800000000 election",
        "drained4": "0",
        "role6": "standby 1800000001 drained",
        "drained6": "1",
    }.items():
        (made / name).write_text(f"{text}\n")
    return made


def ask_roles(gateway: AnyGateway, request: Roles | Drain) -> RolesAre:
    answer = gateway.ask(request)
    assert isinstance(answer, RolesAre), answer
    return answer


def test_a_gateway_without_failover_refuses_and_says_what_is_missing(gateway: AnyGateway) -> None:
    for request in (Roles(), Drain((4,), True)):
        answer = gateway.ask(request)
        assert answer == wire.Refused("state", f"failover is not set up here: there is no {get_failover_path(gateway.state)}")


def test_a_gateway_tells_what_keepalived_said_of_each_family(gateway: AnyGateway, runtime: Path) -> None:
    four, six = ask_roles(gateway, Roles()).families
    assert four == FamilyRole(4, FailoverRole.PRIMARY, 1_800_000_000, False, False)
    assert six == FamilyRole(6, FailoverRole.STANDBY, 1_800_000_001, False, True)


def test_a_family_is_given_up_and_taken_again_in_the_same_file(gateway: AnyGateway, runtime: Path) -> None:
    before = (runtime / "drained4").stat().st_ino
    assert [each.is_drained for each in ask_roles(gateway, Drain((4,), True)).families] == [True, True]
    assert (runtime / "drained4").read_text() == "1\n"
    assert [each.is_drained for each in ask_roles(gateway, Drain((4, 6), False)).families] == [False, False]
    assert (runtime / "drained4").stat().st_ino == before


def test_a_gateway_tells_with_which_files_keepalived_started_and_which_were_edited_since(gateway: AnyGateway, runtime: Path) -> None:
    told = ask_roles(gateway, Roles())
    assert (told.running, told.edited) == ("", ())
    (runtime / "running").write_text("0123456789abcdef\n")
    with (runtime / "conntrackd.conf").open("a") as file:
        file.write("# by hand\n")
    (runtime / "keepalived.conf").unlink()
    told = ask_roles(gateway, Roles())
    assert told.running == "0123456789abcdef"
    assert told.edited == (f"{runtime}/keepalived.conf", f"{runtime}/conntrackd.conf")


@restrict_to_gateways("in memory", "served")
def test_a_gateway_where_keepalived_does_not_run_is_not_drained(gateway: AnyGateway, runtime: Path) -> None:
    (runtime / "drained6").unlink()
    answer = gateway.ask(Drain((4, 6), True))
    assert answer == wire.Refused("state", f"keepalived does not run here: there is no {runtime}/drained6")
    assert (runtime / "drained4").read_text() == "0\n"


@restrict_to_gateways("in memory")
def test_a_role_that_nobody_has_told_is_unknown(gateway: AnyGateway, runtime: Path) -> None:
    (runtime / "role4").unlink()
    for text in ("", "king 0", "primary", f"primary {1 << 40}"):
        (runtime / "role6").write_text(text)
        four, six = ask_roles(gateway, Roles()).families
        assert (four.role, four.since, six.since) == (FailoverRole.UNKNOWN, 0, 0)


@restrict_to_gateways("in memory")
def test_the_ages_say_when_keepalived_and_conntrackd_were_last_seen(gateway: AnyGateway, runtime: Path) -> None:
    assert (ask_roles(gateway, Roles()).elected_age, ask_roles(gateway, Roles()).synchronised_age) == (-1, -1)
    for name, age in (("checked", 40), ("synchronised", -40)):
        (runtime / name).touch()
        os.utime(runtime / name, (time.time() - age, time.time() - age))
    told = ask_roles(gateway, Roles())
    assert 40 <= told.elected_age < 100
    assert told.synchronised_age == 0


@restrict_to_gateways("in memory")
def test_settings_that_lack_something_are_named(gateway: AnyGateway, runtime: Path) -> None:
    get_failover_path(gateway.state).write_text("LAN='lan0'\nRUNTIME='/run'\n")
    answer = gateway.ask(Roles())
    assert isinstance(answer, wire.Refused)
    assert "lacks INSIDE4, INSIDE6" in answer.text


@restrict_to_gateways("in memory")
def test_a_family_that_is_not_elected_has_no_role(gateway: AnyGateway, runtime: Path) -> None:
    path = get_failover_path(gateway.state)
    path.write_text(path.read_text().replace("INSIDE6='fe80::7'", "INSIDE6=''"))
    assert [each.family for each in ask_roles(gateway, Drain((6,), True)).families] == [4]


@restrict_to_gateways("in memory")
def test_who_carries_a_family_has_its_address(gateway: InProcess, runtime: Path) -> None:
    gateway.table.virtual_addresses = {("lan0", FOUR), ("wan0", SIX)}
    assert [each.carries for each in ask_roles(gateway, Roles()).families] == [True, False]


@restrict_to_gateways("kernel")
def test_the_kernel_says_who_carries_a_family(gateway: OnKernel, runtime: Path) -> None:
    commands = ("link add lan0 type veth peer name far0", f"addr add {FOUR}/11 dev lan0", f"addr add {SIX}/64 dev far0 nodad")
    for command in (*commands, "link set lan0 up", "link set far0 up"):
        gateway.space.do(subprocess.run, ["ip", *command.split()], check=True)
    assert [each.carries for each in ask_roles(gateway, Roles()).families] == [True, False]
    gateway.space.do(subprocess.run, ["ip", "addr", "add", f"{SIX}/64", "dev", "lan0", "nodad"], check=True)
    assert [each.carries for each in ask_roles(gateway, Roles()).families] == [True, True]


def test_the_agents_account_can_read_the_role_that_keepalived_told(tmp_path: Path) -> None:
    """keepalived calls its scripts with a umask of its own."""
    settings, runtime = tmp_path / "failover.conf", tmp_path / "run"
    settings.write_text(f"LAN=lan0\nINSIDE4=10.0.0.254\nINSIDE6=\nRUNTIME={runtime}\n")
    told = ["sh", "-c", f'umask 077; exec sh "{PROGRAM}" role 4 fault']
    subprocess.run(told, env=os.environ | {"NETZWART_FAILOVER_CONF": str(settings)}, check=True)
    assert [oct(path.stat().st_mode & 0o777) for path in (runtime, runtime / "role4")] == ["0o755", "0o644"]
