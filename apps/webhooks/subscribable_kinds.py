"""Kinds that webhooks can subscribe to: collections whose history is read, and kinds that other apps register and queue themselves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from apps.accounts.roles import Right
from apps.webhooks.event_kinds import list_reportable_collections


class WebhookKind(Protocol):
    """A kind. right: the right that its owner needs."""

    @property
    def name(self) -> str: ...

    @property
    def right(self) -> Right: ...


@dataclass(frozen=True)
class RegisteredKind:
    """A kind of another app, named like a collection of the API. counts_as: of each of its events, which of EVENTS selects it."""

    name: str
    right: Right
    counts_as: Mapping[str, str] = field(hash=False)


_registered: dict[str, RegisteredKind] = {}


def register_kind(kind: RegisteredKind) -> None:
    """Register a kind whose events the caller queues by `direct_events.queue_event`. Called in `ready()`."""
    _registered[kind.name] = kind


def list_kinds() -> Mapping[str, WebhookKind]:
    """Return all kinds by name."""
    known: dict[str, WebhookKind] = {**list_reportable_collections(), **_registered}
    return dict(sorted(known.items()))
