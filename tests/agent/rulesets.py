"""Small rulesets to deploy, as the portal would compile them."""

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Network

from firewall import digest
from firewall.compile import compile_policy
from firewall.diff import Delta, diff
from firewall.policy import (
    AllowEntrySpec,
    BanSpec,
    ForwardSpec,
    GatewaySpec,
    Interfaces,
    Management,
    NatMappingSpec,
    Policy,
    PrefixOwner,
    TransportProtocol,
)
from firewall.ruleset import Ruleset, drop_expired
from firewall.wire import Apply

GATEWAY = GatewaySpec("gw1", Interfaces("lan", "wan", "mgmt", "sync"), Management((IPv4Network("192.0.2.0/24"),)))


def network(
    members: int,
    *bans: BanSpec,
    gateway: GatewaySpec = GATEWAY,
    forwards: bool = True,
    allowed: tuple[AllowEntrySpec, ...] = (),
    first_owner: int = 1_000_000,
) -> Ruleset:
    """Compile a network of this many members, each with an address, a prefix, a mapping and, unless `forwards` is false, a
    forward.

    first_owner: id of the first holding, the others follow; 0: the elements have no owners.
    """
    private = [IPv4Address(f"10.1.{each // 250}.{each % 250 + 1}") for each in range(members)]
    public = IPv4Address("198.51.100.7")
    prefixes = [IPv6Network(f"2001:db8:{each:x}::/64") for each in range(members)]
    return compile_policy(
        Policy(
            gateway,
            addresses=tuple(private),
            prefixes=tuple(prefixes),
            owners=(*_owners(private, first_owner), *_owners(prefixes, 2 * first_owner)),
            mappings=tuple(NatMappingSpec(address, public) for address in private),
            forwards=tuple(
                ForwardSpec(at, TransportProtocol.TCP, public, 2000 + at, address, 22) for at, address in enumerate(private) if forwards
            ),
            bans=bans,
            allowed=allowed,
        )
    )


def _owners(held: Sequence[IPv4Address | IPv6Network], first: int) -> Iterator[PrefixOwner]:
    return (PrefixOwner(each, at) for at, each in enumerate(held, first) if first)


def ban(prefix: str, comment: str = "", expires: int = 0) -> BanSpec:
    """Return a ban of this IPv4 prefix."""
    return BanSpec(0, IPv4Network(prefix), comment, expires)


def key(address: str) -> bytes:
    """Return the key of an address in a set."""
    return IPv4Address(address).packed


def text_of(ruleset: Ruleset, now: int = 0) -> str:
    """Return the ruleset's digest at a time."""
    return digest.format_digest(digest.digest_ruleset(drop_expired(ruleset, now)))


def whole(ruleset: Ruleset, *, token: int, now: int, within: int = 60) -> Apply:
    """Return the request to apply the whole ruleset."""
    return Apply(token, now, "", text_of(ruleset, now), None, ruleset, within)


def step(before: Ruleset, after: Ruleset, *, token: int, now: int, within: int = 60) -> Apply:
    """Return the request to apply the difference of two rulesets."""
    return Apply(token, now, text_of(before, now), text_of(after, now), delta(before, after), None, within)


def delta(before: Ruleset, after: Ruleset) -> Delta:
    """Return the difference of two rulesets."""
    return diff(before, after)
