"""Collects what gateways report (that they answer, their counters and gauges), and changes their interfaces and management settings."""

from collections.abc import Mapping, Sequence

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.selectors import find_last_change
from apps.deployments.models import GatewayState
from apps.deployments.transport import agent_channel
from apps.gateways import kernel_gauges, set_gauges
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Prefix
from apps.lib.ui import formats
from apps.network.models import Gateway
from apps.traffic import counter_collection
from firewall import names, wire
from firewall.policy import PolicyError

log = structlog.get_logger()


def collect_counters(gateway: Gateway) -> bool:
    """Read the gateway's counters into the database. Return False when it did not answer or sent no counters; its page shows that."""
    state, _created = GatewayState.objects.get_or_create(gateway=gateway)
    mine = GatewayState.objects.filter(pk=state.pk)
    try:
        channel = agent_channel.get_readings_channel(gateway)
        ticket = counter_collection.draw_ticket(gateway)
        answer, full = channel.ask(ticket.request), channel.ask(wire.Gauges())
    except agent_channel.Unreachable as fault:
        mine.filter(unreachable_since=None).update(unreachable_since=Now(), error=str(fault))
        log.warning("gateway does not answer", gateway=gateway.name, error=str(fault))
        return False
    mine.update(seen=Now())
    if not isinstance(answer, wire.Reading):
        log.warning("no counters", gateway=gateway.name, answer=answer)
        counter_collection.note_refusal(gateway=gateway, why=str(answer)[:300])
        return False
    now = timezone.now()
    counter_collection.record_reading(gateway=gateway, ticket=ticket, reading=answer, at=now)
    if isinstance(full, wire.GaugesAre):
        set_gauges.store_set_gauges(gateway=gateway, sets=full.sets, at=now)
        kernel_gauges.store_kernel_gauges(gateway=gateway, answer=full, at=now)
    return True


def configure_gateway(
    *,
    gateway: Gateway,
    version: int,
    lan: str,
    wan: str,
    management: str,
    sync: str,
    management_networks: Sequence[Prefix],
    management_port: int,
    by: User,
) -> Gateway:
    """Change the gateway's interfaces and who can manage it. Raises Conflict if it was changed since `version`, else Problem."""
    given = {"lan": lan, "wan": wan, "management": management, "sync": sync}
    check_interfaces(given)
    if not management_networks:
        raise Problem(
            _("Without a management network, this gateway could no longer be reached. Enter at least one."), "management_networks"
        )
    values = given | {"management_networks": list(management_networks), "management_port": management_port}
    try:
        with transaction.atomic():
            if not Gateway.objects.filter(pk=gateway.pk, version=version).update(**values, version=F("version") + 1):
                raise _build_conflict(gateway)
            enqueue_task("workers.reconcile", by.pk)
    except IntegrityError as error:
        raise Problem(_("The database refuses these values: %(error)s") % {"error": str(error).splitlines()[0]}) from error
    gateway.refresh_from_db()
    return gateway


def check_interfaces(given: Mapping[str, str]) -> None:
    """Check that these are valid interface names, all different. Raises Problem at the first that is not."""
    named: set[str] = set()
    for fieldname, name in given.items():
        if not name and fieldname == "sync":
            continue
        try:
            names.validate_interface(name)
        except PolicyError as error:
            words = _("“%(name)s” is not an interface name. Use 1 to 15 of the characters A–Z a–z 0–9 _ . : @ -")
            raise Problem(words % {"name": name}, fieldname) from error
        if name in named:
            raise Problem(_("%(name)s is already another interface of this gateway.") % {"name": name}, fieldname)
        named.add(name)


def _build_conflict(gateway: Gateway) -> Conflict:
    last = find_last_change(gateway)
    if last is None:
        return Conflict(
            _("This gateway was changed by someone else while you were editing. Your input is kept below; compare and save again.")
        )
    who, at = last
    given = {"who": who, "time": formats.format_moment(at, timezone.now(), with_seconds=False)}
    words = _("%(who)s changed this gateway at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    return Conflict(words % given)
