"""Interfaces that a gateway still needs though its row names others by now: apps above know of changes that it has not got yet."""

from collections.abc import Callable, Iterable

from django.utils.translation import gettext as _

from apps.lib.errors import Problem
from apps.network.models import Gateway

type InterfaceFinder = Callable[[Gateway], Iterable[str]]

_finders: list[InterfaceFinder] = []


def register_held_interfaces(find: InterfaceFinder) -> None:
    """Register a function that returns the names of interfaces that the gateway still needs."""
    _finders.append(find)


def refuse_held_interface(gateway: Gateway, name: str, fieldname: str) -> None:
    """Raise Problem if the gateway still needs the interface of this name for something else."""
    if name and any(name in find(gateway) for find in _finders):
        words = _("%(gateway)s still uses %(name)s for management. Wait until its new management interface is approved and active.")
        raise Problem(words % {"gateway": gateway, "name": name}, fieldname)
