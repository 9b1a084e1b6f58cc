"""Checks of an uplink's fair queues before they are saved: their rates, and whether the group's agents know them.

Whether a gateway's kernel has CAKE is known to its agent alone, which says so with its gauges, once the queues are on.
"""

from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.lib.errors import Problem
from apps.network.gateway_sentences import translate_about_gateway
from apps.network.models import Gateway, GatewayGroup, Uplink
from firewall.shaper import RATES

QUEUES_SINCE = 9
"""Version of the protocol in which a ruleset can have a shaper."""


def check_queues(saved: Uplink, wanted: Uplink) -> None:
    """Raise Problem for a rate that cannot be, naming its field, and for queues that begin while an agent is known to be too old for them.

    Queues that are on already can still be changed: the refusal would come too late, and each rollout names the gateway.
    """
    _check_rate("queue_down_kbit", wanted.queue_down_kbit, wanted.down_kbit)
    _check_rate("queue_up_kbit", wanted.queue_up_kbit, wanted.up_kbit)
    if has_queues(wanted) and not has_queues(saved):
        _check_agents(wanted.group)


class QueueLack(NamedTuple):
    """A gateway that runs without the fair queues of its group's uplink. why: as its agent says it."""

    pk: int
    name: str
    why: str


def list_queue_lacks(group: GatewayGroup) -> list[QueueLack]:
    """Return the gateways of the group that run without its fair queues, by name."""
    lacking = Gateway.objects.filter(group=group, retired=None, status__unshaped__gt="").order_by("name")
    told = lacking.values_list("pk", "name", "status__unshaped")
    return [QueueLack(pk, name, translate_about_gateway(why)) for pk, name, why in told]


def has_queues(uplink: Uplink) -> bool:
    """True if the uplink has a fair queue in at least one direction."""
    return bool(uplink.queue_up_kbit or uplink.queue_down_kbit)


def _check_rate(fieldname: str, rate: int | None, capacity: int | None) -> None:
    if rate is None:
        return
    if rate not in RATES:
        facts = {"rate": rate, "lowest": RATES[0], "highest": RATES[-1]}
        raise Problem(_("%(rate)d kbit/s is not between %(lowest)d and %(highest)d.") % facts, fieldname)
    if capacity is not None and rate > capacity:
        raise Problem(_("This is more than the capacity of the line: packets would wait at the provider’s end and not here."), fieldname)


def _check_agents(group: GatewayGroup) -> None:
    older = Gateway.objects.filter(group=group, status__protocol__range=(1, QUEUES_SINCE - 1)).order_by("name")
    if names := list(older.values_list("name", flat=True)):
        words = ngettext(
            "The agent of %(gateways)s is of an older release and knows no fair queues. Upgrade it first (docs/upgrade.md).",
            "The agents of %(gateways)s are of an older release and know no fair queues. Upgrade them first (docs/upgrade.md).",
            len(names),
        )
        raise Problem(words % {"gateways": ", ".join(names)})
