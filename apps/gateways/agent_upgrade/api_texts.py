"""A group's agents and their last upgrade as the API shows them."""

from typing import Any

from apps.gateways.agent_upgrade.presentation import AgentsPage, build_agents_page
from apps.network.models import GatewayGroup


def describe_agents(group: GatewayGroup) -> dict[str, Any]:
    """Return what the page of the group's agents shows, as JSON data."""
    page = build_agents_page(group)
    gateways = [{"gateway": each.gateway.pk, "agent": each.agent} for each in page.rows]
    return {"ours": page.ours, "gateways": gateways, "upgrade": _describe_upgrade(page)}


def _describe_upgrade(page: AgentsPage) -> dict[str, Any] | None:
    if page.last is None:
        return None
    steps = [
        {name: getattr(each.step, name) for name in ("state", "since", "before", "needs_package")}
        | {"gateway": each.step.gateway_id, "in_words": each.sentence}
        for each in page.lines
    ]
    return {name: getattr(page.last, name) for name in ("agent", "state", "at", "ended")} | {"steps": steps}
