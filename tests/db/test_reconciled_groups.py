"""A change of one group is brought to that group's gateways; the others are not looked at because of it."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from apps.deployments.models import Rollout
from apps.lib.enqueue import RECONCILE_GROUP, enqueue_reconcile
from apps.nat.forwards_bulk import remove_forwards
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.network.models import GatewayGroup
from apps.operations import jobs
from tests import factories
from workers import deploy


@pytest.fixture
def sent_tasks(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Tasks that were sent."""
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr("apps.lib.enqueue.send_task", lambda *task: asked.append(task))
    return asked


def add(network: factories.Network, port: int) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, by=network.admin)


def test_a_forward_asks_for_its_own_group_only(
    network: factories.Network, sent_tasks: list[tuple[Any, ...]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        made = add(network, 8443)
        remove_forwards(forwards=iter([made]), by=network.admin)
    assert sent_tasks == [("workers.reconcile_group", network.group.pk, network.admin.pk)] * 2


def test_several_groups_are_asked_for_once_each(
    sent_tasks: list[tuple[Any, ...]], db: None, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        enqueue_reconcile(3, 1, 3, by=None)
    assert sent_tasks == [("workers.reconcile_group", 1, None), ("workers.reconcile_group", 3, None)]


def test_a_task_for_one_group_opens_no_rollout_of_another(served_network: factories.Network) -> None:
    other = GatewayGroup.objects.create(name="Other house", live_since=timezone.now())
    deploy.reconcile_group(other.pk, served_network.admin.pk)
    assert not Rollout.objects.exists()
    deploy.reconcile_group(served_network.group.pk, served_network.admin.pk)
    assert Rollout.objects.get().state == Rollout.State.CONFIRMED


def test_a_failure_for_one_group_is_over_when_all_groups_are_reconciled(served_network: factories.Network) -> None:
    jobs.record_failure(RECONCILE_GROUP, OSError("no route"))
    assert [fault.name for fault in jobs.list_job_faults(timezone.now())] == [RECONCILE_GROUP]
    deploy.reconcile(served_network.admin.pk)
    assert not jobs.list_job_faults(timezone.now())


def test_a_task_for_a_group_that_no_longer_exists_does_nothing(served_network: factories.Network) -> None:
    deploy.reconcile_group(served_network.group.pk + 1, served_network.admin.pk)
    assert not Rollout.objects.exists()
