"""Links of the history: to undo a change, and to the revision that took it to the gateways."""

from datetime import timedelta
from ipaddress import IPv6Address, ip_network
from typing import Any

import pghistory
import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.audit.entries import HistoryEntry
from apps.audit.selectors import HistoryFilter, list_history
from apps.bans import services as ban_services
from apps.bans.blocks import services as block_services
from apps.bans.blocks.models import Block
from apps.bans.models import Ban, BanFeed, BanList
from apps.deployments.models import Revision
from apps.deployments.revision_pages.first_revisions import find_first_revisions
from apps.nat import services
from apps.nat.models import Pinhole, PortForward
from apps.nat.pinholes import services as pinhole_services
from apps.network.models import GatewayGroup
from apps.network.services import release_holding
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def forward(network: factories.Network, **changes: Any) -> PortForward:
    given: dict[str, Any] = {"protocol": "tcp", "public_port": 8443, "private_port": 443, "purpose": "web", "by": network.admin}
    return services.add_forward(holding=network.residents["m1"].holding, public=factories.PUBLIC, **(given | changes))


def remove_forward(network: factories.Network) -> PortForward:
    gone = forward(network)
    services.remove_forward(forward=gone, by=network.admin)
    return gone


def last(kind: str) -> HistoryEntry:
    return list_history(HistoryFilter(kind=kind))[0][0]


def ban(network: factories.Network, *, feed: bool = False) -> Ban:
    own = BanList.objects.create(name="Own")
    if feed:
        BanFeed.objects.create(list=own, source="https://feeds.example/list")
    return ban_services.ban_prefix(list=own, prefix=ip_network("203.0.113.7/32"), comment="scans", author=network.admin)


def revision(group: GatewayGroup) -> Revision:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        return Revision.objects.create(group=group, snapshot=cursor.fetchone()[0])


def test_a_removed_forward_is_opened_again_from_the_history(network: factories.Network, mara: Client) -> None:
    gone = remove_forward(network)
    undo = f"/forwards/{gone.pk}/restore/"
    assert undo in text(mara.get("/history/"))
    mara.post(undo)
    assert PortForward.objects.filter(valid__endswith=None, public_port=8443).count() == 1
    assert undo not in text(mara.get("/history/"))


def test_a_removed_pinhole_is_opened_again_from_the_history(network: factories.Network, mara: Client) -> None:
    host, prefix = IPv6Address("2001:db8:a0:10::10"), network.residents["m1"].prefix
    gone = pinhole_services.add_pinhole(holding=prefix, address=host, protocol="tcp", port=443, by=network.admin)
    pinhole_services.remove_pinhole(pinhole=gone, by=network.admin)
    mara.post(last("nat.pinhole").undo)
    assert Pinhole.objects.filter(valid__endswith=None).count() == 1
    assert not [entry for entry in list_history(HistoryFilter(kind="nat.pinhole"))[0] if entry.undo]


def test_what_somebody_else_has_by_now_is_not_offered(network: factories.Network) -> None:
    remove_forward(network)
    assert last("nat.portforward").undo
    services.add_forward(
        holding=network.residents["m2"].holding,
        public=factories.PUBLIC,
        protocol="tcp",
        public_port=8443,
        private_port=80,
        by=network.admin,
    )
    assert not [entry for entry in list_history(HistoryFilter(kind="nat.portforward"))[0] if entry.undo]


def test_what_was_deleted_by_hand_is_not_offered(network: factories.Network) -> None:
    forward(network).delete()
    assert last("nat.portforward").title == "Port forward removed"
    assert not last("nat.portforward").undo


def test_what_was_given_back_with_its_address_is_not_offered(network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    remove_forward(network)
    release_holding(holding=holding, by=network.admin)
    assert not [entry for entry in list_history(HistoryFilter(kind="nat.portforward"))[0] if entry.undo]


def test_a_lifted_ban_is_set_again_but_not_one_of_a_feed(network: factories.Network, mara: Client) -> None:
    lifted = ban(network)
    with pghistory.context(user=network.admin.pk):
        ban_services.lift_ban(ban=lifted, by=network.admin)
    mara.post(last("bans.ban").undo)
    assert Ban.objects.get().comment == "scans"
    assert not [entry for entry in list_history(HistoryFilter(kind="bans.ban"))[0] if entry.undo]


def test_what_a_feed_took_away_is_not_offered(network: factories.Network) -> None:
    gone = ban(network, feed=True)
    with pghistory.context(user=network.admin.pk):
        gone.delete()
    assert last("bans.ban").title == "Ban removed"
    assert not last("bans.ban").undo


def test_a_lifted_block_is_set_again(network: factories.Network, mara: Client) -> None:
    member = network.residents["m1"].member
    block_services.lift_block(block=block_services.block_member(member=member, reason="abuse", by=network.admin), by=network.admin)
    assert last("bans.block").title == "Block ended"
    mara.post(last("bans.block").undo)
    assert Block.objects.filter(member=member, valid__endswith=None).count() == 1
    assert not [entry for entry in list_history(HistoryFilter(kind="bans.block"))[0] if entry.undo]


def test_after_a_week_nothing_is_offered_any_more(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    remove_forward(network)
    later = timezone.now() + timedelta(days=8)
    monkeypatch.setattr("apps.audit.entries.timezone.now", lambda: later)
    assert not last("nat.portforward").undo


def test_whoever_may_not_open_ports_is_not_offered_it(network: factories.Network) -> None:
    gone = remove_forward(network)
    viewer = signed_in(factories.user("anna", roles=["auditor"]))
    page = text(viewer.get("/history/"))
    assert "Port forward ended" in page and f"/forwards/{gone.pk}/restore/" not in page


def test_an_end_that_is_planned_is_told_as_such(network: factories.Network) -> None:
    made, end = forward(network), timezone.now() + timedelta(days=3)
    services.change_forward(forward=made, version=made.version, private_port=443, purpose="web", enabled=True, until=end, by=network.admin)
    entry = last("nat.portforward")
    assert (entry.title, [(name, old) for name, old, _new in entry.changes]) == ("Port forward changed", [("ends", "never")])
    assert not entry.undo


def test_a_change_names_the_first_revision_that_saw_it(network: factories.Network, mara: Client) -> None:
    earlier = revision(network.group)
    forward(network)
    first, _second = revision(network.group), revision(network.group)
    assert find_first_revisions([last("nat.portforward").stamp]) == [[first.pk]]
    page = text(mara.get("/history/?kind=nat.portforward"))
    assert f"/revisions/{first.pk}/" in page and f"/revisions/{earlier.pk}/" not in page


def test_a_revision_that_began_to_read_before_the_change_does_not_count(network: factories.Network) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        before = cursor.fetchone()[0]
    forward(network)
    Revision.objects.create(group=network.group, snapshot=before)
    assert find_first_revisions([last("nat.portforward").stamp]) == [[]]


def test_a_forward_is_of_its_own_group_and_a_ban_of_all(network: factories.Network) -> None:
    made = forward(network)
    other = GatewayGroup.objects.create(name="elsewhere")
    ban(network)
    here, there = revision(network.group), revision(other)
    assert made.group_id == network.group.pk
    assert find_first_revisions([last("nat.portforward").stamp, None, last("bans.ban").stamp]) == [[here.pk], [], [here.pk, there.pk]]


def test_what_gateways_never_get_names_no_revision(network: factories.Network) -> None:
    revision(network.group)
    assert last("members.member").stamp is None
