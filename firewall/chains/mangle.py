"""The chain of forwarded packets before anything is decided about them: rate limits, and changes to packets."""

from firewall.chains import rates
from firewall.chains.rule_helpers import make_rule
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, ClampMss, Field, Hook, HookPriority, Match


def build_mangle_forward_chain(gateway: GatewaySpec, used: UsedSets) -> Chain | None:
    """Return the chain; None if there is nothing to limit or to change."""
    clamp = make_rule(Match(Field.TCP_FLAGS, ("syn",)), ClampMss(), comment="the way out has a small MTU")
    rules = (*rates.build_rate_limit_jumps(gateway, used), *((clamp,) if gateway.settings.clamp_mss else ()))
    return Chain("mangle_forward", rules, Hook("filter", "forward", HookPriority.MANGLE)) if rules else None
