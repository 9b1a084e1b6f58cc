"""How many connections one may open: looked at for new ones alone, so that no limit ever ends one that is there."""

from ipaddress import collapse_addresses

from firewall import limit_sets
from firewall.chains.rule_helpers import DROP, RETURN, at, in_prefixes, rule
from firewall.chains.used_sets import Used
from firewall.limit_sets import Limited, Meter
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Count, Field, Match, OpenOver, Part, RateOver, Refusal, Reject, Rule, Verdict

FOREIGN_LENGTH = 64  # of IPv6: whoever has a network has all its addresses
MAIL = Match(Field.TCP_DPORT, (25,))


def chains(gateway: Gateway, used: Used) -> tuple[Chain, ...]:
    """`limits`, and `over` for what is over; none while nothing is limited."""
    meters = limit_sets.meters(gateway.settings.limits)
    if not meters:
        return ()
    rules = [each for meter in meters for each in _rules(gateway, used, meter)]
    return _over(gateway), Chain("limits", (*_exempt(gateway), *rules))


def counters(gateway: Gateway) -> frozenset[str]:
    """The names of the counters of what was over."""
    return frozenset(meter.limited.counter for meter in limit_sets.meters(gateway.settings.limits))


def _over(gateway: Gateway) -> Chain:
    if not gateway.settings.limits.refuses:
        return Chain("over", (rule(DROP),))
    return Chain("over", (rule(at(Field.L4PROTO, "tcp"), Reject(Refusal.TCP_RESET)), rule(Reject(Refusal.ADMIN_PROHIBITED))))


def _exempt(gateway: Gateway) -> list[Rule]:
    """A rule for each family, however many there are."""
    exempt = gateway.settings.limits.exempt
    four = tuple(collapse_addresses(each for each in exempt if each.version == 4))
    six = tuple(collapse_addresses(each for each in exempt if each.version == 6))
    named = ((Field.IP_SADDR, four), (Field.IP6_SADDR, six))
    return [rule(Match(field, prefixes), RETURN, comment="exempt") for field, prefixes in named if prefixes]


def _rules(gateway: Gateway, used: Used, meter: Meter) -> list[Rule]:
    then = (Count(meter.limited.counter), Verdict(Action.GOTO, "over"))
    names = gateway.interfaces
    match meter.limited:
        case Limited.SOURCE_RATE | Limited.SOURCE_OPEN:
            way: tuple[Part, ...] = (at(Field.IIFNAME, names.wan),)
            six = [_meter(meter, Field.IP6_SADDR, FOREIGN_LENGTH)]
            return [rule(*way, part, *then) for part in (_meter(meter, Field.IP_SADDR), *six)]
        case Limited.MAIL:
            way = (at(Field.IIFNAME, names.lan), at(Field.OIFNAME, names.wan), MAIL)
        case _:
            way = (at(Field.IIFNAME, names.lan),)
    held = [(*_in_no_other(used, length), _meter(meter, Field.IP6_SADDR, length)) for length in used.lengths("up6")]
    return [rule(*way, *parts, *then) for parts in ((_meter(meter, Field.IP_SADDR),), *held)]


def _meter(meter: Meter, field: Field, length: int | None = None) -> Part:
    name = meter.set(4 if field is Field.IP_SADDR else 6)
    if meter.per is None:
        return OpenOver((field,), name, meter.most, length)
    return RateOver((field,), name, meter.most, meter.per, meter.burst, length)


def _in_no_other(used: Used, length: int) -> list[Part]:
    """`spoofed` has seen that somebody holds the source: where no other length has it, this one does. (To find it would count it.)"""
    return [in_prefixes(Field.IP6_SADDR, "up6", other, negated=True) for other in used.lengths("up6") if other != length]
