"""The last probes of all gateways."""

from django.db.models import QuerySet

from apps.gateways.packet_probes.models import ProbeStatus
from apps.lib.web.frame_reads import read_with_frame


@read_with_frame
def list_probe_statuses() -> QuerySet[ProbeStatus]:
    """Return them by gateway and family, IPv4 first. Read once for a page."""
    return ProbeStatus.objects.order_by("gateway_id", "family")
