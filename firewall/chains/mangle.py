"""The chain of forwarded packets before anything is decided about them: rate limits."""

from firewall.chains import rates
from firewall.chains.used_sets import UsedSets
from firewall.policy import GatewaySpec
from firewall.ruleset import Chain, Hook, HookPriority


def build_mangle_forward_chain(gateway: GatewaySpec, used: UsedSets) -> Chain | None:
    """Return the chain; None if nobody's rate is limited."""
    rules = tuple(rates.build_rate_limit_jumps(gateway, used))
    return Chain("mangle_forward", rules, Hook("filter", "forward", HookPriority.MANGLE)) if rules else None
