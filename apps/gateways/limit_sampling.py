"""Check before a group's limits count one of 16 open connections: an agent of an older release cannot be given such a ruleset."""

from django.utils.translation import ngettext

from apps.gateways.agent_texts import is_agent_older
from apps.lib.errors import Problem
from apps.network.models import Gateway, GatewayGroup, Limits
from firewall.policy import LEAST_SAMPLED

SAMPLED_SINCE = 9
"""Version of the protocol in which a ruleset can say that a limit is sampled."""


def check_agents_sample(saved: Limits, wanted: Limits) -> None:
    """Raise Problem if `wanted` begins to sample and an agent of the group is known to be too old for that.

    Limits that sample already can still be changed: the refusal would come too late, and each rollout names the gateway.
    """
    if not is_sampling(wanted) or is_sampling(saved):
        return
    if older := list_gateways_without_sampling(wanted.group):
        words = ngettext(
            "The agent of %(gateways)s is of an older release and cannot count one of 16 connections. Upgrade it first "
            "(docs/upgrade.md), or count each.",
            "The agents of %(gateways)s are of an older release and cannot count one of 16 connections. Upgrade them first "
            "(docs/upgrade.md), or count each.",
            len(older),
        )
        raise Problem(words % {"gateways": ", ".join(older)}, "open_sampled")


def is_sampling(limits: Limits) -> bool:
    """True if at least one limit is high enough to be sampled."""
    return limits.open_sampled and max(limits.member_open, limits.source_open) >= LEAST_SAMPLED


def list_gateways_without_sampling(group: GatewayGroup) -> list[str]:
    """Return the names of the group's gateways whose agents are known to be too old, by name."""
    rows = Gateway.objects.filter(group=group).order_by("name").values_list("name", "status__protocol")
    return [name for name, protocol in rows if is_agent_older(protocol or 0, than=SAMPLED_SINCE)]
