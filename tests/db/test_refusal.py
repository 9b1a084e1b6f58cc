"""Refusal of a change that waits: it needs a reason, and the rows become what they were. The gateways are real agents, in memory."""

import pytest

from apps.accounts.models import User
from apps.bans.blocks.selectors import find_current_block
from apps.bans.blocks.services import block_member
from apps.bans.models import Ban, BanList
from apps.deployments.approvals.refusal import refuse_part
from apps.deployments.models import HeldBack
from apps.deployments.services import reconcile
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Conflict, Problem
from apps.mail.models import Message
from apps.members.models import Member
from apps.members.services import end_membership
from apps.nat.models import NatMapping, PortForward
from apps.nat.services import change_forward, remove_forward
from apps.network.models import Gateway
from apps.network.services import release_holding
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward
from tests.db.test_decisions import running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """Two gateways that run six forwards of m1; three removals are too many."""
    served_network.group.removal_least = 3
    served_network.group.save()
    User.objects.filter(pk=served_network.admin.pk).update(email="mara@lindenhof.example")
    for port in range(7001, 7007):
        forward(served_network, port)
    assert reconcile(served_network.group)
    return served_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    return factories.user("jonas")


def withdraw(network: factories.Network) -> HeldBack:
    with factories.written_by(network.admin):
        for each in PortForward.objects.filter(public_port__lt=7006):
            remove_forward(forward=each, by=network.admin)
    reconcile(network.group)
    return HeldBack.objects.get()


def open_ports() -> list[int]:
    return sorted(PortForward.objects.filter(is_valid_now(), enabled=True).values_list("public_port", flat=True))


def nothing_differs(network: factories.Network) -> bool:
    """True if the gateways run the desired state and nothing waits."""
    reconcile(network.group)
    return not HeldBack.objects.filter(state__in=HeldBack.ALIVE).exists() and reconcile(network.group) is None


def test_removed_forwards_are_open_again_with_one_press(network: factories.Network, peer: User) -> None:
    held, client = withdraw(network), signed_in(peer)
    page = text(client.get(f"/rollouts/waiting/{held.pk}/"))
    assert "Refuse…" in page and "Requested by Mara Lindqvist" in page
    assert "Refusing opens the port forwards again." in text(client.get(f"/rollouts/waiting/{held.pk}/refuse/"))
    given = {"digest": held.digest, "reason": "the Minecraft evening is tonight"}
    answer = text(client.post(f"/rollouts/waiting/{held.pk}/refuse/", given, follow=True))
    assert "Everything is as it was before" in answer
    assert "Refused by Jonas Lindqvist" in answer and "the Minecraft evening is tonight" in answer
    assert open_ports() == [*range(7001, 7007)] and nothing_differs(network)


def test_whoever_asked_is_told_by_mail(network: factories.Network, peer: User) -> None:
    held = withdraw(network)
    refuse_part(held, digest=held.digest, reason="not today", by=peer)
    mail = Message.objects.get()
    assert (mail.to, mail.subject) == ("mara@lindenhof.example", "Jonas Lindqvist refused your change")
    assert "not today" in mail.text and f"/rollouts/waiting/{held.pk}/" in mail.text


def test_a_refusal_needs_a_reason_and_is_of_what_was_seen(network: factories.Network, peer: User) -> None:
    held = withdraw(network)
    with pytest.raises(Problem, match="Enter a reason"):
        refuse_part(held, digest=held.digest, reason=" ", by=peer)
    with pytest.raises(Conflict, match="Look at it again"):
        refuse_part(held, digest="0" * 64, reason="no", by=peer)
    assert open_ports() == [7006]


def test_a_refusal_switches_forwards_back_on(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        for each in PortForward.objects.filter(public_port__lt=7006):
            change_forward(forward=each, version=each.version, private_port=443, purpose="", enabled=False, by=network.admin)
    reconcile(network.group)
    held = HeldBack.objects.get()
    assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert len(open_ports()) == 6 and nothing_differs(network)


def test_rows_that_were_deleted_come_back_from_their_history(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        PortForward.objects.filter(public_port__lt=7006).delete()
    reconcile(network.group)
    held = HeldBack.objects.get()
    assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert len(open_ports()) == 6 and nothing_differs(network)


def test_what_somebody_else_has_by_now_is_named(network: factories.Network, peer: User) -> None:
    held = withdraw(network)
    other = network.residents["m2"].holding
    PortForward.objects.filter(public_port=7003).update(holding=other, held=other.valid, private_port=22)
    left = refuse_part(held, digest=held.digest, reason="no", by=peer)
    assert len(left) <= 1 and set(open_ports()) >= {7001, 7002, 7004, 7005, 7006}


def test_members_who_left_are_members_again_with_all_they_had(network: factories.Network, peer: User) -> None:
    left = [network.residents[name].member for name in ("m2", "m3", "m4")]
    with factories.written_by(network.admin):
        for member in left[:2]:
            end_membership(member=member, by=network.admin)
        release_holding(holding=network.residents["m4"].holding, by=network.admin)
    reconcile(network.group)
    waiting = list(HeldBack.objects.filter(state="waiting").order_by("-kind"))
    assert {held.kind for held in waiting} >= {"addresses", "mappings"}
    for held in waiting:
        assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert not Member.objects.filter(pk__in=[each.pk for each in left]).exclude(state="active").exists()
    assert NatMapping.objects.filter(is_valid_now(), holding__prefix=network.residents["m4"].holding.prefix).exists()
    reconcile(network.group)
    assert len(running().elements["up4"]) == len(network.residents)


def test_blocks_are_lifted(network: factories.Network, peer: User) -> None:
    people = [each.member for each in network.residents.values()][:3]
    with factories.written_by(network.admin):
        for member in people:
            block_member(member=member, reason="other", by=network.admin)
    reconcile(network.group)
    held = HeldBack.objects.get()
    assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert [find_current_block(member) for member in people] == [None, None, None] and nothing_differs(network)


@pytest.mark.parametrize("how", ["switched off", "lifted"])
def test_bans_hold_again(network: factories.Network, peer: User, how: str) -> None:
    own = BanList.objects.create(name="Own")
    Ban.objects.bulk_create(Ban(list=own, prefix=f"203.0.113.{number}", comment="scan") for number in range(5))
    reconcile(network.group)
    with factories.written_by(network.admin):
        if how == "lifted":
            Ban.objects.all().delete()
        else:
            BanList.objects.update(enabled=False)
    reconcile(network.group)
    held = HeldBack.objects.get()
    assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert Ban.objects.filter(list__enabled=True, comment="scan").count() == 5 and nothing_differs(network)


def test_management_is_as_it_was(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=2222)
    reconcile(network.group)
    held = HeldBack.objects.get()
    assert refuse_part(held, digest=held.digest, reason="no", by=peer) == []
    assert Gateway.objects.get(name="nat-1").management_port == 22 and nothing_differs(network)
