"""Bans and the allow list, from rows to packets: directions, precedence, cut connections, and ends that need no portal."""

from ipaddress import ip_address, ip_network

import pytest

from apps.bans.allow_list import allow_prefix, remove_entry
from apps.bans.models import Ban, BanHits, BanList
from apps.bans.services import ban_prefix
from apps.deployments.services import reconcile
from apps.gateways.services import collect_counters
from apps.nat.services import add_forward
from apps.network.models import GatewayGroup
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, choose_end, conversation, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

PUBLIC, CALLER, INTERNET6, GATEWAY = "198.51.100.7", "203.0.113.66", "2001:db8:cafe::10", "192.0.2.3"


@pytest.fixture
def own(network: factories.Network) -> BanList:
    """A ban list. Members can reach the internet, and the internet can reach m1's forward."""
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=network.admin)
    return BanList.objects.create(name="Own")


def comes_in(lab: Lab, source: str = CALLER) -> bool:
    return reaches(lab, "internet", PUBLIC, 8443, source=source) is not None


def goes_out(lab: Lab, to: str = CALLER) -> bool:
    return reaches(lab, "m1", to, 80) is not None


@pytest.mark.parametrize(("direction", "incoming", "outgoing"), [("in", False, True), ("out", True, False), ("both", False, False)])
def test_a_ban_drops_connections_in_its_direction_alone(
    lab: Lab, network: factories.Network, own: BanList, direction: str, incoming: bool, outgoing: bool
) -> None:
    ban_prefix(list=own, prefix="203.0.113.64/26", direction=direction, author=None)
    reconcile(network.group)
    assert (comes_in(lab), goes_out(lab)) == (incoming, outgoing)
    assert (comes_in(lab, INTERNET), goes_out(lab, INTERNET)) == (True, True)
    assert all(collect_counters(gateway) for gateway in network.gateways)
    assert {(hits.direction, str(hits.prefix)) for hits in BanHits.objects.all()} == {(direction, "203.0.113.64/26")}


@pytest.mark.parametrize("allowed", ["203.0.113.66/32", "203.0.113.64/26", "203.0.113.0/24"])
def test_the_allow_list_wins_over_wider_and_narrower_bans(lab: Lab, network: factories.Network, own: BanList, allowed: str) -> None:
    for prefix in ("203.0.113.0/24", "203.0.113.64/26", CALLER):
        ban_prefix(list=own, prefix=prefix, author=None)
    reconcile(network.group)
    assert (comes_in(lab), goes_out(lab)) == (False, False)
    entry = allow_prefix(prefix=allowed, author=None)
    reconcile(network.group)
    assert (comes_in(lab), goes_out(lab)) == (True, True)
    assert comes_in(lab, INTERNET) == (ip_address(INTERNET) in ip_network(allowed))
    remove_entry(entry=entry, by=None)
    reconcile(network.group)
    assert (comes_in(lab), goes_out(lab)) == (False, False)


def test_the_allow_list_wins_in_ipv6_too(lab: Lab, network: factories.Network, own: BanList) -> None:
    ban_prefix(list=own, prefix="2001:db8:cafe::/48", direction="out", author=None)
    reconcile(network.group)
    assert not goes_out(lab, INTERNET6)
    allow_prefix(prefix=INTERNET6, author=None)
    reconcile(network.group)
    assert goes_out(lab, INTERNET6)


def test_a_ban_cuts_in_its_direction_and_spares_what_is_allowed(lab: Lab, network: factories.Network, own: BanList) -> None:
    entry = allow_prefix(prefix=INTERNET, author=None)
    reconcile(network.group)
    with (
        conversation(lab, "m1", "203.0.113.11", 80) as out,
        conversation(lab, "m2", INTERNET, 80) as to_allowed,
        conversation(lab, "internet", PUBLIC, 8443) as from_allowed,
    ):
        ban_prefix(list=own, prefix="203.0.113.0/24", direction="in", author=None)
        reconcile(network.group)
        assert (out(), to_allowed(), from_allowed()) == (True, True, True)
        Ban.objects.update(direction="both")
        reconcile(network.group)
        assert (out(), to_allowed(), from_allowed()) == (False, True, True)
        Ban.objects.update(direction="out")
        remove_entry(entry=entry, by=None)
        reconcile(network.group)
        assert (to_allowed(), from_allowed()) == (False, True)


def test_an_allow_entry_ends_without_the_portal_and_the_ban_works_again(lab: Lab, network: factories.Network, own: BanList) -> None:
    ends = choose_end(lambda: reconcile(network.group))
    ban_prefix(list=own, prefix="203.0.113.0/24", author=None)
    allow_prefix(prefix=CALLER, expires=ends, author=None)
    reconcile(network.group)
    assert comes_in(lab)
    wait_for(lambda: not comes_in(lab))


def test_a_ban_ends_without_the_portal(lab: Lab, network: factories.Network, own: BanList) -> None:
    ends = choose_end(lambda: reconcile(network.group))
    ban_prefix(list=own, prefix=CALLER, direction="in", expires=ends, author=None)
    reconcile(network.group)
    assert not comes_in(lab)
    wait_for(lambda: comes_in(lab))


def ping(lab: Lab, source: str) -> bool:
    """Return whether the gateway answers."""
    return lab.run("internet", ["ping", "-c", "1", "-W", "1", "-I", source, GATEWAY], check=False).returncode == 0


def list_tracked(lab: Lab, source: str) -> str:
    """Return the tracked connections from this source."""
    return lab.run("nat-1", ["conntrack", "-L", "-s", source], check=False).stdout.strip()


def test_flood_mode_keeps_banned_sources_out_of_connection_tracking(lab: Lab, network: factories.Network, own: BanList) -> None:
    ban_prefix(list=own, prefix="203.0.113.64/26", author=None)
    ban_prefix(list=own, prefix="203.0.113.11", author=None)
    allow_prefix(prefix="203.0.113.11", author=None)
    reconcile(network.group)
    assert ping(lab, CALLER)
    assert CALLER in list_tracked(lab, CALLER)
    lab.run("nat-1", ["conntrack", "-F"])
    GatewayGroup.objects.update(flood_mode=True)
    network.group.refresh_from_db()
    reconcile(network.group)
    assert (ping(lab, CALLER), comes_in(lab), list_tracked(lab, CALLER)) == (False, False, "")
    assert (ping(lab, INTERNET), ping(lab, "203.0.113.11"), comes_in(lab, "203.0.113.11")) == (True, True, True)
    assert reconcile(network.group) is None, "both gateways were confirmed over management"
    collect_counters(network.gateways[0])
    assert BanHits.objects.get(gateway=network.gateways[0]).packets >= 2


def test_a_comment_that_is_worded_anew_keeps_the_kernels_counter(lab: Lab, network: factories.Network, own: BanList) -> None:
    ban_prefix(list=own, prefix=CALLER, comment="scans", author=None)
    reconcile(network.group)
    assert not comes_in(lab)
    counted = lab.run("nat-1", ["nft", "get", "element", "inet", "netzwart", "bans4_32", f"{{ {CALLER} }}"]).stdout
    assert "packets 0" not in counted
    Ban.objects.update(comment="spam")
    for cause in ("change", "schedule"):
        assert reconcile(network.group, cause=cause) is None
    assert lab.run("nat-1", ["nft", "get", "element", "inet", "netzwart", "bans4_32", f"{{ {CALLER} }}"]).stdout == counted
