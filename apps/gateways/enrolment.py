"""Enrolment of gateways: adds a gateway that is reached by ssh, and changes the host key that it must show."""

import re
from collections.abc import Sequence
from typing import Any

import pghistory
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.gateways.services import check_interfaces
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.fields import Address, Prefix
from apps.network.models import Gateway, GatewayGroup

NAME = r"[a-z][a-z0-9-]{0,39}"


def get_group(name: str) -> GatewayGroup:
    """Return the group of this name. Raises Problem with the existing names."""
    found = GatewayGroup.objects.filter(name=name).first()
    if found is None:
        names = ", ".join(GatewayGroup.objects.values_list("name", flat=True)) or "–"
        raise Problem(_("There is no group %(name)s. Groups: %(names)s.") % {"name": name, "names": names}, "group")
    return found


def check_name_is_free(name: str) -> None:
    """Raise Problem, with what to do, if the name is invalid or taken."""
    if not re.fullmatch(NAME, name):
        words = _("“%(name)s” is not a valid gateway name. Use lower-case letters, digits and hyphens, and begin with a letter.")
        raise Problem(words % {"name": name}, "name")
    holder = Gateway.objects.filter(name=name).select_related("group").first()
    if holder is not None:
        words = _("The name %(name)s is taken by a gateway of %(group)s (%(link)s). Take another, or look at it with “gateway check”.")
        raise Problem(words % {"name": name, "group": holder.group, "link": holder.get_link_display()}, "name", culprit=holder)


def enrol_gateway(
    *,
    name: str,
    group: GatewayGroup,
    address: Address,
    port: int,
    account: str,
    host_key: str,
    lan: str,
    wan: str,
    management: str,
    sync: str,
    management_networks: Sequence[Prefix],
    carries: Sequence[int] = (),
) -> Gateway:
    """Add a gateway that is reached by ssh; a worker then deploys to it. carries: 4 and 6, as primary. Raises Problem."""
    check_name_is_free(name)
    interfaces = {"lan": lan, "wan": wan, "management": management, "sync": sync}
    check_interfaces(interfaces)
    where: dict[str, Any] = {"address": address, "management_port": port, "ssh_user": account, "host_key": host_key}
    where |= {"carries4": 4 in carries, "carries6": 6 in carries}
    try:
        with transaction.atomic(), pghistory.context(cause="gateway add"):
            made = Gateway.objects.create(
                name=name, group=group, link=Gateway.Link.SSH, management_networks=list(management_networks), **interfaces, **where
            )
            enqueue_task("workers.reconcile")
    except IntegrityError as error:
        raise Problem(_("The database refuses these values: %(error)s") % {"error": str(error).splitlines()[0]}) from error
    return made


def trust_host_key(*, gateway: Gateway, host_key: str) -> None:
    """Trust this host key of the gateway from now on, instead of the old one."""
    with transaction.atomic(), pghistory.context(cause="gateway trust"):
        Gateway.objects.filter(pk=gateway.pk).update(host_key=host_key, version=F("version") + 1)
        enqueue_task("workers.reconcile")
    gateway.refresh_from_db()
