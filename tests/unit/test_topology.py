"""Reading the topology: its meaning, and error messages for mistakes in it."""

from ipaddress import IPv4Interface, ip_address, ip_network

import pytest

from lab.plan import build_plan
from lab.tables import TopologyError
from lab.topology import DEMO, NodeRoute, Topology, load_topology, parse_topology


@pytest.fixture(scope="module")
def topology() -> Topology:
    return load_topology()


def test_members_hold_addresses_of_the_pools(topology: Topology) -> None:
    for member in topology.list_by_role("member"):
        assert all(host in topology.pools.private for host in member.list_ip_addresses(4))
        assert all(host in topology.pools.ipv6 for host in member.list_ip_addresses(6))


def test_gateways_are_outside_the_members_pool_but_in_their_network(topology: Topology) -> None:
    (lan,) = (network for network in topology.networks if network.name == "lan")
    for gateway in topology.list_by_role("gateway"):
        (inside,) = gateway.list_ip_addresses(4, "lan")
        assert inside not in topology.pools.private
        assert inside in lan.prefixes[0]


def test_no_two_members_share_an_ipv6_network(topology: Topology) -> None:
    networks = [address.network for node in topology.list_by_role("member") for address in node.interfaces[0].addresses]
    assert len({network for network in networks if network.version == 6}) == 4


def test_ipv4_leads_through_one_gateway_and_ipv6_through_the_other_both_ways(topology: Topology) -> None:
    one, other = topology.list_by_role("gateway")
    assert [route.via for route in topology.get_node("m1").routes] == [
        one.list_ip_addresses(4, "lan")[0],
        other.list_ip_addresses(6, "lan")[0],
    ]
    pools = (topology.pools.public, topology.pools.ipv6)
    back = [route.via for route in topology.get_node("uplink").routes if route.to in pools]
    assert back == [one.list_ip_addresses(4, "transit")[0], other.list_ip_addresses(6, "transit")[0]]


def test_virtual_addresses_lie_in_the_gateways_networks_and_belong_to_no_node(topology: Topology) -> None:
    assert topology.failover
    networks = {network.name: network.prefixes for network in topology.networks}
    held = {host for node in topology.nodes for version in (4, 6) for host in node.list_ip_addresses(version)}
    sides = {"lan": topology.failover.inside, "transit": topology.failover.outside, "servers": topology.failover.servers}
    for name, virtual in sides.items():
        assert [each.network for each in virtual] == list(networks[name])
        assert held.isdisjoint(each.ip for each in virtual)


@pytest.mark.parametrize(("gateway", "probe"), [("nat-1", "probe-1"), ("nat-2", "probe-2")])
def test_each_gateway_has_a_probe_that_knows_no_other_way_there_and_back(topology: Topology, gateway: str, probe: str) -> None:
    inside = topology.get_node(gateway).list_ip_addresses(4, probe) + topology.get_node(gateway).list_ip_addresses(6, probe)
    assert tuple(route.via for route in topology.get_node(probe).routes) == inside
    back = {route.via for route in topology.get_node("uplink").routes if route.to.prefixlen in (32, 64)}
    assert back >= {
        *topology.get_node(gateway).list_ip_addresses(4, "transit"),
        *topology.get_node(gateway).list_ip_addresses(6, "transit"),
    }


def test_an_address_without_a_length_takes_the_networks(topology: Topology) -> None:
    assert topology.get_node("m1").interfaces[0].addresses[0] == IPv4Interface("10.16.0.10/11")


def test_a_gateway_sinks_what_no_member_answers_for_and_finds_members_on_its_link(topology: Topology) -> None:
    routes = topology.get_node("nat-1").routes
    assert NodeRoute(topology.pools.public) in routes
    assert NodeRoute(topology.pools.ipv6, device="lan0") in routes


def test_the_plan_creates_every_node_and_two_ends_for_every_cable(topology: Topology) -> None:
    links = build_plan(topology)["links"]
    assert links.count("netns add ") == len(topology.nodes)
    words = links.split()
    indices = [words[at + 1] for at, word in enumerate(words) if word == "index"]
    assert len(set(indices)) == len(indices) == 2 * links.count("link add ")


def test_a_host_has_a_way_to_neighbours_whose_prefix_it_is_not_in(topology: Topology) -> None:
    (member,) = (node for node in build_plan(topology)["nodes"] if node["name"] == "m1")
    assert "route add 2001:db8:b0::/64 dev eth0\n" in member["batch"]


def test_the_plan_is_the_same_each_time(topology: Topology) -> None:
    assert build_plan(topology) == build_plan(load_topology())


MISTAKES = [
    ('private = "10.16.0.0/12"', "private = 12", "pools.private: expected a string"),
    ('private = "10.16.0.0/12"', 'private = "10.16.0.1/12"', "pools.private: 10.16.0.1/12 has host bits set"),
    ('private = "10.16.0.0/12"', 'private = "fd00::/8"', "pools.private: expected an IPv4 prefix"),
    ('ipv6 = "2001:db8:a0::/44"', "", "pools.ipv6: is missing"),
    ("[networks.transit]\nbridge", "[networks.transit]\nbrigde", "networks.transit.brigde: unknown key, expected one of"),
    ('[networks.transit]\nbridge = "uplink"', '[networks.transit]\nbridge = "up"', "networks.transit.bridge: unknown node up"),
    ("[networks.sync]", "[networks.other]", "nodes.nat-1.interfaces.sync0.network: unknown network sync"),
    ('network = "world"', 'network = "sync"', "nodes.uplink.interfaces.world0.addresses: 203.0.113.1 needs a prefix length"),
    ("interfaces.transit =", "interfaces.t0 =", "nodes.uplink.interfaces.t0: the interface of the node with the bridge"),
    ('["172.31.0.12"]', '["172.31.0.11"]', "nodes.nat-2.interfaces.mgmt0: 172.31.0.11 is already held by nodes.nat-1.inter"),
    ('["172.31.0.12"]', '"172.31.0.12"', "nodes.nat-2.interfaces.mgmt0.addresses: expected a list of strings"),
    ('{ "0.0.0.0/0" = "nat-1", "::/0" = "nat-1" }', '{ "::/0" = "nat-2" }', "nodes.probe-1.routes.::/0: probe-1 has no interface nat-2"),
    ('role = "switch"', 'role = "hub"', "nodes.core.role: unknown role hub"),
    ("[roles.switch]", '[roles.switch]\nforwards = "yes"', "roles.switch.forwards: expected true or false"),
    ('"::/0" = "nat-2" }', '"::/0" = "nat-3" }', "roles.member.routes.::/0: m1 has no interface nat-3, and no node nat-3"),
    ("[nodes.m4]", '[nodes."m 4"]', "nodes.m 4: a name is small letters"),
    ("interfaces.mgmt0 =", "interfaces.management0 =", "nodes.nat-1.interfaces.management0: nat-1.management0 is longer"),
    ("[networks.sync]", "[networks.loose]\nprefixes = []\n[networks.sync]", "networks.loose: a cable has two ends, but 0 interfaces"),
    ("[pools]", "[pools", "not TOML"),
]


@pytest.mark.parametrize(("right", "wrong", "message"), MISTAKES)
def test_a_mistake_is_answered_with_its_key(right: str, wrong: str, message: str) -> None:
    text = DEMO.read_text()
    assert right in text
    with pytest.raises(TopologyError) as refusal:
        parse_topology(text.replace(right, wrong))
    assert str(refusal.value).startswith(message)


def test_an_unknown_node_is_named(topology: Topology) -> None:
    with pytest.raises(KeyError, match="unknown node m9"):
        topology.get_node("m9")


def test_hosts_can_be_asked_for_by_network(topology: Topology) -> None:
    assert topology.get_node("nat-2").list_ip_addresses(4, "management") == (ip_address("172.31.0.12"),)
    assert topology.get_node("portal").list_ip_addresses(6) == ()
    assert ip_network("198.51.100.0/24") == topology.pools.public
