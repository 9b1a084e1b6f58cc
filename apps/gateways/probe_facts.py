"""Checks of a gateway's probe, as the database and the compiler (firewall/probing.py) make them, with a sentence for each refusal.

A probe that the compiler refuses would stop every rollout of the group.
"""

from ipaddress import IPv4Address, ip_network
from typing import Final, Protocol

from django.db.models import Model
from django.utils.translation import gettext as _

from apps.gateways.interface_facts import InterfaceFacts, find_server_interface
from apps.lib.database.validity import is_valid_now_or_later
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.nat.models import NatMapping, PortForward
from apps.network.models import Gateway, Pool
from apps.network.selectors import find_overlapping_holding
from apps.network.virtual_addresses import can_be_assigned
from firewall import names
from firewall.addresses import PRIVATE
from firewall.policy import PolicyError

ADDRESSES: Final = ("probe_source4", "probe_public4", "probe_source6")


class ProbeFacts(InterfaceFacts, Protocol):
    """The fields of a gateway that concern its probe."""

    @property
    def probe_interface(self) -> str: ...
    @property
    def probe_source4(self) -> Address | None: ...
    @property
    def probe_public4(self) -> Address | None: ...
    @property
    def probe_source6(self) -> Address | None: ...


def check_probe(facts: ProbeFacts, gateway: Gateway) -> None:
    """Raise Problem if the probe is incomplete, proves nothing, or has what somebody else has. gateway: whose probe it is."""
    _check_families(facts)
    _check_interface(facts, gateway)
    if isinstance(facts.probe_source4, IPv4Address) and not _is_private(facts.probe_source4):
        words = _("%(address)s is not a private address, so a missing source NAT would go unnoticed. Take one like 172.31.254.2.")
        raise Problem(words % {"address": facts.probe_source4}, "probe_source4")
    if isinstance(facts.probe_public4, IPv4Address) and _is_private(facts.probe_public4):
        words = _("%(address)s is a private address: no answer would come back to it. Enter a public one.")
        raise Problem(words % {"address": facts.probe_public4}, "probe_public4")
    for fieldname in ADDRESSES:
        if (address := getattr(facts, fieldname)) is not None:
            _check_free(fieldname, address, gateway)


def _check_families(facts: ProbeFacts) -> None:
    for fieldname, version in (("probe_source4", 4), ("probe_public4", 4), ("probe_source6", 6)):
        address: Address | None = getattr(facts, fieldname)
        if address is not None and address.version != version:
            words = _("%(address)s is not an IPv4 address.") if version == 4 else _("%(address)s is not an IPv6 address.")
            raise Problem(words % {"address": address}, fieldname)
    if (facts.probe_source4 is None) != (facts.probe_public4 is None):
        missing = "probe_source4" if facts.probe_source4 is None else "probe_public4"
        raise Problem(_("Over IPv4 a probe needs a private address and the public one that it leaves as, or neither."), missing)


def _check_interface(facts: ProbeFacts, gateway: Gateway) -> None:
    has_address = any(getattr(facts, fieldname) is not None for fieldname in ADDRESSES)
    if not facts.probe_interface:
        if has_address:
            raise Problem(_("Enter the interface that leads to the probe."), "probe_interface")
        return
    if not has_address:
        raise Problem(_("The probe needs an address. Enter one, or leave its interface empty."), "probe_interface")
    try:
        names.validate_interface(facts.probe_interface)
    except PolicyError as error:
        words = _("“%(name)s” is not an interface name. Use 1 to 15 of the characters A–Z a–z 0–9 _ . : @ -")
        raise Problem(words % {"name": facts.probe_interface}, "probe_interface") from error
    if facts.probe_interface in (facts.lan, facts.wan, facts.management, facts.sync, find_server_interface(gateway)):
        words = _("%(name)s is already another interface of this gateway.")
        raise Problem(words % {"name": facts.probe_interface}, "probe_interface")


def _check_free(fieldname: str, address: Address, gateway: Gateway) -> None:
    """Raise Problem if another gateway or a member has the address, or a member can get it."""
    other = Gateway.objects.filter(**{fieldname: address}).exclude(pk=gateway.pk).first()
    if other:
        raise Problem(
            _("%(address)s is the address of the probe of %(gateway)s.") % {"address": address, "gateway": other}, fieldname, culprit=other
        )
    if fieldname == "probe_public4":
        _check_public_use(address)
        return
    pool = Pool.objects.filter(prefix__covers=ip_network(address)).first()
    if pool and (can_be_assigned(pool, address) or find_overlapping_holding(ip_network(address))):
        words = _("%(address)s is in the pool %(pool)s. A probe has an address that no member can get.")
        raise Problem(words % {"address": address, "pool": pool}, fieldname, culprit=pool)


def _check_public_use(address: Address) -> None:
    found: Model | None = NatMapping.objects.filter(is_valid_now_or_later(), public=address).first()
    found = found or PortForward.objects.filter(is_valid_now_or_later(), public=address).first()
    if found:
        text = _("Members leave as %(address)s or are reached at it. A probe has a public address of its own.") % {"address": address}
        raise Problem(text, "probe_public4", culprit=found, unnamed=text)


def _is_private(address: IPv4Address) -> bool:
    return any(address in prefix for prefix in PRIVATE)
