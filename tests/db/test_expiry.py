"""Rows that end at a time leave the gateways then, without the periodic check of everything. The gateways are real agents, in memory."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from apps.deployments.desired_state.expiry import list_groups_with_recent_expiry
from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward, remove_forward
from tests import factories
from tests.whole.system import wait_for
from workers.deploy import take_over

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_ends_by_time_alone_is_closed_by_the_short_look(served_network: factories.Network) -> None:
    of, later = served_network.residents["m1"], timezone.now() + timedelta(hours=1)
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    add_forward(holding=of.holding, public=factories.PUBLIC, until=later, by=served_network.admin, **ports)  # type: ignore[arg-type]
    inside = of.prefix.prefix.network_address + 7
    add_pinhole(holding=of.prefix, address=inside, protocol="tcp", port=22, until=later, by=served_network.admin)
    first = reconcile(served_network.group)
    assert first and {each["kind"]: each["added"] for each in first.revision.changes}["forwards"] == 1
    take_over()
    assert Rollout.objects.latest("pk") == first, "nothing has ended yet"
    for model in (PortForward, Pinhole):
        _let_end_within_a_second(model)
    wait_for(lambda: _run_due_check() != first)
    closed = {each["kind"]: each["removed"] for each in Rollout.objects.latest("pk").revision.changes}
    assert closed["forwards"] == closed["pinholes"] == 1


def test_a_forward_that_was_removed_by_hand_causes_no_reconciliation_at_its_end(served_network: factories.Network) -> None:
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    made = add_forward(holding=served_network.residents["m1"].holding, public=factories.PUBLIC, by=served_network.admin, **ports)  # type: ignore[arg-type]
    remove_forward(forward=made, by=served_network.admin)
    assert list_groups_with_recent_expiry() == []


def _let_end_within_a_second(model: type[PortForward | Pinhole]) -> None:
    """Let the rows end so soon by time alone, however long it took until here."""
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {model._meta.db_table} SET valid = tstzrange(lower(valid), statement_timestamp() + interval '1 second')")


def _run_due_check() -> Rollout:
    take_over()
    return Rollout.objects.latest("pk")
