"""The choice by which a group's open connections are counted: one of 16, or each."""

import os
import subprocess
import sys
from typing import Any

import psycopg
import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.models import GatewayState
from apps.gateways.agent_texts import FEATURES, list_missing_features
from apps.gateways.limit_sampling import SAMPLED_SINCE
from apps.network.models import Gateway, Limits
from firewall.policy import LEAST_SAMPLED, ConnectionLimits
from firewall.wire_versions import VERSION
from portal import programs
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text
from tests.private_postgres import own_cluster

pytestmark = pytest.mark.django_db(transaction=True)

GIVEN = {"version": 0, "member_rate": 0, "member_burst": 100, "member_open": 2000, "source_rate": 0, "source_burst": 100} | {
    "source_open": 0,
    "open_sampled": "True",
    "mail_rate": 0,
    "refuses": "on",
    "exempt": "",
}
ONE_OF_16, EACH = {"open_sampled": "True"}, {"open_sampled": "False"}
BEFORE = "0010_responder_port"


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    _token, key = tokens.create_token(user=network.admin, name="script")
    return Client(headers={"authorization": f"Bearer {key}"})


def page_path(network: factories.Network) -> str:
    return f"/gateways/groups/{network.group.pk}/limits/"


def api_path(network: factories.Network) -> str:
    return f"/api/gateways/limits/{network.group.pk}/"


def compile_limits(network: factories.Network) -> ConnectionLimits:
    return policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway.settings.limits


def set_protocol(gateway: Gateway, protocol: int) -> None:
    """Note that the gateway's agent answered in this version."""
    GatewayState.objects.update_or_create(gateway=gateway, defaults={"protocol": protocol})


def find_chosen(page: str) -> list[str]:
    """Return the values of the choice that are marked on the page."""
    tags = [tag for tag in page.split("<input")[1:] if 'name="open_sampled"' in tag.partition(">")[0]]
    return [tag.partition('value="')[2].partition('"')[0] for tag in tags if "checked" in tag.partition(">")[0]]


# --- The page


def test_a_new_group_is_offered_the_quick_way(staff: Client, network: factories.Network) -> None:
    page = text(staff.get(page_path(network)))
    assert find_chosen(page) == ["True"]
    assert f"Limits below {LEAST_SAMPLED:,} are exact either way" in page and "needs this release’s agent on each gateway" in page


@pytest.mark.parametrize(("chosen", "sampled"), [(ONE_OF_16, True), (EACH, False)])
def test_either_way_is_saved_shown_again_and_reaches_the_policy(
    staff: Client, network: factories.Network, chosen: dict[str, str], sampled: bool
) -> None:
    assert "Saved." in text(staff.post(page_path(network), GIVEN | chosen, follow=True))
    assert compile_limits(network) == ConnectionLimits(member_open=2000, refuses=True, sampled=sampled)
    assert find_chosen(text(staff.get(page_path(network)))) == [str(sampled)]


def test_a_group_without_limits_samples_nothing(network: factories.Network) -> None:
    assert compile_limits(network) == ConnectionLimits()


@pytest.mark.parametrize("chosen", ["", "16"])
def test_a_value_that_is_not_offered_is_refused_at_its_field(staff: Client, network: factories.Network, chosen: str) -> None:
    response = staff.post(page_path(network), GIVEN | {"open_sampled": chosen})
    assert response.status_code == 422 and 'id="id_open_sampled_error"' in text(response) and not Limits.objects.exists()


def test_the_history_says_how_it_was_counted_before(staff: Client, network: factories.Network) -> None:
    staff.post(page_path(network), GIVEN | EACH)
    staff.post(page_path(network), GIVEN | ONE_OF_16 | {"version": 1})
    page = text(staff.get(page_path(network)))
    assert "count one of 16 open connections instead of each" in page and "Mara Lindqvist" in page


def test_a_conflict_names_the_saved_way_in_words(staff: Client, network: factories.Network) -> None:
    staff.post(page_path(network), GIVEN | EACH)
    page = text(staff.post(page_path(network), GIVEN | ONE_OF_16))
    assert "Saved meanwhile: <code>Each: exact; costs more with many open connections</code>" in page


# --- Agents of an older release


@pytest.mark.parametrize(
    ("protocols", "said"),
    [
        ([SAMPLED_SINCE - 1, SAMPLED_SINCE], "The agent of nat-1 is of an older release"),
        ([SAMPLED_SINCE - 1, SAMPLED_SINCE - 1], "The agents of nat-1, nat-2 are of an older release"),
    ],
)
def test_sampling_is_not_switched_on_while_an_agent_is_too_old(
    staff: Client, network: factories.Network, protocols: list[int], said: str
) -> None:
    for gateway, protocol in zip(network.gateways, protocols, strict=True):
        set_protocol(gateway, protocol)
    response = staff.post(page_path(network), GIVEN | ONE_OF_16)
    page = text(response)
    assert response.status_code == 422 and 'id="id_open_sampled_error"' in page
    assert said in page and "first (docs/upgrade.md), or count each." in page
    assert not Limits.objects.exists()
    assert "Saved." in text(staff.post(page_path(network), GIVEN | EACH, follow=True))
    assert staff.post(page_path(network), GIVEN | ONE_OF_16 | {"version": 1}).status_code == 422
    assert not Limits.objects.get().open_sampled


@pytest.mark.parametrize("raised", ["member_open", "source_open"])
def test_a_limit_that_is_raised_until_it_would_be_sampled_is_refused_too(staff: Client, network: factories.Network, raised: str) -> None:
    set_protocol(network.gateways[1], SAMPLED_SINCE - 1)
    low = GIVEN | ONE_OF_16 | {"member_open": LEAST_SAMPLED - 1, "source_open": LEAST_SAMPLED - 1}
    assert "Saved." in text(staff.post(page_path(network), low, follow=True)), "these are exact, so any agent can do them"
    high = text(staff.post(page_path(network), low | {"version": 1, raised: LEAST_SAMPLED}))
    assert "The agent of nat-2 is of an older release" in high and getattr(Limits.objects.get(), raised) == LEAST_SAMPLED - 1


def test_agents_of_this_release_and_unknown_or_retired_ones_prevent_nothing(staff: Client, network: factories.Network) -> None:
    set_protocol(network.gateways[0], VERSION)
    set_protocol(network.gateways[1], SAMPLED_SINCE - 1)
    Gateway.objects.filter(pk=network.gateways[1].pk).update(retired=timezone.now(), carries4=False, carries6=False)
    assert "Saved." in text(staff.post(page_path(network), GIVEN | ONE_OF_16, follow=True))
    GatewayState.objects.update(protocol=0)
    assert "Saved." in text(staff.post(page_path(network), GIVEN | EACH | {"version": 1}, follow=True))
    assert "Saved." in text(staff.post(page_path(network), GIVEN | ONE_OF_16 | {"version": 2}, follow=True))


def test_limits_that_sample_already_can_be_changed_whatever_the_agents_are(staff: Client, network: factories.Network) -> None:
    staff.post(page_path(network), GIVEN | ONE_OF_16)
    set_protocol(network.gateways[0], SAMPLED_SINCE - 1)
    assert "Saved." in text(staff.post(page_path(network), GIVEN | ONE_OF_16 | {"version": 1, "member_open": 3000}, follow=True))


def test_the_older_agents_need_says_what_is_missing() -> None:
    assert "sampled limits of open connections" in list_missing_features(SAMPLED_SINCE - 1)
    assert "sampled limits of open connections" in map(str, FEATURES[SAMPLED_SINCE])
    assert not list_missing_features(VERSION)


# --- The API


def change(api: Client, network: factories.Network, **given: Any) -> Any:
    return api.patch(api_path(network), given, content_type="application/json")


def test_a_script_reads_and_changes_it_and_leaves_it_as_it_is(api: Client, network: factories.Network) -> None:
    assert api.get(api_path(network)).json()["open_sampled"] is True
    assert change(api, network, version=0, member_open=900, open_sampled=False).json()["open_sampled"] is False
    assert change(api, network, version=1, member_open=800).json()["open_sampled"] is False
    assert not compile_limits(network).sampled
    assert change(api, network, version=2, open_sampled=True).json()["open_sampled"] is True
    assert compile_limits(network).sampled
    assert list(wrong(change(api, network, version=3, open_sampled="one of 16"))) == ["open_sampled"]


def test_a_script_is_told_which_agent_is_too_old(api: Client, network: factories.Network) -> None:
    set_protocol(network.gateways[0], SAMPLED_SINCE - 1)
    answer = change(api, network, version=0, member_open=2000)
    assert answer.status_code == 400 and "The agent of nat-1" in wrong(answer)["open_sampled"][0]
    assert change(api, network, version=0, member_open=2000, open_sampled=False).status_code == 200


# --- The migration


def migrate(url: str, *more: str) -> None:
    command = [sys.executable, "manage.py", "migrate", "--no-input", "--verbosity", "0", *more]
    subprocess.run(command, env={**os.environ, "NETZWART_DATABASE_URL": url}, cwd=programs.ROOT, check=True)


def read(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connected:
        return connected.execute(query).fetchall()


def test_limits_from_before_the_migration_stay_exact_with_their_history_and_it_can_be_reversed(network: factories.Network) -> None:
    Limits.objects.create(group=network.group, member_open=2000)
    Limits.objects.update(member_open=3000)
    with own_cluster() as cluster:
        cluster.copy_test_database()
        assert read(cluster.url, "SELECT open_sampled FROM network_limits") == [(True,)]
        migrate(cluster.url, "network", BEFORE)
        with pytest.raises(psycopg.errors.UndefinedColumn):
            read(cluster.url, "SELECT open_sampled FROM network_limits")
        with psycopg.connect(cluster.url) as former:
            former.execute("UPDATE network_limits SET member_open = 4000")
        migrate(cluster.url)
        assert read(cluster.url, "SELECT member_open, open_sampled FROM network_limits") == [(4000, False)]
        kept = [(2000, False), (3000, False), (4000, False)]
        assert read(cluster.url, "SELECT member_open, open_sampled FROM network_limitsevent ORDER BY pgh_id") == kept
        with psycopg.connect(cluster.url) as present:
            present.execute("UPDATE network_limits SET open_sampled = true")
        assert read(cluster.url, "SELECT open_sampled FROM network_limitsevent ORDER BY pgh_id DESC LIMIT 1") == [(True,)]
