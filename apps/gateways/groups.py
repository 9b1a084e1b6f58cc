"""Gateway groups: added, changed and removed, by one person at a time and within what the database accepts.

Takes `GroupFacts` from forms, the API and the command. Each refusal is a sentence that names what is in the way.
"""

from dataclasses import asdict, dataclass
from ipaddress import ip_network
from typing import Any, Final

from django.db import IntegrityError, connection, transaction
from django.db.models import F, ProtectedError
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.selectors import find_last_change
from apps.audit.undo import find_last_event
from apps.bans.selectors import list_covering_bans, list_unexpired_allow_entries
from apps.deployments.approvals.limit_changes import pick_tightened_limits, request_looser_limits
from apps.gateways.selectors import list_dependents
from apps.lib.dependents import describe_ended
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address, Prefix
from apps.lib.ui import formats
from apps.network.models import GatewayGroup, Protection
from firewall.bogons import BOGONS4, BOGONS6

CONFIRM_WITHIN: Final = range(5, 601)  # seconds
SHARE: Final = range(101)  # percent
LONGEST_NAME: Final = 40
RESPONDER_PORTS: Final = range(1024, 65536)  # the prober listens at the same one, without any privilege


@dataclass(frozen=True)
class GroupFacts:
    """What people enter of a group. The defaults are those of a new group.

    confirm_within: seconds. removal_share: percent. The probes' port belongs to both targets; without a target there is none.
    responder_port: at which the targets take requests to connect back to the probes, at the same port; None: they do not.
    """

    name: str
    goes_on: bool = True
    heals_drift: bool = True
    confirm_within: int = 30
    removal_share: int = 20
    removal_least: int = 10
    probe_target4: Address | None = None
    probe_target6: Address | None = None
    probe_port: int | None = None
    responder_port: int | None = None


LIMITS: Final = ("removal_share", "removal_least")


def add_group(*, facts: GroupFacts, by: User | None = None) -> GatewayGroup:
    """Add a group without gateways. by: None for a command. Raises Problem."""
    values = _clean(facts)
    _check_targets(facts, None)
    try:
        with transaction.atomic():
            made = GatewayGroup.objects.create(**values)
            _enqueue_reconcile(by)
    except IntegrityError as error:
        raise explain_group_error(error, GatewayGroup(**values)) from error
    return made


def change_group(*, group: GatewayGroup, version: int, facts: GroupFacts, by: User | None = None) -> GatewayGroup:
    """Change the group. Looser limits of removals wait for a second person, everything else applies from the next rollout on.

    Raises Conflict if the group was changed since `version`, else Problem.
    """
    values = _clean(facts)
    _check_targets(facts, group)
    wanted = {name: values.pop(name) for name in LIMITS}
    try:
        with transaction.atomic():
            current = GatewayGroup.objects.select_for_update().filter(pk=group.pk, version=version).first()
            if current is None:
                raise _build_conflict(group)
            tighter = pick_tightened_limits(current, **wanted)
            GatewayGroup.objects.filter(pk=group.pk).update(**values, **tighter, version=F("version") + 1)
            request_looser_limits(current, **wanted, by=by)
            _enqueue_reconcile(by)
    except IntegrityError as error:
        raise explain_group_error(error, GatewayGroup(pk=group.pk, **values)) from error
    group.refresh_from_db()
    return group


def remove_group(*, group: GatewayGroup, by: User | None = None) -> int | None:
    """Remove a group that nothing depends on, with its settings. Return the event that `undo_event` takes.

    Raises Problem, which names what depends on the group and has the first of it as its culprit.
    """
    try:
        with transaction.atomic():
            if not GatewayGroup.objects.select_for_update().filter(pk=group.pk).exists():
                return None
            refuse_dependents(group)
            GatewayGroup.objects.get(pk=group.pk).delete()
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what was added meanwhile is refused here, not when the request ends
            _enqueue_reconcile(by)
    except (ProtectedError, IntegrityError) as error:
        text = _("%(group)s cannot be removed: its history or something that was just added depends on it.")
        raise Problem(text % {"group": group}) from error
    return find_last_event(GatewayGroup, group.pk)


def refuse_dependents(group: GatewayGroup) -> None:
    """Raise Problem if something depends on the group."""
    found = list_dependents(group)
    if found:
        text = _("%(group)s cannot be removed. It still has %(what)s.")
        raise Problem(text % {"group": group, "what": describe_ended(found)}, culprit=found[0].first)


def check_group_undo(former: GatewayGroup, current: GatewayGroup | None) -> None:
    """Raise Problem if an undo must not bring back these values. current: None if the group was removed."""
    if current and any(getattr(former, name) > getattr(current, name) for name in LIMITS):
        text = _(
            "Undoing this would loosen the limits from which a second person must agree. Enter them on the page of %(group)s: "
            "there they wait for that agreement."
        )
        raise Problem(text % {"group": current}, culprit=current)
    if current and current.live_since and not former.live_since:
        text = _("%(group)s stays live. To keep its gateways at a revision, roll back to it: that puts the group on hold.")
        raise Problem(text % {"group": current}, culprit=current)
    _check_targets(GroupFacts(former.name, probe_target4=former.probe_target4, probe_target6=former.probe_target6), current)


def explain_group_error(error: IntegrityError, group: GatewayGroup) -> Problem:
    """Return the sentence for a refusal by the database. A violation of any other constraint is our fault, and raised unchanged."""
    if "network_gatewaygroup_name" not in str(error):
        raise error
    holder = GatewayGroup.objects.filter(name=group.name).first()
    text = _("The name %(name)s is taken by another gateway group. Choose another.")
    return Problem(text % {"name": group.name}, "name", culprit=holder)


def _clean(facts: GroupFacts) -> dict[str, Any]:
    """Return the values to store. Raises Problem for what the database would refuse."""
    name = " ".join(facts.name.split())
    if not name or len(name) > LONGEST_NAME:
        raise Problem(_("A gateway group needs a name of up to %(most)d characters.") % {"most": LONGEST_NAME}, "name")
    if facts.confirm_within not in CONFIRM_WITHIN:
        raise Problem(_("A gateway can wait between 5 and 600 seconds for its confirmation."), "confirm_within")
    if facts.removal_share not in SHARE:
        raise Problem(_("A share is between 0 and 100 percent."), "removal_share")
    if facts.removal_least < 1:
        raise Problem(_("Enter at least 1; with 0, changes without removals would wait too."), "removal_least")
    _check_probe(facts)
    return asdict(facts) | {"name": name}


def _check_probe(facts: GroupFacts) -> None:
    if facts.probe_target4 and facts.probe_target4.version != 4:
        raise Problem(_("%(address)s is not an IPv4 address.") % {"address": facts.probe_target4}, "probe_target4")
    if facts.probe_target6 and facts.probe_target6.version != 6:
        raise Problem(_("%(address)s is not an IPv6 address.") % {"address": facts.probe_target6}, "probe_target6")
    has_target = bool(facts.probe_target4 or facts.probe_target6)
    if has_target and facts.probe_port is None:
        raise Problem(_("Enter the TCP port that the probe’s target listens on."), "probe_port")
    if facts.probe_port is not None and not has_target:
        raise Problem(_("A port alone cannot be probed. Enter a target, or leave the port empty."), "probe_port")
    if facts.probe_port is not None and not 1 <= facts.probe_port <= 65535:
        raise Problem(_("%(port)d is not a port. Choose 1 to 65535.") % {"port": facts.probe_port}, "probe_port")
    _check_responder(facts, has_target=has_target)


def _check_responder(facts: GroupFacts, *, has_target: bool) -> None:
    port = facts.responder_port
    if port is not None and not has_target:
        raise Problem(_("The responder runs on the probe’s target. Enter a target, or leave the port empty."), "responder_port")
    if port is not None and port not in RESPONDER_PORTS:
        given = {"port": port, "first": RESPONDER_PORTS[0], "last": RESPONDER_PORTS[-1]}
        raise Problem(_("%(port)d cannot be the responder’s port. Choose %(first)d to %(last)d.") % given, "responder_port")


def _check_targets(facts: GroupFacts, group: GatewayGroup | None) -> None:
    """Raise Problem if the group's own rules would stop the probe: then every rollout would fail."""
    bogons: tuple[Prefix, ...] = (*BOGONS4, *BOGONS6)
    for fieldname, target in (("probe_target4", facts.probe_target4), ("probe_target6", facts.probe_target6)):
        if target is None or (group and getattr(group, fieldname) == target):
            continue
        network = ip_network(target)
        ban = list_covering_bans(network).first()
        if ban and not list_unexpired_allow_entries().filter(prefix__covers=network).exists():
            text = _("%(target)s is banned on the list %(list)s: %(prefix)s. Choose another target, or lift the ban.")
            raise Problem(text % {"target": target, "list": ban.list, "prefix": ban.prefix}, fieldname, culprit=ban)
        protection = Protection.objects.filter(group=group, bogons=True).first() if group else None
        own: list[Prefix] = protection.own if protection else []
        if protection and any(target in each for each in bogons) and not any(target in each for each in own):
            text = _("%(target)s cannot be on the internet, and the group’s protection refuses it. Except its network there first.")
            raise Problem(text % {"target": target}, fieldname, culprit=protection)


def _enqueue_reconcile(by: User | None) -> None:
    enqueue_task("workers.reconcile", by.pk if by else None)


def _build_conflict(group: GatewayGroup) -> Conflict:
    last = find_last_change(group)
    if last is None:
        return Conflict(
            _("These settings were changed by someone else while you were editing. Your input is kept below; compare and save again.")
        )
    who, at = last
    given = {"who": who, "time": formats.format_moment(at, timezone.now(), with_seconds=False)}
    words = _("%(who)s changed these settings at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    return Conflict(words % given)
