"""The dashboard says what is true and what needs action, and nothing that is not known."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.bans.models import Ban, BanList
from apps.deployments.models import GatewayState, Revision, Rollout, RolloutStep
from apps.network.models import Gateway
from tests import factories
from tests.db.page_client import queries, signed_in, text

LIVE = {"HX-Request": "true", "HX-Target": "live"}


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def rollout(network: factories.Network, state: str = "confirmed", **changes: object) -> Rollout:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_snapshot()::text")
        snapshot = cursor.fetchone()[0]
    revision = Revision.objects.create(group=network.group, snapshot=snapshot, by=network.admin, delta="x", changes=[], digests={})
    made = Rollout.objects.create(group=network.group, revision=revision, state=state, finished=timezone.now(), **changes)
    for at, gateway in enumerate(network.gateways):
        RolloutStep.objects.create(rollout=made, gateway=gateway, position=at, state="confirmed" if state == "confirmed" else "refused")
    return made


def runs(network: factories.Network, of: Rollout, **changes: object) -> None:
    for gateway in network.gateways:
        given = {"revision": of.revision, "snapshot": of.revision.snapshot, "since": timezone.now(), "seen": timezone.now()}
        GatewayState.objects.update_or_create(gateway=gateway, defaults=given | changes)


def title(client: Client) -> str:
    return str(client.get("/").context["board"].title)


def test_when_nothing_is_due_it_is_calm(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    page = text(mara.get("/"))
    assert title(mara) == "Nothing needs you, both gateways answer"
    assert "No failed rollouts, silent gateways or waiting members" in page
    assert "Last rollout:" in page
    for fine in (
        "nat-1 and nat-2 answer",
        "all run the newest revision",
        "no rollout failed",
        "IPv4 and IPv6 each have a primary that answers",
    ):
        assert fine in page


def test_before_anything_is_set_up_the_page_says_what_would_stand_there(db: None) -> None:
    factories.alive()
    page = text(signed_in(factories.user()).get("/"))
    assert "1 thing needs you, no gateway is set up yet" in page
    assert "No gateway runs your network yet" in page
    assert "No gateway yet" in page
    assert "Nothing has been rolled out yet" in page


def test_a_failed_rollout_needs_somebody_with_its_error(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    failed = rollout(network, "failed", error="nat-1: the digest differs\nnat-2: refused")
    page = text(mara.get("/"))
    assert f"{failed} did not reach every gateway" in page
    assert "nat-1: the digest differs" in page
    assert f'id="need-rollout-{failed.pk}"' in page
    assert "no rollout failed" not in page


def test_a_silent_gateway_needs_somebody(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    why = "nat-1 shows another host key than the one that was approved\nWARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!"
    Gateway.objects.update(carries4=False)
    GatewayState.objects.filter(gateway__name="nat-1").update(unreachable_since=timezone.now(), error=why)
    assert title(mara) == "1 thing needs you, 1 of 2 gateways answers"
    page = text(mara.get("/"))
    assert "nat-1 has not answered the portal since" in page and "no primary that answers" not in page
    assert "nat-1 shows another host key than the one that was approved. It may still forward traffic" in page
    assert "WARNING: REMOTE" not in page


def test_a_silent_primary_leaves_its_families_without_one_that_answers(mara: Client, network: factories.Network) -> None:
    """nat-1 is the primary of IPv4, nat-2 of IPv6."""
    runs(network, rollout(network))
    silent = GatewayState.objects.filter(gateway__name="nat-1")
    silent.update(unreachable_since=timezone.now())
    assert title(mara) == "1 thing needs you, 1 of 2 gateways answers"
    assert "IPv4 has no primary that answers: nat-1 has not answered the portal since" in text(mara.get("/"))
    Gateway.objects.filter(name="nat-2").update(carries6=False)
    Gateway.objects.filter(name="nat-1").update(carries6=True)
    assert "IPv4 and IPv6 have no primary that answers: nat-1 has not answered the portal since" in text(mara.get("/"))
    silent.update(unreachable_since=None)
    assert "no primary that answers" not in text(mara.get("/"))


def test_a_gateway_behind_the_newest_revision_needs_somebody(mara: Client, network: factories.Network) -> None:
    old, new = rollout(network), rollout(network)
    runs(network, new)
    GatewayState.objects.filter(gateway__name="nat-2").update(revision=old.revision)
    assert "does not run" not in text(mara.get("/")), "it may have been confirmed between two queries of this page"
    Rollout.objects.filter(pk=new.pk).update(finished=timezone.now() - timedelta(seconds=6))
    page = text(mara.get("/"))
    assert f"nat-2 does not run {new} yet" in page
    assert f"it still runs {old}" in page


def test_gateways_nobody_asks_are_one_thing_not_many(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network), seen=timezone.now() - timedelta(hours=1))
    assert title(mara) == "1 thing needs you, the gateways have not been polled recently"


def test_gateways_in_memory_do_not_pass_for_real_ones(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network), in_memory=True)
    assert title(mara) == "1 thing needs you, both gateways answer, in memory only"
    assert "No packet passes through nat-1 and nat-2" in text(mara.get("/"))


def test_members_who_wait_and_bans_that_end_are_counted(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    factories.member("Quentin Lefèvre", state="pending")
    bans = BanList.objects.create(name="Our own")
    Ban.objects.create(list=bans, prefix="203.0.113.66/32", expires=timezone.now() + timedelta(hours=3))
    Ban.objects.create(list=bans, prefix="203.0.113.67/32", expires=timezone.now() + timedelta(hours=30))
    Ban.objects.create(list=bans, prefix="203.0.113.68/32", expires=timezone.now() - timedelta(hours=1))
    page = text(mara.get("/"))
    assert "1 member waits for activation" in page
    assert "Quentin Lefèvre" in page
    assert "1 ban ends within 24 h" in page
    assert "none of them was hit in the last hour" in page
    assert '<span class="nw-count nw-wait">2' in page


def test_a_nearly_full_pool_needs_somebody(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    pool = factories.pool(network.group, "private4", "192.168.0.0/31")
    factories.make_holding(factories.member(), pool, "192.168.0.0")
    assert "is nearly full" not in text(mara.get("/"))
    factories.make_holding(factories.member(), pool, "192.168.0.1")
    assert "The pool private4 192.168.0.0/31 is nearly full" in text(mara.get("/"))


def test_it_asks_for_itself_and_nothing_moves_while_nothing_changed(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    seen = mara.get("/").context["seen"]
    assert mara.get(f"/?seen={seen}", headers=LIVE).status_code == 204
    factories.member("New", state="pending")
    part = mara.get(f"/?seen={seen}", headers=LIVE)
    assert part.status_code == 200
    assert text(part).strip().startswith('<div id="live"')
    assert "<html" not in text(part)


def test_the_dashboard_takes_as_many_queries_for_many_as_for_few(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    factories.member("First", state="pending")
    few = queries(mara, "/")
    bans = BanList.objects.create(name="Our own")
    Ban.objects.create(list=bans, prefix="203.0.113.1/32", expires=timezone.now() + timedelta(hours=3))
    one_kind_more = queries(mara, "/")
    for number in range(12):
        runs(network, rollout(network))
        factories.member(f"Number {number}", state="pending")
        Ban.objects.create(list=bans, prefix=f"203.0.113.{number + 2}/32", expires=timezone.now() + timedelta(hours=3))
    assert queries(mara, "/") == one_kind_more <= few + 2


def test_long_names_and_markup_do_no_harm(mara: Client, network: factories.Network) -> None:
    runs(network, rollout(network))
    factories.member("<script>alert(1)</script>" + "x" * 90, state="pending")
    Gateway.objects.filter(name="nat-1").update(name="<b>nat-1</b>")
    page = text(mara.get("/"))
    assert "<script>alert" not in page
    assert "<b>nat-1</b>" not in page
