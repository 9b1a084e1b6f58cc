"""Of a table that another program has changed, only the sets that it may have changed are read again, and all of them.

What is known about the sets is wrong in these tests, so what comes back says which of them were believed.
"""

import pytest

from firewall.diff import diff
from firewall.ruleset import PLAIN, Elements
from gateway.kernel import KernelTable
from tests.agent.conftest import restrict_to_gateways
from tests.agent.gateways import OnKernel, clock
from tests.agent.requests import deploy, runs
from tests.agent.rulesets import ban, key, network, step, text_of, whole

pytestmark = restrict_to_gateways("kernel")

NETWORK = network(3, ban("203.0.113.8/32"))
WRONG: Elements = {key("192.0.2.1"): PLAIN}
OTHERS = "add table inet other; add set inet other up4 { type ipv4_addr; }; add element inet other up4 { 10.0.0.1 }"


def list_read_sets(gateway: OnKernel) -> set[str]:
    """Return the sets that are read again."""
    found = gateway.space.do(gateway.table.read_again, clock(), dict.fromkeys(NETWORK.sets, WRONG))
    return {name for name, elements in found.elements.items() if elements != WRONG}


@pytest.mark.parametrize(
    ("meddling", "sets"),
    [
        ("add element inet netzwart up4 { 10.0.0.7 }", {"up4"}),
        ("delete element inet netzwart bans4_32 { 203.0.113.8 }; add element inet netzwart bans4_32 { 203.0.113.9 }", {"bans4_32"}),
        ("flush set inet netzwart up6_64; add element inet netzwart down4 { 10.0.0.7 }", {"up6_64", "down4"}),
        ("add set inet netzwart odd { type ether_addr; }", {"odd"}),
        ("add rule inet netzwart forward accept", set()),
        ("add counter inet netzwart odd", set()),
        (OTHERS, set()),
        ("", set()),
    ],
)
def test_only_what_others_have_changed_is_read_again(gateway: OnKernel, meddling: str, sets: set[str]) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft(OTHERS)
    assert runs(gateway) == text_of(NETWORK)
    gateway.nft(meddling)
    gateway.nft("add table inet another")
    assert list_read_sets(gateway) == sets


def test_a_set_that_we_have_changed_too_is_read_with_the_others(gateway: OnKernel) -> None:
    before = network(2)
    deploy(gateway, whole(before, token=1, now=clock()))
    assert runs(gateway) == text_of(before)
    gateway.space.do(gateway.table.commit, diff(before, network(3)), clock())
    gateway.nft("add element inet netzwart up4 { 10.0.0.7 }")
    found = gateway.space.do(gateway.table.read_again, clock(), network(3).elements)
    assert found.elements == {**network(3).elements, "up4": {**network(3).elements["up4"], key("10.0.0.7"): PLAIN}}


def test_a_table_that_was_made_anew_is_read_whole(gateway: OnKernel) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft("delete table inet netzwart; add table inet netzwart; add set inet netzwart up4 { type ipv4_addr; }")
    found = gateway.space.do(gateway.table.read_again, clock(), NETWORK.elements)
    assert found.elements == {"up4": {}}


def test_after_more_notifications_than_there_is_room_for_everything_is_read(gateway: OnKernel) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft(OTHERS)
    for part in range(40):
        crowd = ", ".join(f"10.{part}.{at >> 8}.{at & 255}" for at in range(4_000))
        gateway.nft(f"add element inet other up4 {{ {crowd} }}")
    assert list_read_sets(gateway) == set(NETWORK.sets)


def test_a_table_of_which_nothing_is_known_yet_is_read_whole(gateway: OnKernel) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.space.do(gateway.table.close)
    gateway.table = gateway.space.do(KernelTable)
    assert list_read_sets(gateway) == set(NETWORK.sets)


def test_two_changes_by_hand_are_found_one_after_the_other_and_the_portal_heals_both(gateway: OnKernel) -> None:
    deploy(gateway, whole(NETWORK, token=1, now=clock()))
    gateway.nft("delete element inet netzwart up4 { 10.1.0.2 }")
    assert runs(gateway) != text_of(NETWORK)
    gateway.nft("add element inet netzwart bans4_32 { 203.0.113.9 }")
    deploy(gateway, whole(NETWORK, token=2, now=clock()))
    assert runs(gateway) == text_of(NETWORK)
    assert gateway.space.do(gateway.table.read, clock()).elements == NETWORK.elements
    later = network(4, ban("203.0.113.8/32"))
    deploy(gateway, step(NETWORK, later, token=3, now=clock()))
    assert runs(gateway) == text_of(later)
