"""Writes of subscriptions: ask for one, confirm it by the link in the mail, and forget those that are over."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.signing import BadSignature, TimestampSigner
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.lib.database.email_lookups import AsciiLower
from apps.lib.email_address import lower_ascii
from apps.lib.errors import Problem
from apps.mail.models import Message
from apps.mail.retention_sweep import erase_mails
from apps.mail.services import switch_notice_on, write_mail
from apps.mail.unsubscribing import list_unsubscribed_addresses
from apps.status.subscriptions.models import Subscription

NOTICE: Final = "status"
TEMPLATE: Final = "status_confirm"
NOBODY: Final = "subscriber@erased.invalid"  # instead of an address whose subscription is over
LINK_SECONDS: Final = 3 * 86_400
PAUSE: Final = timedelta(minutes=10)
"""Time between two mails that ask the same address to confirm, so that nobody's mailbox is filled by a stranger."""
_signer: Final = TimestampSigner(salt="status.subscription")
log = structlog.get_logger()


def ask_for_subscription(*, address: str, language: str) -> None:
    """Send a link to this address, which confirms the subscription. Nothing shows whether it is known already. Raises Problem."""
    to = address.strip()
    try:
        validate_email(to)
    except ValidationError as error:
        raise Problem(_("This is not an e-mail address."), "address") from error
    with transaction.atomic():
        rows = Subscription.objects.annotate(lower=AsciiLower("address"))
        if not rows.filter(lower=lower_ascii(to)).exists():
            Subscription.objects.bulk_create([Subscription(address=to, language=language)], ignore_conflicts=True)
        row = rows.select_for_update().get(lower=lower_ascii(to))
        if _is_subscribed(row) or _was_asked_lately(row):
            return
        Subscription.objects.filter(pk=row.pk).update(language=language, asked=Now())
        link = f"{settings.PORTAL_URL}{reverse('status:confirm', args=[build_token(row)])}"
        write_mail(to=row.address, language=language, template=TEMPLATE, context={"url": link}, about=row, urgent=True)


def build_token(row: Subscription) -> str:
    """Return the token of the link that confirms a subscription."""
    return _signer.sign(str(row.pk))


def _is_subscribed(row: Subscription) -> bool:
    return row.confirmed is not None and not list_unsubscribed_addresses([row.address], NOTICE)


def _was_asked_lately(row: Subscription) -> bool:
    """True if a mail that asks to confirm was written within PAUSE. The caller holds the row, so that two requests write one mail."""
    asked = Message.objects.filter(about_type=row._meta.label_lower, about_id=row.pk, template=TEMPLATE)
    return asked.filter(written__gt=timezone.now() - PAUSE).exists()


def find_subscription(token: str) -> Subscription | None:
    """Return the subscription that a link confirms; None if the link is wrong, too old, or the subscription is gone."""
    try:
        pk = _signer.unsign(token, max_age=LINK_SECONDS)
    except BadSignature:
        return None
    return Subscription.objects.filter(pk=int(pk)).first()


def confirm_subscription(*, subscription: Subscription) -> None:
    """Begin to send updates to this address. Idempotent."""
    with transaction.atomic():
        Subscription.objects.filter(pk=subscription.pk, confirmed=None).update(confirmed=Now())
        switch_notice_on(address=subscription.address, notice=NOTICE)
    log.info("status subscription confirmed", subscription=subscription.pk)


def forget_subscriptions(addresses: Iterable[str]) -> None:
    """Delete the subscriptions of these addresses, confirmed or not. Links that were sent to them confirm nothing any more."""
    lower = [lower_ascii(each) for each in addresses]
    Subscription.objects.alias(lower=AsciiLower("address")).filter(lower__in=lower).delete()


@transaction.atomic
def erase_subscriptions(addresses: Sequence[str]) -> None:
    """Delete the subscriptions of these addresses, and erase in the outbox to whom mails were sent because of them."""
    forget_subscriptions(addresses)
    lower = [lower_ascii(each) for each in addresses]
    mails = Message.objects.alias(lower=AsciiLower("to")).filter(Q(notice=NOTICE) | Q(template=TEMPLATE), lower__in=lower)
    erase_mails(mails, instead=NOBODY)
