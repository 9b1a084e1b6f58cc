"""Pages of revisions: the list, one revision, a comparison, rollback and release. The gateways are real agents, in memory."""

import pytest
from django.test import Client

from apps.deployments.models import Hold, Revision, RevisionContent
from apps.deployments.revision_pages import contents, ruleset_comparison
from apps.deployments.services import reconcile
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(served_network: factories.Network) -> factories.Network:
    """A network with three revisions on two gateways: the first, one with a forward, one with another forward."""
    assert reconcile(served_network.group, by=served_network.admin.pk)
    for port in (7001, 7002):
        forward(served_network, port)
        assert reconcile(served_network.group, by=served_network.admin.pk)
    return served_network


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


def revisions() -> list[Revision]:
    return list(Revision.objects.order_by("pk"))


def test_the_list_says_which_run_and_which_are_kept(staff: Client) -> None:
    page = text(staff.get("/rollouts/revisions/"))
    assert page.count("1 forwarded port added") == 2 and "nat-1, nat-2" in page and page.count('name="from"') == 3
    assert "No revision found" in text(staff.get("/rollouts/revisions/?which=rollback"))


def test_a_revision_says_what_it_changed_and_where_it_runs(staff: Client) -> None:
    first, _second, last = revisions()
    assert "This is what runs now." in text(staff.get(f"/rollouts/revisions/{last.pk}/"))
    page = text(staff.get(f"/rollouts/revisions/{first.pk}/"))
    assert "you can go back to it" in page and "Go back to this revision" in page and page.count("runs another") == 2


def test_any_two_are_compared_in_words_and_element_by_element(staff: Client) -> None:
    first, _second, last = revisions()
    page = text(staff.get(f"/rollouts/revisions/compare?from={first.pk}&to={last.pk}"))
    assert "2 forwarded ports added" in page and "198.51.100.7 . tcp . 7001 : 10.16.0.10 . 443" in page and "map forward4" in page
    back = text(staff.get(f"/rollouts/revisions/compare?from={last.pk}&to={first.pk}&gateway=nat-2"))
    assert "2 forwarded ports removed" in back and "Element by element on nat-2" in back
    whole = staff.get(f"/rollouts/revisions/compare/text?from={last.pk}&to={first.pk}")
    assert "delete element inet netzwart forward4" in text(whole)


def test_a_comparison_over_deltas_says_what_one_of_wholes_says(network: factories.Network) -> None:
    first, _second, last = revisions()
    for before, after in ((first, last), (last, first)):
        by_deltas = ruleset_comparison.compare_revisions(before, after, 0, "nat-2")
        by_wholes = ruleset_comparison.compare_rulesets(contents.load_rulesets(before), contents.load_rulesets(after), 0, "nat-2")
        assert not by_deltas.totals and by_wholes.totals
        assert (by_deltas.delta, by_deltas.shown) == (by_wholes.delta, by_wholes.shown)


def test_a_comparison_shows_the_beginning_of_much_and_counts_all(staff: Client, network: factories.Network) -> None:
    network.admin.refresh_from_db()
    tariff = network.residents["m1"].member.tariff
    tariff.most_forwards = 200
    tariff.save()
    for port in range(9000, 9060):
        forward(network, port)
    assert reconcile(network.group)
    found = revisions()
    page = text(staff.get(f"/rollouts/revisions/compare?from={found[-2].pk}&to={found[-1].pk}"))
    assert "+60, first 50 shown" in page and "50 of 60 lines" in page


def test_equal_revisions_say_that_nothing_differs(staff: Client) -> None:
    last = revisions()[-1].pk
    assert "Nothing differs" in text(staff.get(f"/rollouts/revisions/compare?from={last}&to={last}"))


def test_pages_explain_that_a_revisions_content_is_no_longer_stored(
    staff: Client, network: factories.Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "WHOLE_EVERY", 1)
    forward(network, 7003)
    reconcile(network.group)
    first, *_between, last = revisions()
    assert contents.delete_contents_before(last)
    page = text(staff.get(f"/rollouts/revisions/compare?from={first.pk}&to={last.pk}"))
    assert f"The content of {first} is not kept any more. The oldest revision that is kept is" in page
    assert "you cannot go back to it" in text(staff.get(f"/rollouts/revisions/{first.pk}/"))
    assert f"The content of {first} is not kept" in text(staff.get(f"/rollouts/revisions/{first.pk}/back/"))
    assert staff.get(f"/rollouts/revisions/compare/text?from={first.pk}&to={last.pk}").status_code == 404


def test_what_gateways_confirmed_a_moment_ago_is_not_called_old(staff: Client, network: factories.Network) -> None:
    *_earlier, before, last = revisions()
    RevisionContent.objects.get(revision=last).delete()
    said = f"The content of {last} is still being saved. Look again in a moment."
    assert said in text(staff.get(f"/rollouts/revisions/compare?from={before.pk}&to={last.pk}"))
    assert staff.get(f"/api/gateways/groups/{network.group.pk}/plan/").json()["problem"] == said
    assert said in text(staff.post(f"/rollouts/revisions/{last.pk}/back/", {"why": "mail is gone"}))


def test_a_comparison_without_two_revisions_asks_for_them(staff: Client) -> None:
    for given in ("", "?from=x&to=1", f"?from={10**20}&to=0"):
        assert "Choose two revisions" in text(staff.get(f"/rollouts/revisions/compare{given}"))


def test_going_back_shows_what_it_changes_and_wants_a_reason(staff: Client, network: factories.Network) -> None:
    second = revisions()[1]
    path = f"/rollouts/revisions/{second.pk}/back/"
    page = text(staff.get(path))
    assert "What this changes now" in page and "1 forwarded port removed" in page and "7002" in page
    assert staff.post(path, {"why": ""}).status_code == 422 and not Hold.objects.exists()
    assert f"The group is on hold at {second}" in text(staff.post(path, {"why": "mail is gone"}, follow=True))
    hold = Hold.objects.get()
    assert (hold.revision, hold.by, hold.why) == (second, network.admin, "mail is gone")


def test_a_hold_stands_wherever_somebody_looks_until_it_is_released(staff: Client, network: factories.Network) -> None:
    second = revisions()[1]
    staff.post(f"/rollouts/revisions/{second.pk}/back/", {"why": "mail is gone"})
    reconcile(network.group)
    for path in ("/", "/rollouts/", f"/gateways/{network.gateways[0].pk}/", "/gateways/"):
        page = text(staff.get(path))
        assert f"on hold at {second}" in page and "mail is gone" in page, path
    assert "on hold at" in text(staff.get("/members/")), "the top bar says it everywhere"
    release = f"/rollouts/groups/{network.group.pk}/release/"
    page = text(staff.get(release))
    assert "What will be rolled out" in page and "1 forwarded port added" in page and "7002" in page
    assert "Released." in text(staff.post(release, follow=True))
    assert "not on hold any more" in text(staff.post(release, follow=True))
    assert "This group is not on hold" in text(staff.get(release))


def test_only_staff_sees_and_decides(network: factories.Network) -> None:
    guest, pk = signed_in(factories.user("guest", staff=False)), revisions()[0].pk
    paths = ["revisions/", f"revisions/{pk}/", f"revisions/{pk}/back/", "revisions/compare", f"groups/{network.group.pk}/release/"]
    assert {guest.get(f"/rollouts/{path}").status_code for path in paths} == {403}
    assert guest.post(f"/rollouts/revisions/{pk}/back/", {"why": "x"}).status_code == 403 and not Hold.objects.exists()


def test_queries_do_not_grow_with_revisions(staff: Client, network: factories.Network) -> None:
    few = queries(staff, "/rollouts/revisions/")
    for port in range(8000, 8004):
        forward(network, port)
        reconcile(network.group)
    assert queries(staff, "/rollouts/revisions/") == few
