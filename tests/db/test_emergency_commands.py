"""`manage.py rollback` and `manage.py deploy` without a worker: what they bring to the gateways, and which status they end with."""

from io import StringIO

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.utils import timezone

from apps.deployments.models import Hold, Revision, Rollout, RolloutStep
from apps.deployments.rollouts import rollback
from apps.deployments.rollouts.decisions import abort_rollout, pause_rollout, release_revision_hold
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from tests import factories
from tests.db.rollout_rows import forward, open_rollout
from tests.db.test_decisions import running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    assert reconcile(served_network.group)
    return served_network


@pytest.fixture
def before(network: factories.Network) -> Revision:
    """The revision before the forward at port 8000."""
    return Revision.objects.latest("pk")


@pytest.fixture
def paused_rollout(network: factories.Network, before: Revision) -> Rollout:
    """A rollout of the forward at port 8000 that was paused when nat-2 had confirmed it, before nat-1."""
    forward(network, 8000)
    lease = open_rollout(network)
    pause_rollout(lease.rollout, by=network.admin)
    Rollout.objects.update(lease_until=timezone.now())
    assert reconcile(network.group) == lease.rollout
    lease.rollout.refresh_from_db()
    assert lease.rollout.state == Rollout.State.PAUSED
    return lease.rollout


def run_command(*arguments: str) -> tuple[int, str]:
    """Return the command's status and what it printed."""
    printed = StringIO()
    try:
        call_command(*arguments, stdout=printed, stderr=printed)
    except SystemExit as ended:
        return int(ended.code or 0), printed.getvalue()
    return 0, printed.getvalue()


def go_back(revision: Revision) -> tuple[int, str]:
    return run_command("rollback", str(revision), "--why", "no mail", "--as", "mara")


def test_a_rollback_ends_a_paused_rollout_and_brings_the_gateways_back(
    network: factories.Network, before: Revision, paused_rollout: Rollout
) -> None:
    assert running("nat-2").elements["forward4"]
    status, printed = go_back(before)
    assert (status, "nat-1 confirmed" in printed, "nat-2 confirmed" in printed) == (0, True, True)
    assert not running("nat-2").elements["forward4"]
    paused_rollout.refresh_from_db()
    assert (paused_rollout.state, paused_rollout.stopped_by) == (Rollout.State.ABORTED, network.admin)
    assert [step.state for step in paused_rollout.steps.all()] == [RolloutStep.State.CONFIRMED, RolloutStep.State.SKIPPED]


def test_a_rollback_ends_a_rollout_that_a_worker_is_about_to_pause(network: factories.Network, before: Revision) -> None:
    forward(network, 8000)
    lease = open_rollout(network)
    pause_rollout(lease.rollout, by=network.admin)
    assert isinstance(rollback.roll_back(before, why="no mail", by=network.admin), Hold)
    lease.rollout.refresh_from_db()
    assert (lease.rollout.state, lease.rollout.wish) == (Rollout.State.APPLYING, "abort")


def test_a_rollback_lets_a_rollout_finish_that_nobody_paused(network: factories.Network, before: Revision) -> None:
    forward(network, 8000)
    lease = open_rollout(network)
    status, printed = go_back(before)
    assert status == 0 and "Lindenhof: another rollout is under way; this one follows automatically." in printed
    lease.rollout.refresh_from_db()
    assert (lease.rollout.wish, lease.rollout.again) == ("", True)


def test_a_release_behind_a_paused_rollout_names_it_and_fails(network: factories.Network, before: Revision) -> None:
    go_back(before)
    paused = Rollout.objects.latest("pk")
    Rollout.objects.filter(pk=paused.pk).update(state=Rollout.State.PAUSED, finished=None)
    status, printed = run_command("rollback", "--release", "Lindenhof", "--as", "mara")
    assert status == 1 and f"Lindenhof: the rollout of {paused} is paused, so nothing was deployed." in printed


def test_a_deploy_behind_a_paused_rollout_names_it_and_fails(network: factories.Network, paused_rollout: Rollout) -> None:
    status, printed = run_command("deploy")
    assert status == 1 and f"Lindenhof: the rollout of {paused_rollout} is paused, so nothing was deployed." in printed
    abort_rollout(paused_rollout, by=network.admin)
    assert run_command("deploy")[0] == 0


def test_a_deploy_behind_a_rollout_of_a_live_worker_follows_it(network: factories.Network) -> None:
    forward(network, 8000)
    open_rollout(network)
    status, printed = run_command("deploy")
    assert status == 0 and "this one follows automatically" in printed


def test_a_deploy_to_a_group_on_hold_names_the_hold_and_fails(network: factories.Network, before: Revision) -> None:
    go_back(before)
    forward(network, 8000)
    status, printed = run_command("deploy")
    assert status == 1 and "nat-1 confirmed" in printed
    assert f"Lindenhof is on hold at {before}: later changes stay in the database" in printed
    release_revision_hold(network.group, by=network.admin)
    assert run_command("deploy")[0] == 0


def test_a_rollback_that_a_gateway_does_not_follow_fails(network: factories.Network, before: Revision, settings: LazySettings) -> None:
    forward(network, 8000)
    assert reconcile(network.group)
    agent_channel.close_all_channels()
    (settings.GATEWAY_SOCKETS / "nat-1.sock").unlink()
    status, printed = go_back(before)
    assert (status, "nat-1 no answer" in printed, "nat-2 confirmed" in printed) == (1, True, True)
