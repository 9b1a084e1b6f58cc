from typing import Any

from django.apps import AppConfig
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


class TicketsConfig(AppConfig):
    name = "apps.tickets"

    def ready(self) -> None:
        from apps.audit.trail import TrailPresentation, register_trail
        from apps.inbound_mail.dispatcher import register_mail_handler
        from apps.lib.web import navigation
        from apps.mail import notice_kinds
        from apps.tickets import mail_handler
        from apps.tickets.models import Canned, Ticket
        from apps.tickets.notifications import ANSWERS, KIND
        from apps.tickets.selectors import count_for_navigation

        register_trail(TrailPresentation(Ticket, called=_("Ticket"), href=_build_ticket_url))
        register_trail(TrailPresentation(Canned, called=_("Canned answer"), href=lambda _row: reverse("tickets:canned")))
        notice_kinds.register_kind(KIND, _("Mails to staff about new tickets, and about messages in their own"), for_staff=True)
        notice_kinds.register_kind(ANSWERS, _("Mails when your tickets are answered"))
        navigation.register_counter("tickets:list")(count_for_navigation)
        register_mail_handler(mail_handler.handle_mail)


def _build_ticket_url(row: Any) -> str:
    return reverse("tickets:ticket", args=[row.pk])
