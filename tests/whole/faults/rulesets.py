"""Faults of a gateway's ruleset: what others change there, and rollouts that fail or wait."""

from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from typing import Final

from apps.nat.services import add_forward
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.whole.faults.injected_fault import FORWARDING, Cause, InjectedFault, run_commands
from tests.whole.faults.kernels import send
from tests.whole.faults.scene import FaultScene
from tests.whole.faults.wordings import NOT_FORWARDED, say_no_packets, say_no_packets_on_standby, say_nothing_known
from tests.whole.test_health_faults import FAR4
from workers import deploy

LOSE_EACH_NINETEENTH: Final = " ".join(
    f"meta nfproto ipv{family} meta l4proto {kind} numgen inc mod 19 == 0 drop;"
    for family, echoes in ((4, "icmp"), (6, "ipv6-icmp"))
    for kind in (echoes, f"!= {echoes}")
)
"""Counted, not drawn by lot: chance would leave a family without enough losses now and then. Echoes are counted by themselves, since of
the connections' packets only the first one is missed: if a whole probe had twice nineteen packets, it would be the same two each time,
perhaps of those that nobody misses.
"""


def load_foreign_table(node: str, chain: str) -> Cause:
    """Load a table of another program with this chain."""
    return run_commands(node, f"nft 'table inet foreign {{ chain c {{ {chain} }}; }}'", "nft delete table inet foreign")


def change_by_hand(line: str) -> Cause:
    """Run nft on nat-1; in the end, put it right as the button of its page does."""

    @contextmanager
    def cause(scene: FaultScene) -> Iterator[None]:
        scene.run("nat-1", f"nft '{line}'")
        try:
            yield
        finally:
            deploy.reconcile(scene.network.admin.pk, force=True)

    return cause


@contextmanager
def break_rollout(scene: FaultScene) -> Iterator[None]:
    """Let nat-1 answer no new connection while a change is on trial there, so that it goes back."""
    scene.run("nat-1", "nft 'table inet deaf { chain c { type filter hook input priority -500; tcp flags & (syn | ack) == syn drop; }; }'")
    try:
        _forward(scene)
        GatewayGroup.objects.update(confirm_within=5)  # nobody waits longer than needed until it goes back
        deploy.reconcile(scene.network.admin.pk)
        GatewayGroup.objects.update(confirm_within=30)
        scene.run("nat-1", "nft delete table inet deaf")
        yield
    finally:
        deploy.reconcile(scene.network.admin.pk, force=True)


def _forward(scene: FaultScene) -> None:
    holding = scene.network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, by=scene.network.admin)


@contextmanager
def wait_for_approval(scene: FaultScene) -> Iterator[None]:
    """Change from where a gateway may be managed, which a second person has to approve."""
    _manage_from(scene, "172.31.99.0/24")
    try:
        yield
    finally:
        _manage_from(scene, "172.31.0.0/24")


def _manage_from(scene: FaultScene, network: str) -> None:
    gateway = Gateway.objects.get(name="nat-1")
    gateway.management_networks = [ip_network(network)]
    with factories.written_by(scene.network.admin):
        gateway.save(update_fields=["management_networks"])


RULESETS: Final = (
    InjectedFault(
        "another program drops connections from outside alone",
        load_foreign_table("nat-1", 'type filter hook forward priority -10; iifname "wan0" ct state new drop;'),
        tuple(
            rf"^No IPv{family} connection from outside comes in through nat-1\. {affected} .* no answer within 300 ms\. Check the provider"
            for family, affected in ((4, "Members’ port forwards and pinholes may not be"), (6, "If it took over, members’ port forwards"))
        ),
    ),
    InjectedFault(
        "another program drops all packets before they are routed",
        load_foreign_table("nat-1", "type filter hook prerouting priority -300; iifname { lan0, probe0, wan0 } drop;"),
        (
            say_no_packets("nat-1", 4, NOT_FORWARDED),
            say_no_packets_on_standby("nat-1", 6),
        ),
        FORWARDING,
    ),
    InjectedFault(
        "another program forwards nothing",
        load_foreign_table("nat-2", "type filter hook forward priority -10; policy drop;"),
        (
            say_no_packets("nat-2", 6, NOT_FORWARDED),
            say_no_packets_on_standby("nat-2", 4),
        ),
        FORWARDING,
    ),
    InjectedFault(
        "5 % of the packets are lost",
        load_foreign_table("nat-1", f"type filter hook forward priority -10; {LOSE_EACH_NINETEENTH}"),
        (
            r"^nat-1 loses IPv4 packets\. \d+ of the last \d+ probe packets",
            r"^nat-1 loses IPv6 packets\. \d+ of the last \d+ probe packets",
        ),
        FORWARDING,
    ),
    InjectedFault(
        "ruleset flushed by hand",
        change_by_hand("flush ruleset"),
        (
            r"^On nat-1 the whole table was deleted, .*\. Nothing is translated, banned or refused there\.",
            say_nothing_known(4, "its ruleset has no probe counters for this family yet"),
            say_nothing_known(6, "its ruleset has no probe counters for this family yet"),
        ),
        FORWARDING,
        traffic=send("m1", f"ping -q -i 0.002 -c 100 -W 1 {FAR4}"),
    ),
    InjectedFault(
        "chain emptied by hand",
        change_by_hand("flush chain inet netzwart forward"),
        (
            r"^nat-1 was changed by hand, .*\. 1 chain differs from the committed one \(forward\)\.",
            say_no_packets("nat-1", 4, NOT_FORWARDED),
            say_no_packets_on_standby("nat-1", 6),
        ),
        FORWARDING,
    ),
    InjectedFault(
        "element added by hand",
        change_by_hand("add element inet netzwart snat4 { 10.16.0.99 : 198.51.100.9 }"),
        (r"^nat-1 was changed by hand, .*\. 1 element should not be there\.",),
    ),
    InjectedFault(
        "element deleted by hand",
        change_by_hand("delete element inet netzwart snat4 { 10.16.0.13 }"),
        (r"^nat-1 was changed by hand, .*\. 1 element is missing\.",),
    ),
    InjectedFault(
        "public addresses of all members deleted by hand",
        change_by_hand("flush map inet netzwart snat4"),
        (
            r"^nat-1 was changed by hand, .*\. 6 elements are missing\.",
            say_no_packets("nat-1", 4, "Source NAT is missing"),
            r"^nat-1 has no public address for some members’ packets\.",
        ),
        FORWARDING,
        traffic=send("m1", f"ping -q -i 0.002 -c 200 -W 1 {FAR4}"),
    ),
    InjectedFault(
        "a change locks everybody out of a gateway",
        break_rollout,
        (r"^r\d+ did not reach every gateway\. nat-1: It could not be reached after the change\. It went back",),
    ),
    InjectedFault(
        "a change waits for a second person", wait_for_approval, (r"^A change of management on 1 gateway waits for a second person\.",)
    ),
)
