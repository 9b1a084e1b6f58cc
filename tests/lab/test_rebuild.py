"""Rebuilding a node: it is destroyed and built again."""

import pytest

from lab.lab import Lab
from lab.topology import Topology

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("node", ["nat-1", "nat-2"])
def test_a_gateway_that_is_rebuilt_is_bare_and_at_all_its_cables_again(lab: Lab, topology: Topology, node: str) -> None:
    lab.run(node, ["nft", "add table inet left_behind"])
    with lab.popen(node, ["sh", "-c", "echo ready; exec sleep 60"]) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        lab.rebuild(node)
        assert running.wait(60) != 0, "what ran in it is gone"
    assert lab.run(node, ["nft", "list", "ruleset"]).stdout == ""
    for other in topology.nodes:
        for route in other.routes:
            if route.via is not None:
                lab.run(other.name, ["ping", "-c", "1", "-W", "2", str(route.via)])
    (sync,) = topology.get_node("nat-2").list_ip_addresses(4, "sync")
    lab.run("nat-1", ["ping", "-c", "1", "-W", "2", "-I", "sync0", str(sync)])
    assert lab.connect("m1", "tcp", "2001:db8:cafe::10", 80).node == "internet"


def test_a_host_that_answers_is_not_rebuilt(lab: Lab) -> None:
    with pytest.raises(ValueError, match="m1 runs a server"):
        lab.rebuild("m1")
    assert lab.connect("m2", "tcp", "10.16.0.10", 80).node == "m1"
