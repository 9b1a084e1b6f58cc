"""Files of failover by one press: the agents of both gateways install them, and the portal keeps them only if all goes on with them.

keepalived and conntrackd are real. `lab.failover_service` stands for systemd, which nodes of a lab do not have.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest

from apps.deployments.services import reconcile
from apps.gateways.failover_settings import change_failover, get_failover
from apps.gateways.roles.file_drift import runs_current_files
from apps.gateways.roles.models import CarrierChange, FailoverStatus, RoleSwitch
from apps.gateways.roles.observation import observe_group
from apps.gateways.roles.outcomes import describe_outcome
from apps.gateways.roles.switching import carry_out_switch, request_switch
from apps.lib.errors import Problem
from apps.nat.services import add_forward
from lab.failover import (
    ADDRESSES,
    SYNC,
    VIRTUAL_ROUTER,
    await_sole_carrier,
    find_obstacle,
    get_request_directory,
    list_carriers,
    route_to_virtual_addresses,
)
from lab.failover_service import build_command
from lab.lab import Lab
from tests import factories
from tests.whole.system import GATEWAYS, INTERNET, conversation, wait_for

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
FIRST, OTHER = GATEWAYS
INTERNET6 = "2001:db8:cafe::10"
SECOND = 100  # centiseconds between advertisements
KIND, STATE = RoleSwitch.Kind, RoleSwitch.State


def change(network: factories.Network, **values: Any) -> None:
    """Change the failover of the group."""
    sides = {"inside": "lan", "outside": "wan"}
    addresses = {name: [ip_interface(str(each)) for each in ADDRESSES if each.side.value == side] for name, side in sides.items()}
    given: dict[str, Any] = {"virtual_router": VIRTUAL_ROUTER, "interval": SECOND} | addresses | values
    change_failover(group=network.group, version=get_failover(network.group).version, by=network.admin, **given)


def do(network: factories.Network, number: int, kind: RoleSwitch.Kind = KIND.INSTALL) -> str:
    """Press a gateway's button, and do the worker's work. Return how it ended."""
    row = request_switch(gateway=network.gateways[number], kind=kind, by=network.admin)
    carry_out_switch(row.pk)
    row.refresh_from_db()
    return f"{row.state}: {describe_outcome(row)}"


def exists(lab: Lab, name: str, path: str) -> bool:
    return lab.run(name, ["test", "-e", path], check=False).returncode == 0


def list_current() -> list[bool | None]:
    return [runs_current_files(each) for each in FailoverStatus.objects.order_by("gateway__name")]


@pytest.fixture
def bare(lab: Lab, network: factories.Network, tmp_path: Path) -> Iterator[Lab]:
    """Two gateways with both packages, and no files."""
    for gateway in network.gateways:
        gateway.sync, gateway.sync_address = "sync0", SYNC[gateway.name]
        gateway.save()
    factories.probes(network)
    change(network)
    reconcile(network.group)
    with ExitStack() as stack:
        for name in GATEWAYS:
            own = tmp_path / f"failover-{name}"
            own.mkdir()
            process = lab.popen(name, build_command(name, own))
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            wait_for(partial(exists, lab, name, get_request_directory(name)))
        yield lab


@pytest.fixture
def pair(bare: Lab, network: factories.Network) -> Lab:
    """Two gateways with today's files, of which the first carries both families."""
    for number in range(2):
        assert do(network, number).startswith("done: ")
    await_sole_carrier(bare, FIRST)
    route_to_virtual_addresses(bare)
    return bare


def test_two_bare_gateways_become_one_by_two_presses(bare: Lab, network: factories.Network) -> None:
    assert do(network, 0).startswith("done: nat-1 runs its new files. IPv4: ")
    await_sole_carrier(bare, FIRST)
    assert do(network, 1) == "done: nat-2 runs its new files."
    await_sole_carrier(bare, FIRST)
    assert list_current() == [True, True]
    changes = CarrierChange.objects.order_by("family").values_list("family", "carriers", "cause")
    assert list(changes) == [(4, ["nat-1"], "first"), (6, ["nat-1"], "first")]


def test_changed_files_come_onto_both_without_a_pause(pair: Lab, network: factories.Network) -> None:
    change(network, interval=SECOND - 10)
    with pytest.raises(Problem, match=r"nat-1 carries IPv4 \+ IPv6, and nat-2 is ready to take over\. Switch over first"):
        do(network, 0)
    with conversation(pair, "m1", INTERNET, 7) as goes_on:
        assert do(network, 1) == "done: nat-2 runs its new files."
        assert do(network, 0, KIND.SWITCH).startswith("done: ")
        assert do(network, 0) == "done: nat-1 runs its new files."
        assert goes_on()
    await_sole_carrier(pair, OTHER)
    assert list_current() == [True, True]


def test_files_with_which_both_gateways_would_carry_go(pair: Lab, network: factories.Network) -> None:
    change(network, virtual_router=VIRTUAL_ROUTER + 1)
    said = do(network, 1)
    assert said.startswith("failed: With the new files nat-1, nat-2 carried IPv4 at the same time, so nat-2 has those before again.")
    await_sole_carrier(pair, FIRST)

    def runs_its_former_files() -> bool:
        observe_group(network.group)
        return list_current() == [False, False]

    wait_for(runs_its_former_files)


def test_files_with_which_packets_pass_no_more_go(pair: Lab, network: factories.Network) -> None:
    row = request_switch(gateway=network.gateways[1], kind=KIND.INSTALL, by=network.admin)
    pair.run(OTHER, ["ip", "route", "del", "default"])
    carry_out_switch(row.pk)
    row.refresh_from_db()
    assert row.state == STATE.DONE, "packets did not pass before, so the files are not the reason"


def test_a_gateway_without_the_programs_says_what_is_missing(bare: Lab, network: factories.Network) -> None:
    wrapper = f"/run/failover-{OTHER}/netzwart-failover"
    bare.run(OTHER, ["sed", "-i", f"s|^exec sh|PATH=/run/failover-{OTHER}/bin:/bin exec sh|", wrapper])
    said = do(network, 1)
    assert said.startswith("failed: nat-2 has the files that it had before. ")
    assert "apt-get install --no-install-recommends keepalived conntrackd" in said


def test_a_gateway_that_does_not_begin_is_told_not_to(bare: Lab, network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.gateways.roles.installing.BEGIN", 2.0)
    service = ["-f", rf"failover_service import main; main\(\) {OTHER} "]
    bare.run(OTHER, ["pkill", "-STOP", *service])
    try:
        assert do(network, 1).startswith("failed: Nothing on nat-2 began to install within 2 s.")
        assert bare.run(OTHER, ["ls", get_request_directory(OTHER)]).stdout.split() == ["failover-keep"]
    finally:
        bare.run(OTHER, ["pkill", "-CONT", *service])
    assert list_carriers(bare, 4) == []


GATEWAY_BIRD = """
router id {v4};
ipv4 table pools4;
ipv6 table pools6;
protocol device {{}}
protocol kernel {{ kernel table 179; learn; ipv4 {{ table pools4; import where krt_source = 18; export none; }}; }}
protocol kernel {{ kernel table 179; learn; ipv6 {{ table pools6; import where krt_source = 18; export none; }}; }}
protocol bgp {{
    local {v4} as 64512; neighbor 192.0.2.1 as 64500; connect retry time 1;
    ipv4 {{ table pools4; import none; export all; }};
}}
protocol bgp {{
    local {v6} as 64512; neighbor 2001:db8:fe::1 as 64500; connect retry time 1;
    ipv6 {{ table pools6; import none; export all; }};
}}
"""
UPLINK_BIRD = """
router id 192.0.2.1;
protocol device {{}}
protocol kernel {{ ipv4 {{ import none; export all; }}; }}
protocol kernel {{ ipv6 {{ import none; export all; }}; }}
"""
UPLINK_SESSION = """
protocol bgp {{ local 192.0.2.1 as 64500; neighbor {v4} as 64512; passive; ipv4 {{ import all; export none; }}; }}
protocol bgp {{ local 2001:db8:fe::1 as 64500; neighbor {v6} as 64512; passive; ipv6 {{ import all; export none; }}; }}
"""
ON_UPLINK = {FIRST: {"v4": "192.0.2.3", "v6": "2001:db8:fe::3"}, OTHER: {"v4": "192.0.2.4", "v6": "2001:db8:fe::4"}}


@contextmanager
def run_bird(lab: Lab, node: str, text: str, directory: Path) -> Iterator[None]:
    """Run BIRD in the node until the block ends."""
    file = directory / f"bird-{node}.conf"
    file.write_text(text)
    with lab.popen(node, ["bird", "-f", "-c", str(file), "-s", f"{file}.ctl"]) as process:
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


@pytest.fixture
def announcing_pair(bare: Lab, network: factories.Network, tmp_path: Path) -> Iterator[Lab]:
    """Gateways that announce the pools to the uplink, which has no other route to them."""
    change(network, announce=True)
    for number in range(2):
        assert do(network, number).startswith("done: ")
    route_to_virtual_addresses(bare)
    pools = bare.topology.pools
    for prefix in (pools.public, pools.ipv6):
        bare.run("uplink", ["ip", f"-{prefix.version}", "route", "del", str(prefix)])
    with ExitStack() as stack:
        uplink = UPLINK_BIRD.format() + "".join(UPLINK_SESSION.format(**own) for own in ON_UPLINK.values())
        stack.enter_context(run_bird(bare, "uplink", uplink, tmp_path))
        for name, own in ON_UPLINK.items():
            stack.enter_context(run_bird(bare, name, GATEWAY_BIRD.format(**own), tmp_path))
        yield bare


def test_a_routing_program_leads_the_uplink_to_whoever_carries(announcing_pair: Lab, network: factories.Network) -> None:
    pools = announcing_pair.topology.pools

    def leads_to(name: str) -> bool:
        asked = [["ip", f"-{each.version}", "route", "show", str(each)] for each in (pools.public, pools.ipv6)]
        routes = [announcing_pair.run("uplink", command).stdout for command in asked]
        return all(f"via {address} " in route for address, route in zip(ON_UPLINK[name].values(), routes, strict=True))

    wait_for(lambda: leads_to(FIRST))
    with conversation(announcing_pair, "m1", INTERNET, 7) as goes_on, conversation(announcing_pair, "m1", INTERNET6, 7) as goes_on6:
        assert do(network, 0, KIND.SWITCH).startswith("done: ")
        wait_for(lambda: leads_to(OTHER))
        assert goes_on()
        assert goes_on6()


@pytest.fixture
def pair_on_link(bare: Lab, network: factories.Network) -> Lab:
    """Gateways with an uplink that routes them nothing: it has the members' pool on its own link, and asks for each address there."""
    pools = bare.topology.pools
    link = pools.public.supernet()
    router, virtual = link.broadcast_address - 1, link.broadcast_address - 2
    outside = [each for each in ADDRESSES if each.side.value == "wan" and each.address.version == 6]
    change(network, outside=[ip_interface(f"{virtual}/{link.prefixlen}"), *(ip_interface(str(each)) for each in outside)])
    for number in range(2):
        assert do(network, number).startswith("done: ")
    route_to_virtual_addresses(bare)
    bare.run("uplink", ["ip", "route", "del", str(pools.public)])
    bare.run("uplink", ["ip", "address", "add", f"{router}/{link.prefixlen}", "dev", "transit"])
    return bare


def test_public_addresses_on_the_uplinks_own_link_move_with_the_carrier(pair_on_link: Lab, network: factories.Network) -> None:
    member = network.residents["m1"]
    add_forward(holding=member.holding, public=factories.PUBLIC, protocol="tcp", public_port=7, private_port=7, by=network.admin)
    reconcile(network.group)
    with (
        conversation(pair_on_link, "m1", INTERNET, 7) as goes_on,
        conversation(pair_on_link, "internet", str(factories.PUBLIC), 7) as comes_in,
    ):
        assert do(network, 0, KIND.SWITCH).startswith("done: ")
        assert goes_on()
        assert comes_in()
    await_sole_carrier(pair_on_link, OTHER)
