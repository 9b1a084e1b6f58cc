"""Checks of a gateway's interfaces: each is one for the kernel, and has one role.

An interface with two roles would stop every rollout of the group (firewall/chains).
"""

from typing import Final, Protocol

from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.network.models import Gateway
from firewall import names
from firewall.policy import PolicyError

ROLES: Final = ("lan", "wan", "management", "sync")


class InterfaceFacts(Protocol):
    """The interfaces that people enter of a gateway, apart from those of its probe and of its servers."""

    @property
    def lan(self) -> str: ...
    @property
    def wan(self) -> str: ...
    @property
    def management(self) -> str: ...
    @property
    def sync(self) -> str: ...


def check_interfaces(facts: InterfaceFacts, gateway: Gateway) -> None:
    """Check that these are valid interface names, all different. Raises Problem at the first that is not.

    gateway: whose they are; what leads to its servers is none of them.
    """
    named = {find_server_interface(gateway)}
    for fieldname in ROLES:
        name = getattr(facts, fieldname)
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


def find_server_interface(gateway: Gateway) -> str:
    """Return the name of the interface behind which the gateway's servers stand; "" if they have none of their own."""
    server = getattr(gateway, "server_interface", None) if gateway.pk else None
    return server.name if server else ""
