"""Sends queued deliveries one by one, until none is due or the time is up.

A worker claims a delivery (`tries` counts the claims and is the fencing token), sends it, and commits the result before it claims
the next one. If a worker dies, it is unknown whether its delivery arrived; it is sent again with the same id. No lock and no
transaction is held while the network is waited for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Any, Final

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, Value, When
from django.db.models.functions import Coalesce
from django.utils import timezone

from apps.lib.web import guarded_http
from apps.lib.web.guarded_http import AllowedTargets, NoAnswer, OutgoingRequest
from apps.mail.mail_templates import PlainValue
from apps.mail.services import write_mail
from apps.network.selectors import list_own_prefixes
from apps.webhooks.delivery_gathering import is_subscribed
from apps.webhooks.error_texts import ACCEPTED_NOTHING, BROKEN, NO_RIGHT
from apps.webhooks.models import Delivery, Endpoint
from apps.webhooks.signing import compute_signature, derive_secrets
from apps.webhooks.subscribable_kinds import list_kinds

LEASE: Final = timedelta(minutes=1)  # longer than one try can take
TRY: Final = 10.0  # seconds, DNS included
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(days=1)
SHORTEST_REST, LONGEST_REST = timedelta(seconds=5), timedelta(minutes=5)
GIVE_UP: Final = 12  # tries: about a day and a half
GIVE_UP_AFTER: Final = timedelta(hours=36)  # in which the endpoint accepted nothing at all: more wait then than are tried so often
MAX_GIVEN_UP: Final = 10_000  # deliveries that one failed try gives up
MAX_DELIVERIES_PER_RUN: Final = 500  # deliveries in one run
SECONDS: Final = 30.0  # after which a run begins no further delivery
KEPT: Final = 4096  # octets of an answer
Clock = Callable[[], datetime]
log = structlog.get_logger()


@dataclass(frozen=True)
class DeliveryAnswer:
    """Result of one try: the status and the beginning of the answer, or the error if there was no answer."""

    status: int | None = None
    text: str = ""
    error: str = ""

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def build_allowed_targets() -> AllowedTargets:
    """Return the addresses that may be contacted: the internet without our own networks, plus the networks that the settings allow."""
    return AllowedTargets(also=tuple(settings.WEBHOOK_NETWORKS), never=list_own_prefixes())


def list_schemes() -> tuple[str, ...]:
    return ("https", "http") if settings.WEBHOOK_HTTP else ("https",)


def send_due_deliveries(clock: Clock = timezone.now) -> bool:
    """Send due deliveries for about SECONDS. Returns True if there may be more. Any number of workers may run it at once."""
    end = monotonic() + SECONDS
    _correct_times(clock())
    for _number in range(MAX_DELIVERIES_PER_RUN):
        row = claim_delivery(clock())
        if row is None:
            return False
        send_delivery(row, clock)
        if monotonic() > end:
            break
    return True


def _correct_times(now: datetime) -> None:
    """Make due what was written while the clock was ahead, and wake endpoints that rest since then."""
    Endpoint.objects.filter(rest_until__gt=now + 2 * LONGEST_REST).update(rest_until=None)
    Delivery.objects.filter(written__gt=now, due__gt=now, state=Delivery.State.WAITING).update(written=now, due=now)


def send_delivery(row: Delivery, clock: Clock) -> None:
    """Send a claimed delivery, and record the result. An unexpected error is a failed try, so that others are still sent.

    Raises the database's error if not even that can be recorded.
    """
    try:
        record_answer(row, try_delivery(row, clock()), clock())
    except Exception as error:
        log.exception("webhook delivery broken", endpoint=row.endpoint_id, delivery=str(row.uid))
        record_broken_try(row, DeliveryAnswer(error=f"{BROKEN}: {type(error).__name__}"), clock())


@transaction.atomic
def claim_delivery(now: datetime) -> Delivery | None:
    """Claim a due delivery of an endpoint that is active and not resting. No other worker can claim it before LEASE is over."""
    awake = Endpoint.objects.filter(Q(rest_until=None) | Q(rest_until__lte=now), active=True).values_list("pk", flat=True)
    waiting = Delivery.objects.filter(is_unclaimed(now), state=Delivery.State.WAITING)
    due = waiting.filter(due__lte=now, endpoint__in=list(awake))  # a list, so that deliveries of resting endpoints are not even read
    row = due.select_related("endpoint__owner").select_for_update(skip_locked=True, of=("self",)).order_by("due", "id").first()
    if row is None:
        return None
    row.tries += 1
    Delivery.objects.filter(pk=row.pk).update(tries=row.tries, claimed_until=now + LEASE)
    return row


def is_unclaimed(now: datetime) -> Q:
    """Return the condition that no worker has the delivery in hand."""
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


def try_delivery(row: Delivery, now: datetime) -> DeliveryAnswer | None:
    """Send the delivery. Returns None if the endpoint's owner may not see it any more."""
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
    """True if the endpoint's owner may see the event now. Events that the owner may not see any more are dropped."""
    kind = list_kinds().get(row.event.partition(".")[0])
    owner = row.endpoint.owner
    return owner.is_active and owner.is_staff and (kind is None or is_subscribed(row.endpoint, kind))


def build_headers(row: Delivery, body: bytes, now: datetime) -> dict[str, str]:
    """Return the HTTP headers of the delivery, with the signature."""
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
    """Record the result of a try and all its consequences in one transaction.

    A worker that slept longer than its lease changes the delivery only if it arrived, or if its owner lost the right to see it.
    """
    ended, waiting = {"ended": now, "claimed_until": None}, Delivery.State.WAITING
    there = Delivery.objects.filter(pk=row.pk, state=waiting)
    if answer is None:
        there.update(state=Delivery.State.DROPPED, error=NO_RIGHT, **ended)
    elif answer.is_success:
        Endpoint.objects.filter(pk=row.endpoint_id).update(failures=0, rest_until=None, failing_since=None)  # locked first, as by a failure
        Delivery.objects.filter(pk=row.pk).update(state=Delivery.State.SENT, **build_answer_columns(answer), **ended)
    elif row.tries < GIVE_UP:
        postpone_delivery(row, answer, now)
        give_up_waiting(row, now)
    else:
        rest_endpoint(row.endpoint, now)
        if there.filter(tries=row.tries).update(state=Delivery.State.FAILED, **build_answer_columns(answer), **ended):
            log.warning("webhook given up", endpoint=row.endpoint_id, delivery=str(row.uid), status=answer.status, error=answer.error)
            notify_owner(row, now, row.tries)


def record_broken_try(row: Delivery, answer: DeliveryAnswer, now: datetime) -> None:
    """Record an unexpected error as a failed try. A delivery that cannot be given up, because its owner cannot be told, waits on."""
    try:
        record_answer(row, answer, now)
    except Exception:
        log.exception("webhook not given up", endpoint=row.endpoint_id, delivery=str(row.uid))
        postpone_delivery(row, answer, now)


@transaction.atomic
def postpone_delivery(row: Delivery, answer: DeliveryAnswer, now: datetime) -> None:
    """Record a failed try: the endpoint rests, and the delivery is due again after its pause, unless another worker has it by now."""
    rest_endpoint(row.endpoint, now)
    mine = Delivery.objects.filter(pk=row.pk, state=Delivery.State.WAITING, tries=row.tries)
    mine.update(claimed_until=None, due=now + compute_pause(row.tries), **build_answer_columns(answer))


def give_up_waiting(row: Delivery, now: datetime) -> None:
    """Give up what has waited for GIVE_UP_AFTER, tried or not, if the delivery's endpoint has accepted nothing in that time."""
    long_ago, waiting = now - GIVE_UP_AFTER, Delivery.State.WAITING
    if not Endpoint.objects.filter(pk=row.endpoint_id, failing_since__lte=long_ago, failures__gte=GIVE_UP).exists():
        return
    old = Delivery.objects.filter(is_unclaimed(now), endpoint=row.endpoint_id, state=waiting, written__lte=long_ago)
    chosen = Delivery.objects.filter(pk__in=old.order_by("id").values("pk")[:MAX_GIVEN_UP], state=waiting)
    error = Case(When(status=None, error="", then=Value(ACCEPTED_NOTHING)), default=F("error"))
    if number := chosen.update(state=Delivery.State.FAILED, ended=now, claimed_until=None, error=error):
        log.warning("webhook given up", endpoint=row.endpoint_id, deliveries=number, since=long_ago.isoformat())
        notify_owner(row, now, tries=0)


def build_answer_columns(answer: DeliveryAnswer) -> dict[str, Any]:
    """Return the columns of a delivery that show the last answer."""
    return {"status": answer.status, "answer": answer.text, "error": answer.error[:320]}


def rest_endpoint(endpoint: Endpoint, now: datetime) -> None:
    """Count a failure of the endpoint, and let it rest: twice as long each time."""
    rest = min(SHORTEST_REST * 2.0 ** min(endpoint.failures, 10), LONGEST_REST)
    since = Coalesce("failing_since", Value(now))
    Endpoint.objects.filter(pk=endpoint.pk).update(failures=F("failures") + 1, rest_until=now + rest, failing_since=since)


def compute_pause(tries: int) -> timedelta:
    """Return the pause after this many failed tries: one minute, then twice as long each time, up to a day."""
    return min(FIRST_PAUSE * 2.0 ** min(tries - 1, 20), LONGEST_PAUSE)


def notify_owner(row: Delivery, now: datetime, tries: int) -> None:
    """Send the owner a mail, at most one a day for each endpoint. tries: of the delivery, or 0 for all that have waited too long."""
    owner, endpoint = row.endpoint.owner, row.endpoint
    if owner.email:
        facts: dict[str, PlainValue] = {"name": endpoint.name, "url": f"{settings.PORTAL_URL}/webhooks/{endpoint.pk}/", "tries": tries}
        key = f"webhook {endpoint.pk} {now:%Y-%m-%d}"
        write_mail(to=owner.email, language=owner.mail_language, template="webhook", context=facts, about=endpoint, key=key)
