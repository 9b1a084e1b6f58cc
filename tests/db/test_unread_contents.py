"""What gateways run is stored before they get it. If it cannot be read all the same, removals are measured against what can be."""

import pytest

from apps.deployments import services
from apps.deployments.models import HeldBack, Revision, RevisionContent
from apps.deployments.revision_pages import contents
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.rollback import compute_rollback_cost
from apps.deployments.rollouts.rollout_driver import RolloutDriver
from apps.deployments.services import reconcile
from apps.nat.models import PortForward
from firewall.policy import PolicyError
from tests import factories
from tests.db.rollout_rows import forward
from tests.db.test_decisions import running, withdraw

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(cautious_network: factories.Network) -> factories.Network:
    return cautious_network


@pytest.fixture
def forwards(network: factories.Network) -> list[PortForward]:
    """Six forwards, active on both gateways."""
    made = [forward(network, port) for port in range(7001, 7007)]
    assert reconcile(network.group)
    return made


def forget_contents_from(revision: Revision) -> None:
    """Forget the revision's content and all newer ones, and what this process knows, as when its worker died before it stored them."""
    RevisionContent.objects.filter(revision__group=revision.group, revision__gte=revision).delete()
    services.gateway_cache = RulesetCache()


def test_what_waits_goes_on_waiting_when_the_content_of_what_runs_is_not_stored(
    network: factories.Network, forwards: list[PortForward]
) -> None:
    withdraw(network, range(7001, 7006))
    forward(network, 8000)
    reconcile(network.group)
    forget_contents_from(Revision.objects.latest("pk"))
    assert reconcile(network.group) is None
    assert HeldBack.objects.get().state == HeldBack.State.WAITING
    forward(network, 8001)
    assert reconcile(network.group) and len(running().elements["forward4"]) == 8


def test_a_rollback_costs_the_same_when_the_content_of_what_runs_is_not_stored(
    network: factories.Network, forwards: list[PortForward]
) -> None:
    forward(network, 8000)
    reconcile(network.group)
    forget_contents_from(Revision.objects.latest("pk"))
    assert compute_rollback_cost(Revision.objects.earliest("pk")).is_too_high


def test_nothing_is_deployed_when_nobody_can_tell_what_runs(network: factories.Network, forwards: list[PortForward]) -> None:
    forget_contents_from(Revision.objects.earliest("pk"))
    with pytest.raises(PolicyError, match="is not stored, so nobody can tell"):
        withdraw(network, range(7001, 7002))


def test_a_revision_can_be_read_before_a_gateway_gets_it(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(driver: RolloutDriver) -> None:
        raise KeyboardInterrupt

    forward(network, 8000)
    with monkeypatch.context() as worker:
        worker.setattr(RolloutDriver, "run", die)
        with pytest.raises(KeyboardInterrupt):
            reconcile(network.group)
    assert len(contents.load_rulesets(Revision.objects.latest("pk"))["nat-1"].elements["forward4"]) == 1


def test_a_worker_that_begins_anew_stores_what_changes(network: factories.Network, forwards: list[PortForward]) -> None:
    services.gateway_cache = RulesetCache()
    forward(network, 8000)
    assert reconcile(network.group)
    newest, *_older = RevisionContent.objects.order_by("-pk")
    assert newest.base is not None and contents.load_rulesets(newest.revision) == {"nat-1": running(), "nat-2": running("nat-2")}
