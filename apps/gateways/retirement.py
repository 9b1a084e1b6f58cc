"""Retirement of a gateway whose machine goes, its return into service, and the removal of one that never took part in a rollout.

A retired gateway keeps its row, so that the history still names it; no list, rollout or reading looks at it any more, and its name and
addresses are free for another.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F, ProtectedError
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.deployments.models import Rollout, RolloutStep
from apps.gateways.enrolment import check_name_is_free
from apps.gateways.families import FAMILIES
from apps.gateways.primaries import list_families, lock_group
from apps.gateways.probe_facts import check_probe
from apps.gateways.services import build_conflict, explain_gateway_error
from apps.gateways.sync_facts import check_own_addresses
from apps.lib.database.validity import is_valid_now_or_later
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.network.models import Gateway, Holding
from apps.traffic.models import Collected

RECONCILE: Final = "workers.reconcile"


@dataclass(frozen=True, slots=True)
class RetirementPlan:
    """What retiring a gateway would do. families: that it is primary for; others: gateways that can take these over, the best first.

    obstacle: why it cannot be retired now, or None; holdings: what members hold in the group.
    """

    families: tuple[int, ...]
    others: Sequence[Gateway]
    holdings: int
    obstacle: Problem | None = None


def plan_retirement(gateway: Gateway) -> RetirementPlan:
    """Return what retiring this gateway would do. Writes nothing."""
    others = sorted(gateway.group.gateways.exclude(pk=gateway.pk), key=lambda each: (len(list_families(each)), each.name))
    holdings = Holding.objects.filter(is_valid_now_or_later(), group=gateway.group_id).count()
    plan = RetirementPlan(list_families(gateway), others, holdings)
    return RetirementPlan(plan.families, others, holdings, find_rollout_obstacle(gateway) or _find_missing_stand_in(gateway, plan))


def retire_gateway(*, gateway: Gateway, version: int, successor: Gateway | None = None, by: User | None = None) -> Gateway:
    """Take the gateway out of service; the successor becomes primary for the families that it is primary for.

    successor: None for the best one. by: None for a command. Raises Conflict if the gateway was changed since `version`, and Problem if
    a rollout is under way, or if nobody would carry the members of the group any more. Its counters are read once more afterwards.
    """
    try:
        with transaction.atomic():
            lock_group(gateway.group_id)
            current = _get_current(gateway, version)
            plan = plan_retirement(current)
            if plan.obstacle:
                raise plan.obstacle
            chosen = _choose_successor(current, plan, successor)
            _take_out_of_service(current)
            if chosen:
                taken = {f"carries{family}": True for family in plan.families}
                Gateway.objects.filter(pk=chosen.pk).update(**taken, version=F("version") + 1)
            enqueue_task("workers.collect_one", gateway.pk)
            enqueue_task(RECONCILE, by.pk if by else None)
    except IntegrityError as error:
        raise explain_gateway_error(error) from error
    return Gateway.ever.get(pk=gateway.pk)


def reinstate_gateway(*, gateway: Gateway, version: int, by: User | None = None) -> Gateway:
    """Take a retired gateway back into service, as a standby. The next rollout brings its machine to the desired state.

    Raises Conflict, and Problem if its name or an address of its probe belongs to another gateway by now.
    """
    try:
        with transaction.atomic():
            current = _get_current(gateway, version)
            if current.retired is None:
                return current
            refuse_taken_values(current)
            Gateway.ever.filter(pk=gateway.pk).update(retired=None, version=F("version") + 1)
            enqueue_task(RECONCILE, by.pk if by else None)
    except IntegrityError as error:
        raise explain_gateway_error(error) from error
    return Gateway.objects.get(pk=gateway.pk)


def remove_gateway(gateway: Gateway, *, by: User | None = None) -> None:
    """Remove a gateway that never took part in a rollout and was never read. Raises Problem for any other: it can be retired.

    Removing twice is harmless.
    """
    try:
        with transaction.atomic():
            list(Gateway.ever.select_for_update().filter(pk=gateway.pk).values_list("pk"))
            if is_in_history(gateway):
                raise _refuse_removal(gateway)
            Gateway.ever.filter(pk=gateway.pk).delete()
            enqueue_task(RECONCILE, by.pk if by else None)
    except (IntegrityError, ProtectedError) as error:
        raise _refuse_removal(gateway) from error


def is_in_history(gateway: Gateway) -> bool:
    """True if a revision was meant for the gateway, or something that it counted was written down."""
    return RolloutStep.objects.filter(gateway=gateway).exists() or Collected.objects.filter(gateway=gateway, at__isnull=False).exists()


def find_rollout_obstacle(gateway: Gateway) -> Problem | None:
    """Return the refusal of a change that has to wait for the group's rollout; None if there is none under way."""
    rollout = Rollout.objects.filter(group=gateway.group_id, state__in=Rollout.OPEN).select_related("revision").first()
    if rollout is None:
        return None
    words = _("The rollout of %(revision)s to %(group)s is under way. Wait until it is over, or stop it.")
    return Problem(words % {"revision": rollout, "group": gateway.group}, culprit=rollout)


def refuse_taken_values(gateway: Gateway) -> None:
    """Raise Problem if somebody else has the name or an address of this retired gateway by now."""
    check_name_is_free(gateway.name)
    check_probe(gateway, gateway)
    check_own_addresses(gateway, gateway)


def _get_current(gateway: Gateway, version: int) -> Gateway:
    current = Gateway.ever.select_related("group").filter(pk=gateway.pk, version=version).first()
    if current is None:
        raise build_conflict(gateway)
    return current


def _find_missing_stand_in(gateway: Gateway, plan: RetirementPlan) -> Problem | None:
    if plan.others or not plan.holdings:
        return None
    words = ngettext(
        "%(gateway)s is the last gateway of %(group)s, and members hold %(number)d address there: nobody would carry their traffic. "
        "Add another gateway first. If only its machine goes, replace the machine.",
        "%(gateway)s is the last gateway of %(group)s, and members hold %(number)d addresses there: nobody would carry their traffic. "
        "Add another gateway first. If only its machine goes, replace the machine.",
        plan.holdings,
    )
    return Problem(words % {"gateway": gateway, "group": gateway.group, "number": plan.holdings}, culprit=gateway.group)


def _choose_successor(gateway: Gateway, plan: RetirementPlan, wanted: Gateway | None) -> Gateway | None:
    """Return the gateway that takes the families over; None if there are none to take."""
    if not plan.families or not plan.others:
        return None
    if wanted is None:
        return plan.others[0]
    if wanted not in plan.others:
        words = _("%(successor)s cannot take over from %(gateway)s: it is not another gateway of %(group)s in service.")
        raise Problem(words % {"successor": wanted, "gateway": gateway, "group": gateway.group}, "successor", culprit=wanted)
    return wanted


def _take_out_of_service(gateway: Gateway) -> None:
    if gateway.retired is not None:
        raise Problem(_("%(gateway)s is out of service already.") % {"gateway": gateway}, culprit=gateway)
    flags = {f"carries{family}": False for family in FAMILIES}
    Gateway.objects.filter(pk=gateway.pk).update(retired=Now(), **flags, version=F("version") + 1)


def _refuse_removal(gateway: Gateway) -> Problem:
    words = _("%(gateway)s stays: what it counted and confirmed belongs to the history. Retire it instead.")
    return Problem(words % {"gateway": gateway}, culprit=gateway)
