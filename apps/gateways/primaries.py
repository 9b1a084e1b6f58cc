"""Primaries: which gateway of a group carries an address family, as a change of its own.

The portal notes it, and deploys to the primary last. It moves no address: keepalived on the gateways does that.
"""

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.trail import get_trail
from apps.gateways.families import FAMILIES, find_primary
from apps.gateways.services import build_conflict
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.network.models import Gateway, GatewayGroup


@transaction.atomic
def set_primary(*, gateway: Gateway, family: int, version: int, by: User | None = None) -> Gateway:
    """Make the gateway its group's primary for a family, in place of the one that is. by: None for a command.

    Raises Conflict if the gateway was changed since `version`. Does nothing if it is the primary already.
    """
    flag = _get_flag(family)
    lock_group(gateway.group_id)
    current = Gateway.objects.filter(pk=gateway.pk, version=version).first()
    if current is None:
        raise build_conflict(gateway)
    if not getattr(current, flag):
        _take(Gateway.objects.get(pk=gateway.pk), flag)
        Gateway.objects.filter(pk=gateway.pk).update(**{flag: True}, version=F("version") + 1)
        enqueue_task("workers.reconcile", by.pk if by else None)
    gateway.refresh_from_db()
    return gateway


def refuse_second_primary(group: GatewayGroup, name: str, family: int) -> None:
    """Raise Problem if a gateway of the group is primary for the family, so that a new one cannot be."""
    holder = find_primary(group, family)
    if holder:
        words = _(
            "%(holder)s is the IPv%(family)d primary of %(group)s. Add %(name)s without it, then make it the primary: "
            "“gateway primary %(name)s --family %(family)d”, or on its page."
        )
        given = {"holder": holder, "family": family, "group": group, "name": name}
        raise Problem(words % given, f"carries{family}", culprit=holder)


def refuse_unsetting_primary(gateway: Gateway, family: int) -> None:
    """Raise Problem: a gateway is primary until another one is."""
    words = _("%(gateway)s stays the IPv%(family)d primary until another gateway of the group becomes it. Make that one the primary.")
    raise Problem(words % {"gateway": gateway, "family": family}, _get_flag(family), culprit=gateway)


def restore_former_primaries(former: Gateway, current: Gateway) -> None:
    """Move the primaries of the group as they were before the gateway's last change. former: the gateway as it was."""
    lock_group(current.group_id)
    for flag in map(_get_flag, FAMILIES):
        if getattr(former, flag) and not getattr(current, flag):
            _take(current, flag)
        elif getattr(current, flag) and not getattr(former, flag):
            _give_back(current, flag)


def _give_back(current: Gateway, flag: str) -> None:
    """Make the gateway primary again that lost this family by the current one's last change."""
    events = get_trail(Gateway).events._default_manager
    last = events.filter(pgh_obj_id=current.pk).order_by("-pgh_id").first()
    same = events.filter(pgh_created_at=last.pgh_created_at, pgh_label="update", group_id=current.group_id, **{flag: False})
    loser = same.exclude(pgh_obj_id=current.pk).order_by("-pgh_id").values_list("pgh_obj_id", flat=True).first()
    Gateway.objects.filter(pk=current.pk).update(**{flag: False})
    Gateway.objects.filter(pk=loser).update(**{flag: True}, version=F("version") + 1)


def _take(gateway: Gateway, flag: str) -> None:
    """Take the family off the other gateways of the group."""
    others = Gateway.objects.filter(group_id=gateway.group_id, **{flag: True}).exclude(pk=gateway.pk)
    others.update(**{flag: False}, version=F("version") + 1)


def lock_group(pk: int) -> None:
    """Let changes of the primaries of one group wait for each other."""
    list(GatewayGroup.objects.select_for_update(no_key=True).filter(pk=pk).values_list("pk"))


def list_families(gateway: Gateway) -> tuple[int, ...]:
    """Return the address families that the gateway is primary for."""
    return tuple(family for family in FAMILIES if getattr(gateway, _get_flag(family)))


def _get_flag(family: int) -> str:
    return {4: "carries4", 6: "carries6"}[family]
