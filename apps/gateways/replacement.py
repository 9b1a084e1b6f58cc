"""Replacement of a gateway's machine: a new one in the same place, with a new host key, that gets everything with the next rollout.

What the old machine ran says nothing about the new one, so it is forgotten. The new one counts from zero; what the old one counted stays.
"""

from typing import Any

import pghistory
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.accounts.models import User
from apps.deployments.observed_state.gateway_states import forget_machine
from apps.gateways.enrolment import parse_host_key
from apps.gateways.retirement import find_rollout_obstacle
from apps.gateways.services import build_conflict, check_connection_settings
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Problem
from apps.lib.fields import Address
from apps.network.models import Gateway
from apps.traffic import counter_collection


def replace_machine(
    *, gateway: Gateway, version: int, host_key: str, address: Address | None = None, port: int | None = None, by: User | None = None
) -> Gateway:
    """Expect another machine behind this gateway from now on. address, port: of its sshd, None for the same as before.

    host_key: as in ssh_host_ed25519_key.pub, with or without the comment. by: None for a command. Raises Conflict if the gateway was
    changed since `version`, and Problem if it is not reached by ssh, a rollout is under way or the values are invalid.
    """
    refuse_without_ssh(gateway)
    address, port = address or gateway.address, port or gateway.management_port
    check_connection_settings(gateway.link, address, port, gateway.ssh_user)
    if rollout := find_rollout_obstacle(gateway):
        raise rollout
    values: dict[str, Any] = {"host_key": parse_host_key(host_key), "address": address, "management_port": port}
    with transaction.atomic(), pghistory.context(cause="gateway replace"):
        if not Gateway.objects.filter(pk=gateway.pk, version=version).update(**values, machine_name="", version=F("version") + 1):
            raise build_conflict(gateway)
        forget_old_machine(gateway)
        enqueue_task("workers.reconcile", by.pk if by else None, True)
    gateway.refresh_from_db()
    return gateway


def refuse_without_ssh(gateway: Gateway) -> None:
    """Raise Problem if the gateway has no machine of its own."""
    if gateway.link != Gateway.Link.SSH:
        words = _("%(gateway)s has no host key: it is reached on this machine (%(link)s). Only a gateway reached by ssh can be replaced.")
        raise Problem(words % {"gateway": gateway, "link": gateway.get_link_display()}, culprit=gateway)


def forget_old_machine(gateway: Gateway) -> None:
    """Forget what the gateway's machine ran, and count another one from zero: the next rollout sends everything."""
    forget_machine(gateway)
    counter_collection.forget_baseline(gateway=gateway)
