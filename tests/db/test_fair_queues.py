"""Fair queues of an uplink: the page and the API that set them, the database's constraints, the rollout of a change, and drift."""

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.alarms.conditions import list_conditions
from apps.alarms.models import Severity
from apps.deployments.desired_state import policy_snapshot
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.observed_state import drift
from apps.deployments.revision_pages import ruleset_comparison
from apps.deployments.revision_pages.change_summary import parse_summary_lines, render_summary
from apps.deployments.services import reconcile
from apps.gateways.agent_texts import FEATURES, list_missing_features
from apps.gateways.services import collect_counters
from apps.lib.errors import Problem
from apps.network.models import Gateway, Uplink
from apps.network.uplink import LineFraming
from apps.traffic.rates import services
from apps.traffic.rates.fair_queues import QUEUES_SINCE
from firewall import wire
from firewall.policy import Framing, Shaping
from firewall.profile import SysctlDifference
from firewall.ruleset import EMPTY
from firewall.wire_versions import VERSION
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)

FORM = {"version": 0, "down_kbit": "100", "up_kbit": "20", "limits_rates": "on", "framing": "raw"}
FILLED = FORM | {"queue_down_kbit": "95", "queue_up_kbit": "19.5", "framing": "pppoe-ptm"}


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


def page_path(network: factories.Network) -> str:
    return f"/limited/uplink/{network.group.pk}/"


def read_shaping(network: factories.Network) -> Shaping | None:
    return policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway.settings.shaping


def set_queues(network: factories.Network, **values: Any) -> Uplink:
    given: dict[str, Any] = {"version": 0, "up_kbit": None, "down_kbit": None, "limits_rates": True, "queue_down_kbit": 50_000}
    return services.set_uplink(group=network.group, by=network.admin, **given | values)


# --- The page


def test_queues_are_saved_in_kbit_shown_again_in_mbit_and_reach_the_policy(staff: Client, network: factories.Network) -> None:
    assert staff.post(page_path(network), FILLED).status_code == 302
    assert read_shaping(network) == Shaping(19_500, 95_000, Framing.PPPOE_PTM)
    page = text(staff.get(page_path(network)))
    assert 'value="19.5"' in page and 'value="95"' in page and '<option value="pppoe-ptm" selected>' in page
    assert staff.post(page_path(network), FORM | {"version": 1}).status_code == 302
    assert read_shaping(network) is None


def test_an_uplink_without_queues_changes_nothing_of_the_policy(staff: Client, network: factories.Network) -> None:
    before = policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway
    staff.post(page_path(network), FORM)
    assert policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway == before


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"queue_down_kbit": "0.5"}, "queue_down_kbit", "greater than or equal to 1"),
        ({"queue_up_kbit": "10001", "up_kbit": ""}, "queue_up_kbit", "less than or equal to 10000"),
        ({"queue_down_kbit": "101"}, "queue_down_kbit", "more than the capacity of the line"),
        ({"queue_up_kbit": "21"}, "queue_up_kbit", "more than the capacity of the line"),
        ({"framing": "smoke signals"}, "framing", "Select a valid choice"),
    ],
)
def test_a_value_that_cannot_be_is_refused_at_its_field(
    staff: Client, network: factories.Network, changed: dict[str, str], field: str, said: str
) -> None:
    response = staff.post(page_path(network), FILLED | changed)
    page = text(response)
    assert response.status_code == 422 and f'id="id_{field}_error"' in page and said in page
    assert not Uplink.objects.exists()


def test_the_page_speaks_german(staff: Client, network: factories.Network) -> None:
    page = text(staff.get(page_path(network), headers={"accept-language": "de"}))
    assert "Faire Warteschlange für Downloads" in page and "etwa 95 % dessen" in page


def test_the_switch_of_rate_limits_leaves_the_queues_alone(network: factories.Network) -> None:
    set_queues(network, framing=LineFraming.ETHERNET)
    services.switch_rate_limits(group=network.group, on=False, by=network.admin)
    assert read_shaping(network) == Shaping(0, 50_000, Framing.ETHERNET)


def test_the_framings_are_those_that_a_gateway_knows() -> None:
    assert LineFraming.values == [each.value for each in Framing]


# --- The database


@pytest.mark.parametrize(
    "change",
    ["queue_up_kbit = 999", "queue_down_kbit = 10000001", "queue_up_kbit = 20001", "queue_down_kbit = 100001", "framing = 'pigeons'"],
)
def test_the_database_refuses_what_cannot_be(network: factories.Network, change: str) -> None:
    set_queues(network, up_kbit=20_000, down_kbit=100_000)
    with pytest.raises(IntegrityError, match="uplink_"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE network_uplink SET {change}")


# --- The API


def test_the_api_sets_and_shows_queues_and_names_the_field_of_an_error(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    api, path = Client(headers={"authorization": f"Bearer {key}"}), f"/api/gateways/uplinks/{network.group.pk}/"
    given = {"version": 0, "queue_up_kbit": 19_000, "framing": "docsis"}
    made = api.patch(path, given, content_type="application/json").json()
    assert (made["queue_up_kbit"], made["queue_down_kbit"], made["framing"]) == (19_000, None, "docsis")
    kept = api.patch(path, {"version": 1, "up_kbit": 20_000}, content_type="application/json").json()
    assert (kept["queue_up_kbit"], kept["framing"]) == (19_000, "docsis")
    for faulty in ({"queue_up_kbit": 20_001}, {"queue_down_kbit": 10}, {"framing": "smoke signals"}):
        answer = api.patch(path, {"version": 2} | faulty, content_type="application/json")
        assert answer.status_code == 400 and list(wrong(answer)) == list(faulty)


# --- Agents of an older release


def test_queues_do_not_begin_while_an_agent_is_too_old(staff: Client, network: factories.Network) -> None:
    GatewayState.objects.update_or_create(gateway=network.gateways[0], defaults={"protocol": QUEUES_SINCE - 1})
    response = staff.post(page_path(network), FILLED)
    assert response.status_code == 422
    assert "The agent of nat-1 is of an older release and knows no fair queues. Upgrade it first" in text(response)
    assert staff.post(page_path(network), FORM).status_code == 302
    with pytest.raises(Problem, match="knows no fair queues"):
        set_queues(network, version=1)


def test_queues_that_are_on_can_be_changed_though_an_agent_is_too_old(network: factories.Network) -> None:
    set_queues(network)
    GatewayState.objects.update_or_create(gateway=network.gateways[0], defaults={"protocol": QUEUES_SINCE - 1})
    set_queues(network, version=1, queue_down_kbit=40_000)
    assert read_shaping(network) == Shaping(0, 40_000)


def test_queues_are_among_what_an_older_agent_lacks() -> None:
    assert QUEUES_SINCE in FEATURES and QUEUES_SINCE <= VERSION
    assert "fair queues of the uplink" in list_missing_features(QUEUES_SINCE - 1)


# --- On the gateways


def test_queues_are_a_rollout_that_says_so_in_words_and_go_as_they_came(served_network: factories.Network) -> None:
    assert reconcile(served_network.group)
    set_queues(served_network)
    first = reconcile(served_network.group)
    assert first and first.state == Rollout.State.CONFIRMED
    assert "3 kernel settings changed" in render_summary(parse_summary_lines(first.revision.changes))
    assert "# arriving at wan0: to netzwart-down" in first.revision.delta
    set_queues(served_network, version=1, queue_down_kbit=40_000)
    second = reconcile(served_network.group)
    assert second and second.state == Rollout.State.CONFIRMED
    [(title, _note, lines)] = ruleset_comparison.compare_revisions(first.revision, second.revision, 0).shown.groups
    assert title == "kernel settings"
    assert [(sign, line.partition(" dual-dsthost")[0]) for sign, line, *_ in lines] == [
        ("\u2212", "queue of netzwart-down = cake bandwidth 50000kbit"),
        ("+", "queue of netzwart-down = cake bandwidth 40000kbit"),
    ]
    set_queues(served_network, version=2, queue_down_kbit=None)
    third = reconcile(served_network.group)
    assert third and third.state == Rollout.State.CONFIRMED
    assert "# arriving at wan0: as the kernel makes it by itself" in third.revision.delta
    assert reconcile(served_network.group, cause="schedule") is None


def test_a_gateway_that_cannot_have_queues_runs_everything_else_and_is_named_with_the_reason_until_they_are_off(
    served_network: factories.Network,
) -> None:
    staff, lacking = signed_in(served_network.admin), served_network.gateways[1]
    Gateway.objects.filter(pk=lacking.pk).update(wan="wan7")
    set_queues(served_network)
    made = reconcile(served_network.group)
    assert made and made.state == Rollout.State.CONFIRMED
    assert all(collect_counters(each) for each in served_network.gateways)
    for path in (page_path(served_network), f"/gateways/{lacking.pk}/", "/"):
        page = text(staff.get(path))
        assert f"{lacking.name} runs without the fair queues of its uplink" in page, path
        assert "There is no interface wan7 whose queue could be set. Everything else is in force" in page, path
    told = staff.get(f"/api/gateways/uplinks/{served_network.group.pk}/").json()["without_queues"]
    assert [each.severity for each in list_conditions(timezone.now()) if "fair queues" in each.texts["en"]["title"]] == [Severity.WARNING]
    assert told == [{"gateway": lacking.pk, "why": "there is no interface wan7 whose queue could be set"}]
    assert reconcile(served_network.group, cause="schedule") is None, "nothing to repair"
    set_queues(served_network, version=1, queue_down_kbit=None)
    off = reconcile(served_network.group)
    assert off and off.state == Rollout.State.CONFIRMED
    assert all(collect_counters(each) for each in served_network.gateways)
    assert "without the fair queues" not in text(staff.get(page_path(served_network)))


def test_a_queue_that_was_changed_by_hand_is_shown_with_what_was_wanted_and_found(staff: Client, network: factories.Network) -> None:
    differs = SysctlDifference("queue of wan0", "cake bandwidth 95000kbit", "fq_codel")
    told = drift.render_drift(wire.Drifted("", (), {}, (differs,)), EMPTY, 0)
    GatewayState.objects.create(gateway=network.gateways[0], seen=timezone.now(), drift=told, drift_since=timezone.now())
    page = text(staff.get(f"/gateways/{network.gateways[0].pk}/"))
    assert "kernel setting differs" in page and "of the uplink’s fair queues" in page
    assert "queue of wan0 = fq_codel" in page and "queue of wan0 = cake bandwidth 95000kbit" in page


def test_a_change_is_in_the_history_with_its_author(staff: Client, network: factories.Network) -> None:
    staff.post(page_path(network), FILLED)
    staff.post(page_path(network), FILLED | {"version": 1, "queue_down_kbit": "80"})
    page = text(staff.get("/history/"))
    assert (
        "Rate of the fair queue for downloads" in page
        and ">95000</del>" in page
        and "<ins>80000</ins>" in page
        and "Mara Lindqvist" in page
    )
