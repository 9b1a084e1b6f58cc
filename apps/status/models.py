"""Models of incidents, of the availability of services, and of subscriptions. Each has a room of its own."""

from apps.status.availability.models import ServiceDay, ServiceLevel, ServiceState
from apps.status.incidents.models import Incident, IncidentTicket, IncidentUpdate
from apps.status.subscriptions.models import Subscription

__all__ = ["Incident", "IncidentTicket", "IncidentUpdate", "ServiceDay", "ServiceLevel", "ServiceState", "Subscription"]
