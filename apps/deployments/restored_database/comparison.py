"""Compares gateways with a restored database: asks each agent what it runs and what a rollout would change, and changes nothing."""

from dataclasses import asdict

import structlog
from django.db.models.functions import Now

from apps.deployments.adoption.running_elements import fetch_running_elements
from apps.deployments.adoption.stored_objects import pack_differences
from apps.deployments.desired_state.desired_rulesets import DesiredState
from apps.deployments.restored_database.models import DatabaseRestore, RestoreDifference
from apps.deployments.revision_pages.description import SHOWN_DELTA
from apps.deployments.rollouts.rollout_driver import GatewayLinks
from apps.deployments.transport import agent_client
from apps.deployments.transport.agent_channel import AgentChannel, Unreachable
from apps.network.models import Gateway
from firewall.object_differences import compare_objects
from firewall.ruleset import Ruleset
from firewall.summary import summarize_counts

log = structlog.get_logger()


def compare_gateways(restore: DatabaseRestore, gateways: list[Gateway], wanted: DesiredState, links: GatewayLinks) -> None:
    """Compare these gateways with what the database asks for, and store what differs. One that does not answer is stored as such."""
    for gateway in gateways:
        try:
            found = _compare(restore, gateway, wanted, links)
        except (Unreachable, agent_client.AgentRefused) as fault:
            log.info("gateway not compared", gateway=gateway.name, error=str(fault))
            found = {"error": str(fault)}
        values = {"compared": Now(), "error": "", **found}
        RestoreDifference.objects.update_or_create(restore=restore, gateway=gateway, defaults=values)


def _compare(restore: DatabaseRestore, gateway: Gateway, wanted: DesiredState, links: GatewayLinks) -> dict[str, object]:
    """Return the columns that change: none of the large ones if neither side has changed since the last comparison."""
    channel, target = links.get_channel(gateway), wanted.targets[gateway.pk]
    welcome = agent_client.send_hello(channel, wanted.snapshot.now)
    known = {"running": welcome.digest, "target": target}
    if RestoreDifference.objects.filter(restore=restore, gateway=gateway, **known).exists():
        return {}
    ruleset = wanted.rulesets[gateway.pk]
    answer = agent_client.plan_on_gateway(channel, wanted.snapshot.now, ruleset)
    lines = summarize_counts(answer.added, answer.removed, ruleset, settings=answer.settings)
    text = answer.text[:SHOWN_DELTA].replace("\0", "")
    objects = _list_objects(channel, ruleset, wanted.snapshot.now)
    return {**known, "changes": [asdict(line) for line in lines], "chains": len(answer.chains), "text": text, **objects}


def _list_objects(channel: AgentChannel, ruleset: Ruleset, now: int) -> dict[str, object]:
    """Return the columns of what only the gateway has. An agent of an older release cannot tell."""
    try:
        running = fetch_running_elements(channel, now)
    except agent_client.AgentRefused as refusal:
        if refusal.reason != "version":
            raise
        return {"objects_found": [], "object_count": None}
    return pack_differences(compare_objects(running.sets, running.elements, ruleset, now).differences)
