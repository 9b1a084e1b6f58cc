"""What goes through the gateway."""

from firewall import probing
from firewall.chains.parts import ACCEPT, DROP, at, jump, rule
from firewall.policy import Gateway
from firewall.ruleset import Action, Chain, Count, Field, Hook, Priority, VerdictMap


def chain(gateway: Gateway) -> Chain:
    """One lookup is membership, accounting and acceptance; who leaves the sets loses his open flows."""
    names = gateway.interfaces
    ways = (((names.lan, names.wan), "up"), ((names.wan, names.lan), "down"), ((names.lan, names.lan), "inside"), *probing.ways(gateway))
    jumps = tuple((interfaces, jump(chain)) for interfaces, chain in ways)
    return Chain(
        "forward",
        (
            rule(
                VerdictMap(
                    (Field.CT_STATE,),
                    ((("invalid",), DROP), (("untracked",), DROP), (("new",), jump("new")), (("related",), jump("related"))),
                )
            ),
            rule(VerdictMap((Field.IIFNAME, Field.OIFNAME), jumps)),
            rule(at(Field.CT_STATE, "related"), ACCEPT),
            rule(Count("unmatched")),
        ),
        Hook("filter", "forward", Priority.FILTER, Action.DROP),
    )
