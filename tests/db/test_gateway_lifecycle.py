"""A gateway's life after it has joined: it is retired and taken back, its machine is replaced, it is renamed, and it is removed."""

import io
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.audit.undo import find_last_event, undo_event
from apps.deployments.models import GatewayState, Revision, Rollout
from apps.deployments.revision_pages import contents
from apps.deployments.rollouts import rollback
from apps.deployments.rollouts.decisions import release_revision_hold
from apps.deployments.rollouts.gateway_cache import RulesetCache
from apps.deployments.rollouts.rollout_driver import WorkerLinks
from apps.deployments.services import reconcile
from apps.deployments.transport import ssh
from apps.deployments.transport.agent_channel import AgentChannel
from apps.gateways import families, renaming, replacement, retirement, services
from apps.lib.activation import list_activations
from apps.lib.errors import Conflict, Problem
from apps.network.models import Gateway, GatewayGroup
from apps.traffic.counter_collection import ReadingOutcome, draw_ticket, record_reading
from apps.traffic.models import Collected
from tests import factories
from tests.api_responses import wrong
from tests.counter_factories import reading
from tests.db.agents import directory_of, end_started, runs, steps, stop_agent
from tests.db.page_client import get_form_input, signed_in, text
from tests.db.rollout_rows import forward
from tests.db.test_collection import m1, minute, take, up_and_down

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PATH = "/api/gateways/gateways/"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "B" * 43


@pytest.fixture(autouse=True)
def _agents_ended() -> Iterator[None]:
    yield
    end_started()


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    key = tokens.create_token(user=network.admin, name="script")[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def get(name: str) -> Gateway:
    return Gateway.ever.get(name=name)


def retire(name: str, **given: Any) -> Gateway:
    return retirement.retire_gateway(gateway=get(name), version=get(name).version, **given)


def reinstate(name: str) -> Gateway:
    return retirement.reinstate_gateway(gateway=get(name), version=get(name).version)


def rename(name: str, to: str) -> Gateway:
    return renaming.rename_gateway(gateway=get(name), name=to, version=get(name).version)


def replace(name: str, host_key: str = OTHER_KEY, **given: Any) -> Gateway:
    return replacement.replace_machine(gateway=get(name), version=get(name).version, host_key=host_key, **given)


def reach_by_ssh(name: str) -> None:
    Gateway.objects.filter(name=name).update(link="ssh", address="172.31.0.11", host_key=KEY)


def undo(network: factories.Network, gateway: Gateway) -> None:
    event = find_last_event(Gateway, gateway.pk)
    assert event
    undo_event(model=Gateway, event=event, by=network.admin)


def list_primaries(network: factories.Network) -> tuple[str, str]:
    first, second = (families.find_primary(network.group, family) for family in families.FAMILIES)
    return str(first), str(second)


def run_gateway(*arguments: str) -> str:
    output = io.StringIO()
    call_command("gateway", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


# --- Retiring


def test_a_retired_gateway_gives_its_families_to_the_other_and_is_listed_no_more(network: factories.Network) -> None:
    gone = retire("nat-1")
    assert (gone.retired is not None, gone.carries4, list_primaries(network)) == (True, False, ("nat-2", "nat-2"))
    assert list(Gateway.objects.all()) == list(network.group.gateways.all()) == [get("nat-2")]


def test_the_database_refuses_a_retired_primary_and_two_gateways_in_service_of_one_name(network: factories.Network) -> None:
    nat_1 = Gateway.ever.filter(name="nat-1")
    with pytest.raises(IntegrityError, match="gateway_retired_is_no_primary"), transaction.atomic():
        nat_1.update(retired=timezone.now())
    with pytest.raises(IntegrityError, match="gateway_name_of_one"), transaction.atomic():
        Gateway.ever.filter(name="nat-2").update(name="nat-1")


def test_the_name_and_the_probe_of_a_retired_gateway_are_free_for_another(network: factories.Network) -> None:
    factories.probes(network)
    gone = retire("nat-1")
    made = factories.gateway(network.group, "nat-1", probe_interface="probe0", probe_source6=gone.probe_source6)
    with pytest.raises(Problem, match="The name nat-1 is taken"):
        retirement.reinstate_gateway(gateway=gone, version=gone.version)
    with pytest.raises(Problem, match="The name nat-1 is taken"):
        undo(network, gone)
    renaming.rename_gateway(gateway=made, name="nat-3", version=made.version)
    with pytest.raises(Problem, match="is the address of the probe of nat-3"):
        retirement.reinstate_gateway(gateway=gone, version=gone.version)


class RetiringLinks(WorkerLinks):
    """Links of a worker beside which nat-2 is retired while the worker waits for its answer."""

    def get_channel(self, gateway: Gateway) -> AgentChannel:
        if gateway.name == "nat-2" and get("nat-2").retired is None:
            retire("nat-2")
        return super().get_channel(gateway)


def test_what_a_rollout_brought_is_stored_though_a_gateway_was_retired_before_it_began(served_network: factories.Network) -> None:
    network = served_network
    reconcile(network.group)
    forward(network, 8443)
    rollout = reconcile(network.group, cause="schedule", links=RetiringLinks())
    assert rollout and contents.is_content_stored(rollout.revision)
    before = RulesetCache().load_running_state(network.group)
    assert before and before.reference and len(before.reference.elements["forward4"]) == 1


def test_the_last_gateway_stays_while_members_hold_addresses(network: factories.Network) -> None:
    retire("nat-1")
    with pytest.raises(Problem, match="nat-2 is the last gateway of Lindenhof, and members hold 8 addresses") as refused:
        retire("nat-2")
    assert refused.value.culprit == network.group
    far = factories.gateway(GatewayGroup.objects.create(name="Haus B"), "far-1", carries4=True)
    assert retirement.retire_gateway(gateway=far, version=far.version).carries4 is False


def test_a_gateway_stays_while_a_rollout_is_under_way(network: factories.Network) -> None:
    rollout = Rollout.objects.create(group=network.group, revision=Revision.objects.create(group=network.group, snapshot="1:1:"))
    with pytest.raises(Problem, match="is under way") as refused:
        retire("nat-1")
    assert refused.value.culprit == rollout


def test_the_chosen_successor_takes_the_families_and_only_one_of_the_group_can(network: factories.Network) -> None:
    third = factories.gateway(network.group, "nat-3")
    with pytest.raises(Problem, match="cannot take over from nat-1"):
        retire("nat-1", successor=factories.gateway(GatewayGroup.objects.create(name="Haus B"), "far-1"))
    retire("nat-1", successor=third)
    assert list_primaries(network) == ("nat-3", "nat-2")


def test_retiring_an_outdated_version_or_twice_is_refused(network: factories.Network) -> None:
    with pytest.raises(Conflict):
        retirement.retire_gateway(gateway=get("nat-1"), version=99)
    retire("nat-1")
    with pytest.raises(Problem, match="out of service already"):
        retire("nat-1")


def test_an_undo_brings_it_back_with_its_families(network: factories.Network) -> None:
    undo(network, retire("nat-1"))
    assert (get("nat-1").retired, list_primaries(network)) == (None, ("nat-1", "nat-2"))


def test_an_undo_does_not_retire_the_last_gateway_of_members(network: factories.Network) -> None:
    first = retire("nat-1")
    reinstate("nat-1")
    Gateway.objects.filter(name="nat-2").update(carries4=False, carries6=False)
    retire("nat-2")
    with pytest.raises(Problem, match="nat-1 is the last gateway of Lindenhof"):
        undo(network, first)
    assert get("nat-1").retired is None


def test_a_gateway_that_is_taken_back_is_a_standby(network: factories.Network) -> None:
    retire("nat-1")
    assert reinstate("nat-1").retired is None
    assert list_primaries(network) == ("nat-2", "nat-2")


def test_the_group_goes_on_with_the_other_and_the_retired_one_is_brought_up_when_it_is_back(served_network: factories.Network) -> None:
    network = served_network
    reconcile(network.group)
    before = runs(network.gateways[0])
    retire("nat-1")
    made = forward(network, 8443)
    assert steps(reconcile(network.group)) == {"nat-2": "confirmed"}
    assert reconcile(network.group) is None
    assert runs(network.gateways[0]) == before, "its machine keeps what it had"
    assert [each.gateway for each in list_activations([made])[0][1]] == ["nat-2"]
    reinstate("nat-1")
    assert steps(reconcile(network.group))["nat-1"] == "confirmed"
    assert runs(network.gateways[0]) == runs(network.gateways[1])


def test_a_rollback_past_a_retirement_reaches_only_those_in_service(served_network: factories.Network) -> None:
    network = served_network
    reconcile(network.group)
    first = Revision.objects.get()
    forward(network, 8443)
    reconcile(network.group)
    retire("nat-1")
    factories.gateway(network.group, "nat-1", machine_name="nowhere")  # its namesake does not get its ruleset
    rollback.hold_group_at_revision(first, why="a try", by=network.admin)
    assert steps(reconcile(network.group, force=True)) == {"nat-2": "confirmed"}
    release_revision_hold(network.group, by=network.admin)


# --- Counting


def test_what_a_machine_counted_under_a_former_gateway_is_not_counted_again(network: factories.Network) -> None:
    four, _six = m1(network)
    take(network, reading(1, up4={four: (1, 1000)}))
    retire("nat-1")
    again = factories.gateway(network.group, "nat-3")
    record_reading(gateway=again, ticket=draw_ticket(again), reading=reading(2, up4={four: (2, 1500)}), at=minute(2))
    assert up_and_down(network) == (1500, 0)
    retire("nat-3")
    reinstate("nat-1")
    record_reading(gateway=get("nat-1"), ticket=draw_ticket(get("nat-1")), reading=reading(3, up4={four: (3, 1600)}), at=minute(3))
    assert up_and_down(network) == (1600, 0)


def test_a_new_machine_counts_from_zero_and_a_late_reading_of_the_old_one_is_discarded(network: factories.Network) -> None:
    four, _six = m1(network)
    gateway = network.gateways[0]
    take(network, reading(1, up4={four: (1, 1000)}))
    late = draw_ticket(gateway)
    replacement.forget_old_machine(gateway)
    assert record_reading(gateway=gateway, ticket=late, reading=reading(2, up4={four: (2, 1500)}), at=minute(1)) is ReadingOutcome.OLD
    take(network, reading(1, boot="another", log="another", up4={four: (1, 300)}), first=2)
    assert up_and_down(network) == (1300, 0)
    assert Collected.objects.get(gateway=gateway).log == "another"


# --- Replacing


def test_a_new_machine_has_a_new_key_and_perhaps_another_address_and_nothing_of_the_old_one(network: factories.Network) -> None:
    reach_by_ssh("nat-1")
    GatewayState.objects.create(gateway=get("nat-1"), digest="aa", agent="0.1.0", error="gone")
    row = replace("nat-1", f"{OTHER_KEY} root@new", port=2222)
    assert (row.host_key, str(row.address), row.management_port) == (OTHER_KEY, "172.31.0.11", 2222)
    state = GatewayState.objects.get(gateway=row)
    assert (state.digest, state.agent, state.error, state.seen) == ("", "", "", None)
    undo(network, row)
    assert (get("nat-1").host_key, get("nat-1").management_port) == (KEY, 22)


def test_only_a_gateway_reached_by_ssh_is_replaced_and_with_a_key(network: factories.Network) -> None:
    with pytest.raises(Problem, match="Only a gateway reached by ssh"):
        replace("nat-1")
    reach_by_ssh("nat-1")
    with pytest.raises(Problem, match="not a host key"):
        replace("nat-1", "ssh-rsa AAAA")
    with pytest.raises(Conflict):
        replacement.replace_machine(gateway=get("nat-1"), version=99, host_key=OTHER_KEY)


def test_a_new_machine_gets_the_whole_ruleset_with_the_next_rollout(served_network: factories.Network) -> None:
    network, nat_1 = served_network, served_network.gateways[0]
    forward(network, 8443)
    reconcile(network.group)
    with stop_agent(nat_1):
        shutil.rmtree(directory_of(nat_1))
    replacement.forget_old_machine(nat_1)
    assert not runs(nat_1).strip("0")
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert runs(nat_1) == runs(network.gateways[1])
    assert GatewayState.objects.get(gateway=nat_1).drifted_before == [], "a new machine has lost nothing"


def test_the_port_of_a_new_machine_is_no_change_of_management_but_its_networks_are(served_network: factories.Network) -> None:
    network, nat_1 = served_network, served_network.gateways[0]
    reconcile(network.group)
    replacement.forget_old_machine(nat_1)
    Gateway.objects.filter(pk=nat_1.pk).update(management_port=2222)
    assert steps(reconcile(network.group)) == {"nat-1": "confirmed", "nat-2": "confirmed"}
    assert not network.group.held_back.exists() and Revision.objects.latest("pk").management["nat-1"]["port"] == 2222
    replacement.forget_old_machine(nat_1)
    Gateway.objects.filter(pk=nat_1.pk).update(management_port=22, management_networks=["192.0.2.0/24"])
    reconcile(network.group)
    assert network.group.held_back.get().text.count("nat-1: ") == 1, "only the networks wait"
    assert Revision.objects.latest("pk").management["nat-1"]["port"] == 22


def test_an_undo_of_a_replacement_waits_for_a_rollout_and_then_expects_the_old_machine(network: factories.Network) -> None:
    reach_by_ssh("nat-1")
    replaced = replace("nat-1")
    rollout = Rollout.objects.create(group=network.group, revision=Revision.objects.create(group=network.group, snapshot="1:1:"))
    with pytest.raises(Problem, match="is under way"):
        undo(network, replaced)
    rollout.delete()
    undo(network, replaced)
    assert get("nat-1").host_key == KEY


def test_what_new_machines_would_lose_is_measured_by_what_their_gateways_confirmed_last(served_network: factories.Network) -> None:
    network = served_network
    assert RulesetCache().load_running_state(network.group) is None
    reconcile(network.group)
    for each in network.gateways:
        replacement.forget_old_machine(each)
    before = RulesetCache().load_running_state(network.group)
    assert before and before.newest.revision == Revision.objects.get()
    assert before.reference in contents.load_rulesets(before.newest.revision).values()


@pytest.mark.parametrize("leave", [replacement.forget_old_machine, lambda gateway: retire(gateway.name)])
def test_what_a_gateway_that_leaves_has_lost_does_not_come_back_from_one_that_lags(
    served_network: factories.Network, leave: Callable[[Gateway], object]
) -> None:
    network, (lagging, other) = served_network, served_network.gateways
    forwards = [forward(network, port) for port in (8443, 8444)]
    reconcile(network.group)
    for each in forwards:
        each.delete()
    with stop_agent(lagging):
        assert steps(reconcile(network.group)) == {"nat-1": "away", "nat-2": "confirmed"}
        leave(other)
    before = RulesetCache().load_running_state(network.group)
    assert before and before.newest.revision == Revision.objects.latest("pk") != before.confirmed[lagging.pk].revision
    assert before.reference and not before.reference.elements["forward4"] and before.rulesets[lagging.pk].elements["forward4"]


# --- Renaming


def test_a_renamed_gateway_is_reached_and_rolled_back_like_before(served_network: factories.Network) -> None:
    network = served_network
    reconcile(network.group)
    first = Revision.objects.get()
    row = rename("nat-1", "north")
    assert (row.name, row.machine_name, row.agent_name) == ("north", "nat-1", "nat-1")
    assert reconcile(network.group) is None, "no rule changes by a name"
    forward(network, 8443)
    assert steps(reconcile(network.group)) == {"nat-2": "confirmed", "north": "confirmed"}
    forward(network, 8444)
    reconcile(network.group)
    rollback.hold_group_at_revision(first, why="a try", by=network.admin)
    assert steps(reconcile(network.group)) == {"nat-2": "confirmed", "north": "confirmed"}
    assert runs(get("north")) == first.digests["nat-1"]
    assert Revision.objects.latest("pk").management == {"nat-2": first.management["nat-2"], "north": first.management["nat-1"]}


def test_a_change_of_management_waits_for_a_second_person_also_after_a_renaming(served_network: factories.Network) -> None:
    network = served_network
    reconcile(network.group)
    row = rename("nat-1", "north")
    Gateway.objects.filter(pk=row.pk).update(management_port=2222)
    reconcile(network.group)
    assert list(network.group.held_back.values_list("kind", flat=True)) == ["management"]


def test_a_name_that_is_invalid_or_taken_is_refused_and_the_former_one_can_come_back(network: factories.Network) -> None:
    for name, words in (("North", "is not a valid gateway name"), ("nat-2", "The name nat-2 is taken")):
        with pytest.raises(Problem, match=words):
            rename("nat-1", name)
    with pytest.raises(Conflict):
        renaming.rename_gateway(gateway=get("nat-1"), name="north", version=99)
    undo(network, rename("nat-1", "north"))
    assert (get("nat-1").machine_name, rename("nat-1", "nat-1").version) == ("", get("nat-1").version)
    assert rename(rename("nat-1", "north").name, "nat-1").machine_name == ""


# --- Removing


def test_a_gateway_that_never_took_part_is_removed_and_brought_back(network: factories.Network) -> None:
    made = factories.gateway(network.group, "nat-3")
    GatewayState.objects.create(gateway=made, error="no answer")
    retirement.remove_gateway(made)
    retirement.remove_gateway(made)
    assert not Gateway.ever.filter(pk=made.pk).exists()
    undo(network, made)
    assert Gateway.objects.get(pk=made.pk).name == "nat-3"


def test_a_gateway_that_was_read_is_not_removed(network: factories.Network) -> None:
    take(network, reading(1))
    with pytest.raises(Problem, match="Retire it instead"):
        retirement.remove_gateway(network.gateways[0])


# --- Pages, API and command


def test_the_page_says_before_what_retiring_does_and_shows_the_retired_one(mara: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    take(network, reading(1))
    assert f"/gateways/{first.pk}/retire/" in text(mara.get(f"/gateways/{first.pk}/"))
    page = text(mara.get(f"/gateways/{first.pk}/retire/"))
    assert "nat-1 is the IPv4 primary; nat-2 becomes it." in page and "No rollout waits for nat-1 any more" in page
    assert "nat-2 is the only gateway of Lindenhof then." in page
    page = text(mara.post(f"/gateways/{first.pk}/retire/", {"version": get("nat-1").version}, follow=True))
    assert page.count(f'action="/gateways/undo/{find_last_event(Gateway, first.pk)}/"') == 2
    assert "nat-1 is out of service." in page and "has been out of service since" in page and f"/gateways/{first.pk}/reinstate/" in page
    assert "Out of service" in text(mara.get("/gateways/")) and mara.get(f"/gateways/{first.pk}/edit/").status_code == 404
    assert "back into service?" in text(mara.get(f"/gateways/{first.pk}/reinstate/"))
    page = text(mara.post(f"/gateways/{first.pk}/reinstate/", {"version": get("nat-1").version}, follow=True))
    assert "nat-1 is back in service" in page and page.count(f'action="/gateways/undo/{find_last_event(Gateway, first.pk)}/"') == 2


def test_the_page_links_what_is_in_the_way_and_asks_who_takes_over(mara: Client, network: factories.Network) -> None:
    first = network.gateways[0]
    third = factories.gateway(network.group, "nat-3")
    page = text(mara.get(f"/gateways/{first.pk}/retire/"))
    assert "Primary from then on" in page and "is the only gateway" not in page
    mara.post(f"/gateways/{first.pk}/retire/", {"version": first.version, "successor": third.pk})
    assert list_primaries(network) == ("nat-3", "nat-2")
    rollout = Rollout.objects.create(group=network.group, revision=Revision.objects.create(group=network.group, snapshot="1:1:"))
    page = text(mara.get(f"/gateways/{third.pk}/retire/"))
    assert "nat-3 cannot be retired now" in page and f"/rollouts/{rollout.pk}/" in page


def test_the_page_of_the_last_gateway_leads_to_another_one_or_to_another_machine(mara: Client, network: factories.Network) -> None:
    reach_by_ssh("nat-1")
    retire("nat-2")
    page = text(mara.get(f"/gateways/{network.gateways[0].pk}/retire/"))
    assert "nat-1 cannot be retired now" in page and f"/gateways/join/?group={network.group.pk}" in page
    assert f"/gateways/{network.gateways[0].pk}/replace/" in page and "Look at it" not in page


def test_the_page_shows_the_new_key_to_compare_and_replaces_only_then(mara: Client, network: factories.Network) -> None:
    reach_by_ssh("nat-1")
    row = get("nat-1")
    path, form = f"/gateways/{row.pk}/replace/", {"version": row.version, "address": "172.31.0.19", "port": 22, "host_key": OTHER_KEY}
    page = text(mara.post(path, form))
    assert "Is this the new machine’s host key?" in page and page.count("SHA256:") == 2 and get("nat-1").host_key == KEY
    assert "If the old machine still runs" in page and "Nothing changes on nat-2" in page and "trusts this key already" not in page
    assert "trusts this key already" in text(mara.post(path, form | {"host_key": KEY}))
    page = text(mara.post(path, form | {"compared": "True"}, follow=True))
    assert "nat-1 is another machine now." in page and "172.31.0.19" in page and ssh.compute_fingerprint(OTHER_KEY) in page
    assert KEY.split()[1] not in page, "the history names keys by their fingerprints"
    assert (get("nat-1").host_key, str(get("nat-1").address)) == (OTHER_KEY, "172.31.0.19")
    refused = mara.post(path, form | {"version": get("nat-1").version, "compared": "1", "host_key": "x"})
    assert "not a host key" in text(refused) and "Changes nothing yet." in text(refused)
    assert get_form_input(refused)["compared"] == ""


def test_the_page_renames_and_removes(mara: Client, network: factories.Network) -> None:
    row = factories.gateway(network.group, "nat-3")
    page = text(mara.post(f"/gateways/{row.pk}/rename/", {"version": 1, "name": "nat-2"}))
    assert "The name nat-2 is taken" in page
    page = text(mara.post(f"/gateways/{row.pk}/rename/", {"version": 1, "name": "north"}, follow=True))
    assert "nat-3 is called north now." in page and f"/gateways/{row.pk}/remove/" in page
    assert "Remove north?" in text(mara.get(f"/gateways/{row.pk}/remove/"))
    assert "north is removed." in text(mara.post(f"/gateways/{row.pk}/remove/", follow=True))
    take(network, reading(1))
    assert "cannot be removed" in text(mara.get(f"/gateways/{network.gateways[0].pk}/remove/"))


def test_a_script_retires_takes_back_renames_and_removes(api: Client, network: factories.Network) -> None:
    path = f"{PATH}{network.gateways[0].pk}/"
    plan = api.get(f"{path}retirement/").json()
    assert plan == {"families": [4], "successors": [network.gateways[1].pk], "holdings": 8, "obstacle": ""}
    assert api.post(f"{path}retire/", {}, JSON, headers={"if-match": '"nonsense"'}).status_code == 412
    gone = api.post(f"{path}retire/", {}, JSON)
    assert gone.status_code == 200 and gone.json()["retired"], gone.content
    assert [row["name"] for row in api.get(PATH).json()["results"]] == ["nat-2"]
    assert [row["name"] for row in api.get(f"{PATH}?retired__isnull=false").json()["results"]] == ["nat-1"]
    assert api.patch(path, {"lan": "lan1"}, JSON).status_code == 404
    assert api.post(f"{path}reinstate/").json()["retired"] is None
    assert api.patch(path, {"name": "north"}, JSON).json()["name"] == "north"
    assert "is taken" in wrong(api.patch(path, {"name": "nat-2"}, JSON))["name"][0]
    made = factories.gateway(network.group, "nat-3")
    assert api.delete(f"{PATH}{made.pk}/").status_code == 204


def test_a_script_replaces_a_machine(api: Client, network: factories.Network) -> None:
    path = f"{PATH}{network.gateways[0].pk}/replace/"
    assert api.post(path, {"host_key": OTHER_KEY}, JSON).status_code == 400
    reach_by_ssh("nat-1")
    assert api.post(path, {"host_key": OTHER_KEY, "address": "172.31.0.19"}, JSON).json()["address"] == "172.31.0.19"


def test_the_command_retires_takes_back_renames_and_removes(network: factories.Network) -> None:
    assert "nat-1 is the IPv4 primary; nat-2 becomes it." in run_gateway("retire", "nat-1", "--yes")
    assert "nat-1  out of service since" in run_gateway("list")
    with pytest.raises(CommandError, match="is the last gateway of Lindenhof"):
        run_gateway("retire", "nat-2", "--yes")
    assert "back in service" in run_gateway("reinstate", "nat-1")
    assert "calling itself nat-1" in run_gateway("rename", "nat-1", "north")
    with pytest.raises(CommandError, match="Only a gateway reached by ssh"):
        run_gateway("replace", "north")
    factories.gateway(network.group, "nat-3")
    assert "nat-3 is removed." in run_gateway("remove", "nat-3")


def test_collecting_leaves_a_retired_gateway_alone_after_its_last_reading(served_network: factories.Network) -> None:
    reconcile(served_network.group)
    gone = retire("nat-1")
    assert services.collect_counters(gone), "the task that retiring queues reads it once more"
    assert Collected.objects.get(gateway=gone).at
