"""Renaming of a gateway. Rollouts, readings and the history go by its id; only the machine keeps the name that its agent was given."""

from django.db import IntegrityError, transaction
from django.db.models import F

from apps.accounts.models import User
from apps.gateways.enrolment import check_name_is_free
from apps.gateways.services import build_conflict, explain_gateway_error
from apps.lib.enqueue import enqueue_task
from apps.network.models import Gateway


def rename_gateway(*, gateway: Gateway, name: str, version: int, by: User | None = None) -> Gateway:
    """Give the gateway another name; what its agent calls itself is kept beside it. by: None for a command.

    Raises Conflict if the gateway was changed since `version`, Problem if the name is invalid or taken. No rule changes by it.
    """
    name = name.strip()
    if name != gateway.name:
        check_name_is_free(name)
    try:
        with transaction.atomic():
            current = Gateway.objects.filter(pk=gateway.pk, version=version)
            agent = gateway.agent_name
            if name == gateway.name and current.exists():
                return gateway
            if not current.update(name=name, machine_name="" if agent == name else agent, version=F("version") + 1):
                raise build_conflict(gateway)
            enqueue_task("workers.reconcile", by.pk if by else None)
    except IntegrityError as error:
        raise explain_gateway_error(error) from error
    gateway.refresh_from_db()
    return gateway
