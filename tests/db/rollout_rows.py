"""Rollouts as database rows without a gateway: each event is recorded as the rollout driver records it."""

from django.db.models.functions import Now

from apps.deployments.approvals import approval_gate
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_desired_state
from apps.deployments.models import Rollout
from apps.deployments.observed_state import gateway_states
from apps.deployments.revision_pages import contents, description
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.rollout_store import Lease, NewRollout
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from firewall.diff import diff
from firewall.render import render_delta
from firewall.rollout import RolloutCommand, RolloutEvent
from firewall.ruleset import EMPTY
from firewall.summary import summarize
from tests import factories


def open_rollout(network: factories.Network, wanted: DesiredState | None = None) -> Lease:
    """Open a rollout of the desired state, or of the one given, to nat-2 first."""
    wanted = wanted or compute_desired_state(network.group)
    management = approval_gate.map_management_by_name(wanted)
    gateways = tuple(network.gateways[::-1])
    lease = rollout_store.open_rollout(
        NewRollout(network.group, wanted, gateways, network.admin.pk, "change", harmless=True, management=management)
    )
    assert lease
    ruleset = wanted.rulesets[network.gateways[0].pk]
    change = diff(EMPTY, ruleset)
    text = render_delta(change, now=wanted.snapshot.now)
    description.store_change_description(lease.rollout.revision, summarize(change, ruleset), text, ruleset.count_elements())
    return lease


def confirm(lease: Lease, wanted: DesiredState) -> None:
    """Take the step of the lease from committed to confirmed."""
    step = lease.step
    rollout_store.record_event(lease, RolloutEvent.COMMITTED, committed=Now(), sent_octets=4100, commit_ms=3, read_back_ms=0)
    rollout_store.record_probe_passed(lease)
    rollout_store.record_event(lease, RolloutEvent.CONFIRMED, confirmed=Now())
    gateway_states.record_running(step, lease.rollout.revision, wanted.targets[step.gateway_id], in_memory=True)


def roll_out(network: factories.Network, *, error: str = "", unreachable: bool = False, leave_open: bool = False) -> Rollout:
    """Return a rollout that is confirmed, or stopped with an error at the second gateway, or left open."""
    wanted = compute_desired_state(network.group)
    lease = open_rollout(network, wanted)
    while lease.command is RolloutCommand.APPLY and not leave_open:
        if error and lease.step.position:
            rollout_store.record_event(lease, RolloutEvent.AWAY if unreachable else RolloutEvent.REFUSED, error=error)
            gateway_states.record_rollout_failure(network.gateways[0], error, away=unreachable)
        else:
            confirm(lease, wanted)
    lease.rollout.refresh_from_db()
    return lease.rollout


def keep_content(rollout: Rollout) -> None:
    """Store what the rollout has brought, which is what the database asks for now."""
    wanted = compute_desired_state(rollout.group)
    contents.store_whole_content(rollout.revision, {gateway.name: wanted.rulesets[pk] for pk, gateway in wanted.gateways.items()})


def forward(network: factories.Network, port: int) -> PortForward:
    """Open a port forward of m1."""
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)
