"""Checks of a gateway's own addresses beside failover: the one on its state sync interface, and that none is a virtual address."""

from ipaddress import ip_network
from typing import Final, Protocol

from django.utils.translation import gettext as _

from apps.gateways.probe_facts import ADDRESSES
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.network.models import Gateway, Pool
from apps.network.virtual_addresses import find_failover_with

OWN_ADDRESSES: Final = ("address", "sync_address", *ADDRESSES)  # what a gateway has for itself alone


class SyncFacts(Protocol):
    """The fields of a gateway that concern its link to the other gateways of the group."""

    @property
    def sync(self) -> str: ...
    @property
    def sync_address(self) -> Address | None: ...


def check_own_addresses(facts: SyncFacts, gateway: Gateway) -> None:
    """Raise Problem if the address on the sync interface cannot be, or if the gateways of a group hold one of these in turn.

    gateway: whose addresses they are; it may have other ones now.
    """
    if facts.sync_address is not None:
        check_sync_address(facts.sync_address, facts.sync, gateway)
    for fieldname in OWN_ADDRESSES:
        address: Address | None = getattr(facts, fieldname)
        row = find_failover_with(address) if address is not None else None
        if row:
            words = _("%(address)s is a virtual address of %(group)s. This one belongs to the gateway alone.")
            raise Problem(words % {"address": address, "group": row.group}, fieldname, culprit=row)


def check_sync_address(address: Address, interface: str, gateway: Gateway) -> None:
    """Raise Problem if the gateway cannot have this address on its sync interface."""
    if address.version != 4:
        raise Problem(_("%(address)s is not an IPv4 address.") % {"address": address}, "sync_address")
    if not interface:
        raise Problem(_("Enter the state sync interface that has this address, or leave the address empty."), "sync")
    if address.is_multicast or address.is_unspecified or address.is_loopback:
        raise Problem(_("%(address)s cannot be the address of an interface.") % {"address": address}, "sync_address")
    other = Gateway.objects.filter(group=gateway.group_id, sync_address=address).exclude(pk=gateway.pk).first()
    if other:
        words = _("%(address)s is the address of %(gateway)s on its state sync interface. Each gateway has its own.")
        raise Problem(words % {"address": address, "gateway": other}, "sync_address", culprit=other)
    pool = Pool.objects.filter(prefix__covers=ip_network(address)).first()
    if pool:
        words = _("%(address)s is in the pool %(pool)s. The link between gateways has addresses that no member can get.")
        raise Problem(words % {"address": address, "pool": pool}, "sync_address", culprit=pool)
