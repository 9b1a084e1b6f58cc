"""Workers that read the database, stand still, and go on after another worker or a person has changed something."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from apps.deployments.approvals.approval_gate import map_management_by_name
from apps.deployments.desired_state.desired_rulesets import DesiredState, compute_desired_state
from apps.deployments.desired_state.groups_on_hold import build_desired_state_on_hold
from apps.deployments.models import GatewayState, HeldBack, Hold, Revision, Rollout
from apps.deployments.observed_state.gateway_states import record_newer_snapshots
from apps.deployments.rollouts import rollout_store
from apps.deployments.rollouts.decisions import release_revision_hold
from apps.deployments.rollouts.rollback import roll_back
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.rollouts.rollout_due import DueCheck
from apps.deployments.rollouts.rollout_store import Lease, NewRollout
from apps.deployments.services import reconcile
from apps.lib.activation import list_activations
from apps.nat.models import PortForward
from tests import factories
from tests.db.locks import waiting
from tests.db.rollout_rows import forward
from tests.db.statements import call_before
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(cautious_network: factories.Network) -> factories.Network:
    return cautious_network


def open_late(network: factories.Network, wanted: DesiredState, repeats: Revision | None = None) -> Lease | None:
    """Open a rollout of what was read earlier."""
    management = map_management_by_name(wanted)
    return rollout_store.open_rollout(
        NewRollout(network.group, wanted, tuple(network.gateways), None, "schedule", harmless=True, management=management, repeats=repeats)
    )


def reconcile_elsewhere(network: factories.Network, *ports: int) -> Rollout:
    """Return the rollout of these new port forwards that another worker has opened and ended, on a connection of its own."""

    def work() -> Rollout | None:
        try:
            for port in ports:
                forward(network, port)
            return reconcile(network.group)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        rollout = pool.submit(work).result()
    assert rollout and rollout.state == Rollout.State.CONFIRMED
    return rollout


def test_what_was_read_before_a_rollback_does_not_undo_it(network: factories.Network) -> None:
    before = Revision.objects.latest("pk")
    reconcile_elsewhere(network, 8000)
    stale = compute_desired_state(network.group)
    roll_back(before, why="members cannot reach their mail", by=network.admin)
    rollout = reconcile(network.group)
    assert rollout and rollout.revision.again == before
    assert open_late(network, stale) is None
    assert Rollout.objects.latest("pk") == rollout


def test_what_a_released_hold_was_at_does_not_come_back(network: factories.Network) -> None:
    before = Revision.objects.latest("pk")
    reconcile_elsewhere(network, 8000)
    roll_back(before, why="members cannot reach their mail", by=network.admin)
    reconcile(network.group)
    stale = build_desired_state_on_hold(Hold.objects.get(released=None))
    release_revision_hold(network.group, by=network.admin)
    rollout = reconcile(network.group)
    assert rollout and rollout.revision.again is None
    assert open_late(network, stale, repeats=before) is None
    assert Rollout.objects.latest("pk") == rollout


def test_an_older_read_is_not_measured_against_newer_rulesets(network: factories.Network) -> None:
    ports = range(8000, 8006)
    with call_before('AS "later"', lambda: reconcile_elsewhere(network, *ports)):
        assert reconcile(network.group, cause="schedule") is None
    assert not HeldBack.objects.exists()
    assert PortForward.objects.filter(public_port__in=ports).count() == len(ports)


def test_a_gateway_that_another_worker_has_changed_meanwhile_has_not_drifted(network: factories.Network) -> None:
    look = DueCheck(network.group, compute_desired_state(network.group), WorkerLinks(), at_the_kernel=True)
    reconcile_elsewhere(network, 8000)
    assert [look.is_due(gateway) for gateway in network.gateways] == [False, False]
    assert not GatewayState.objects.filter(drift__isnull=False).exists()
    assert not look.found_loss


def test_an_older_read_does_not_take_back_since_when_a_row_is_active(network: factories.Network) -> None:
    row = forward(network, 8000)
    reconcile(network.group)
    stale = compute_desired_state(network.group)
    row.purpose = "mail of the house"
    with factories.written_by(network.admin):
        row.save()
    reconcile(network.group)
    record_newer_snapshots(stale)
    row.refresh_from_db()
    ((_row, known),) = list_activations([row])
    assert [gateway.since is not None for gateway in known] == [True, True]


def test_a_transaction_that_others_have_passed_still_knows_an_older_read(network: factories.Network) -> None:
    stale = compute_desired_state(network.group)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()")
        newest = reconcile_elsewhere(network, 8000)
        assert open_late(network, stale) is None
    assert Rollout.objects.latest("pk") == newest


def test_revisions_of_a_group_are_numbered_in_the_order_in_which_they_are_opened(network: factories.Network) -> None:
    wanted = compute_desired_state(network.group)

    def open_alone() -> Lease | None:
        try:
            return open_late(network, wanted)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert open_late(network, wanted)
            drawn = find_last_number()
            second = pool.submit(open_alone)
            wait_for(waiting)
            assert find_last_number() == drawn, "the second has drawn no number"
        assert second.result() is None
    assert Rollout.objects.latest("pk").again


def find_last_number() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT last_value FROM deployments_revision_id_seq")
        return int(cursor.fetchone()[0])
