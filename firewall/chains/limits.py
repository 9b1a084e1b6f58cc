"""Chains of the connection limits: they look at new connections alone, so that no limit ever ends an existing one."""

from ipaddress import collapse_addresses

from firewall import limit_sets
from firewall.chains.rule_helpers import DROP, RETURN, make_rule, match_field, match_prefix
from firewall.chains.used_sets import UsedSets
from firewall.limit_sets import LimitKind, LimitMeter
from firewall.policy import GatewaySpec
from firewall.ruleset import (
    AddKey,
    Chain,
    Count,
    Field,
    Lookup,
    Match,
    OpenOver,
    Part,
    RateOver,
    Reject,
    RejectType,
    Rule,
    SampleConnection,
    Verdict,
    VerdictAction,
)

FOREIGN_LENGTH = 64  # of IPv6: a host that has a network has all its addresses
MAIL = Match(Field.TCP_DPORT, (25,))


def build_chains(gateway: GatewaySpec, used: UsedSets) -> tuple[Chain, ...]:
    """Return `limits`, and `over` for packets over a limit; none while nothing is limited."""
    meters = limit_sets.list_meters(gateway.settings.limits)
    if not meters:
        return ()
    rules = [each for meter in meters for each in _build_meter_rules(gateway, used, meter)]
    return _build_over_chain(gateway), Chain("limits", (*_build_exempt_rules(gateway), *rules))


def list_counters(gateway: GatewaySpec) -> frozenset[str]:
    """Return the names of the counters of packets over a limit."""
    return frozenset(meter.limited.counter for meter in limit_sets.list_meters(gateway.settings.limits))


def _build_over_chain(gateway: GatewaySpec) -> Chain:
    if not gateway.settings.limits.refuses:
        return Chain("over", (make_rule(DROP),))
    return Chain(
        "over", (make_rule(match_field(Field.L4PROTO, "tcp"), Reject(RejectType.TCP_RESET)), make_rule(Reject(RejectType.ADMIN_PROHIBITED)))
    )


def _build_exempt_rules(gateway: GatewaySpec) -> list[Rule]:
    """Return one rule for each family, however many prefixes are exempt."""
    exempt = gateway.settings.limits.exempt
    four = tuple(collapse_addresses(each for each in exempt if each.version == 4))
    six = tuple(collapse_addresses(each for each in exempt if each.version == 6))
    named = ((Field.IP_SADDR, four), (Field.IP6_SADDR, six))
    return [make_rule(Match(field, prefixes), RETURN, comment="exempt") for field, prefixes in named if prefixes]


def _build_meter_rules(gateway: GatewaySpec, used: UsedSets, meter: LimitMeter) -> list[Rule]:
    then = (Count(meter.limited.counter), Verdict(VerdictAction.GOTO, "over"))
    names = gateway.interfaces
    six: list[tuple[tuple[Part, ...], int]]
    match meter.limited:
        case LimitKind.SOURCE_RATE | LimitKind.SOURCE_OPEN:
            way: tuple[Part, ...] = (match_field(Field.IIFNAME, names.wan),)
            six = [((), FOREIGN_LENGTH)]
        case LimitKind.MAIL:
            way = (match_field(Field.IIFNAME, names.lan), match_field(Field.OIFNAME, names.wan), MAIL)
            six = _list_held_lengths(used)
        case _:
            way = (match_field(Field.IIFNAME, names.lan),)
            six = _list_held_lengths(used)
    metered = [_list_conditions(meter, Field.IP_SADDR, ()), *(_list_conditions(meter, Field.IP6_SADDR, only, each) for only, each in six)]
    return [make_rule(*way, *parts, *then) for conditions in metered for parts in conditions]


def _list_held_lengths(used: UsedSets) -> list[tuple[tuple[Part, ...], int]]:
    """Return the lengths of members' prefixes, each behind the lookups by which the source has no other one."""
    return [(tuple(_exclude_other_lengths(used, length)), length) for length in used.list_lengths("up6")]


def _list_conditions(meter: LimitMeter, field: Field, only: tuple[Part, ...], length: int | None = None) -> list[tuple[Part, ...]]:
    """Return the parts of each rule that finds a source over the limit.

    Sampled: one of some connections is counted against that part of the limit. Who is over it is remembered for some seconds, because
    the other connections would get through meanwhile.
    """
    version = 4 if field is Field.IP_SADDR else 6
    name, over = meter.get_set_name(version), meter.get_over_set_name(version)
    if meter.per:
        return [(*only, RateOver((field,), name, meter.most, meter.per, meter.burst, length))]
    counted = OpenOver((field,), name, meter.most // meter.one_of, length)
    if meter.one_of == 1:
        return [(*only, counted)]
    return [
        (*only, Lookup((field,), over, length)),
        (SampleConnection(meter.one_of), *only, counted, AddKey((field,), over, length)),
    ]


def _exclude_other_lengths(used: UsedSets, length: int) -> list[Part]:
    """Return the lookups by which the source is in no set of another prefix length.

    `spoofed` has seen that a member holds the source: if no other length has it, this one does. (A lookup that finds it would count
    it.)
    """
    return [match_prefix(Field.IP6_SADDR, "up6", other, negated=True) for other in used.list_lengths("up6") if other != length]
