"""Collects what gateways report (that they answer, their counters and gauges), and changes what people enter of a gateway."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.audit.selectors import find_last_change
from apps.deployments.models import GatewayState
from apps.deployments.observed_state import gateway_states
from apps.deployments.transport import agent_channel
from apps.gateways import kernel_gauges, set_gauges
from apps.gateways.interface_facts import check_interfaces
from apps.gateways.probe_facts import check_probe
from apps.gateways.sync_facts import check_own_addresses
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.fields import Address, Prefix
from apps.lib.ui import formats
from apps.network.held_interfaces import refuse_held_interface
from apps.network.models import ACCOUNT, Gateway
from apps.traffic import counter_collection
from firewall import wire

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
        gateway_states.record_silence(gateway, str(fault))
        counter_collection.forget_rates(gateway=gateway)
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


@dataclass(frozen=True)
class GatewayFacts:
    """What people enter of a gateway, apart from its name, its group and the families that it is primary for.

    address, management_port, ssh_user: how the portal reaches it. sync_address: IPv4, and only with a sync interface. The probe needs
    an interface and an address, or has neither.
    """

    lan: str
    wan: str
    management: str
    sync: str
    management_networks: Sequence[Prefix]
    management_port: int
    address: Address | None = None
    ssh_user: str = "netzwart"
    sync_address: Address | None = None
    probe_interface: str = ""
    probe_source4: Address | None = None
    probe_public4: Address | None = None
    probe_source6: Address | None = None


FACTS: Final = tuple(each.name for each in fields(GatewayFacts))


def get_facts(gateway: Gateway) -> GatewayFacts:
    """Return the gateway's present values."""
    return GatewayFacts(**{name: getattr(gateway, name) for name in FACTS})


def configure_gateway(*, gateway: Gateway, version: int, facts: GatewayFacts, by: User | None = None) -> Gateway:
    """Change the gateway's values, and who can manage it. by: None for a command.

    Raises Conflict if it was changed since `version`, else Problem.
    """
    check_facts(facts, gateway)
    values = {name: getattr(facts, name) for name in FACTS} | {"management_networks": list(facts.management_networks)}
    try:
        with transaction.atomic():
            if not Gateway.objects.filter(pk=gateway.pk, version=version).update(**values, version=F("version") + 1):
                raise build_conflict(gateway)
            enqueue_task("workers.reconcile", by.pk if by else None)
    except IntegrityError as error:
        raise explain_gateway_error(error) from error
    gateway.refresh_from_db()
    return gateway


def check_facts(facts: GatewayFacts, gateway: Gateway) -> None:
    """Raise Problem for what the database or the compiler would refuse. gateway: the row that has or gets these values."""
    check_interfaces(facts, gateway)
    refuse_held_interfaces(facts, gateway)
    if not facts.management_networks:
        raise Problem(
            _("Without a management network, this gateway could no longer be reached. Enter at least one."), "management_networks"
        )
    check_connection_settings(gateway.link, facts.address, facts.management_port, facts.ssh_user)
    check_probe(facts, gateway)
    check_own_addresses(facts, gateway)


def refuse_held_interfaces(facts: GatewayFacts, gateway: Gateway) -> None:
    """Raise Problem if these values use the gateway's present management interface for something else."""
    for fieldname in ("lan", "wan", "sync", "probe_interface"):
        refuse_held_interface(gateway, getattr(facts, fieldname), fieldname)


def check_connection_settings(link: str, address: Address | None, port: int, account: str) -> None:
    """Raise Problem if the portal cannot reach a gateway like this."""
    if link == Gateway.Link.SSH and address is None:
        raise Problem(_("A gateway that is reached by ssh needs an address."), "address")
    if not 1 <= port <= 65535:
        raise Problem(_("%(port)d is not a port. Choose 1 to 65535.") % {"port": port}, "management_port")
    if not re.fullmatch(ACCOUNT, account):
        words = _("“%(name)s” is not the name of an account. Use lower-case letters, digits, hyphens and underscores.")
        raise Problem(words % {"name": account}, "ssh_user")


def explain_gateway_error(error: IntegrityError) -> Problem:
    """Return the sentence for a refusal by the database: another request was faster."""
    if "gateway_name_of_one" in str(error):
        return Problem(_("Another gateway has just got this name. Choose another."), "name")
    if "gateway_one_ipv" in str(error):
        return Problem(_("Another gateway of the group has just become the primary. Look at it as it is now."))
    if "gateway_sync_address_of_one" in str(error):
        return Problem(_("Another gateway has just got this address on its state sync interface. Look at it as it is now."), "sync_address")
    if "gateway_probe" in str(error) and "_of_one" in str(error):
        return Problem(_("Another gateway has just got one of these probe addresses. Look at it as it is now."))
    return Problem(_("The database refuses these values: %(error)s") % {"error": str(error).splitlines()[0]})


def build_conflict(gateway: Gateway) -> Conflict:
    """Return the Conflict of somebody who saves an outdated version; it says who changed the gateway, and when."""
    last = find_last_change(gateway)
    if last is None:
        return Conflict(
            _("This gateway was changed by someone else while you were editing. Your input is kept below; compare and save again.")
        )
    who, at = last
    given = {"who": who, "time": formats.format_moment(at, timezone.now(), with_seconds=False)}
    words = _("%(who)s changed this gateway at %(time)s, while you were editing. Your input is kept below; compare and save again.")
    return Conflict(words % given)
