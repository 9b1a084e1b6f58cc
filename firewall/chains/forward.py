"""The chain of packets that go through the gateway."""

from typing import Final

from firewall import probing
from firewall.chains import guards, listeners
from firewall.chains.rule_helpers import ACCEPT, make_jump, make_rule, match_field
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec, Interfaces
from firewall.ruleset import Chain, ClampMss, Count, Field, Hook, HookPriority, Match, Verdict, VerdictAction, VerdictMap

UP, DOWN = make_jump("up"), make_jump("down")
CLAMP: Final = make_rule(Match(Field.TCP_FLAGS, ("syn",)), ClampMss(), comment="the way out has a small MTU")
"""Both ends' SYN, so it stands before known connections are accepted. A base chain of its own would cost each packet four times as much."""


def build_chain(gateway: GatewaySpec, used: UsedSets) -> Chain:
    """Return the forward chain. One lookup is membership, accounting and acceptance; a member who leaves the sets loses their open
    flows.

    The two ways of most packets are compared, that of most first: a lookup of two interfaces' names costs twice as much.
    """
    names = gateway.interfaces
    ways = (
        ((names.lan, names.lan), "inside"),
        *probing.list_probe_paths(gateway),
    )
    jumps = (*((interfaces, make_jump(chain)) for interfaces, chain in ways), *_list_server_verdicts(names))
    return Chain(
        "forward",
        (
            *((CLAMP,) if gateway.settings.clamp_mss else ()),
            make_rule(
                Match(Field.CT_STATE, ("established",), negated=True),
                VerdictMap(
                    (Field.CT_STATE,),
                    (
                        (("invalid",), guards.get_verdict(used)),
                        (("untracked",), listeners.get_verdict(used)),
                        (("new",), make_jump("new")),
                        (("related",), make_jump("related")),
                    ),
                ),
            ),
            make_rule(match_field(Field.IIFNAME, names.lan), match_field(Field.OIFNAME, names.wan), UP),
            make_rule(match_field(Field.IIFNAME, names.wan), match_field(Field.OIFNAME, names.lan), DOWN),
            make_rule(VerdictMap((Field.IIFNAME, Field.OIFNAME), jumps)),
            *guards.iter_guarded_service_rules(gateway, used),
            make_rule(match_field(Field.CT_STATE, "related"), ACCEPT),
            make_rule(Count("unmatched")),
        ),
        Hook("filter", "forward", HookPriority.FILTER, VerdictAction.DROP),
    )


def _list_server_verdicts(names: Interfaces) -> tuple[tuple[tuple[str, str], Verdict], ...]:
    """Return the verdicts for packets from and to servers. Members' traffic with servers counts for
    them as that with the internet does; other traffic of servers counts for no member.
    """
    if not names.server:
        return ()
    return (
        ((names.lan, names.server), UP),
        ((names.server, names.lan), DOWN),
        ((names.server, names.wan), ACCEPT),
        ((names.wan, names.server), ACCEPT),
    )
