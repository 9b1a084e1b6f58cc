"""Random rulesets with every kind of set, for hypothesis."""

from dataclasses import replace

from hypothesis import strategies as st

from firewall import names
from firewall.ruleset import (
    HIGHEST_RATE,
    LOWEST_RATE,
    RATE_WIDTH,
    AddKey,
    Chain,
    Count,
    Dnat,
    Element,
    Field,
    Hook,
    HookPriority,
    Lookup,
    Match,
    OpenOver,
    Per,
    RateOver,
    Rule,
    Ruleset,
    SampleConnection,
    Set,
    Snat,
    Type,
    Verdict,
    VerdictAction,
    compute_width,
)

SOURCE, PORTS = (Type.IPV4,), (Type.IPV4, Type.PROTO, Type.PORT)
POOL = (
    Set("up4", SOURCE, 64, counter=True),
    Set("bans4_32", SOURCE, 64, counter=True, timeout=True),
    Set("up6_64", (Type.IPV6,), 64, counter=True),
    Set("snat4", SOURCE, 64, value=SOURCE),
    Set("snat4_block", SOURCE, 64, value=(Type.IPV4, Type.PORT), ranges=True),
    Set("forward4", PORTS, 64, value=(Type.IPV4, Type.PORT)),
    Set("open4", PORTS, 64, timeout=True),
    Set("ports", (Type.PORT,), 64),
    Set("protocols", (Type.PROTO,), 64),
    Set("rate", SOURCE, 64, dynamic=True, lives=60),
    Set("open", (Type.IPV6,), 64, dynamic=True),
    Set("over", (Type.IPV6,), 64, dynamic=True, lives=10),
    Set("rate_up4", SOURCE, 64, timeout=True, polices=True),
    Set("rate_up6_64", (Type.IPV6,), 64, polices=True),
)
DROP = Verdict(VerdictAction.DROP)
RULES = {
    "up4": Rule((Lookup((Field.IP_SADDR,), "up4"), Count(), DROP)),
    "bans4_32": Rule((Lookup((Field.IP_DADDR,), "bans4_32"), DROP), comment="bans"),
    "up6_64": Rule((Lookup((Field.IP6_SADDR,), "up6_64", 64), DROP)),
    "forward4": Rule((Dnat((Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT), "forward4"),)),
    "snat4": Rule((Snat((Field.IP_SADDR,), "snat4", fully_random=True),)),
    "snat4_block": Rule((Match(Field.L4PROTO, ("tcp",)), Snat((Field.IP_SADDR,), "snat4_block"))),
    "open4": Rule((Lookup((Field.IP_DADDR, Field.L4PROTO, Field.TH_DPORT), "open4"), DROP)),
    "ports": Rule((Lookup((Field.TH_DPORT,), "ports", negated=True), DROP)),
    "rate": Rule((RateOver((Field.IP_SADDR,), "rate", 50, Per.MINUTE, 9), DROP)),
    "open": Rule((OpenOver((Field.IP6_SADDR,), "open", 7, 64), DROP)),
    "over": Rule((SampleConnection(16), AddKey((Field.IP6_SADDR,), "over", 64), DROP)),
    "rate_up4": Rule((Lookup((Field.IP_SADDR,), "rate_up4"), DROP)),
    "rate_up6_64": Rule((Lookup((Field.IP6_SADDR,), "rate_up6_64", 64), DROP)),
    "protocols": Rule((Lookup((Field.L4PROTO,), "protocols"), DROP)),
}
CHAINS = {
    "forward4": Chain("dstnat", (), Hook("nat", "prerouting", HookPriority.DSTNAT)),
    "snat4": Chain("srcnat", (), Hook("nat", "postrouting", HookPriority.SRCNAT)),
    "snat4_block": Chain("srcnat", (), Hook("nat", "postrouting", HookPriority.SRCNAT)),
    "": Chain("forward", (), Hook("filter", "forward", HookPriority.FILTER)),
}

comments = st.text(max_size=150).map(names.sanitize_comment) | st.sampled_from(
    ['"}; flush ruleset', "a\\", "$x", "# no", "@up4", "über", ""]
).map(names.sanitize_comment)


def octets(types: tuple[Type, ...]) -> st.SearchStrategy[bytes]:
    """Draw a key or value of these types."""
    if len(types) == 1:
        return st.binary(min_size=types[0].width, max_size=types[0].width)
    fields = [st.binary(min_size=each.width, max_size=each.width).map(lambda value: value + bytes(-len(value) % 4)) for each in types]
    return st.tuples(*fields).map(b"".join)


@st.composite
def ranges(draw: st.DrawFn) -> bytes:
    """Draw an address with the first and the last of its ports."""
    address, first = draw(octets(SOURCE)), draw(st.integers(1, 65534))
    return b"".join(address + port.to_bytes(2) + b"\0\0" for port in (first, draw(st.integers(first + 1, 65535))))


rates = st.integers(LOWEST_RATE, HIGHEST_RATE).map(lambda rate: rate.to_bytes(RATE_WIDTH))


def elements(of: Set, now: int) -> st.SearchStrategy[dict[bytes, Element]]:
    """Draw a few elements; some end long after `now`. None for dynamic sets, which packets fill."""
    if of.dynamic:
        return st.just({})
    ends = st.sampled_from([0, 0, now + 7_200, now + 400_000_000]) if of.timeout else st.just(0)
    values = (ranges() if of.ranges else octets(of.value)) if of.value else rates if of.polices else st.just(b"")
    one = st.builds(Element, values, comments | st.just(""), ends)
    small = st.sampled_from([bytes([at]).rjust(compute_width(of.key), b"\0") for at in range(1, 4)]) if len(of.key) == 1 else octets(of.key)
    return st.dictionaries(small | octets(of.key), one, max_size=6)


@st.composite
def rulesets(draw: st.DrawFn, now: int) -> Ruleset:
    """Draw some of the sets, with rules that look some of them up."""
    sets = {each.name: replace(each, size=draw(st.sampled_from([64, 256]))) for each in draw(st.lists(st.sampled_from(POOL), unique=True))}
    chains: dict[str, Chain] = {}
    for name in sets:
        if draw(st.booleans()):
            empty = CHAINS.get(name, CHAINS[""])
            held = chains.get(empty.name, empty)
            chains[empty.name] = replace(held, rules=(*held.rules, RULES[name]))
    counters = frozenset(draw(st.sets(st.sampled_from(["leaked", "spoofed"]))))
    return Ruleset(chains, sets, {name: draw(elements(each, now)) for name, each in sets.items()}, counters)
