"""Enrolment of gateways: adds a gateway that is reached by ssh, and changes the host key that it must show."""

import re
from collections.abc import Sequence
from typing import Any

import pghistory
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.gateways.primaries import refuse_second_primary
from apps.gateways.services import GatewayFacts, check_facts, explain_gateway_error
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.fields import Address, Prefix
from apps.network.models import HOST_KEY, Gateway, GatewayGroup

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
    address: Address | None,
    port: int,
    account: str,
    host_key: str,
    lan: str,
    wan: str,
    management: str,
    sync: str,
    sync_address: Address | None = None,
    management_networks: Sequence[Prefix],
    carries: Sequence[int] = (),
    link: str = Gateway.Link.SSH,
    by: User | None = None,
) -> Gateway:
    """Add a gateway; once its group is live, a worker deploys to it. Raises Problem.

    link: people add gateways that are reached by ssh; the others are agents on the portal's own machine, for the demo. host_key: as in
    ssh_host_ed25519_key.pub, with or without the comment. carries: 4 and 6, as primary. by: None for a command.
    """
    check_name_is_free(name)
    interfaces = {"lan": lan, "wan": wan, "management": management, "sync": sync}
    facts = GatewayFacts(lan, wan, management, sync, management_networks, port, address, account, sync_address)
    check_facts(facts, Gateway(name=name, group=group, link=link))
    for family in carries:
        refuse_second_primary(group, name, family)
    host_key = parse_host_key(host_key) if link == Gateway.Link.SSH else ""
    where: dict[str, Any] = {"address": address, "management_port": port, "ssh_user": account, "host_key": host_key}
    where |= {"sync_address": sync_address, "carries4": 4 in carries, "carries6": 6 in carries}
    try:
        with transaction.atomic(), pghistory.context(cause="gateway add"):
            made = Gateway.objects.create(
                name=name, group=group, link=link, management_networks=list(management_networks), **interfaces, **where
            )
            enqueue_task("workers.reconcile", by.pk if by else None)
    except IntegrityError as error:
        raise explain_gateway_error(error) from error
    return made


def parse_host_key(text: str) -> str:
    """Return the host key without its comment. Raises Problem if it is not an ed25519 key."""
    key = " ".join(text.split()[:2])
    if not re.fullmatch(HOST_KEY, key):
        words = _("This is not a host key of ssh-ed25519. Copy the line in /etc/ssh/ssh_host_ed25519_key.pub on the gateway.")
        raise Problem(words, "host_key")
    return key


def trust_host_key(*, gateway: Gateway, host_key: str) -> None:
    """Trust this host key of the gateway from now on, instead of the old one."""
    with transaction.atomic(), pghistory.context(cause="gateway trust"):
        Gateway.objects.filter(pk=gateway.pk).update(host_key=host_key, version=F("version") + 1)
        enqueue_task("workers.reconcile")
    gateway.refresh_from_db()
