"""The incident that a ticket is about, for the ticket's page."""

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.status.incidents.models import IncidentTicket
from apps.tickets.models import Ticket
from apps.tickets.subjects import TicketSubject


def find_incident(ticket: Ticket) -> TicketSubject | None:
    """Return the incident that the ticket is attached to; None if there is none."""
    link = IncidentTicket.objects.filter(ticket=ticket, detached=None).select_related("incident").first()
    return TicketSubject(_("Incident"), str(link.incident), reverse("status:incident", args=[link.incident_id])) if link else None
