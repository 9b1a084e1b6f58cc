"""Checks that the kernel can hold what the portal sent exactly as it is, before anything is done with it.

Names must be plain, keys as wide as their types, comments harmless: a value that nft or the kernel would change would read back as
another one. Raises WireError, which names the faulty part.
"""

from collections.abc import Iterable, Iterator, Mapping

from firewall import names, profile, shaper
from firewall.codec import WireError
from firewall.diff import Delta
from firewall.policy import PolicyError, Profile
from firewall.ruleset import (
    HIGHEST_RATE,
    LOWEST_RATE,
    Chain,
    Elements,
    Field,
    Match,
    Part,
    Rule,
    Ruleset,
    Set,
    SetTimeout,
    Synproxy,
    TcpFlags,
    UplinkShaper,
    Verdict,
    VerdictAction,
    cap_expiry,
    compute_width,
    iter_used_chains,
    iter_used_sets,
    list_used_helpers,
    list_used_timeouts,
    list_value_widths,
)
from firewall.sets import LARGEST_SET

_LONGEST_LIFE = 86_400  # seconds
_LONGEST_INTERFACE = 15  # octets
_MONTH = 2_592_000
_NO_WAY_IN = ((), (179,))  # the BGP port does not let operators in
_WIDEST_SCALE = 14  # RFC 7323, 2.3
_FLAGS = frozenset({"fin", "syn", "rst", "psh", "ack", "urg"})
HELPERS = "helpers"  # helpers come and go with this chain
TIMEOUTS = "srcnat"  # timeouts come and go with this chain
_STATES = {"udp": ("unreplied", "replied"), "tcp": ("established",)}
_WHO = (Field.IIFNAME, Field.IP_SADDR, Field.IP6_SADDR)


def check_ruleset(ruleset: Ruleset) -> None:
    """Check a ruleset by itself, including that everything it refers to is in it."""
    if ruleset.elements.keys() != ruleset.sets.keys():
        raise WireError(f"ruleset: sets and elements differ: {', '.join(sorted(ruleset.elements.keys() ^ ruleset.sets.keys()))}")
    _inspect_names(ruleset.chains.keys() | ruleset.sets.keys() | ruleset.counters)
    _inspect_profiles(ruleset.profile)
    _inspect_shapers(ruleset.shaper)
    _inspect_declarations(ruleset.sets.items())
    for name, elements in ruleset.elements.items():
        _inspect_elements(ruleset.sets[name], elements)
    _inspect_chains(ruleset.chains.items())
    for chain in ruleset.chains.values():
        for used, there in ((iter_used_sets(chain), ruleset.sets), (iter_used_chains(chain), ruleset.chains)):
            for name in used:
                if name not in there:
                    raise WireError(f"chain {chain.name}: {name} is not in the ruleset")


def check_capacities(ruleset: Ruleset) -> None:
    """Check that the elements of each set fit into it. Expired ones must be left out of the ruleset: they take no room."""
    for name, elements in ruleset.elements.items():
        if len(elements) > ruleset.sets[name].size:
            raise WireError(f"set {name}: {len(elements)} elements do not fit, its size is {ruleset.sets[name].size}")


def inspect_delta(delta: Delta) -> None:
    """Check a delta by itself, without comparing it with what runs."""
    _inspect_names([*delta.chains, *delta.sets, *delta.elements, *delta.counters.added, *delta.counters.removed])
    _inspect_profiles(*delta.profile or ())
    _inspect_shapers(*delta.shaper or ())
    _inspect_declarations((name, each) for name, change in delta.sets.items() for each in change if each)
    _inspect_declarations((name, change.of) for name, change in delta.elements.items())
    _inspect_chains((name, each) for name, change in delta.chains.items() for each in change if each)
    for name, change in delta.elements.items():
        _inspect_elements(change.of, change.added)
        _inspect_elements(change.of, change.removed)
        declared = delta.sets.get(name)
        if declared and declared.after is None and change.added:
            raise WireError(f"set {name}: it is deleted, so it cannot get elements")


def inspect_management(chains: Mapping[str, Chain]) -> None:
    """Check that operators can still reach the gateway to repair it. `chains`: all that will run; without any, nothing is filtered.

    Each chain at the input hook must accept a TCP port for some source, before any rule that ends all packets.
    """
    inputs = [chain for chain in chains.values() if chain.hook and chain.hook.hook == "input"]
    if chains and not inputs:
        raise WireError("ruleset: no chain at the input hook accepts management; this would lock everybody out, or let everybody in")
    for chain in inputs:
        if not _lets_management_in(chain.rules):
            raise WireError(
                f"chain {chain.name}: no rule accepts a TCP port for management sources; this ruleset would lock everybody out."
                " Give the gateway a management network"
            )


def _lets_management_in(rules: Iterable[Rule]) -> bool:
    for rule in rules:
        matches = [part for part in rule.parts if isinstance(part, Match)]
        verdicts = [part.action for part in rule.parts if isinstance(part, Verdict)]
        if verdicts and len(rule.parts) == 1 and verdicts[0] is not VerdictAction.ACCEPT:
            return False
        port = [match for match in matches if match.field is Field.TCP_DPORT and match.values not in _NO_WAY_IN and not match.negated]
        who = [match for match in matches if match.field in _WHO and match.values and not match.negated]
        if port and verdicts == [VerdictAction.ACCEPT] and len(port) + len(who) + 1 == len(rule.parts):
            return True
    return False


def _inspect_profiles(*profiles: Profile | None) -> None:
    for each in filter(None, profiles):
        profile.check_profile(each)


def _inspect_shapers(*shapers: UplinkShaper | None) -> None:
    for each in filter(None, shapers):
        shaper.check_shaper(each)
        if len(each.interface.encode()) > _LONGEST_INTERFACE:
            raise WireError(f"shaping: no interface has a name as long as {each.interface[:40]!r}")


def _inspect_names(all_names: Iterable[str]) -> None:
    try:
        for name in all_names:
            names.validate_symbol(name)
    except PolicyError as error:
        raise WireError(str(error)) from error


def _inspect_declarations(declared: Iterable[tuple[str, Set]]) -> None:
    for name, each in declared:
        if each.name != name:
            raise WireError(f"set {name}: its declaration is named {each.name}")
        if not each.key or not 0 < each.size <= LARGEST_SET:
            raise WireError(f"set {name}: a size of {each.size} with {len(each.key)} fields in a key is not possible")
        if each.ranges and not each.value:
            raise WireError(f"set {name}: only the values of a map can be ranges")
        if (each.dynamic and (each.counter or each.timeout or each.value)) or (each.lives and not each.dynamic):
            raise WireError(f"set {name}: a dynamic set has plain keys only, and only its elements may have a lifetime")
        if each.polices and (each.counter or each.value or each.dynamic or len(each.key) != 1):
            raise WireError(f"set {name}: a policing set has addresses with a rate, and neither counter nor map values")
        if not 0 <= each.lives <= _LONGEST_LIFE:
            raise WireError(f"set {name}: elements cannot live for {each.lives} s")


def _inspect_chains(chains: Iterable[tuple[str, Chain]]) -> None:
    for name, chain in chains:
        if chain.name != name:
            raise WireError(f"chain {name}: its declaration is named {chain.name}")
        if chain.name != HELPERS and list_used_helpers(chain):
            raise WireError(f"chain {name}: only the chain {HELPERS} may assign helpers")
        if chain.name != TIMEOUTS and list_used_timeouts(chain):
            raise WireError(f"chain {name}: only the chain {TIMEOUTS} may set timeouts")
        for part in (part for rule in chain.rules for part in rule.parts):
            _inspect_part(name, part)


def _inspect_part(chain: str, part: Part) -> None:
    """Check numbers and flags that nft would change."""
    match part:
        case Synproxy(mss, scale) if not (0 < mss < 65536 and 0 <= scale <= _WIDEST_SCALE):
            raise WireError(f"chain {chain}: a segment of {mss} octets and a window scale of {scale} are impossible")
        case SetTimeout(protocol, times) if not _is_valid_timeout(protocol, times):
            raise WireError(f"chain {chain}: {protocol} has no such times: {times}")
        case TcpFlags(on, off) if not on or not off or set(on) & set(off) or not _FLAGS.issuperset(on + off):
            raise WireError(f"chain {chain}: TCP flags {on} without {off} make no sense")


def _is_valid_timeout(protocol: str, times: tuple[tuple[str, int], ...]) -> bool:
    """True if all states of the protocol that a ruleset names have a time of at most 30 days."""
    return tuple(state for state, _seconds in times) == _STATES.get(protocol) and all(0 < seconds <= _MONTH for _state, seconds in times)


def _inspect_elements(of: Set, elements: Elements) -> None:
    if not elements:
        return
    if of.dynamic:
        raise WireError(f"set {of.name}: only packets may add elements to it")
    if set(map(len, elements)) != {compute_width(of.key)}:
        raise WireError(f"set {of.name}: a key is not {compute_width(of.key)} octets wide")
    values = list_value_widths(of)
    found, comments, ends = zip(*elements.values(), strict=True)
    if not values.issuperset(map(len, found)):
        raise WireError(f"set {of.name}: a value is not {max(values)} octets wide")
    if of.polices and not all(LOWEST_RATE <= int.from_bytes(rate) <= HIGHEST_RATE for rate in found):
        raise WireError(f"set {of.name}: a rate is not between {LOWEST_RATE} and {HIGHEST_RATE} octets a second")
    for fault in _iter_faults(of, dict.fromkeys(comments), dict.fromkeys(ends)):
        raise WireError(f"set {of.name}: {fault}")


def _iter_faults(of: Set, comments: Iterable[str], ends: Iterable[int]) -> Iterator[str]:
    for comment in comments:
        if comment and names.sanitize_comment(comment) != comment:
            yield f"the comment {comment[:40]!r} cannot stand in a ruleset"
    for expires in ends:
        if expires and not (of.timeout and cap_expiry(expires) > 0):
            yield f"an element expires at {expires}, which this set does not support"
