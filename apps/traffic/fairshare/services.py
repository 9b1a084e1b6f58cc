"""Services of fair share: limit the heaviest members while an uplink is full, release them, and set or switch off a group's fair share.

A check is short and may be skipped: limits end on the gateways by themselves, and none is renewed while the load is unknown.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.lib.errors import Conflict, Problem
from apps.members.models import Tariff
from apps.network.models import GatewayGroup
from apps.traffic.fairshare import selectors
from apps.traffic.fairshare.fair_share_policy import CongestionState, FairShareRules, UplinkDirectionLoad, advance_state, choose_heaviest
from apps.traffic.fairshare.models import FairShare
from apps.traffic.rates import services as rates

log = structlog.get_logger()


def adjust_limits(group: GatewayGroup, now: datetime) -> None:
    """Limit, renew or release members according to the uplink's present load. Idempotent; a second concurrent call does nothing."""
    with transaction.atomic():
        share = FairShare.objects.select_for_update(skip_locked=True, of=("self",)).filter(group=group, on=True).first()
        if share is None:
            return
        ways = selectors.map_loads_by_direction(share, now)
        if not ways:
            return
        before = CongestionState(share.since, share.calm_since)
        after = advance_state(_build_rules(share), before, ways.values(), now)
        FairShare.objects.filter(pk=share.pk).update(since=after.since, calm_since=after.calm_since, looked=now)
        if after.is_full:
            _limit_heaviest(share, ways, now)
        else:
            _release_limits(share)
        if before.is_full != after.is_full:
            log.warning("uplink full" if after.is_full else "uplink no longer full", group=str(group), **_compute_percents(ways))


def _build_rules(share: FairShare) -> FairShareRules:
    return FairShareRules(share.start_percent / 100, share.end_percent / 100, timedelta(minutes=share.calm_minutes), share.most)


def _compute_percents(ways: dict[str, UplinkDirectionLoad]) -> dict[str, int]:
    return {name: round(100 * way.share) for name, way in ways.items()}


def _limit_heaviest(share: FairShare, ways: dict[str, UplinkDirectionLoad], now: datetime) -> None:
    """Limit more members where needed. Present limits stay; when one has less than half of its time left, all are renewed together."""
    there = dict(selectors.list_congestion_limits(share.group).values_list("member", "valid"))
    more = _choose_more(share, ways, now, there)
    old = [member for member, valid in there.items() if valid.upper - timezone.now() < timedelta(minutes=share.limit_minutes) / 2]
    if more or old:
        until = timezone.now() + timedelta(minutes=share.limit_minutes)
        done = rates.limit_members(members=[*there, *more], up_kbit=share.up_kbit, down_kbit=share.down_kbit, until=until)
        log.info("heaviest members limited", group=str(share.group), made=done.made, renewed=done.renewed)


def _choose_more(share: FairShare, ways: dict[str, UplinkDirectionLoad], now: datetime, there: Collection[int]) -> list[int]:
    more: list[int] = []
    for name, way in ways.items():
        some, total = selectors.list_talkers(share, name, now, there)
        more += choose_heaviest(_build_rules(share), way, some, total, [*there, *more])
    return more


def _release_limits(share: FairShare) -> None:
    limits = list(selectors.list_releasable_limits(share.group).values_list("pk", flat=True))
    if limits:
        rates.release_rate_limits(limits=limits, by=None)


def set_fair_share(*, group: GatewayGroup, version: int, exempt: Collection[Tariff], by: User, **values: Any) -> FairShare:
    """Set the group's fair share. Raise Conflict when it changed since `version`, Problem for values that contradict each other."""
    if values["end_percent"] >= values["start_percent"]:
        raise Problem(_("The end threshold must be below the start threshold."), "end_percent")
    if values["up_kbit"] is None and values["down_kbit"] is None:
        raise Problem(_("Enter a download rate, an upload rate, or both."), "down_kbit")
    conflict = Conflict(
        _(
            "These settings of fair share were changed by someone else while you were editing. Your input is "
            "kept below; compare and save again."
        )
    )
    try:
        with transaction.atomic():
            if not version:
                FairShare.objects.create(group=group, **values)
            elif not FairShare.objects.filter(group=group, version=version).update(**values, version=F("version") + 1):
                raise conflict
            saved = FairShare.objects.get(group=group)
            saved.exempt.set(exempt)
            if not saved.on:
                _end_congestion(saved)
    except IntegrityError as error:
        if "group_id" not in str(error):
            raise
        raise conflict from error
    log.info("fair share set", group=str(group), on=saved.on, by=by.username)
    return saved


def switch_fair_share_off(*, group: GatewayGroup, by: User) -> None:
    """Switch the group's fair share off and release the members who are limited by it. Idempotent."""
    with transaction.atomic():
        share = FairShare.objects.select_for_update().filter(group=group, on=True).first()
        if share:
            FairShare.objects.filter(pk=share.pk).update(on=False, version=F("version") + 1)
            _end_congestion(share)
            log.info("fair share switched off", group=str(group), by=by.username)


def _end_congestion(share: FairShare) -> None:
    FairShare.objects.filter(pk=share.pk).update(since=None, calm_since=None)
    _release_limits(share)
