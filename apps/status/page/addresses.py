"""Addresses of the status page and its parts: on the portal, or where its files are published."""

from dataclasses import dataclass

from django.conf import settings
from django.urls import reverse

from apps.status.incidents.models import Incident


@dataclass(frozen=True)
class PageAddresses:
    """Where the page, its feeds and its incidents are. They may be relative to the page."""

    page: str
    atom: str
    calendar: str
    json: str
    subscribe: str

    def find_incident(self, incident: Incident) -> str:
        """Return where an incident is read: its place on the page."""
        return f"{self.page}#incident-{incident.pk}"


def build_portal_addresses() -> PageAddresses:
    """Return the absolute addresses on the portal."""
    names = ("page", "atom", "calendar", "json", "subscribe")
    return PageAddresses(*(f"{settings.PORTAL_URL}{reverse(f'status:{name}')}" for name in names))


def build_stable_id(part: str) -> str:
    """Return an identity that is the same on the portal and in a copy elsewhere, so that readers of both show nothing twice."""
    return f"{settings.PORTAL_URL}{reverse('status:page')}#{part}"
