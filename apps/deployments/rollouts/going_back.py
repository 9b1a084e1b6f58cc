"""Announces that gateways are about to go back to an older state. Other apps register what they do at that moment.

A listener is called in the transaction in which going back begins. What it raises is logged, and undone alone.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

import structlog
from django.db import transaction

from apps.network.models import Gateway

log = structlog.get_logger()


class ReturnKind(StrEnum):
    """REVERT: a rollout takes back what a gateway has on trial. ROLLBACK: a group returns to an older revision."""

    REVERT = "revert"
    ROLLBACK = "rollback"


ReturnListener = Callable[[ReturnKind, Sequence[Gateway]], None]
_listeners: list[ReturnListener] = []


def register_return_listener(listener: ReturnListener) -> ReturnListener:
    """Register a listener, in the ready() of the app that owns it. It must return at once: gateways wait."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


def announce_return(kind: ReturnKind, gateways: Sequence[Gateway]) -> None:
    """Call each listener. Never raises."""
    for listener in _listeners:
        try:
            with transaction.atomic():
                listener(kind, gateways)
        except Exception as error:  # a gateway goes back, whatever others make of it
            log.exception("not told that gateways go back", kind=kind.value, error=str(error))
