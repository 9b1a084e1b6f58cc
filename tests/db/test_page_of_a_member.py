from typing import Any

import pytest
from django.test import Client

from apps.members.models import Member
from apps.nat.models import PortForward
from apps.nat.selectors import list_member_forwards
from apps.nat.services import add_forward
from tests import factories
from tests.db.page_client import HTMX, signed_in, text


@pytest.fixture
def admin(network: factories.Network) -> Client:
    client = Client()
    client.force_login(network.admin)
    return client


def path(network: factories.Network, host: str = "m1") -> str:
    return f"/members/{network.residents[host].member.pk}/"


def forward(network: factories.Network, port: int = 8443) -> PortForward:
    holding = network.residents["m1"].holding
    return add_forward(
        holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=443, purpose="Nextcloud", by=network.admin
    )


def build_form(network: factories.Network, **changes: Any) -> dict[str, Any]:
    given = {
        "protocol": "tcp",
        "public_port": 8443,
        "holding": network.residents["m1"].holding.pk,
        "private_port": 443,
        "public": "198.51.100.7",
    }
    return {f"forward-{name}": value for name, value in (given | changes).items()}


def test_the_page_says_in_one_line_how_the_member_is_connected(admin: Client, network: factories.Network) -> None:
    page = admin.get(path(network)).content.decode()
    assert "Connected." in page
    assert "Leaves as 198.51.100.7 and 2001:db8:a0:10::/64." in page


@pytest.mark.parametrize(("state", "line"), [("pending", "Not yet active."), ("left", "Has left.")])
def test_the_line_tells_who_is_not_active(admin: Client, network: factories.Network, state: str, line: str) -> None:
    Member.objects.filter(pk=network.residents["m1"].member.pk).update(state=state)
    assert line in admin.get(path(network)).content.decode()


def test_without_javascript_a_forward_is_added_and_told(admin: Client, network: factories.Network) -> None:
    answer = admin.post(f"{path(network)}forwards/add/", build_form(network), follow=True)
    assert "<b>Saved.</b> TCP 8443 on 198.51.100.7 is on its way to nat-1, nat-2." in answer.content.decode()


def test_adding_a_forward_can_be_undone_until_it_was_changed(admin: Client, network: factories.Network) -> None:
    page = admin.post(f"{path(network)}forwards/add/", build_form(network), headers=HTMX).content.decode()
    added = PortForward.objects.get()
    undo = f'<form method="post" action="/forwards/{added.pk}/remove/">'
    assert undo in page
    changed = admin.post(f"/forwards/{added.pk}/switch/", {"version": 1, "enabled": "0"}, headers=HTMX).content.decode()
    assert "<b>Saved.</b>" in changed and undo not in changed
    assert "<b>Removed.</b>" in admin.post(f"/forwards/{added.pk}/remove/", follow=True).content.decode()
    assert not list_member_forwards(network.residents["m1"].member).exists()


def test_who_may_not_remove_is_offered_no_undo(network: factories.Network) -> None:
    added = forward(network)
    page = signed_in(factories.user("ada", roles=["auditor"])).get(f"{path(network)}?saved={added.pk}").content.decode()
    assert "<b>Saved.</b>" in page
    assert f'action="/forwards/{added.pk}/remove/"' not in page


def test_a_form_with_faults_keeps_what_was_typed(admin: Client, network: factories.Network) -> None:
    answer = admin.post(f"{path(network)}forwards/add/", build_form(network, public_port=70000, purpose="Minecraft"))
    assert answer.status_code == 422
    assert 'value="Minecraft"' in answer.content.decode()
    assert 'aria-invalid="true"' in answer.content.decode()
    assert not PortForward.objects.exists()


@pytest.mark.parametrize("hostile", ["<script>alert(1)</script>", '"><img src=x>', "{{ 7 }}"])
def test_a_hostile_purpose_is_only_text(admin: Client, network: factories.Network, hostile: str) -> None:
    admin.post(f"{path(network)}forwards/add/", build_form(network, purpose=hostile))
    page = admin.get(path(network)).content.decode()
    assert "<script>alert" not in page
    assert "<img src=x>" not in page


def test_a_forward_is_switched_off_and_on_by_what_the_page_showed(admin: Client, network: factories.Network) -> None:
    added = forward(network)
    switch = f"/forwards/{added.pk}/switch/"
    admin.post(switch, {"version": 1, "enabled": "0"})
    added.refresh_from_db()
    assert not added.enabled
    stale = admin.post(switch, {"version": 1, "enabled": "1"})
    assert stale.status_code == 422
    assert "This port forward was changed or removed by someone else" in stale.content.decode()
    added.refresh_from_db()
    assert not added.enabled


def test_removing_says_first_what_it_will_do(admin: Client, network: factories.Network) -> None:
    added = forward(network)
    asked = admin.get(f"/forwards/{added.pk}/remove/").content.decode()
    assert "Within a second, port 443 of 10.16.0.10 (Nextcloud) is no longer reachable from the internet" in asked
    assert PortForward.objects.get(pk=added.pk).valid.upper is None
    admin.post(f"/forwards/{added.pk}/remove/")
    assert PortForward.objects.get(pk=added.pk).valid.upper is not None


@pytest.mark.parametrize("count", [2, 25])
def test_the_page_needs_as_many_queries_for_few_forwards_as_for_many(
    admin: Client, network: factories.Network, count: int, django_assert_max_num_queries: Any
) -> None:
    for port in range(count):
        forward(network, 2000 + port)
    admin.get("/")  # the first page of a session writes to the database
    with django_assert_max_num_queries(9):
        admin.get(path(network))


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize(
    "where", ["/members/1/", "/members/1/forwards/", "/members/1/forwards/add/", "/forwards/1/switch/", "/forwards/1/remove/"]
)
def test_only_staff_see_or_change_it(network: factories.Network, method: str, where: str) -> None:
    stranger, member = Client(), Client()
    member.force_login(factories.user("selin", staff=False))
    assert getattr(stranger, method)(where).status_code in (302, 405)
    assert getattr(member, method)(where).status_code in (403, 405)


def test_the_history_comes_when_it_is_scrolled_to_and_has_a_page_of_its_own(admin: Client, network: factories.Network) -> None:
    forward(network)
    where = f"{path(network)}history/"
    page = admin.get(path(network)).content.decode()
    assert f'hx-get="{where}" hx-trigger="load"' in page and f'<a href="{where}">Show the history</a>' in page
    alone = text(admin.get(where))
    assert "<h1>History of Resident of m1</h1>" in alone and "Port forward added" in alone
    fragment = text(admin.get(where, headers={**HTMX, "HX-Target": "history"}))
    assert fragment.strip().startswith('<div id="history"') and "Port forward added" in fragment and "<h1>" not in fragment
    assert 'hx-trigger="netzwart:member-changed from:body"' in fragment
    assert admin.get("/members/999999/history/").status_code == 404


def test_a_member_who_is_not_there_is_404(admin: Client) -> None:
    assert admin.get("/members/999999/").status_code == 404
