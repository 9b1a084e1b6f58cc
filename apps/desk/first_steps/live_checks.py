"""Checks of the last steps: the plan, going live, the first rollout, and a packet through each gateway and address family."""

from collections.abc import Iterator

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.accounts.models import User
from apps.deployments.models import RolloutStep
from apps.deployments.revision_pages.group_plan import GoLivePlan, build_go_live_plan
from apps.deployments.rollouts.evidence import list_last_packet_probes
from apps.deployments.selectors import list_gateway_states
from apps.desk.first_steps.finding import StepFinding
from apps.lib.ui import formats
from apps.network.models import Gateway, GatewayGroup


def _list_groups_with_gateways() -> QuerySet[GatewayGroup]:
    return GatewayGroup.objects.filter(gateways__isnull=False, gateways__retired=None).distinct().order_by("name")


def _find_waiting_group() -> GatewayGroup | None:
    return _list_groups_with_gateways().filter(live_since=None).first()


def check_group_plan(_user: User) -> StepFinding:
    """Find what the first group that is not live would serve, and what is still open."""
    group = _find_waiting_group()
    if group is None:
        first = _list_groups_with_gateways().first()
        if first is None:
            return StepFinding(False, _("A plan needs a gateway that it could go to."))
        return StepFinding(True, _("Live. The plan stays on the page of each group."), _build_plan_url(first))
    plan = build_go_live_plan(group)
    return StepFinding(plan.members > 0, _describe_plan(plan), _build_plan_url(group), plan.open_points)


def _build_plan_url(group: GatewayGroup) -> str:
    return reverse("deployments:plan", args=[group.pk])


def _describe_plan(plan: GoLivePlan) -> str:
    members = ngettext("%(number)s member", "%(number)s members", plan.members) % {"number": formats.format_number(plan.members)}
    text = _("%(members)s with %(addresses)s addresses and prefixes, on %(gateways)s.")
    names = ", ".join(str(each.gateway) for each in plan.access)
    return text % {"members": members, "addresses": formats.format_number(plan.addresses), "gateways": names}


def check_live(_user: User) -> StepFinding:
    """Find groups that are not live; done if all that have gateways are."""
    waiting = _find_waiting_group()
    if waiting:
        return StepFinding(False, _("%(group)s is not live: nothing is deployed.") % {"group": waiting}, _build_plan_url(waiting))
    lines = [_describe_live(group) for group in _list_groups_with_gateways()[:5]]
    return StepFinding(bool(lines), "; ".join(lines) or _("There is no gateway yet."))


def _describe_live(group: GatewayGroup) -> str:
    given = {"group": group, "time": formats.format_moment(group.live_since, timezone.now()) if group.live_since else ""}
    return _("%(group)s since %(time)s") % given


def check_rollout(_user: User) -> StepFinding:
    running = list_gateway_states().filter(revision__isnull=False)
    said = ", ".join(f"{each.gateway}: {each.revision}" for each in running[:5])
    waiting = Gateway.objects.count() - running.count()
    return StepFinding(bool(said) and not waiting, said or _("Nothing has been confirmed yet."))


def check_probe_replies(_user: User) -> StepFinding:
    """Find for each gateway and address family when a probe last came back through it."""
    gateways = list(Gateway.objects.select_related("group").order_by("name"))
    if not gateways:
        return StepFinding(False, _("There is none yet."))
    seen = {gateway: dict(_iter_last_packets(gateway)) for gateway in gateways}
    missing = [str(gateway) for gateway, found in seen.items() if not any(found.values())]
    sentence = _("No packet was seen through %(names)s.") if missing else _("A packet came back through %(names)s.")
    lines = [line for gateway, found in seen.items() for line in found.values() if line]
    return StepFinding(not missing, sentence % {"names": ", ".join((missing or list(map(str, gateways)))[:5])}, lines=lines)


def _iter_last_packets(gateway: Gateway) -> Iterator[tuple[str, str]]:
    """Yield each probed family with a sentence about the last confirmed step's packet, "" if none came back."""
    step = RolloutStep.objects.filter(gateway=gateway, confirmed__isnull=False).order_by("-confirmed").first()
    if step is None or step.confirmed is None:
        return
    time = formats.format_moment(step.confirmed, timezone.now())
    for probe in list_last_packet_probes(step):
        words = _("%(gateway)s, %(family)s: came back at %(time)s") % {"gateway": gateway, "family": probe["what"], "time": time}
        yield probe["what"], words if probe["passed"] else ""
