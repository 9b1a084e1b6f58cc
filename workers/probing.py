"""Task that reads what probe packets through the gateways have shown. The work is in `apps.gateways.packet_probes`."""

from celery import shared_task

from apps.gateways.packet_probes import observation


@shared_task(name="workers.probe_gateways")
def probe_gateways() -> None:
    """Read the probes of each gateway that runs a ruleset, and store whether packets came back."""
    observation.probe_all_gateways()
