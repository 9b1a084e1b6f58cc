"""The threat model's promise of a second person: one account alone takes little service away, in any way. Gateways are real agents."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.postgres.fields import DateTimeRangeField
from django.db.models import DateTimeField, F, Func, Value
from django.db.models.functions import Now
from django.utils import timezone

from apps.accounts.models import User
from apps.bans.blocks.services import block_member
from apps.bans.models import Ban, BanList
from apps.deployments import services
from apps.deployments.approvals import approval_gate
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.deployments.models import HeldBack, Rollout, UnapprovedLoss
from apps.deployments.rollouts.decisions import approve_part, pause_rollout, resume_rollout
from apps.deployments.services import reconcile
from apps.lib.errors import Problem
from apps.mail.models import Message
from apps.members.models import Member
from apps.members.services import activate_member, end_membership
from apps.nat.models import NatMapping, PortForward
from apps.nat.services import change_forward, map_address, remove_forward
from apps.network.models import Gateway, Pool
from apps.network.services import assign_address, release_holding
from tests import factories
from tests.db.rollout_rows import forward, open_rollout
from tests.db.test_decisions import running
from tests.whole.system import wait_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """Two gateways that run ten forwards of m1; three removals are too many."""
    served_network.group.removal_least = 3
    served_network.group.save()
    with factories.written_by(served_network.admin):
        for port in range(7001, 7011):
            forward(served_network, port)
    assert reconcile(served_network.group)
    return served_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    return factories.user("jonas")


def withdraw(*ports: int, by: User) -> None:
    with factories.written_by(by):
        for each in PortForward.objects.filter(public_port__in=ports):
            remove_forward(forward=each, by=by)


def waits() -> HeldBack:
    return HeldBack.objects.get(state=HeldBack.State.WAITING)


def askers() -> list[str]:
    return sorted(waits().askers.values_list("username", flat=True))


MANY = (7001, 7002, 7003, 7004, 7005)


# --- The requester is the account that wrote, not the one that made a worker look


type Write = Callable[[], None]


def by_schedule(network: factories.Network, peer: User, write: Write) -> None:
    write()
    reconcile(network.group, cause="schedule")


def by_a_colleague(network: factories.Network, peer: User, write: Write) -> None:
    write()
    reconcile(network.group, by=peer.pk)


def by_the_look_that_follows_a_rollout(network: factories.Network, peer: User, write: Write) -> None:
    forward(network, 8000)
    open_rollout(network)
    write()
    assert reconcile(network.group, by=network.admin.pk) is None, "it leaves a note in the rollout that is open"
    Rollout.objects.update(state=Rollout.State.ABORTED)
    reconcile(network.group, by=None)


def by_a_colleague_who_resumes(network: factories.Network, peer: User, write: Write) -> None:
    forward(network, 8000)
    lease = open_rollout(network)
    pause_rollout(lease.rollout, by=network.admin)
    Rollout.objects.update(lease_until=timezone.now())
    paused = reconcile(network.group)
    assert paused and paused.state == Rollout.State.PAUSED
    write()
    resume_rollout(paused, by=peer)
    reconcile(network.group, by=peer.pk)


def after_a_worker_died(network: factories.Network, peer: User, write: Write) -> None:
    forward(network, 8000)
    open_rollout(network)
    write()
    Rollout.objects.update(lease_until=timezone.now())
    reconcile(network.group)


LOOKS = [by_schedule, by_a_colleague, by_the_look_that_follows_a_rollout, by_a_colleague_who_resumes, after_a_worker_died]


@pytest.mark.parametrize("look", LOOKS)
def test_nobody_approves_what_they_wrote_whoever_made_a_worker_look(
    network: factories.Network, peer: User, look: Callable[[factories.Network, User, Write], None]
) -> None:
    look(network, peer, lambda: withdraw(*MANY, by=network.admin))
    held = waits()
    assert askers() == ["mara"] and not held.asker_unknown
    with pytest.raises(Problem, match=r"You requested this yourself\. Another person has to approve it: Jonas"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True)
    assert not approve_part(held, digest=held.digest, by=peer, signed_in_again=False).alone


def test_a_change_of_management_is_asked_by_who_wrote_it(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=2222)
    reconcile(network.group, by=peer.pk)
    assert (waits().kind, askers()) == ("management", ["mara"])


def test_all_authors_of_the_changed_rows_are_requesters(network: factories.Network, peer: User) -> None:
    withdraw(7001, 7002, 7003, by=network.admin)
    withdraw(7004, 7005, by=peer)
    reconcile(network.group)
    held = waits()
    assert askers() == ["jonas", "mara"]
    third = factories.user("wim")
    for person in (network.admin, peer):
        with pytest.raises(Problem, match="Another person has to approve it: Wim"):
            approve_part(held, digest=held.digest, by=person, signed_in_again=True)
    assert not approve_part(held, digest=held.digest, by=third, signed_in_again=False).alone


def test_who_removes_the_same_once_more_has_asked_too(network: factories.Network, peer: User) -> None:
    withdraw(*MANY, by=network.admin)
    reconcile(network.group)
    held = waits()
    with factories.written_by(peer):
        for port in MANY:
            forward(network, port)
    withdraw(*MANY, by=peer)
    with pytest.raises(Problem, match="Sign in again"):
        approve_part(held, digest=held.digest, by=peer, signed_in_again=False)


def test_members_who_leave_are_asked_for_by_who_made_them_leave(network: factories.Network, peer: User) -> None:
    network.group.removal_least = 1
    network.group.save()
    with factories.written_by(peer):
        end_membership(member=network.residents["m2"].member, by=peer)
        end_membership(member=network.residents["m3"].member, by=peer)
    reconcile(network.group, by=network.admin.pk)
    held = HeldBack.objects.filter(state="waiting")
    assert {each.kind for each in held} >= {"addresses", "prefixes", "mappings"}
    assert {user.username for each in held for user in each.askers.all()} == {"jonas"}


def test_what_ends_by_time_is_asked_for_by_who_planned_it(network: factories.Network, peer: User) -> None:
    end = timezone.now() + timedelta(seconds=1)
    begins = Func(F("valid"), function="lower", output_field=DateTimeField())
    with factories.written_by(peer):
        valid = Func(begins, Value(end), function="tstzrange", output_field=DateTimeRangeField())
        PortForward.objects.filter(public_port__in=MANY).update(valid=valid)
    reconcile(network.group)
    wait_for(lambda: timezone.now() > end)
    reconcile(network.group)
    assert askers() == ["jonas"] and not waits().asker_unknown


# --- No known author


def write_without_an_author(network: factories.Network) -> None:
    PortForward.objects.filter(public_port__in=MANY).delete()
    reconcile(network.group, by=network.admin.pk)


def test_what_nobody_known_wrote_may_be_anybodys_who_can_write(network: factories.Network) -> None:
    write_without_an_author(network)
    held = waits()
    assert held.asker_unknown and not held.askers.exists()
    with pytest.raises(Problem, match=r"it may have been you\. Sign in again"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=False)
    assert approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True).alone


def test_what_nobody_known_wrote_is_approved_by_who_cannot_write(network: factories.Network, peer: User) -> None:
    write_without_an_author(network)
    reader = factories.user("ann", roles=["approver"])
    held = waits()
    with pytest.raises(Problem, match="Another person has to approve it: Ann"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True)
    assert not approve_part(held, digest=held.digest, by=reader, signed_in_again=False).alone


def test_the_others_are_told_when_somebody_approves_alone(network: factories.Network) -> None:
    write_without_an_author(network)
    peer = factories.user("jonas")
    User.objects.filter(pk=peer.pk).update(email="jonas@lindenhof.example")
    held = waits()
    approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True)
    mail = Message.objects.get()
    assert mail.to == "jonas@lindenhof.example" and mail.subject == "Mara Lindqvist approved a change without a second person"


# --- Removals one by one add up


def test_removals_one_by_one_wait_as_all_of_them_at_once_would(network: factories.Network) -> None:
    for port in range(7001, 7008):
        withdraw(port, by=network.admin)
        reconcile(network.group)
    assert len(running().elements["forward4"]) == 8, "two went, as many as may go at once"
    assert [(held.removed, held.earlier) for held in HeldBack.objects.order_by("pk")] == [(1, 2)] * 5


def test_after_an_hour_they_count_no_more(network: factories.Network) -> None:
    withdraw(7001, 7002, by=network.admin)
    reconcile(network.group)
    UnapprovedLoss.objects.update(at=Now() - timedelta(minutes=61))
    withdraw(7003, by=network.admin)
    assert reconcile(network.group) and not HeldBack.objects.exists()


def test_what_was_approved_does_not_count_against_what_follows(network: factories.Network, peer: User) -> None:
    withdraw(*MANY, by=network.admin)
    reconcile(network.group)
    held = waits()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    reconcile(network.group)
    withdraw(7006, by=network.admin)
    assert reconcile(network.group)
    assert len(running().elements["forward4"]) == 4


def test_removals_that_were_restored_do_not_add_up(network: factories.Network) -> None:
    for _again in range(4):
        withdraw(7001, 7002, by=network.admin)
        assert reconcile(network.group)
        forward(network, 7001), forward(network, 7002)
        assert reconcile(network.group)
    assert not HeldBack.objects.exists()


def test_switching_off_counts_like_removing(network: factories.Network) -> None:
    with factories.written_by(network.admin):
        for each in PortForward.objects.filter(public_port__in=MANY):
            change_forward(forward=each, version=each.version, private_port=443, purpose="", enabled=False, by=network.admin)
    reconcile(network.group)
    assert (waits().kind, waits().removed, askers()) == ("forwards", 5, ["mara"])


def test_members_who_are_blocked_lose_service_and_wait_too(network: factories.Network, peer: User) -> None:
    people = [each.member for each in network.residents.values()]
    with factories.written_by(network.admin):
        for member in people[:3]:
            block_member(member=member, reason="other", by=network.admin)
    reconcile(network.group)
    held = waits()
    assert (held.kind, held.removed, askers()) == ("blocks", 3, ["mara"])
    assert not running().elements["blocked4"], "nobody is cut off yet"
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    assert reconcile(network.group)
    assert len(running().elements["blocked4"]) == 3
    assert reconcile(network.group) is None
    held.refresh_from_db()
    assert held.state == HeldBack.State.DONE


def test_a_ban_that_covers_members_waits_however_it_came(network: factories.Network) -> None:
    own = BanList.objects.create(name="Own")
    Ban.objects.create(list=own, prefix="10.16.0.0/16")
    Ban.objects.create(list=own, prefix="203.0.113.0/24")
    assert reconcile(network.group)
    held = waits()
    assert (held.kind, held.removed, held.asker_unknown) == ("blocks", len(network.residents), True)
    assert not running().elements.get("bans4_16") and running().elements["bans4_24"]


@pytest.mark.parametrize("seconds", [0.2, 0.4, 0.9, 1, 5])
def test_bans_that_end_by_themselves_do_not_wait_in_whichever_part_of_a_second_they_do(network: factories.Network, seconds: float) -> None:
    second = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    own = BanList.objects.create(name="Own")
    for number in range(10):
        Ban.objects.create(list=own, prefix=f"203.0.113.{number}", expires=second + timedelta(seconds=0.3))
    assert reconcile(network.group) and len(running().elements["bans4_32"]) == 10
    before = services.gateway_cache.load_running_state(network.group)
    assert before
    wanted = compute_desired_state(network.group, second + timedelta(seconds=seconds))
    assert approval_gate.hold_back_unapproved(network.group, wanted, before).targets == wanted.targets
    assert not HeldBack.objects.exists()
    assert before.reference and not approval_gate.find_removals(wanted.rulesets, before.reference, wanted.snapshot.now, wanted.deltas)


def test_one_member_is_blocked_at_once(network: factories.Network) -> None:
    block_member(member=network.residents["m1"].member, reason="other", by=network.admin)
    assert reconcile(network.group)
    assert len(running().elements["blocked4"]) == 1 and not HeldBack.objects.exists()


def test_leaving_and_blocking_add_up(network: factories.Network) -> None:
    people = [each.member for each in network.residents.values()]
    end_membership(member=people[1], by=network.admin)
    end_membership(member=people[2], by=network.admin)
    assert reconcile(network.group) and not HeldBack.objects.exists()
    block_member(member=people[0], reason="other", by=network.admin)
    reconcile(network.group)
    assert (waits().kind, waits().earlier) == ("blocks", 2)


def test_normal_use_is_not_bothered(network: factories.Network) -> None:
    resident = network.residents["m2"]
    for port in range(7101, 7131):
        forward(network, port)
    release_holding(holding=resident.holding, by=network.admin)
    assign_address(member=resident.member, pool=network.private, by=network.admin)
    end_membership(member=network.residents["m3"].member, by=network.admin)
    activate_member(member=network.residents["m3"].member, by=network.admin)
    block_member(member=network.residents["m1"].member, reason="other", by=network.admin)
    assert reconcile(network.group)
    assert not HeldBack.objects.exists() and Member.objects.exists()


# --- Nobody shares the ports of a member whose removal waits


def join(network: factories.Network, public: Pool) -> NatMapping:
    holding = assign_address(member=factories.member(), pool=network.private, by=network.admin)
    return map_address(holding=holding, pool=public, by=network.admin)


def release_two(network: factories.Network, sharing: str, block_size: int | None) -> tuple[Pool, list[bytes]]:
    """Release two members' addresses, which is too much for one person. Return the pool as which they left, and their private addresses."""
    network.group.removal_least = 2
    network.group.save()
    public = factories.pool(network.group, "public4", "192.0.2.128/28", sharing=sharing, block_size=block_size)
    mappings = [join(network, public) for _each in range(2)]
    assert reconcile(network.group)
    with factories.written_by(network.admin):
        for each in mappings:
            release_holding(holding=each.holding, by=network.admin)
    reconcile(network.group)
    assert get_waiting("mappings").removed == get_waiting("addresses").removed == 2
    return public, [get_key(each) for each in mappings]


def get_waiting(kind: str) -> HeldBack:
    return HeldBack.objects.get(kind=kind, state=HeldBack.State.WAITING)


def get_key(mapping: NatMapping) -> bytes:
    key: bytes = mapping.holding.prefix.network_address.packed
    return key


@pytest.mark.parametrize(("sharing", "block_size", "name"), [("own", None, "snat4_own"), ("blocks", 1024, "snat4_block")])
def test_a_place_that_a_new_member_gets_does_not_wait_and_the_other_does(
    network: factories.Network, sharing: str, block_size: int | None, name: str
) -> None:
    public, [first, second] = release_two(network, sharing, block_size)
    heir = get_key(join(network, public))
    assert reconcile(network.group)
    elements = running().elements
    assert elements[name].keys() == {second, heir}
    assert first not in elements["out4"].keys() | elements["out4_block"].keys() and first in elements["up4"]
    held = get_waiting("mappings")
    assert (held.removed, held.earlier) == (1, 1), "what went counts like a removal without an approval"
    assert get_waiting("addresses").removed == 2
    assert reconcile(network.group) is None and get_waiting("mappings") == held


def test_what_was_approved_stays_approved_when_a_new_member_gets_its_ports(network: factories.Network, peer: User) -> None:
    public, _keys = release_two(network, "blocks", 1024)
    held = get_waiting("mappings")
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    heir = get_key(join(network, public))
    assert reconcile(network.group)
    assert running().elements["snat4_block"].keys() == {heir}
    reconcile(network.group)
    held.refresh_from_db()
    assert held.state == HeldBack.State.DONE and not UnapprovedLoss.objects.exists()
