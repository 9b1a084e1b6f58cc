"""Pages of changes that are held back: requester, reason, affected members, and the approval. The gateways are real agents, in memory."""

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.deployments.models import HeldBack
from apps.deployments.observed_state import navigation_status
from apps.deployments.services import reconcile
from apps.desk.selectors.dashboard import build_dashboard
from apps.nat.models import PortForward
from apps.network.models import Gateway
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """Two gateways that run six forwards. The removal of five is held back."""
    served_network.group.removal_least = 3
    served_network.group.save()
    for port in range(7001, 7007):
        forward(served_network, port)
    assert reconcile(served_network.group)
    with factories.written_by(served_network.admin):
        PortForward.objects.filter(public_port__in=range(7001, 7006)).delete()
    assert reconcile(served_network.group, by=served_network.admin.pk) is None
    return served_network


@pytest.fixture
def peer(network: factories.Network) -> User:
    """Another account that can approve."""
    return factories.user("jonas")


def waits() -> HeldBack:
    return HeldBack.objects.get(state=HeldBack.State.WAITING)


def approve(client: Client, held: HeldBack, **given: object) -> object:
    return client.post(f"/rollouts/waiting/{held.pk}/approve/", {"digest": held.digest, "typed": "5"} | given, follow=True)


def test_the_page_says_why_it_waits_and_whom_it_concerns(network: factories.Network, peer: User) -> None:
    page = text(signed_in(peer).get(f"/rollouts/waiting/{waits().pk}/"))
    assert "5 removals wait for a second person" in page
    assert "5 of 6 forwarded ports would be removed, which is 83.3\u202f%. The limit is 20\u202f% and at least 3." in page
    assert f'1 member can no longer be reached: <a href="/members/{network.residents["m1"].member.pk}/">Resident of m1</a>' in page
    assert "Requested by Mara Lindqvist" in page and "Refusing it, with a reason, opens the port forwards again" in page
    assert "Approve 5 removals" in page and "198.51.100.7 . tcp . 7001" in page


def test_it_stands_wherever_somebody_looks(network: factories.Network, peer: User, rf: object) -> None:
    client, rollout = signed_in(peer), network.group.rollouts.latest("pk")
    for path in ("/rollouts/", "/rollouts/waiting/", f"/rollouts/{rollout.pk}/", "/"):
        assert "5 removals wait for a second person" in text(client.get(path)), path
    assert "5 removals are held back." in text(client.get(f"/rollouts/{rollout.pk}/"))
    assert (counted := navigation_status.build_navigation_count(None)) and (counted.number, counted.asks) == (1, True)  # type: ignore[arg-type]  # it reads only the database


def test_a_second_person_types_the_number_and_approves(network: factories.Network, peer: User) -> None:
    held, client = waits(), signed_in(peer)
    assert "Approved. It goes out in a moment" in text(approve(client, held))
    assert reconcile(network.group)
    reconcile(network.group)
    page = text(client.get(f"/rollouts/waiting/{held.pk}/"))
    assert "Rolled out." in page and "Approved by Jonas Lindqvist" in page
    assert "Approved by Jonas Lindqvist" in text(client.get("/rollouts/waiting/"))


@pytest.mark.parametrize("typed", ["", "4", "all"])
def test_another_number_approves_nothing(network: factories.Network, peer: User, typed: str) -> None:
    response = signed_in(peer).post(f"/rollouts/waiting/{waits().pk}/approve/", {"digest": waits().digest, "typed": typed})
    assert response.status_code == 422 and "aria-invalid" in text(response)
    assert waits().decided is None


def test_an_outdated_page_approves_nothing_and_shows_what_waits_now(network: factories.Network, peer: User) -> None:
    response = signed_in(peer).post(f"/rollouts/waiting/{waits().pk}/approve/", {"digest": "0" * 64, "typed": "5"})
    assert response.status_code == 409
    assert "This has changed or been decided since you opened the page" in text(response) and waits().digest in text(response)


def test_whoever_asked_is_told_who_else_can_agree(network: factories.Network, peer: User) -> None:
    client = signed_in(network.admin)
    page = text(client.get(f"/rollouts/waiting/{waits().pk}/"))
    assert "another approver has to agree: Jonas Lindqvist" in page and "Approve 5 removals" not in page
    response = client.post(
        f"/rollouts/waiting/{waits().pk}/approve/", {"digest": waits().digest, "typed": "5", "password": "correct horse battery"}
    )
    assert response.status_code == 422 and waits().decided is None


def test_a_single_approver_gives_his_password_and_the_page_says_so_for_ever(network: factories.Network) -> None:
    client, held = signed_in(network.admin), waits()
    assert "Sign in again to approve it" in text(client.get(f"/rollouts/waiting/{held.pk}/"))
    wrong = client.post(f"/rollouts/waiting/{held.pk}/approve/", {"digest": held.digest, "typed": "5", "password": "guess"})
    assert wrong.status_code == 422 and "That is not your password." in text(wrong)
    approve(client, held, password="correct horse battery")
    assert "signed in again, because there was no other approver" in text(client.get(f"/rollouts/waiting/{held.pk}/"))
    history = text(client.get("/history/?kind=deployments.heldback"))
    assert "Approved alone, after signing in again" in history and "Decided by" in history


def test_a_change_of_management_says_what_was_and_what_comes(network: factories.Network, peer: User) -> None:
    with factories.written_by(network.admin):
        Gateway.objects.filter(name="nat-1").update(management_port=2222)
    reconcile(network.group, by=network.admin.pk)
    held = HeldBack.objects.get(kind="management")
    page = text(signed_in(peer).get(f"/rollouts/waiting/{held.pk}/"))
    assert "A change of management on 1 gateway waits" in page and "<code>22</code>" in page and "<code>2222</code>" in page
    assert "Type" not in page.partition("<h2>")[2].partition("Approve the change on 1 gateway")[0]
    signed_in(peer).post(f"/rollouts/waiting/{held.pk}/approve/", {"digest": held.digest})
    held.refresh_from_db()
    assert held.state == HeldBack.State.APPROVED


def test_a_held_back_part_can_be_downloaded_as_nft_text(network: factories.Network, peer: User) -> None:
    response = signed_in(peer).get(f"/rollouts/waiting/{waits().pk}/text/")
    assert response["Content-Disposition"].startswith("attachment") and "delete element inet netzwart forward4" in text(response)


def test_only_staff_sees_and_approves(network: factories.Network) -> None:
    guest = signed_in(factories.user("guest", staff=False))
    assert {guest.get(f"/rollouts/waiting/{rest}").status_code for rest in ("", f"{waits().pk}/", f"{waits().pk}/text/")} == {403}
    assert guest.post(f"/rollouts/waiting/{waits().pk}/approve/", {"digest": waits().digest, "typed": "5"}).status_code == 403


def test_the_dashboard_offers_a_review(network: factories.Network) -> None:
    from django.utils import timezone

    need = next(need for need in build_dashboard(timezone.now()).needs if need.key.startswith("held-"))
    assert (need.what, need.verb, need.url) == ("5 removals wait for a second person", "Review", f"/rollouts/waiting/{waits().pk}/")


def test_queries_do_not_grow_with_what_waits(network: factories.Network, peer: User) -> None:
    client, held = signed_in(peer), waits()
    few = queries(client, "/rollouts/waiting/"), queries(client, "/rollouts/"), queries(client, f"/rollouts/waiting/{held.pk}/")
    for number in range(8):
        HeldBack.objects.create(group=network.group, kind="forwards", digest=f"{number:064d}", removed=5, of=6, packed=held.packed)
    assert (queries(client, "/rollouts/waiting/"), queries(client, "/rollouts/"), queries(client, f"/rollouts/waiting/{held.pk}/")) == few
