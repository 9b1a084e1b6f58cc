"""API operations that are not about rows: deploy, read the plan, revisions and drift, trace a packet, look up a past holder."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.audit.models import Enquiry
from apps.deployments import services
from apps.deployments.desired_state.desired_state_cache import DesiredStateCache
from apps.deployments.models import GatewayState, Revision, Rollout
from apps.deployments.services import reconcile
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"


@pytest.fixture
def api(network: factories.Network) -> Client:
    return signed_in(network.admin)


def test_a_deploy_is_asked_for_and_watched(network: factories.Network, api: Client) -> None:
    asked = api.post("/api/deployments/rollouts/deploy/", {"again": True}, JSON)
    assert (asked.status_code, asked["Location"]) == (202, asked.json()["watch"])
    assert api.get(asked["Location"]).json()["count"] == 0
    revision = Revision.objects.create(group=network.group, cause="change", changes=[], elements=0, digests={}, delta="", snapshot="1:1:")
    Rollout.objects.create(group=network.group, revision=revision, state="confirmed")
    assert [each["revision"] for each in api.get(asked["Location"]).json()["results"]] == [revision.pk]
    assert api.post("/api/deployments/rollouts/deploy/", {"again": "perhaps"}, JSON).status_code == 400


def test_plan_revision_delta_and_drift_are_told(served_network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "desired_state_cache", DesiredStateCache())
    api, groups = signed_in(served_network.admin), f"/api/gateways/groups/{served_network.group.pk}/plan/"
    before = api.get(groups).json()
    assert before["gateway"] == "nat-1" and before["chains"] > 0 and before["problem"] == ""
    assert reconcile(served_network.group)
    assert api.get(groups).json() | {"gateway": ""} == {
        "gateway": "",
        "problem": "",
        "in_words": "nothing changes",
        "changes": [],
        "chains": 0,
        "text": "",
    }
    forward(served_network, 7001)
    planned = api.get(f"{groups}?gateway=nat-2").json()
    assert planned["gateway"] == "nat-2" and "7001" in planned["text"] and planned["chains"] == 0
    assert ("forwards", 1, 0) in [(each["kind"], each["added"], each["removed"]) for each in planned["changes"]]
    assert reconcile(served_network.group)
    revision = f"/api/deployments/revisions/{Revision.objects.latest('id').pk}"
    delta = api.get(f"{revision}/delta/").json()
    assert delta["whole"] and "7001" in delta["text"]
    text = api.get(f"{revision}/text/?gateway=nat-1").json()
    assert text["gateway"] == "nat-1" and "table inet netzwart" in text["text"] and "7001" in text["text"]
    assert wrong(api.get(f"{revision}/text/?gateway=nat-9")) and api.get(f"{revision}/text/").status_code == 400
    Revision.objects.get(pk=Revision.objects.latest("id").pk).content.delete()
    assert api.get(f"{revision}/text/?gateway=nat-1").status_code == 404
    drift = f"/api/gateways/gateways/{served_network.gateways[0].pk}/drift/"
    assert api.get(drift).json() == {"since": None, "cause": None, "chains": [], "elements": {}, "settings": [], "before": []}
    found = {"rules": ["chain forward"], "elements": {}, "sysctls": [["net.ipv4.ip_forward", 1, 0]]}
    GatewayState.objects.filter(gateway=served_network.gateways[0]).update(drift=found, drift_since=timezone.now())
    told = api.get(drift).json()
    assert told["since"] and told["cause"] == "by_hand" and told["chains"] == ["chain forward"]
    assert told["settings"] == [{"name": "net.ipv4.ip_forward", "wanted": "1", "found": "0"}]


def test_a_packet_is_traced_as_on_the_page(network: factories.Network, api: Client) -> None:
    forward(network, 8443)
    trace = f"/api/gateways/gateways/{network.gateways[0].pk}/trace/"
    asked = {"source": "203.0.113.9", "destination": "198.51.100.7", "port": "8443"}
    led = api.get(trace, asked).json()
    assert (led["gateway"], led["outcome"], led["comes_in"]) == ("nat-1", "forwarded", "wan0")
    assert "10.16.0.10" in led["leaves_as"] and led["path"][0]["rules"]
    assert api.get(trace, asked | {"port": "8444"}).json()["outcome"] != "forwarded"
    for name, value in (("port", "no"), ("source", "nobody"), ("ruleset", "runs"), ("destination", "2001:db8::1")):
        refused = api.get(trace, asked | {name: value})
        assert refused.status_code == 400 and wrong(refused) and refused.json()["errors"][0]["parameter"] == name, name
    assert api.get(trace, {"source": "203.0.113.9"}).status_code == 400


def test_who_had_an_address_is_told_once_and_noted(network: factories.Network, api: Client) -> None:
    forward(network, 8443)
    asked = {"address": "198.51.100.7", "port": 8443, "reason": "abuse 4711"}
    answered = api.post("/api/audit/enquiries/", asked, JSON)
    told: Any = answered.json()["answer"]
    assert answered.status_code == 201 and told["only"] is None
    assert [each["member"]["name"] for each in told["left_as"]] == ["Resident of m1", "Resident of m2"]
    assert [(each["protocol"], each["private_address"]) for each in told["led_to"]] == [("tcp", "10.16.0.10")]
    many = api.post("/api/audit/enquiries/", [{"address": "10.16.0.10", "reason": "r"}, {"address": "192.0.2.1", "reason": "r"}], JSON)
    assert [each["answer"]["only"] and each["answer"]["only"]["name"] for each in many.json()] == ["Resident of m1", None]
    for without in ({"address": "10.16.0.10"}, {"address": "10.16.0.10", "reason": "  "}, {"address": "x", "reason": "r"}):
        assert api.post("/api/audit/enquiries/", without, JSON).status_code == 400
    auditor = signed_in(factories.user("auditor", roles=["auditor"]))
    noted = auditor.get("/api/audit/enquiries/").json()
    assert (noted["count"], {each["answer"] for each in noted["results"]}) == (3, {None})
    assert (noted["results"][-1]["by"], noted["results"][-1]["reason"]) == ("Mara Lindqvist", "abuse 4711")
    assert Enquiry.objects.count() == 3
