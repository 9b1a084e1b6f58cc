"""Nothing is deployed to a new group until a person goes live, by page, API or command, with the plan before their eyes."""

import io

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from apps.accounts import tokens
from apps.audit.undo import find_last_event, undo_event
from apps.deployments.models import GatewayState, Rollout
from apps.deployments.rollouts.go_live import go_live
from apps.deployments.services import reconcile, request_reconcile
from apps.gateways.groups import GroupFacts, add_group
from apps.lib.activation import list_activations, list_wait_reasons
from apps.lib.errors import Conflict, Problem
from apps.network.models import GatewayGroup
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward
from workers import deploy

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"


def make_new(network: factories.Network) -> GatewayGroup:
    """Make the group one that has never been live."""
    GatewayGroup.objects.filter(pk=network.group.pk).update(live_since=None)
    network.group.refresh_from_db()
    return network.group


def run(*arguments: str) -> tuple[str, str]:
    """Return what the command prints, and what it warns of."""
    output, errors = io.StringIO(), io.StringIO()
    try:
        call_command(*arguments, stdout=output, stderr=errors)
    except SystemExit as end:
        errors.write(f"exit {end.code}")
    return output.getvalue(), errors.getvalue()


def test_a_new_group_is_not_live() -> None:
    assert add_group(facts=GroupFacts("Haus B")).live_since is None


def test_nothing_is_deployed_before_a_person_goes_live(served_network: factories.Network) -> None:
    group = make_new(served_network)
    assert reconcile(group) is None
    deploy.reconcile(served_network.admin.pk, force=True)
    assert not Rollout.objects.exists() and not GatewayState.objects.exists()
    live = go_live(group=group, by=served_network.admin)
    assert live.live_since
    rollout = reconcile(live)
    assert rollout and rollout.state == Rollout.State.CONFIRMED


def test_a_group_goes_live_once_and_not_without_a_gateway(network: factories.Network) -> None:
    with pytest.raises(Problem, match="Haus B has no gateway yet"):
        go_live(group=add_group(facts=GroupFacts("Haus B")))
    group = make_new(network)
    go_live(group=group, by=network.admin)
    with pytest.raises(Conflict, match="Lindenhof is live already"):
        go_live(group=group, by=network.admin)


def test_deploy_now_says_that_nothing_is_live(network: factories.Network) -> None:
    make_new(network)
    with pytest.raises(Problem, match="Lindenhof is not live yet, so nothing is deployed"):
        request_reconcile(by=network.admin)
    mara = signed_in(network.admin)
    assert "Lindenhof is not live yet" in text(mara.post("/rollouts/deploy/", follow=True))
    _said, warned = run("deploy")
    assert "Lindenhof is not live: nothing was deployed" in warned and "exit 1" in warned


def test_what_is_saved_says_that_it_waits_until_the_group_goes_live(network: factories.Network) -> None:
    group = make_new(network)
    made = forward(network, 7001)
    GatewayState.objects.create(gateway=network.gateways[0])
    ((_row, known),) = list_activations([made])
    [reason] = list_wait_reasons(known)
    assert (reason.words, reason.url) == ("waits until the group goes live", f"/rollouts/groups/{group.pk}/plan/")


def test_the_plan_says_whom_it_serves_and_who_reaches_ssh_and_goes_live(network: factories.Network) -> None:
    group, mara = make_new(network), signed_in(network.admin)
    page = text(mara.get(f"/rollouts/groups/{group.pk}/plan/"))
    assert "Lindenhof is not live." in page and "172.31.0.0/24" in page and "No answer yet from nat-1, nat-2." in page
    assert "Without a probe target" in page and "Go live with Lindenhof" in page and "NAT mappings" in page
    assert "This group is not live." in text(mara.get("/gateways/"))
    page = text(mara.post(f"/rollouts/groups/{group.pk}/plan/", follow=True))
    assert "Lindenhof is live. The first rollout appears here in a moment." in page
    page = text(mara.get(f"/rollouts/groups/{group.pk}/plan/"))
    assert "Lindenhof is live since" in page and "Go live with" not in page
    assert "Lindenhof is live already." in text(mara.post(f"/rollouts/groups/{group.pk}/plan/", follow=True))


def test_the_plan_of_a_group_without_gateways_says_to_add_one() -> None:
    mara, group = signed_in(factories.user()), add_group(facts=GroupFacts("Haus B"))
    page = text(mara.get(f"/rollouts/groups/{group.pk}/plan/"))
    assert "Add the first gateway" in page and "Go live with" not in page
    assert "Haus B has no gateway yet" in text(mara.post(f"/rollouts/groups/{group.pk}/plan/", follow=True))


def test_only_who_operates_the_network_goes_live(network: factories.Network) -> None:
    group, anna = make_new(network), signed_in(factories.user("anna", roles=["auditor"]))
    page = f"/rollouts/groups/{group.pk}/plan/"
    assert "Go live with" not in text(anna.get(page)) and anna.post(page).status_code == 403


def test_a_second_group_that_is_not_live_is_on_the_dashboard(served_network: factories.Network) -> None:
    reconcile(served_network.group)
    other = add_group(facts=GroupFacts("Haus B"))
    factories.gateway(other, "nat-3")
    assert "Haus B is not live yet" in text(signed_in(served_network.admin).get("/"))


def test_a_script_goes_live_once(network: factories.Network) -> None:
    group = make_new(network)
    api = Client(headers={"authorization": f"Bearer {tokens.create_token(user=network.admin, name='script')[1]}"})
    path = f"/api/gateways/groups/{group.pk}/"
    assert api.get(path).json()["live_since"] is None
    refused = api.post("/api/deployments/rollouts/deploy/", {}, JSON)
    assert refused.status_code == 400 and "not live yet" in refused.json()["detail"]
    assert api.post(f"{path}live/").json()["live_since"]
    again = api.post(f"{path}live/")
    assert again.status_code == 409 and "live already" in again.json()["detail"]


def test_a_script_that_asks_for_the_plan_too_early_is_told_so() -> None:
    api = Client(headers={"authorization": f"Bearer {tokens.create_token(user=factories.user(), name='script')[1]}"})
    group = add_group(facts=GroupFacts("Haus B"))
    assert api.get(f"/api/gateways/groups/{group.pk}/plan/").json()["problem"] == "There is no gateway yet."


def test_the_command_goes_live_after_the_plan(served_network: factories.Network) -> None:
    make_new(served_network)
    assert "Lindenhof  not live" in run("group", "list")[0]
    said, _warned = run("plan", "--words")
    assert "nat-1: ssh at mgmt0, port 22, is open to 172.31.0.0/24 only" in said
    assert "Lindenhof is not live. When the plan is right: manage.py group live Lindenhof" in said
    assert "Lindenhof is live." in run("group", "live", "Lindenhof")[0]
    assert "not live" not in run("plan", "--words")[0]
    with pytest.raises(CommandError, match="live already"):
        run("group", "live", "Lindenhof")
    assert "confirmed" in run("deploy")[0]


def test_going_live_is_in_the_history_and_not_undone(network: factories.Network) -> None:
    go_live(group=make_new(network), by=network.admin)
    event = find_last_event(GatewayGroup, network.group.pk)
    assert event
    with pytest.raises(Problem, match="Lindenhof stays live"):
        undo_event(model=GatewayGroup, event=event, by=network.admin)
