"""What changes packets on their way through, before anything is decided about them."""

from firewall.chains.parts import rule
from firewall.policy import Settings
from firewall.ruleset import Chain, ClampMss, Field, Hook, Match, Priority


def forward(settings: Settings) -> Chain | None:
    """The chain, if there is anything to change."""
    if not settings.clamp_mss:
        return None
    clamp = rule(Match(Field.TCP_FLAGS, ("syn",)), ClampMss(), comment="the way out has a small MTU")
    return Chain("mangle_forward", (clamp,), Hook("filter", "forward", Priority.MANGLE))
