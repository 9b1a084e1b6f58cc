"""What goes through the gateway."""

from firewall import probing
from firewall.chains import guards, listeners
from firewall.chains.rule_helpers import ACCEPT, at, jump, rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway, Interfaces
from firewall.ruleset import Action, Chain, Count, Field, Hook, Priority, Verdict, VerdictMap


def chain(gateway: Gateway, used: Used) -> Chain:
    """One lookup is membership, accounting and acceptance; who leaves the sets loses his open flows."""
    names = gateway.interfaces
    ways = (((names.lan, names.wan), "up"), ((names.wan, names.lan), "down"), ((names.lan, names.lan), "inside"), *probing.ways(gateway))
    jumps = (*((interfaces, jump(chain)) for interfaces, chain in ways), *_servers(names))
    return Chain(
        "forward",
        (
            rule(
                VerdictMap(
                    (Field.CT_STATE,),
                    (
                        (("invalid",), guards.verdict(used)),
                        (("untracked",), listeners.verdict(used)),
                        (("new",), jump("new")),
                        (("related",), jump("related")),
                    ),
                )
            ),
            rule(VerdictMap((Field.IIFNAME, Field.OIFNAME), jumps)),
            *guards.passing(gateway, used),
            rule(at(Field.CT_STATE, "related"), ACCEPT),
            rule(Count("unmatched")),
        ),
        Hook("filter", "forward", Priority.FILTER, Action.DROP),
    )


def _servers(names: Interfaces) -> tuple[tuple[tuple[str, str], Verdict], ...]:
    """Members pay for what they exchange with servers as with the internet; servers are nobody's."""
    if not names.server:
        return ()
    return (
        ((names.lan, names.server), jump("up")),
        ((names.server, names.lan), jump("down")),
        ((names.server, names.wan), ACCEPT),
        ((names.wan, names.server), ACCEPT),
    )
