"""A gateway's probe in its ruleset: packets of its own, which show whether any get through.

They pass the same chains as a member's packets, and leave by a NAT mapping among the members' own; but the probe is in no set of
members, so its traffic counts for no member, and no member can take its address. Its rules stand behind the members', so they cost
members nothing. If a responder is known, it alone is let in: by destination NAT over IPv4, as by an opening over IPv6.
"""

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address

from firewall import names
from firewall.addresses import PRIVATE
from firewall.policy import Address, GatewaySpec, Interfaces, PolicyError, ProbeSpec, ResponderSpec
from firewall.ruleset import Count, DnatTo, Element, Elements, Field, Match, Part, Rule, Verdict, VerdictAction
from firewall.sets import list_alternative_sets

COMMENT = "probe"


def check_probe(gateway: str, at: Interfaces, probe: ProbeSpec) -> None:
    """Raise PolicyError when the probe proves nothing, or cannot be told from the rest of the gateway."""
    names.validate_interface(probe.interface)
    if probe.interface in (at.lan, at.wan, at.management, at.sync):
        raise PolicyError(f"probe of {gateway}: {probe.interface} is an interface of the gateway already; give the probe one of its own")
    if (probe.source4 is None) != (probe.public4 is None):
        raise PolicyError(f"probe of {gateway}: IPv4 needs a private source and the public address that it leaves as, or neither")
    if probe.source4 and not any(probe.source4 in prefix for prefix in PRIVATE):
        raise PolicyError(f"probe of {gateway}: {probe.source4} is not private, so missing source NAT would go unnoticed")
    if probe.public4 and any(probe.public4 in prefix for prefix in PRIVATE):
        raise PolicyError(f"probe of {gateway}: {probe.public4} is private, so no answer would come back to it")


def check_responder(gateway: str, responder: ResponderSpec) -> None:
    """Raise PolicyError for a port that is none."""
    if not 0 < responder.port < 65536:
        raise PolicyError(f"probe of {gateway}: port {responder.port} of the responder is not between 1 and 65535")


def check_probe_collisions(gateway: GatewaySpec, elements: Mapping[str, Elements]) -> None:
    """Raise PolicyError, naming the address, when a member has one of the probe's. The probe's own mapping may be among the elements."""
    probe = gateway.probe
    if probe is None:
        return
    for source in _list_sources(probe):
        if holder := _find_holder(source, elements):
            raise PolicyError(f"probe of {gateway.name}: its source {source} is held by a member as {holder}; give one of them another")
    if probe.source4 and probe.public4:
        _check_public(gateway.name, probe.source4.packed, probe.public4, elements)


def _check_public(gateway: str, source: bytes, public: IPv4Address, elements: Mapping[str, Elements]) -> None:
    """Raise PolicyError when members use the probe's public address.

    Packets to it come to this gateway, whichever gateway carries the members, so members cannot use it.
    """
    shared, leaves = elements.get("snat4", {}), Element(public.packed)
    others = [elements.get(name, {}).values() for name in list_alternative_sets("snat4")]
    many = list(shared.values()).count(leaves) > (shared.get(source) == leaves)  # counted in C, because there are as many as members
    if many or any(element.value[:4] == public.packed for each in others for element in each):
        raise PolicyError(f"probe of {gateway}: members leave as its public address {public} too; give the probe one of its own")
    if [key for key in elements.get("forward4", {}) if key[:4] == public.packed]:
        raise PolicyError(f"probe of {gateway}: a forward leads from its public address {public}; give the probe one of its own")


def _list_sources(probe: ProbeSpec | None) -> tuple[Address, ...]:
    return tuple(source for source in (probe.source4, probe.source6) if source is not None) if probe else ()


def _find_holder(address: Address, elements: Mapping[str, Elements]) -> str:
    """Return the member's address or prefix that this address lies in, or ""."""
    if not isinstance(address, IPv6Address):
        return str(address) if address.packed in elements.get("up4", {}) else ""
    for name, held in elements.items():
        if name.startswith("up6_"):
            length = int(name.removeprefix("up6_"))
            start = int(address) >> (128 - length) << (128 - length)
            if start.to_bytes(16) in held:
                return f"{IPv6Address(start)}/{length}"
    return ""


def list_counters(gateway: GatewaySpec) -> frozenset[str]:
    """Return the names of the counters of the probe's own packets, for each direction and family."""
    return frozenset(get_probe_counter_name(way, source.version) for way in ("up", "down") for source in _list_sources(gateway.probe))


def get_probe_counter_name(way: str, family: int) -> str:
    """Return the name of the counter of the probe's packets in one direction, "up" or "down"; family 4 or 6."""
    return f"probe_{way}{family}"


def list_probe_paths(gateway: GatewaySpec) -> tuple[tuple[tuple[str, str], str], ...]:
    """Return the pairs of interfaces between which the probe's packets are forwarded, each with its chain."""
    if gateway.probe is None:
        return ()
    inside, wan = gateway.probe.interface, gateway.interfaces.wan
    return ((inside, wan), "up"), ((wan, inside), "down")


def iter_new_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rules by which the probe may begin a connection to the uplink, with its own source, and the responder one to the probe
    over IPv6. Over IPv4, destination NAT has let it in.
    """
    wan = _match_interface(Field.OIFNAME, gateway.interfaces.wan)
    for interface, source, _ in _iter_families(gateway.probe, Field.IP_SADDR, Field.IP6_SADDR):
        yield _make_probe_rule(_match_interface(Field.IIFNAME, interface), wan, source, Verdict(VerdictAction.RETURN))
    probe, responder = gateway.probe, gateway.settings.responder
    if probe and responder and probe.source6 and responder.address6:
        ways = _match_interface(Field.IIFNAME, gateway.interfaces.wan), _match_interface(Field.OIFNAME, probe.interface)
        ends = Match(Field.IP6_SADDR, (responder.address6,)), Match(Field.IP6_DADDR, (probe.source6,))
        yield _make_probe_rule(*ways, *ends, Match(Field.TCP_DPORT, (responder.port,)), Verdict(VerdictAction.RETURN))


def iter_redirects(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rule that leads the responder's connections to the probe's public address on to the probe itself.

    For a chain that sees the uplink's packets alone.
    """
    probe, responder = gateway.probe, gateway.settings.responder
    if probe and responder and probe.source4 and probe.public4 and responder.address4:
        ends = Match(Field.IP_SADDR, (responder.address4,)), Match(Field.IP_DADDR, (probe.public4,))
        yield _make_probe_rule(*ends, Match(Field.TCP_DPORT, (responder.port,)), DnatTo(probe.source4, responder.port))


def iter_probe_up_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rules that count and accept the probe's packets on their way out."""
    for interface, source, family in _iter_families(gateway.probe, Field.IP_SADDR, Field.IP6_SADDR):
        yield _make_probe_rule(
            _match_interface(Field.IIFNAME, interface), source, Count(get_probe_counter_name("up", family)), Verdict(VerdictAction.ACCEPT)
        )


def iter_probe_down_rules(gateway: GatewaySpec) -> Iterator[Rule]:
    """Yield the rules that count and accept the answers."""
    for interface, source, family in _iter_families(gateway.probe, Field.IP_DADDR, Field.IP6_DADDR):
        yield _make_probe_rule(
            _match_interface(Field.OIFNAME, interface), source, Count(get_probe_counter_name("down", family)), Verdict(VerdictAction.ACCEPT)
        )


def _iter_families(probe: ProbeSpec | None, field4: Field, field6: Field) -> Iterator[tuple[str, Match, int]]:
    """Yield the interface, the match of the probe's address, and the family, for each probed family."""
    if probe and probe.source4:
        yield probe.interface, Match(field4, (probe.source4,)), 4
    if probe and probe.source6:
        yield probe.interface, Match(field6, (probe.source6,)), 6


def _match_interface(field: Field, interface: str) -> Match:
    return Match(field, (interface,))


def _make_probe_rule(*parts: Part) -> Rule:
    return Rule(parts, COMMENT)
