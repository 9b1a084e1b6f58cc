"""A gateway profile from a row to the kernels of both gateways: applied, monitored, corrected, removed."""

import pytest

from apps.deployments.models import GatewayState, Rollout
from apps.deployments.services import reconcile
from apps.gateways.group_settings import change_profile, get_profile
from apps.gateways.services import collect_counters
from apps.network.models import GatewayGroup
from firewall.policy import Profile
from lab.lab import Lab
from tests import factories
from tests.whole.system import GATEWAYS, INTERNET, conversation

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

NETFILTER = "net.netfilter.nf_conntrack_"
VALUES = {name: getattr(Profile(), name) for name in Profile.__dataclass_fields__}


def save_profile(network: factories.Network, *, managed: bool = True, **changes: int) -> None:
    version = get_profile(network.group).version
    change_profile(group=network.group, version=version, managed=managed, by=network.admin, **VALUES | changes)


def value(lab: Lab, gateway: str, name: str) -> str:
    return lab.run(gateway, ["cat", f"/proc/sys/{name.replace('.', '/')}"]).stdout.strip()


def by_hand(lab: Lab, gateway: str, name: str, given: str) -> None:
    lab.run(gateway, ["sysctl", "-q", "-w", f"{name}={given}"])


def longest(lab: Lab) -> int:
    """Return the longest remaining timeout of all tracked TCP connections on both gateways, in seconds."""
    lines = [line.split() for each in GATEWAYS for line in lab.run(each, ["conntrack", "-L", "-p", "tcp"]).stdout.splitlines()]
    return max(int(fields[2]) for fields in lines if "ESTABLISHED" in fields)


def read_drift(network: factories.Network) -> list[list[str]]:
    kept = GatewayState.objects.get(gateway__name="nat-1").drift
    return kept["sysctls"] if kept else []


def test_a_profile_reaches_both_kernels_and_stays_until_nobody_wants_it(lab: Lab, network: factories.Network) -> None:
    reconcile(network.group)
    before = {name: value(lab, "nat-1", f"{NETFILTER}{name}") for name in ("tcp_timeout_established", "tcp_loose", "max")}
    with conversation(lab, "m1", INTERNET, 80) as goes_on:
        assert 300 < longest(lab) <= 7_440  # the ruleset's own timeout
        save_profile(network, tcp_established=300)
        rollout = reconcile(network.group)
        assert rollout and rollout.state == Rollout.State.CONFIRMED
        assert goes_on() and longest(lab) <= 300  # the open connection too, from its next packet on
    for gateway in GATEWAYS:
        assert value(lab, gateway, f"{NETFILTER}tcp_timeout_established") == "300"
        assert value(lab, gateway, f"{NETFILTER}tcp_loose") == "1"
        assert value(lab, gateway, "net.ipv4.ip_forward") == value(lab, gateway, "net.ipv6.conf.all.forwarding") == "1"
    assert collect_counters(network.gateways[0])
    kernel = GatewayState.objects.get(gateway__name="nat-1").kernel or {}
    assert kernel["held"][f"{NETFILTER}max"] == before["max"]
    assert kernel["untuned"] == dict.fromkeys((f"{NETFILTER}max", f"{NETFILTER}buckets"), "EACCES")

    name = f"{NETFILTER}udp_timeout_stream"
    GatewayGroup.objects.update(heals_drift=False)
    network.group.refresh_from_db()
    by_hand(lab, "nat-1", name, "17")
    assert reconcile(network.group, cause="schedule") is None
    assert read_drift(network) == [[name, "300", "17"]] and value(lab, "nat-1", name) == "17"
    GatewayGroup.objects.update(heals_drift=True)
    network.group.refresh_from_db()
    assert reconcile(network.group, cause="schedule")
    assert value(lab, "nat-1", name) == "300" and not read_drift(network)

    save_profile(network, managed=False)
    rollout = reconcile(network.group)
    assert rollout and rollout.state == Rollout.State.CONFIRMED
    assert {each: value(lab, "nat-1", f"{NETFILTER}{each}") for each in before} == before
    assert reconcile(network.group, cause="schedule") is None
