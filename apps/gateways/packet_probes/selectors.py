"""The last probes of all gateways."""

from apps.gateways.packet_probes.models import ProbeStatus
from apps.lib.web.request_cache import cache_per_request


@cache_per_request
def list_probe_statuses() -> list[ProbeStatus]:
    """Return them by gateway and family, IPv4 first. A page asks once."""
    return list(ProbeStatus.objects.order_by("gateway_id", "family"))
