"""Writes of webhooks: add, change, pause and remove endpoints, renew secrets, send tests, and resend deliveries."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_address

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.accounts.models import ApiToken, User
from apps.accounts.permissions import has_right
from apps.accounts.tokens import is_in_scope
from apps.lib.enqueue import enqueue_task
from apps.lib.errors import Conflict, Problem
from apps.lib.web import guarded_http
from apps.lib.web.guarded_http import NoAnswer
from apps.webhooks import delivery_gathering, delivery_sender, payload
from apps.webhooks.models import EVENTS, Delivery, Endpoint
from apps.webhooks.signing import derive_secret, make_salt
from apps.webhooks.subscribable_kinds import list_kinds

MAX_WEBHOOKS = 20
PING = "ping"
TASK = "workers.tell_webhooks"
log = structlog.get_logger()


@dataclass(frozen=True)
class EndpointFacts:
    """Settings of an endpoint, as forms and scripts give them. Empty `kinds` or `events` means all."""

    name: str
    url: str
    kinds: Sequence[str] = ()
    events: Sequence[str] = ()
    active: bool = True


@transaction.atomic
def add_webhook(*, facts: EndpointFacts, by: User) -> tuple[Endpoint, str]:
    """Add an endpoint that belongs to `by`. Returns it with its secret, which cannot be shown again. Raises Problem."""
    validate_endpoint(facts, by)
    if Endpoint.objects.count() >= MAX_WEBHOOKS:
        raise Problem(_("There are %(most)d webhooks already. Remove one that is no longer needed.") % {"most": MAX_WEBHOOKS})
    made = Endpoint(owner=by, salt=make_salt(), **_build_columns(facts))
    _save_endpoint(made)
    delivery_gathering.begin_positions()
    log.info("webhook added", webhook=made.pk, by=by.username)
    return made, derive_secret(made.salt)


@transaction.atomic
def change_webhook(*, endpoint: Endpoint, version: int, facts: EndpointFacts, by: User) -> Endpoint:
    """Change an endpoint's settings, or pause it. Nothing is queued for an inactive endpoint.

    Kinds that it has may stay though the owner may not see them any more: nothing is sent of them.
    Raises Problem, and Conflict if `version` is not current.
    """
    validate_endpoint(facts, endpoint.owner, chosen_before=endpoint.kinds)
    changed = _build_columns(facts) | ({"failures": 0, "failing_since": None, "rest_until": None} if facts.active else {})
    try:
        with transaction.atomic():
            if not Endpoint.objects.filter(pk=endpoint.pk, version=version).update(version=F("version") + 1, **changed):
                raise Conflict(_("This was changed since you read it. Read it again, then decide."))
    except IntegrityError as error:
        raise Problem(_("There is a webhook of this name already."), "name") from error
    log.info("webhook changed", webhook=endpoint.pk, by=by.username)
    return Endpoint.objects.get(pk=endpoint.pk)


def check_token_scope(*, token: ApiToken, endpoint: Endpoint, facts: EndpointFacts) -> None:
    """Raise Problem if a script would make a webhook report more than its token can read, or report to another address."""
    if facts.url != endpoint.url:
        raise Problem(_("A token cannot change a webhook’s address. Sign in and change it on the webhook’s page."), "url")
    told, before = _resolve_kinds(facts.kinds), _resolve_kinds(endpoint.kinds)
    beyond = sorted(kind for kind in told - before if not is_in_scope(token, kind, "GET"))
    if beyond:
        text = _("The token may not read %(kinds)s, so it cannot make a webhook report it.")
        raise Problem(text % {"kinds": ", ".join(beyond)}, "kinds")


def _resolve_kinds(chosen: Sequence[str]) -> set[str]:
    return set(chosen or list_kinds())


def remove_webhook(*, endpoint: Endpoint, by: User) -> None:
    """Remove an endpoint with all its deliveries."""
    endpoint.delete()
    log.info("webhook removed", webhook=endpoint.pk, by=by.username)


def renew_secret(*, endpoint: Endpoint, by: User) -> str:
    """Return a new secret, which cannot be shown again. The old secret stops working at once."""
    salt = make_salt()
    Endpoint.objects.filter(pk=endpoint.pk).update(salt=salt, version=F("version") + 1)
    log.info("webhook secret renewed", webhook=endpoint.pk, by=by.username)
    return derive_secret(salt)


def ping_webhook(*, endpoint: Endpoint, by: User) -> Delivery:
    """Queue a test and end the endpoint's rest. Raises Problem while the endpoint is paused."""
    _validate_active(endpoint)
    made = delivery_gathering.build_delivery(
        endpoint, {"event": PING, "at": payload.format_time(timezone.now()), "by": {"id": by.pk, "username": by.username}}
    )
    with transaction.atomic():
        made.save()
        Endpoint.objects.filter(pk=endpoint.pk).update(rest_until=None)
        enqueue_task(TASK)
    return made


def resend_delivery(*, delivery: Delivery, by: User) -> None:
    """Queue an ended delivery again under the same id, and end the endpoint's rest. What waits has another day and a half.

    Raises Conflict if it still waits or is being sent; Problem while the endpoint is paused.
    """
    _validate_active(delivery.endpoint)
    ended = Delivery.objects.filter(pk=delivery.pk).exclude(state=Delivery.State.WAITING)
    with transaction.atomic():
        if not ended.update(state=Delivery.State.WAITING, ended=None, due=timezone.now(), tries=0, claimed_until=None):
            raise Conflict(_("This delivery is waiting already."))
        Endpoint.objects.filter(pk=delivery.endpoint_id).update(rest_until=None, failing_since=None)
        enqueue_task(TASK)
    log.info("webhook delivery sent again", delivery=str(delivery.uid), by=by.username)


def forget_deliveries(*, source: str, ids: Iterable[int]) -> None:
    """Delete the deliveries of rows whose personal data are erased. source: the table of their history."""
    Delivery.objects.filter(source=source, object_id__in=list(ids)).delete()


def forget_deliveries_by(user: int) -> None:
    """Delete the deliveries of changes that this account made, because each of them names it."""
    Delivery.objects.filter(body__contains=f'"by": {{"id": {user}, ').delete()


def _validate_active(endpoint: Endpoint) -> None:
    if not endpoint.active:
        raise Problem(_("It is paused. Switch it on first."))


def validate_endpoint(facts: EndpointFacts, owner: User, chosen_before: Container[str] = ()) -> None:
    """Raise Problem for settings that can never work. chosen_before: kinds that are not checked again."""
    try:
        parts = guarded_http.parse_url(facts.url, delivery_sender.list_schemes())
    except NoAnswer as error:
        raise Problem(
            _("“%(url)s” is not a valid webhook address. It must begin with https://.") % {"url": facts.url[:80]}, "url"
        ) from error
    try:
        outside = delivery_sender.build_allowed_targets().can_ask(ip_address(str(parts.hostname)))
    except ValueError:
        outside = True  # a host name: its addresses are checked at each request
    if not outside:
        raise Problem(
            _("%(host)s is not on the public internet, or belongs to our own networks. NETZWART_WEBHOOK_NETWORKS can allow networks.")
            % {"host": parts.hostname},
            "url",
        )
    wrong = next((each for each in facts.kinds if each not in chosen_before and not is_visible(each, owner)), None)
    if wrong is not None:
        raise Problem(_("There is no kind “%(kind)s”, or the webhook’s owner may not see it.") % {"kind": wrong[:40]}, "kinds")
    if unknown := next((each for each in facts.events if each not in EVENTS), None):
        raise Problem(_("There is no event “%(event)s”.") % {"event": unknown[:40]}, "events")


def is_visible(kind: str, owner: User) -> bool:
    """True if there is a kind of this name, and this owner of a webhook may see it now."""
    return kind in list_kinds() and has_right(owner, list_kinds()[kind].right)


def _build_columns(facts: EndpointFacts) -> dict[str, object]:
    return {
        "name": facts.name,
        "url": facts.url,
        "kinds": sorted(set(facts.kinds)),
        "on": [each for each in EVENTS if each in facts.events],
        "active": facts.active,
    }


def _save_endpoint(row: Endpoint) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        raise Problem(_("There is a webhook of this name already."), "name") from error
