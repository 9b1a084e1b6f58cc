"""Plan of a switch: what a gateway would give up, which one would take over, and why that is not possible now.

It rests on what the gateways reported last. The worker asks them anew and makes the same plan before it does anything.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Exists, QuerySet
from django.utils.translation import gettext as _

from apps.deployments.models import Rollout
from apps.gateways.roles.models import FailoverStatus, GatewayRole, RoleSwitch
from apps.gateways.roles.observation import list_roles
from apps.gateways.roles.program_health import describe_lacking_states, is_idle, lacks_states
from apps.lib.errors import Problem
from apps.network.models import Failover, Gateway, GatewayGroup

Kind = RoleSwitch.Kind


@dataclass(frozen=True)
class SwitchPlan:
    """What a switch would do. families: that the gateway gives up or is ready for again; carried: those of them that it carries now.

    target: the gateway that would take these over; None if there is none to take. obstacle: why it cannot be done now.
    """

    gateway: Gateway
    kind: Kind
    families: tuple[int, ...]
    carried: tuple[int, ...] = ()
    target: Gateway | None = None
    obstacle: Problem | None = None


def plan_switch(gateway: Gateway, kind: Kind, wanted: Sequence[int] = ()) -> SwitchPlan:
    """Return what the switch would do. wanted: only these families; without one, all that the kind concerns. Asks no gateway."""
    roles = list_roles(gateway.group)
    mine = [each for each in roles if each.status.gateway_id == gateway.pk and (not wanted or each.family in wanted)]
    chosen = [each for each in mine if _concerns(kind, each)]
    families = tuple(each.family for each in chosen)
    plan = SwitchPlan(gateway, kind, families, tuple(each.family for each in chosen if each.carries and kind != Kind.RESUME))
    if obstacle := _find_obstacle(plan, mine):
        return SwitchPlan(gateway, kind, families, plan.carried, None, obstacle)
    if not plan.carried:
        return plan
    target, reasons = find_target(chosen[0].status, plan.carried, roles)
    return SwitchPlan(gateway, kind, families, plan.carried, target, None if target else _refuse_without_target(gateway, reasons))


def find_target(carrier: FailoverStatus, families: Sequence[int], roles: Sequence[GatewayRole]) -> tuple[Gateway | None, list[str]]:
    """Return the gateway that is ready to take the families over from their carrier; None, and why each other gateway is not."""
    reasons = []
    for other in Gateway.objects.filter(group=carrier.gateway.group_id).exclude(pk=carrier.gateway_id).order_by("name"):
        reason = _find_unreadiness(carrier, other, families, [each for each in roles if each.status.gateway_id == other.pk])
        if not reason:
            return other, []
        reasons.append(reason)
    return None, reasons


def _concerns(kind: Kind, role: GatewayRole) -> bool:
    match kind:
        case Kind.SWITCH:
            return role.carries
        case Kind.DRAIN:
            return not role.is_drained
    return role.is_drained


def _find_obstacle(plan: SwitchPlan, roles: Sequence[GatewayRole]) -> Problem | None:
    """Return why nothing can be done with this gateway, whatever the others are; None if it can."""
    given = {"gateway": plan.gateway, "group": plan.gateway.group}
    if not Failover.objects.filter(group=plan.gateway.group_id).exists():
        return Problem(_("The failover of %(group)s is not managed here.") % given, culprit=plan.gateway.group)
    status = FailoverStatus.objects.filter(gateway=plan.gateway).first()
    if status is None or not roles:
        return Problem(_("%(gateway)s has not told its roles yet.") % given, culprit=plan.gateway)
    if status.problem:
        return Problem(_("%(gateway)s does not tell its roles: %(problem)s") % (given | {"problem": status.problem}), culprit=plan.gateway)
    if plan.families:
        return None
    words = {
        Kind.SWITCH: _("%(gateway)s carries nothing that could be moved."),
        Kind.DRAIN: _("%(gateway)s is drained already."),
        Kind.RESUME: _("%(gateway)s is not drained."),
    }
    return Problem(words[plan.kind] % given, culprit=plan.gateway)


def _find_unreadiness(carrier: FailoverStatus, other: Gateway, families: Sequence[int], roles: Sequence[GatewayRole]) -> str:
    """Return why the other gateway is not ready to take the families over; "" if it is."""
    given = {"other": other.name}
    status = FailoverStatus.objects.filter(gateway=other).select_related("gateway").first()
    if status is None or status.problem or not roles:
        return _("%(other)s does not tell its roles: %(problem)s") % (given | {"problem": status.problem if status else "–"})
    for each in (each for each in roles if each.family in families):
        if each.is_drained:
            return _("%(other)s is drained of IPv%(family)d.") % (given | {"family": each.family})
        if each.role != GatewayRole.Role.STANDBY:
            return _("%(other)s is not a standby for IPv%(family)d: %(role)s.") % (
                given | {"family": each.family, "role": each.get_role_display()}
            )
    if is_idle(status, "elected"):
        return _("keepalived does not run on %(other)s.") % given
    if is_idle(status, "synchronised") or is_idle(carrier, "synchronised"):
        return _("Connection states are not synchronised: conntrackd does not answer on one of the gateways.")
    if lacks_states(carrier, status):
        return describe_lacking_states(carrier, status)
    return _find_older_rules(carrier.gateway, other)


def _find_older_rules(carrier: Gateway, other: Gateway) -> str:
    """Return a sentence if both are not known to run the same revision, "" if they are, or soon will.

    One query reads revisions and deploys: between two of them a deploy can begin or end, and would then be missed.
    """
    both = Gateway.objects.filter(pk__in=[carrier.pk, other.pk])
    revisions, deploying = zip(*both.values_list("status__revision", Exists(_list_deploys_under_way(carrier.group))), strict=True)
    if any(deploying) or (None not in revisions and len(set(revisions)) == 1):
        return ""
    return _("%(other)s does not run the same revision as %(carrier)s. Deploy first.") % {"other": other, "carrier": carrier}


def is_deploy_under_way(group: GatewayGroup) -> bool:
    """Return whether a worker brings a revision to the group's gateways. A switch waits for its end, so its rules are no obstacle."""
    return _list_deploys_under_way(group).exists()


def _list_deploys_under_way(group: GatewayGroup) -> QuerySet[Rollout]:
    return Rollout.objects.filter(group=group, state__in=[Rollout.State.QUEUED, Rollout.State.APPLYING])


def _refuse_without_target(gateway: Gateway, reasons: Sequence[str]) -> Problem:
    if not reasons:
        return Problem(_("%(gateway)s is the only gateway of its group.") % {"gateway": gateway}, culprit=gateway)
    words = _("No other gateway is ready to take over from %(gateway)s. %(reasons)s")
    return Problem(words % {"gateway": gateway, "reasons": " ".join(reasons)}, culprit=gateway)
