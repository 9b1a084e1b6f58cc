"""From the queue to the endpoints: one delivery after the other, until nothing is due or time is up.

A delivery is claimed (`tries` counts it, and is its fencing token), sent, and what came of it is committed before the next one is
claimed. A worker that dies leaves one of which nobody knows whether it arrived; it is sent again, with the same id. Nothing here
holds a lock or a transaction while the network is waited for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from apps.lib.web import guarded_http
from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, OutgoingRequest
from apps.mail.mail_templates import PlainValue
from apps.mail.services import write_mail
from apps.network.selectors import list_own_prefixes
from apps.webhooks.delivery_gathering import is_subscribed
from apps.webhooks.error_texts import NO_RIGHT
from apps.webhooks.event_kinds import list_event_kinds
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.signing import compute_signature, derive_secrets

LEASE: Final = timedelta(minutes=1)  # longer than a try may take
TRY: Final = 10.0  # seconds, with DNS
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(days=1)
SHORTEST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=5)
GIVE_UP: Final = 12  # tries: a day and a half
MOST: Final = 500  # deliveries
SECONDS: Final = 30.0  # after which no further one is begun
KEPT: Final = 4096  # octets of an answer
Clock = Callable[[], datetime]
log = structlog.get_logger()


@dataclass(frozen=True)
class DeliveryAnswer:
    """What a try came to: a status and the beginning of what was said, or why there was none."""

    status: int | None = None
    text: str = ""
    error: str = ""

    @property
    def good(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def build_allowed_targets() -> AllowedTargets:
    """What may be asked: the internet but our own networks, and what the settings allow beside."""
    return AllowedTargets(also=tuple(settings.WEBHOOK_NETWORKS), never=list_own_prefixes())


def list_schemes() -> tuple[str, ...]:
    return ("https", "http") if settings.WEBHOOK_HTTP else ("https",)


def send_due(clock: Clock = timezone.now) -> bool:
    """Send what is due, for about SECONDS; whether there is more. Any number of workers may do so at once."""
    end = monotonic() + SECONDS
    for _number in range(MOST):
        row = claim(clock())
        if row is None:
            return False
        record_answer(row, try_delivery(row, clock()), clock())
        if monotonic() > end:
            break
    return True


@transaction.atomic
def claim(now: datetime) -> Delivery | None:
    """Take one that is due, of an endpoint that is active and not resting. Nobody else does before LEASE is over."""
    awake = Endpoint.objects.filter(Q(rest_until=None) | Q(rest_until__lte=now), active=True).values_list("pk", flat=True)
    free = Q(claimed_until=None) | Q(claimed_until__lte=now)  # a list: what waits for the others is not even looked at
    due = Delivery.objects.filter(free, state=Delivery.State.WAITING, due__lte=now, endpoint__in=list(awake))
    row = due.select_related("endpoint__owner").select_for_update(skip_locked=True, of=("self",)).order_by("due", "id").first()
    if row is None:
        return None
    row.tries += 1
    Delivery.objects.filter(pk=row.pk).update(tries=row.tries, claimed_until=now + LEASE)
    return row


def try_delivery(row: Delivery, now: datetime) -> DeliveryAnswer | None:
    """Send it; None when its owner may not see it any more."""
    if not can_be_sent(row):
        return None
    try:
        parts, body = guarded_http.parse_url(row.endpoint.url, list_schemes()), row.body.encode()
        with guarded_http.open_request(
            parts, OutgoingRequest("POST", body, build_headers(row, body, now)), build_allowed_targets(), TRY
        ) as response:
            said = response.read(KEPT)
    except NoAnswer as error:
        return DeliveryAnswer(error=f"{error.fault}: {error.what}")
    return DeliveryAnswer(response.status, said.decode(errors="replace").replace("\0", "�"))


def can_be_sent(row: Delivery) -> bool:
    """What the owner could see when it happened, and may not now, is not told."""
    kind = list_event_kinds().get(row.event.partition(".")[0])
    owner = row.endpoint.owner
    return owner.is_active and owner.is_staff and (kind is None or is_subscribed(row.endpoint, kind))


def build_headers(row: Delivery, body: bytes, now: datetime) -> dict[str, str]:
    """What stands above the body."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "Netzwart",
        "Accept-Encoding": "identity",
        "Connection": "close",
        "X-Netzwart-Delivery": str(row.uid),
        "X-Netzwart-Event": row.event,
        "X-Netzwart-Signature": compute_signature(derive_secrets(row.endpoint.salt), int(now.timestamp()), body),
    }


@transaction.atomic
def record_answer(row: Delivery, answer: DeliveryAnswer | None, now: datetime) -> None:
    """Write down what came of a try, with all that follows from it or nothing. A worker that slept longer than its lease changes
    nothing, unless it arrived."""
    ended, waiting = {"ended": now, "claimed_until": None}, Delivery.State.WAITING
    there = Delivery.objects.filter(pk=row.pk, state=waiting)
    if answer is None:
        there.update(state=Delivery.State.DROPPED, error=NO_RIGHT, **ended)
        return
    said = {"status": answer.status, "answer": answer.text, "error": answer.error[:320]}
    endpoint = Endpoint.objects.filter(pk=row.endpoint_id)
    if answer.good:
        Delivery.objects.filter(pk=row.pk).update(state=Delivery.State.SENT, **said, **ended)
        endpoint.update(failures=0, rest_until=None)
        return
    rest = min(SHORTEST_REST * 2.0 ** min(row.endpoint.failures, 10), LONGEST_REST)
    endpoint.update(failures=F("failures") + 1, rest_until=now + rest)
    mine = there.filter(tries=row.tries)
    if row.tries < GIVE_UP:
        mine.update(claimed_until=None, due=now + compute_pause(row.tries), **said)
    elif mine.update(state=Delivery.State.FAILED, **said, **ended):
        log.warning("webhook given up", endpoint=row.endpoint_id, delivery=str(row.uid), status=answer.status, error=answer.error)
        notify_owner(row, now)


def compute_pause(tries: int) -> timedelta:
    """After so many tries in vain: a minute, then twice as long each time, up to a day."""
    return min(FIRST_PAUSE * 2.0 ** min(tries - 1, 20), LONGEST_PAUSE)


def notify_owner(row: Delivery, now: datetime) -> None:
    """A mail to the owner, one a day for each endpoint."""
    owner, endpoint = row.endpoint.owner, row.endpoint
    if owner.email:
        facts: dict[str, PlainValue] = {"name": endpoint.name, "url": f"{settings.PORTAL_URL}/webhooks/{endpoint.pk}/", "tries": row.tries}
        key = f"webhook {endpoint.pk} {now:%Y-%m-%d}"
        write_mail(to=owner.email, language=owner.speaks, template="webhook", context=facts, about=endpoint, key=key)
