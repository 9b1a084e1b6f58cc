from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class TicketsConfig(AppConfig):
    name = "apps.tickets"

    def ready(self) -> None:
        from apps.audit.trail import Trail, tell
        from apps.inbound.dispatcher import takes
        from apps.lib.web import navigation
        from apps.mail import notice_kinds
        from apps.tickets import mail_handler
        from apps.tickets.models import Canned, Ticket
        from apps.tickets.notifications import ANSWERS, KIND
        from apps.tickets.selectors import asking

        tell(Trail(Ticket, called=_("Ticket"), href=_page))
        tell(Trail(Canned, called=_("Canned answer"), href=lambda _row: reverse("tickets:canned")))
        notice_kinds.tell(KIND, _("Mails to staff about new tickets, and what is written in their own"), for_staff=True)
        notice_kinds.tell(ANSWERS, _("Mails when your tickets are answered"))
        navigation.counts("tickets:list")(asking)
        takes(mail_handler.take)


def _page(row: Any) -> str:
    return reverse("tickets:ticket", args=[row.pk])
