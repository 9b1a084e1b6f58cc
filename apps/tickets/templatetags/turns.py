"""Template filter that shows whose turn a ticket is: {% load turns %}{{ ticket|turn }}."""

from django import template
from django.utils.safestring import SafeString

from apps.tickets.listing import render_state
from apps.tickets.models import Ticket

register = template.Library()


@register.filter
def turn(ticket: Ticket) -> SafeString:
    """Return the ticket's state as the list shows it."""
    return render_state(Ticket.State(ticket.state))
