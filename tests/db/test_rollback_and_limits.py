"""Changes of the limits for removals, and rollbacks: those that would bypass the second person wait for one themselves."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from apps.accounts.models import User
from apps.accounts.tokens import create_token
from apps.deployments.approvals.limit_changes import find_waiting_limits
from apps.deployments.approvals.refusal import refuse_part
from apps.deployments.models import HeldBack, Hold, Revision
from apps.deployments.rollouts import rollback
from apps.deployments.rollouts.decisions import approve_part
from apps.deployments.services import reconcile
from apps.gateways.groups import GroupFacts, change_group
from apps.lib.errors import Conflict, Problem
from apps.mail.models import Message
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.db.locks import run_after_waiting
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward
from tests.db.test_decisions import running

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    served_network.group.removal_least = 3
    served_network.group.save()
    User.objects.filter(pk=served_network.admin.pk).update(email="mara@lindenhof.example")
    assert reconcile(served_network.group)
    return served_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    peer = factories.user("jonas")
    User.objects.filter(pk=peer.pk).update(email="jonas@lindenhof.example")
    return peer


def limits(network: factories.Network, by: User, **changes: int) -> tuple[int, int]:
    group = GatewayGroup.objects.get(pk=network.group.pk)
    given: dict[str, Any] = {"removal_share": group.removal_share, "removal_least": group.removal_least} | changes
    change_group(group=group, version=group.version, facts=GroupFacts(group.name, **given), by=by)
    return now(network)


def now(network: factories.Network) -> tuple[int, int]:
    group = GatewayGroup.objects.get(pk=network.group.pk)
    return group.removal_share, group.removal_least


# --- Limits


def test_an_approval_of_limits_that_are_being_changed_waits_and_is_refused(network: factories.Network, peer: User) -> None:
    limits(network, network.admin, removal_share=50)
    held = HeldBack.objects.get()

    def approve() -> None:
        approve_part(held, digest=held.digest, by=peer, signed_in_again=False)

    def lock() -> None:
        GatewayGroup.objects.select_for_update().get(pk=network.group.pk)

    with pytest.raises(Conflict):
        run_after_waiting(approve, lock, meanwhile=lambda: limits(network, network.admin, removal_share=60))
    assert find_waiting_limits(network.group) != held


def test_tighter_limits_hold_at_once(network: factories.Network) -> None:
    assert limits(network, network.admin, removal_share=5, removal_least=2) == (5, 2)
    assert not HeldBack.objects.exists()


def test_looser_limits_wait_for_a_second_person(network: factories.Network, peer: User) -> None:
    assert limits(network, network.admin, removal_share=100, removal_least=2**31 - 1) == (20, 3)
    held = HeldBack.objects.get()
    with pytest.raises(Problem, match="Another person has to approve it: Jonas"):
        approve_part(held, digest=held.digest, by=network.admin, signed_in_again=True)
    client = signed_in(peer)
    for path in ("/", "/rollouts/", "/rollouts/waiting/", f"/members/{network.residents['m1'].member.pk}/", "/gateways/"):
        assert client.get(path).status_code == 200, path
    page = text(client.get(f"/rollouts/waiting/{held.pk}/"))
    assert "Looser limits for Lindenhof wait for a second person" in page and "<code>20</code>" in page and "<code>100</code>" in page
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    assert now(network) == (100, 2**31 - 1)


def test_what_is_tighter_of_a_change_holds_at_once_and_the_rest_waits(network: factories.Network, peer: User) -> None:
    assert limits(network, network.admin, removal_share=50, removal_least=2) == (20, 2)
    held = HeldBack.objects.get()
    refuse_part(held, digest=held.digest, reason="no", by=peer)
    assert now(network) == (20, 2)


def test_whoever_thinks_better_of_it_closes_what_waits(network: factories.Network) -> None:
    limits(network, network.admin, removal_share=100)
    limits(network, network.admin)
    assert HeldBack.objects.get().state == HeldBack.State.OBSOLETE


# --- Rollbacks


@pytest.fixture
def before(network: factories.Network) -> Revision:
    """The revision before five forwards were opened."""
    revision = Revision.objects.latest("pk")
    for port in range(7001, 7006):
        forward(network, port)
    assert reconcile(network.group)
    return revision


def test_going_back_that_takes_much_away_waits_for_a_second_person(network: factories.Network, peer: User, before: Revision) -> None:
    made = rollback.roll_back(before, why="calls break", by=network.admin)
    assert isinstance(made, HeldBack) and not Hold.objects.exists()
    assert reconcile(network.group) is None and len(running().elements["forward4"]) == 5
    with pytest.raises(Problem, match="Another person has to approve it: Jonas"):
        approve_part(made, digest=made.digest, by=network.admin, signed_in_again=True)
    page = text(signed_in(peer).get(f"/rollouts/waiting/{made.pk}/"))
    assert f"A rollback to {before} waits for a second person" in page and "calls break" in page and "5 of 5 forwarded ports" in page
    approve_part(made, digest=made.digest, by=peer, signed_in_again=False)
    assert Hold.objects.get().by == network.admin
    assert reconcile(network.group)
    assert not running().elements["forward4"]


def test_going_back_that_takes_little_away_waits_for_nobody_and_adds_up(network: factories.Network) -> None:
    revisions = []
    for port in (7001, 7002, 7003):
        revisions.append(Revision.objects.latest("pk"))
        forward(network, port)
        assert reconcile(network.group)
    for revision in (revisions[2], revisions[1]):
        assert isinstance(rollback.roll_back(revision, why="one by one", by=network.admin), Hold)
        assert reconcile(network.group)
    assert isinstance(rollback.roll_back(revisions[0], why="one by one", by=network.admin), HeldBack)


def test_going_back_to_another_management_waits(network: factories.Network, peer: User) -> None:
    before = Revision.objects.latest("pk")
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=2222)
    reconcile(network.group)
    held = HeldBack.objects.get()
    approve_part(held, digest=held.digest, by=peer, signed_in_again=False)
    assert reconcile(network.group)
    made = rollback.roll_back(before, why="back", by=network.admin)
    assert isinstance(made, HeldBack)
    assert "<code>2222</code>" in text(signed_in(peer).get(f"/rollouts/waiting/{made.pk}/"))


def test_what_waits_is_shown_anew_when_it_would_take_more_away_by_now(network: factories.Network, peer: User, before: Revision) -> None:
    made = rollback.roll_back(before, why="calls break", by=network.admin)
    assert isinstance(made, HeldBack)
    seen = made.digest
    forward(network, 7006)
    assert reconcile(network.group)
    with pytest.raises(Conflict, match="Look at it again"):
        approve_part(made, digest=seen, by=peer, signed_in_again=False)
    made.refresh_from_db()
    assert made.removed == 6 and made.digest != seen


def test_in_an_emergency_one_signs_in_again_and_the_others_are_told(network: factories.Network, peer: User, before: Revision) -> None:
    client, path = signed_in(network.admin), f"/rollouts/revisions/{before.pk}/back/"
    assert "So it waits until a second person agrees." in text(client.get(path))
    wrong = client.post(path, {"why": "nothing works", "alone": "on", "password": "guess"})
    assert wrong.status_code == 422 and not Hold.objects.exists()
    client.post(path, {"why": "nothing works", "alone": "on", "password": "correct horse battery"})
    hold = Hold.objects.get()
    assert hold.alone and (hold.by, hold.why) == (network.admin, "nothing works")
    mail = Message.objects.get()
    assert mail.to == "jonas@lindenhof.example" and "without a second person" in mail.subject and "nothing works" in mail.text


def test_a_token_goes_back_no_further_than_its_person(network: factories.Network, peer: User, before: Revision) -> None:
    _token, key = create_token(user=network.admin, name="script", scopes=["revision:write"])
    api = signed_in(network.admin).__class__(headers={"Authorization": f"Bearer {key}"})
    answer = api.post(f"/api/deployments/revisions/{before.pk}/rollback/", {"why": "script"}, "application/json")
    assert answer.status_code == 202 and not Hold.objects.exists()
    assert answer.json()["approval"] == HeldBack.objects.get().pk


def test_the_command_waits_too_and_asks_for_the_password_in_an_emergency(
    network: factories.Network, peer: User, before: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = StringIO()
    with pytest.raises(SystemExit, match="1"):
        call_command("rollback", str(before), "--why", "no mail", "--as", "mara", stdout=told)
    assert "it waits for a second person" in told.getvalue() and not Hold.objects.exists()
    monkeypatch.setattr("apps.deployments.management.commands.rollback.getpass", lambda _prompt: "correct horse battery")
    call_command("rollback", str(before), "--why", "no mail", "--as", "mara", "--alone", stdout=told)
    assert Hold.objects.get().alone and not running().elements["forward4"]
