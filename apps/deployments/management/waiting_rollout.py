"""Tells, after a command that deployed nothing, what it waits for."""

from django.core.management.base import OutputWrapper

from apps.deployments.rollouts import rollout_store
from apps.network.models import GatewayGroup


def explain_wait(group: GatewayGroup, stdout: OutputWrapper, stderr: OutputWrapper) -> bool:
    """Write which rollout the group's changes wait for. Return False if that waits for a person."""
    paused = rollout_store.find_paused_rollout(group)
    if paused:
        stderr.write(f"{group}: the rollout of {paused} is paused, so nothing was deployed. Resume or stop it on its page.")
        return False
    stdout.write(f"{group}: another rollout is under way; this one follows automatically.")
    return True
