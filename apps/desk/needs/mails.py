"""Needs that follow from mail: what waits or failed in the outbox, and mail that is not fetched or not read."""

from collections.abc import Iterator
from datetime import datetime

from django.shortcuts import resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.desk.needs.need import AttentionItem
from apps.inbound_mail import mailbox_health
from apps.lib.ui import formats
from apps.lib.ui.states import StateKind, StateLabel
from apps.mail import selectors as mails


def iter_outbox_needs(now: datetime) -> Iterator[AttentionItem]:
    """Yield mail that waits for too long, and mail that failed."""
    page = resolve_url("mail:outbox")
    if late := mails.summarize_late_mails(now):
        given = {"n": formats.format_number(late.number)}
        if late.server:
            words = _("The mail server accepts nothing")
            waiting = ngettext("%(n)s mail waits in the outbox.", "%(n)s mails wait in the outbox.", late.number) % given
            why, since = f"{waiting} {late.server.error}", late.server.since
        else:
            words = ngettext("%(n)s mail is stuck in the outbox", "%(n)s mails are stuck in the outbox", late.number) % given
            why, since = _("the mail server is not the cause: check that a worker sends mail"), late.since
        yield AttentionItem("mail-late", StateLabel(StateKind.WARN, _("Mail"), "mail"), words, why, since, _("Open"), page)
    if number := mails.count_failed():
        words = ngettext("%(n)s mail failed", "%(n)s mails failed", number) % {"n": formats.format_number(number)}
        what = _("try it again, or discard it")
        yield AttentionItem(
            "mail-failed", StateLabel(StateKind.WARN, _("Mail"), "mail"), words, what, None, _("Review"), f"{page}?state=failed"
        )


def iter_inbound_needs(now: datetime) -> Iterator[AttentionItem]:
    """Yield a mailbox that is not fetched, and mail that nobody reads."""
    if away := mailbox_health.find_mailbox_outage(now):
        state = StateLabel(StateKind.BAD, _("no incoming mail"), "mail")
        last = _("Last fetched successfully: %(at)s.") % {"at": formats.format_full_time(away.succeeded)} if away.succeeded else ""
        why = away.error or _("No worker fetches mail: start one for the queue “readings”.")
        what = _("The mailbox %(place)s is not fetched completely.") % {"place": away.place}
        yield AttentionItem("mailbox", state, what, f"{why} {last}".strip(), away.since, _("View"), resolve_url("inbound:arrivals"))
    if late := mailbox_health.find_overdue_mail():
        what = ngettext("%(n)s mail waits to be read.", "%(n)s mails wait to be read.", late.number) % {
            "n": formats.format_number(late.number)
        }
        why = _("No worker reads mail: start one for the queue “mail”.")
        yield AttentionItem(
            "unread",
            StateLabel(StateKind.BAD, _("unread"), "mail"),
            what,
            why,
            late.since,
            _("View"),
            resolve_url("inbound:arrivals") + "?state=waiting",
        )
