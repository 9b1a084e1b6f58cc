"""Observation of roles: asks each gateway of a group which families it carries, stores the answers, and notes who carries from now on.

A gateway that does not answer keeps the roles it reported last; it is not counted as a carrier any more once keepalived on another
gateway has taken over. A group without failover settings is not asked.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import AgentChannel, ChannelOf, Unreachable
from apps.deployments.transport.agent_client import AgentRefused, expect_answer
from apps.gateways.roles.models import CarrierChange, FailoverStatus, GatewayRole, RoleSwitch
from apps.lib.database.compiled_query import compile_once
from apps.network.models import Gateway, GatewayGroup
from firewall.file_digest import LENGTH
from firewall.roles import Roles, RolesAre

log = structlog.get_logger()


def observe_group(group: GatewayGroup, channel_of: ChannelOf = agent_channel.get_readings_channel) -> None:
    """Ask the group's gateways for their roles, and store what they report."""
    for gateway in Gateway.objects.filter(group=group).select_related("group").order_by("name"):
        try:
            store_roles(gateway, ask_roles(channel_of(gateway)), timezone.now())
        except (Unreachable, AgentRefused) as fault:
            _store_problem(gateway, str(fault), timezone.now())
    note_carriers(group, timezone.now())


def ask_roles(channel: AgentChannel) -> RolesAre:
    """Ask a gateway for its roles. Raises Unreachable or AgentRefused."""
    return expect_answer(RolesAre, channel.ask(Roles()))


@transaction.atomic
def store_roles(gateway: Gateway, told: RolesAre, at: datetime) -> None:
    """Store a gateway's answer of this moment."""
    values = {"asked": at, "seen": at, "problem": "", "tracked": told.tracked}
    values |= {"elected": _go_back(at, told.elected_age), "synchronised": _go_back(at, told.synchronised_age)}
    values |= {"running": _limit(told.running, LENGTH), "edited": [_limit(path, 200) for path in told.edited[:9]]}
    status, _made = FailoverStatus.objects.update_or_create(gateway=gateway, defaults=values)
    for each in told.families:
        facts = {"role": each.role.value, "carries": each.carries, "is_drained": each.is_drained, "since": _parse_moment(each.since)}
        GatewayRole.objects.update_or_create(status=status, family=each.family, defaults=facts)
    GatewayRole.objects.filter(status=status).exclude(family__in=[each.family for each in told.families]).delete()


def _store_problem(gateway: Gateway, problem: str, at: datetime) -> None:
    FailoverStatus.objects.update_or_create(gateway=gateway, defaults={"asked": at, "problem": _limit(problem, 1000)})
    log.info("roles not told", gateway=gateway.name, problem=problem)


def _limit(text: str, length: int) -> str:
    """Return what of a gateway's text can be stored."""
    return text.replace("\0", "")[:length]


def _go_back(at: datetime, seconds: int) -> datetime | None:
    return at - timedelta(seconds=seconds) if seconds >= 0 else None


def _parse_moment(seconds: int) -> datetime | None:
    return datetime.fromtimestamp(seconds, UTC) if seconds else None


@transaction.atomic
def note_carriers(group: GatewayGroup, now: datetime) -> None:
    """Write down for each family who carries it, if that differs from what was noted last."""
    GatewayGroup.objects.select_for_update(no_key=True).get(pk=group.pk)
    roles = list_roles(group)
    for family, carriers in map_carriers(roles).items():
        of_family = [each for each in roles if each.family == family]
        last = CarrierChange.objects.filter(group=group, family=family).order_by("-id").first()
        if last is None or last.carriers != carriers:
            _note_change(group, family, of_family, carriers, last, now)


def list_roles(group: GatewayGroup) -> list[GatewayRole]:
    """Return the roles of the gateways in service, by gateway and family."""
    rows = GatewayRole.objects.filter(status__gateway__group=group, status__gateway__retired=None)
    return list(rows.select_related("status__gateway").order_by("status__gateway__name", "family"))


def filter_carrying_roles(roles: Sequence[GatewayRole]) -> list[GatewayRole]:
    """Return those roles of one family by which it is carried. Without an answer a gateway counts only if no other one carries."""
    carrying = [each for each in roles if each.carries]
    answering = [each for each in carrying if not each.status.problem]
    return answering or carrying


def map_carriers(roles: Sequence[GatewayRole]) -> dict[int, list[str]]:
    """Return the names of the gateways that carry each family of a group's roles."""
    families = sorted({each.family for each in roles})
    carrying = {family: filter_carrying_roles([each for each in roles if each.family == family]) for family in families}
    return {family: sorted(each.status.gateway.name for each in found) for family, found in carrying.items()}


def count_carried_families(group: GatewayGroup) -> dict[int, int]:
    """Return how many families each gateway carries, by its id, as it told last. Who does not answer any more is not in it."""
    return dict(_read_carried_families(group.pk))


@compile_once
def _read_carried_families(group: int) -> QuerySet[GatewayRole, tuple[int, int]]:
    rows = GatewayRole.objects.filter(status__gateway__group=group, status__problem="")
    counted = rows.values("status__gateway").annotate(carried=Count("pk", filter=Q(carries=True)))
    return counted.values_list("status__gateway", "carried")


def _note_change(
    group: GatewayGroup, family: int, roles: Iterable[GatewayRole], carriers: list[str], last: CarrierChange | None, now: datetime
) -> None:
    taken = [each.since for each in roles if each.status.gateway.name in carriers and each.since]
    at = min(max(taken, default=now), now)
    switch = _find_switch(group, family, carriers, at)
    cause = _find_cause(roles, last, switch)
    CarrierChange.objects.create(group=group, family=family, carriers=carriers, at=at, cause=cause, switch=switch)
    log.info("family is carried by others", group=group.name, family=family, carriers=carriers, cause=cause.value)


def _find_switch(group: GatewayGroup, family: int, carriers: Sequence[str], at: datetime) -> RoleSwitch | None:
    """Return the switch that moved the family to these carriers at that moment. One that is done never leads to its own gateway."""
    begun = RoleSwitch.objects.filter(group=group, families__contains=[family], started__isnull=False).select_related("gateway")
    last = begun.order_by("-id").first()
    if last is None or (last.ended and last.ended < at - timedelta(seconds=30)):
        return None
    return None if last.state == RoleSwitch.State.DONE and last.gateway.name in carriers else last


def _find_cause(roles: Iterable[GatewayRole], last: CarrierChange | None, switch: RoleSwitch | None) -> CarrierChange.Cause:
    if last is None:
        return CarrierChange.Cause.FIRST
    if switch:
        return CarrierChange.Cause.INSTALL if switch.kind == RoleSwitch.Kind.INSTALL else CarrierChange.Cause.SWITCH
    former = [each for each in roles if each.status.gateway.name in last.carriers and not each.carries]
    if any(each.is_drained for each in former):
        return CarrierChange.Cause.DRAINED
    away = [each for each in roles if each.status.gateway.name in last.carriers and each.status.problem]
    if away or any(each.role in (GatewayRole.Role.FAULT, GatewayRole.Role.STOPPED) for each in former):
        return CarrierChange.Cause.FAULT
    return CarrierChange.Cause.ELECTION
