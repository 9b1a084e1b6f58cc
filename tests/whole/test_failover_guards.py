"""Guarded services through a switch and a crash: what one gateway opened on a server's behalf goes on through the other one."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from apps.deployments.services import reconcile
from lab.failover import (
    CABLES,
    SYNC,
    FailoverPrograms,
    await_sole_carrier,
    await_standby,
    find_obstacle,
    route_servers_to_virtual_addresses,
    route_to_virtual_addresses,
    run_failover_pair,
)
from lab.lab import Lab
from tests import factories
from tests.whole.system import conversation, wait_for
from tests.whole.test_guards import PATIENCE, WEB, WEB6, enable_checksums, guard, list_tracked

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.xdist_group("whole"),
    pytest.mark.skipif(bool(find_obstacle()), reason=find_obstacle() or "can run"),
]
SECOND = 100  # centiseconds between advertisements
FIRST, OTHER = SYNC
MEMBERS = ("m1", "m2", "m3", "m4")
CLIENTS = (
    *(("internet", WEB, source) for source in ("203.0.113.10", "203.0.113.11", "203.0.113.66")),
    ("internet", WEB6, ""),
    *((member, address, "") for member in MEMBERS for address in (WEB, WEB6)),
)


@pytest.fixture
def guarded_pair(lab: Lab, network: factories.Network) -> Iterator[dict[str, FailoverPrograms]]:
    """Two gateways that are one, in front of a guarded web server."""
    factories.servers(network)
    for address in (WEB, WEB6):
        guard(network, address)
    reconcile(network.group)
    enable_checksums(lab, "internet", "uplink", "core", *MEMBERS)
    route_to_virtual_addresses(lab)
    with run_failover_pair(lab, interval=SECOND) as programs:
        route_servers_to_virtual_addresses(lab)
        yield programs


def test_clients_of_a_guarded_server_go_on_after_a_switch_and_a_crash(lab: Lab, guarded_pair: dict[str, FailoverPrograms]) -> None:
    """From twelve addresses, because the clocks that a gateway translates between client and server differ for each (RFC 7323)."""
    with ExitStack() as stack:
        go_on = {end: stack.enter_context(conversation(lab, end[0], end[1], 443, source=end[2])) for end in CLIENTS}

        def list_broken() -> list[tuple[str, str, str]]:
            return [end for end, goes_on in go_on.items() if not goes_on()]

        assert list_broken() == []
        wait_for(lambda: sum(len(list_tracked(lab, OTHER, address)) for address in (WEB, WEB6)) == len(CLIENTS))
        guarded_pair[FIRST].call("drain")
        await_sole_carrier(lab, OTHER)
        assert list_broken() == []
        guarded_pair[FIRST].call("resume")
        await_standby(guarded_pair[FIRST])
        guarded_pair[OTHER].cut(*CABLES)
        await_sole_carrier(lab, FIRST)
        assert list_broken() == []
        assert lab.connect("internet", "tcp", WEB, 443, timeout=PATIENCE).node == "web"
