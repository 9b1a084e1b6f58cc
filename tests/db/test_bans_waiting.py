"""Changes of bans and the allow list that wait for a second person. The gateways are real agents, in memory."""

import pytest

from apps.bans.allow_list import allow_prefix
from apps.bans.models import AllowEntry, Ban, BanList
from apps.deployments.models import HeldBack
from apps.deployments.services import reconcile
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


def test_many_allow_entries_that_go_at_once_wait_and_are_named(served_network: factories.Network) -> None:
    for number in range(12):
        allow_prefix(prefix=f"203.0.113.{number}", comment="mirror", author=None)
    assert reconcile(served_network.group)
    AllowEntry.objects.all().delete()
    assert reconcile(served_network.group) is None
    page = text(signed_in(factories.user("jonas")).get(f"/rollouts/waiting/{HeldBack.objects.get().pk}/"))
    assert "12 allow entries end:" in page and "203.0.113.0 (mirror)" in page and "puts them on the allow list again" in page


def test_many_bans_that_hold_both_ways_from_now_on_do_not_wait(served_network: factories.Network) -> None:
    own = BanList.objects.create(name="Own")
    Ban.objects.bulk_create(Ban(list=own, prefix=f"203.0.113.{number}", direction="in") for number in range(12))
    assert reconcile(served_network.group)
    Ban.objects.update(direction="both")
    assert reconcile(served_network.group)
    assert not HeldBack.objects.exists()
    Ban.objects.update(direction="out")
    assert reconcile(served_network.group)
    assert [(held.kind, held.removed) for held in HeldBack.objects.all()] == [("bans", 12)]
