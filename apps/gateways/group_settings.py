"""Settings of a group that apply to all its members: protection, limits and profile; changed by one person at a time."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.selectors import find_last_change
from apps.gateways.limit_sampling import check_agents_sample
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address, Prefix
from apps.lib.ui import formats
from apps.network.models import Failover, GatewayGroup, Limits, Profile, Protection
from firewall import limit_sets, profile
from firewall import policy as firewall
from firewall.bogons import BOGONS4, BOGONS6
from firewall.policy import PolicyError

MOST_LISTED = 256  # prefixes or routers; they are part of rules, not elements of sets
MOST_PORTS = 16

type Row = Protection | Limits | Profile | Failover


def get_protection(group: GatewayGroup) -> Protection:
    """Return the group's protection, or an unsaved default with version 0."""
    return Protection.objects.filter(group=group).first() or Protection(group=group, version=0)


def get_limits(group: GatewayGroup) -> Limits:
    """Return the group's limits, or an unsaved default with version 0."""
    return Limits.objects.filter(group=group).first() or Limits(group=group, version=0)


def get_profile(group: GatewayGroup) -> Profile:
    """Return the group's profile, or an unsaved one with version 0 and the recommended values."""
    return Profile.objects.filter(group=group).first() or Profile(group=group, version=0)


@transaction.atomic
def change_protection(
    *,
    group: GatewayGroup,
    version: int,
    clamp_mss: bool,
    bogons: bool,
    own: Sequence[Prefix],
    bgp_peers: Sequence[Address],
    ospf_peers: Sequence[Address],
    ftp_ports: Sequence[int],
    sip_ports: Sequence[int],
    by: User,
) -> Protection:
    """Change what the gateways refuse and accept. Raises Conflict if it was changed since `version`, else Problem."""
    for fieldname, listed in (("own", own), ("bgp_peers", bgp_peers), ("ospf_peers", ospf_peers)):
        _check_number(fieldname, listed)
    for fieldname, ports in (("ftp_ports", ftp_ports), ("sip_ports", sip_ports)):
        if len(ports) > MOST_PORTS or not all(0 < port < 65536 for port in ports):
            raise Problem(_("At most %(most)d ports, each between 1 and 65535.") % {"most": MOST_PORTS}, fieldname)
    if bogons:
        _check_probes(group, own)
    values: dict[str, Any] = {"bogons": bogons, "own": list(own), "bgp_peers": list(bgp_peers), "ospf_peers": list(ospf_peers)}
    values |= {"ftp_ports": list(ftp_ports), "sip_ports": list(sip_ports)}
    saved: Protection = save_settings(get_protection(group), version, values)
    GatewayGroup.objects.filter(pk=group.pk).exclude(clamp_mss=clamp_mss).update(clamp_mss=clamp_mss, version=F("version") + 1)
    enqueue_task("workers.reconcile", by.pk)
    return saved


@transaction.atomic
def change_limits(*, group: GatewayGroup, version: int, open_sampled: bool, exempt: Sequence[Prefix], by: User, **numbers: Any) -> Limits:
    """Change the limits, given by field. Raises Conflict if they were changed since `version`, else Problem."""
    _check_number("exempt", exempt)
    try:
        limit_sets.list_meters(firewall.ConnectionLimits(**numbers))
    except PolicyError as error:
        fieldname = next((each.name for each in fields(firewall.ConnectionLimits) if f" {each.name}:" in str(error)), "")
        if "burst" in str(error):
            fieldname = fieldname.replace("rate", "burst")
            raise Problem(_("This number is not possible. A burst must not exceed five minutes’ worth of the rate."), fieldname) from error
        most = limit_sets.MOST_OPEN if "open" in fieldname else limit_sets.MOST_RATE
        raise Problem(
            _("This number is out of range. Choose at most %(most)s; 0 switches the limit off.") % {"most": formats.format_number(most)},
            fieldname,
        ) from error
    values = numbers | {"open_sampled": open_sampled, "exempt": list(exempt)}
    check_agents_sample(get_limits(group), Limits(group=group, **values))
    saved: Limits = save_settings(get_limits(group), version, values)
    enqueue_task("workers.reconcile", by.pk)
    return saved


@transaction.atomic
def change_profile(*, group: GatewayGroup, version: int, managed: bool, by: User, **values: Any) -> Profile:
    """Change the kernel profile, given by field. Raises Conflict if it was changed since `version`, else Problem."""
    for fieldname, _reason in profile.iter_profile_faults(firewall.Profile(**values)):
        raise Problem(_explain_value(fieldname, values), fieldname)
    saved: Profile = save_settings(get_profile(group), version, values | {"managed": managed})
    enqueue_task("workers.reconcile", by.pk)
    return saved


def _explain_value(fieldname: str, values: Mapping[str, Any]) -> str:
    limits = profile.LIMITS[fieldname]
    if values[fieldname] not in limits:
        return _("Between %(least)s and %(most)s.") % {"least": formats.format_number(limits[0]), "most": formats.format_number(limits[-1])}
    if fieldname == "buckets":
        step = profile.BUCKETS_STEP
        least = -(-max(step, values["connections"] // profile.MOST_PER_BUCKET) // step) * step
        words = _("A multiple of %(step)s, and for so many connections at least %(least)s.")
        return words % {"step": formats.format_number(step), "least": formats.format_number(least)}
    return _("At least %(least)s ports, the last behind the first.") % {"least": formats.format_number(profile.LEAST_PORTS)}


def save_settings(row: Any, version: int, values: Mapping[str, Any]) -> Any:
    """Save these values, creating the row if `version` is 0. Raises Conflict if the row is not at `version`."""
    kind = type(row)
    if row.version != version:
        raise build_settings_conflict(row)
    if not version:
        try:
            with transaction.atomic():
                return kind._default_manager.create(group=row.group, **values)
        except IntegrityError as error:
            raise build_settings_conflict(row) from error
    if not kind._default_manager.filter(pk=row.pk, version=version).update(**values, version=F("version") + 1):
        raise build_settings_conflict(row)
    row.refresh_from_db()
    return row


def build_settings_conflict(row: Row) -> Conflict:
    """Return the Conflict of somebody who saves outdated settings; it says who changed them, and when."""
    last = find_last_change(row) if row.pk else None
    if last is None:
        return Conflict(
            _("These settings were changed by someone else while you were editing. Your input is kept below; compare and save again.")
        )
    who, at = last
    given = {"who": who, "time": formats.format_moment(at, timezone.now(), with_seconds=False)}
    words = _("%(who)s changed these settings at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    return Conflict(words % given)


def _check_number(fieldname: str, listed: Sequence[object]) -> None:
    if len(listed) > MOST_LISTED:
        raise Problem(_("At most %(most)d can be listed here.") % {"most": MOST_LISTED}, fieldname)


def _check_probes(group: GatewayGroup, own: Sequence[Prefix]) -> None:
    """Raise Problem if a probe target would be refused, because then every probe would fail, and every rollout with it."""
    targets: list[Address] = [each for each in (group.probe_target4, group.probe_target6) if each]
    bogons: tuple[Prefix, ...] = (*BOGONS4, *BOGONS6)
    for target in targets:
        if any(target in each for each in bogons) and not any(target in each for each in own):
            words = _("%(target)s, the probe target of this group, cannot be on the internet. List its network here.")
            raise Problem(words % {"target": target}, "own")
