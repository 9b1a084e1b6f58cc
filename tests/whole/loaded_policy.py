"""A policy loaded into both gateways of the lab as nft text: for tests of packets, without agents and portal."""

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Network

from firewall.compile import compile_policy
from firewall.policy import GatewayGroupSettings, GatewaySpec, Interfaces, Management, NatMappingSpec, Policy
from firewall.render import render
from lab.connect import NoAnswerError
from lab.lab import Lab
from tests.whole.system import GATEWAYS

PUBLICS = (IPv4Network("198.51.100.0/24"),)
GATEWAY = GatewaySpec(
    "nat-1",
    Interfaces("lan0", "wan0", "mgmt0", "sync0"),
    Management((IPv4Network("172.31.0.0/24"),)),
    settings=GatewayGroupSettings(publics=PUBLICS),
)
M1, M2, M3, M4 = (IPv4Address(f"10.16.0.{host}") for host in (10, 11, 12, 13))
PUBLIC, ANOTHER = IPv4Address("198.51.100.7"), IPv4Address("198.51.100.8")
# m1 and m2 have a public address, m3 has none, m4 is not a member
MEMBERS = Policy(
    GATEWAY,
    addresses=(M1, M2, M3),
    prefixes=tuple(IPv6Network(f"2001:db8:a0:{host}::/64") for host in (10, 11, 12)),
    mappings=(NatMappingSpec(M1, PUBLIC), NatMappingSpec(M2, ANOTHER)),
)


def load(lab: Lab, policy: Policy) -> None:
    """Replace the rules of both gateways by this policy, and flush connection tracking."""
    for name in GATEWAYS:
        text = render(compile_policy(replace(policy, gateway=replace(policy.gateway, name=name))), now=0)
        lab.run(name, ["nft", "-f", "-"], text=f"flush ruleset\n{text}")
        lab.run(name, ["conntrack", "-F"])


def why_not(lab: Lab, node: str, protocol: str, host: str, port: int, *, timeout: float = 3) -> str:
    """Return why no answer came: “refused”, “timed out”, or the kernel's message; "" if one came."""
    try:
        lab.connect(node, protocol, host, port, timeout=timeout)
    except NoAnswerError as error:
        return str(error)
    return ""
