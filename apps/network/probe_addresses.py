"""Addresses of gateways' probes among those of members: no pool gives one, and no member leaves as one or is reached at it.

The compiler refuses a policy in which a member has an address of a probe (firewall/probing.py), and with it each change of the group.
"""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.network.models import Gateway, Pool
from apps.network.virtual_addresses import can_be_assigned, refuse_virtual_addresses


def read_probed_gateways() -> dict[Address, Gateway]:
    """Return the gateways with a probe over IPv4, by the public address that the probe leaves as."""
    probed = Gateway.objects.filter(probe_public4__isnull=False)
    return {gateway.probe_public4: gateway for gateway in probed if gateway.probe_public4 is not None}


def refuse_probe_public(public: Address, probed: Mapping[Address, Gateway]) -> None:
    """Raise Problem if the public address is a probe's. probed: as from `read_probed_gateways`."""
    if gateway := probed.get(public):
        words = _("%(address)s is the address of the probe of %(gateway)s.")
        raise Problem(words % {"address": public, "gateway": gateway}, "public", culprit=gateway)


def refuse_probe_sources(pool: Pool) -> None:
    """Raise Problem if the pool would give a probe's own address to members."""
    for gateway in Gateway.objects.exclude(probe_interface=""):
        for source in (gateway.probe_source4, gateway.probe_source6):
            if source is not None and can_be_assigned(pool, source):
                words = _("%(address)s is the address of the probe of %(gateway)s. Keep it free here.")
                raise Problem(words % {"address": source, "gateway": gateway}, "kept", offer=str(source), culprit=gateway)


def refuse_addresses_of_gateways(pool: Pool) -> None:
    """Raise Problem if the pool would give members an address that gateways need: a virtual one, or a probe's own."""
    refuse_virtual_addresses(pool)
    refuse_probe_sources(pool)
