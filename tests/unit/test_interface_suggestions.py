"""Suggestions for a joining machine's interfaces: what it shows counts first, then the names of the group's other gateways."""

from dataclasses import replace
from ipaddress import ip_address, ip_network

from apps.gateways.joining.suggestions import SuggestedInterfaces, TwinNames, suggest_interfaces
from firewall.machine import InterfaceAddress, MachineFacts, MachineInterface

PORTAL, ADDRESS = ip_address("172.31.0.1"), ip_address("172.31.0.11")


def interface(name: str, *addresses: str, up: bool = True, default4: bool = False, default6: bool = False) -> MachineInterface:
    own = tuple(InterfaceAddress(ip_address(each.split("/")[0]), int(each.split("/")[1])) for each in addresses)
    return MachineInterface(name, up, "", "", own, default4, default6)


INSIDE = interface("eno1", "10.16.0.3/12")
OUTSIDE = interface("eno2", "192.0.2.4/29", "2001:db8::4/64", default4=True, default6=True)
MANAGEMENT = interface("eno3", "172.31.0.11/24")
SPARE = interface("eno4")


def suggest(*interfaces: MachineInterface, **more: object) -> SuggestedInterfaces:
    facts = MachineFacts("nat-1", "", "", "", "", True, True, 0, interfaces)
    return suggest_interfaces(facts, address=ADDRESS, portal=PORTAL, **more)  # type: ignore[arg-type]  # keyword arguments of the tests


def test_the_portal_came_in_by_management_and_the_default_route_leaves_by_wan() -> None:
    found = suggest(INSIDE, OUTSIDE, MANAGEMENT, SPARE)
    assert (found.lan, found.wan, found.management, found.sync) == ("eno1", "eno2", "eno3", "")
    assert found.networks == (ip_network("172.31.0.0/24"),)


def test_a_default_route_over_the_management_does_not_make_it_the_uplink() -> None:
    found = suggest(INSIDE, interface("eno3", "172.31.0.11/24", default4=True), interface("eno2", "192.0.2.4/29", default6=True))
    assert (found.wan, found.management) == ("eno2", "eno3")


def test_an_address_in_a_pool_of_the_members_tells_the_inside() -> None:
    other = interface("dmz0", "10.99.0.1/24")
    assert suggest(other, INSIDE, OUTSIDE, MANAGEMENT).lan == "dmz0"
    assert suggest(other, INSIDE, OUTSIDE, MANAGEMENT, pools=[ip_network("10.16.0.0/12")]).lan == "eno1"


def test_twins_tell_the_names_that_no_address_tells() -> None:
    twin = TwinNames("eno9", "eno2", "eno3", "eno4")
    bare = [replace(each, addresses=(), default4=False, default6=False) for each in (OUTSIDE, interface("eno9"), SPARE)]
    found = suggest(*bare, MANAGEMENT, twins=[twin])
    assert (found.lan, found.wan, found.management, found.sync) == ("eno9", "eno2", "eno3", "eno4")


def test_a_twins_networks_come_before_the_own_and_the_portal_is_always_in_one() -> None:
    elsewhere = ip_network("198.51.100.0/24")
    assert suggest(MANAGEMENT, twin_networks=[elsewhere]).networks == (elsewhere, ip_network("172.31.0.1/32"))
    assert suggest(interface("eno3", "172.31.0.11/29")).networks == (ip_network("172.31.0.8/29"), ip_network("172.31.0.1/32"))


def test_nothing_is_suggested_twice_or_made_up() -> None:
    alone = suggest(interface("eth0", "172.31.0.11/24", default4=True))
    assert (alone.lan, alone.wan, alone.management, alone.sync) == ("", "", "eth0", "")
    assert suggest() == SuggestedInterfaces("", "", "", "", (ip_network("172.31.0.1/32"),))
