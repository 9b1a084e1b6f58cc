"""What befalls packets on their way through, before anything is decided about them: rate limits, and what is changed in them."""

from firewall.chains import rates
from firewall.chains.rule_helpers import rule
from firewall.chains.used_sets import Used
from firewall.policy import Gateway
from firewall.ruleset import Chain, ClampMss, Field, Hook, Match, Priority


def forward(gateway: Gateway, used: Used) -> Chain | None:
    """The chain, if there is anything to limit or to change."""
    clamp = rule(Match(Field.TCP_FLAGS, ("syn",)), ClampMss(), comment="the way out has a small MTU")
    rules = (*rates.jumps(gateway, used), *((clamp,) if gateway.settings.clamp_mss else ()))
    return Chain("mangle_forward", rules, Hook("filter", "forward", Priority.MANGLE)) if rules else None
