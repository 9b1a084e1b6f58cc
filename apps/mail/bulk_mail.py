"""Writes many mails alike, such as an announcement to all members, in few queries. The outbox sends them after all other mails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Model

from apps.mail import services, unsubscribing
from apps.mail.mail_templates import PlainValue, read_footer, render_mail
from apps.mail.models import Message


@dataclass(frozen=True)
class BulkMail:
    """One of many mails alike; the fields are those of `Message`. key: unique, so that no reader gets it twice."""

    to: str
    language: str
    context: Mapping[str, PlainValue]
    about: Model
    key: str


@transaction.atomic
def write_bulk_mails(mails: Sequence[BulkMail], *, template: str, notice: str) -> dict[str, int]:
    """Put many mails alike into the outbox, which sends them after all others, with few queries. Return the mails' ids by key, also of
    those that exist already.

    Switched-off notices are the caller's business. Raises Problem when a `to` is not an address, and IntegrityError, with nothing written,
    when another transaction writes one of the keys at the same time.
    """
    services.require_known_kind(notice)
    written = Message.objects.filter(key__in=[each.key for each in mails]).values_list("key", "pk")
    known = {str(key): pk for key, pk in written}
    footer = read_footer()
    rows = [_build_bulk_row(each, template, notice, footer) for each in mails if each.key not in known]
    for row in rows:
        services.prepare_row(row)
    made = Message.objects.bulk_create(rows)
    if made:
        services.enqueue_sending()
    return known | {str(row.key): row.pk for row in made}


def _build_bulk_row(mail: BulkMail, template: str, notice: str, footer: Mapping[str, PlainValue]) -> Message:
    link = unsubscribing.build_unsubscribe_link(mail.to, notice)
    words = render_mail(template, mail.language, {**mail.context, "switch_off": link}, footer)
    return Message(
        to=mail.to, language=mail.language, template=template, notice=notice, bulk=True, subject=words.subject[:250], text=words.text,
        html=words.html, sender=settings.DEFAULT_FROM_EMAIL, unsubscribe=link, key=mail.key, about_type=mail.about._meta.label_lower,
        about_id=mail.about.pk,
    )  # fmt: skip
