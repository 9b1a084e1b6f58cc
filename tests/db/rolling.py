"""Rollouts as rows, carried by nobody: each event is written down as the driver writes it."""

from django.db.models.functions import Now

from apps.deployments import describing, gate, rollouts, states
from apps.deployments.models import Rollout
from apps.deployments.rollouts import Lease, Opening
from apps.deployments.wanted import Wanted, want
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from firewall.diff import diff
from firewall.render import render_delta
from firewall.rollout import Command, Event
from firewall.ruleset import EMPTY
from firewall.summary import summarise
from tests import rows


def opened(network: rows.Network, wanted: Wanted | None = None) -> Lease:
    """A rollout of what the database asks for, to nat-2 first."""
    wanted = wanted or want(network.group)
    management = gate.managements(wanted)
    gateways = tuple(network.gateways[::-1])
    lease = rollouts.open_rollout(
        Opening(network.group, wanted, gateways, network.admin.pk, "change", harmless=True, management=management)
    )
    assert lease
    ruleset = wanted.rulesets[network.gateways[0].pk]
    change = diff(EMPTY, ruleset)
    text = render_delta(change, now=wanted.snapshot.now)
    describing.describe(lease.rollout.revision, summarise(change, ruleset), text, ruleset.count_elements())
    return lease


def confirm(lease: Lease, wanted: Wanted) -> None:
    """The gateway whose turn it is goes all the way."""
    step = lease.step
    rollouts.happened(lease, Event.COMMITTED, committed=Now(), sent_octets=4100, commit_ms=3, read_back_ms=0)
    rollouts.passed(lease)
    rollouts.happened(lease, Event.CONFIRMED, confirmed=Now())
    states.runs(step, lease.rollout.revision, wanted.targets[step.gateway_id], in_memory=True)


def rolled(network: rows.Network, *, error: str = "", unreachable: bool = False, leave_open: bool = False) -> Rollout:
    """A rollout: confirmed, or stopped with an error at the second gateway, or left open."""
    wanted = want(network.group)
    lease = opened(network, wanted)
    while lease.command is Command.APPLY and not leave_open:
        if error and lease.step.position:
            rollouts.happened(lease, Event.AWAY if unreachable else Event.REFUSED, error=error)
            states.troubled(network.gateways[0], error, away=unreachable)
        else:
            confirm(lease, wanted)
    lease.rollout.refresh_from_db()
    return lease.rollout


def forward(network: rows.Network, port: int) -> PortForward:
    """A port forward of m1."""
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=rows.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)
