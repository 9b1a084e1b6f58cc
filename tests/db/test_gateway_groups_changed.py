"""Gateway groups are added, changed, removed and restored: by page, API and command, with a sentence for each refusal."""

import io
from collections.abc import Callable
from dataclasses import asdict, replace
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client

from apps.accounts import tokens
from apps.audit.undo import find_last_event, undo_event
from apps.bans import services as ban_services
from apps.bans.listeners.services import add_listener
from apps.bans.models import Notice, Reachable
from apps.deployments.approvals.limit_changes import find_waiting_limits
from apps.deployments.models import HeldBack, Revision, Rollout
from apps.gateways.groups import GroupFacts, add_group, change_group, remove_group
from apps.lib.errors import Conflict, Problem
from apps.members.models import Site
from apps.network.models import GatewayGroup, Protection
from apps.traffic.rates.services import set_uplink
from tests import factories
from tests.api_responses import wrong
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)

JSON = "application/json"
PATH = "/api/gateways/groups/"
TARGETS: dict[str, Any] = {"probe_target4": ip_address("203.0.113.10"), "probe_target6": ip_address("2001:db8:cafe::10"), "probe_port": 80}


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def api(network: factories.Network) -> Client:
    return build_script(network)


def build_script(network: factories.Network, **limits: Any) -> Client:
    key = tokens.create_token(user=network.admin, name="script", **limits)[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def run_group(*arguments: str) -> str:
    """Return what the command prints."""
    output = io.StringIO()
    call_command("group", *arguments, stdout=output, stderr=io.StringIO())
    return output.getvalue()


def change(network: factories.Network, by: Any = None, **changes: Any) -> GatewayGroup:
    group = GatewayGroup.objects.get(pk=network.group.pk)
    now = GroupFacts(**{name: getattr(group, name) for name in asdict(GroupFacts(""))})
    return change_group(group=group, version=group.version, facts=replace(now, **changes), by=by or network.admin)


def undo(network: factories.Network, pk: int) -> None:
    event = find_last_event(GatewayGroup, pk)
    assert event
    undo_event(model=GatewayGroup, event=event, by=network.admin)


# --- Services and constraints


def test_a_group_is_added_with_the_usual_settings(network: factories.Network) -> None:
    made = add_group(facts=GroupFacts("  Haus   B ", **TARGETS), by=network.admin)
    made.refresh_from_db()
    assert (made.name, made.goes_on, made.confirm_within, made.removal_share, made.removal_least) == ("Haus B", True, 30, 20, 10)
    assert (made.probe_target4, made.probe_target6, made.probe_port) == tuple(TARGETS.values())


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "  "}, "name", "needs a name"),
    ({"name": "x" * 41}, "name", "up to 40 characters"),
    ({"name": "Lindenhof"}, "name", "The name Lindenhof is taken by another gateway group"),
    ({"confirm_within": 4}, "confirm_within", "between 5 and 600"),
    ({"removal_share": 101}, "removal_share", "between 0 and 100"),
    ({"removal_least": 0}, "removal_least", "at least 1"),
    ({"probe_target4": ip_address("2001:db8::1"), "probe_port": 80}, "probe_target4", "2001:db8::1 is not an IPv4 address"),
    ({"probe_target6": ip_address("192.0.2.1"), "probe_port": 80}, "probe_target6", "192.0.2.1 is not an IPv6 address"),
    ({"probe_target4": ip_address("203.0.113.10")}, "probe_port", "Enter the TCP port"),
    ({"probe_port": 80}, "probe_port", "A port alone cannot be probed"),
    ({"probe_target4": ip_address("203.0.113.10"), "probe_port": 65536}, "probe_port", "65536 is not a port"),
    ({"responder_port": 7077}, "responder_port", "The responder runs on the probe’s target"),
    (TARGETS | {"responder_port": 1023}, "responder_port", "1023 cannot be the responder’s port. Choose 1024 to 65535"),
    (TARGETS | {"responder_port": 65536}, "responder_port", "65536 cannot be the responder’s port"),
]


@pytest.mark.parametrize(("given", "fieldname", "words"), REFUSED)
def test_what_cannot_be_is_refused_by_the_service_and_by_the_database(
    network: factories.Network, given: dict[str, Any], fieldname: str, words: str
) -> None:
    facts = GroupFacts(**{"name": "Haus B"} | given)
    with pytest.raises(Problem, match=words) as refused:
        add_group(facts=facts, by=network.admin)
    assert refused.value.fieldname == fieldname
    with pytest.raises((IntegrityError, Exception), match=r"violates|too long"), transaction.atomic():
        GatewayGroup.objects.create(**asdict(facts))
    other = GatewayGroup.objects.create(name="Haus C")
    with pytest.raises(Problem, match=words):
        change_group(group=other, version=other.version, facts=facts, by=network.admin)


def test_a_banned_target_is_refused_unless_it_is_allowed(network: factories.Network) -> None:
    banlist = ban_services.create_list(name="Own", by=network.admin)
    ban = ban_services.ban_prefix(list=banlist, prefix=ip_network("203.0.113.0/26"), author=network.admin)
    with pytest.raises(Problem, match=r"203\.0\.113\.10 is banned on the list Own: 203\.0\.113\.0/26") as refused:
        change(network, **TARGETS)
    assert refused.value.culprit == ban
    ban_services.lift_ban(ban=ban, by=network.admin)
    assert change(network, **TARGETS).probe_port == 80


def test_a_target_that_the_protection_refuses_is_refused(network: factories.Network) -> None:
    protection = Protection.objects.create(group=network.group, bogons=True)
    with pytest.raises(Problem, match="the group’s protection refuses it"):
        change(network, probe_target4=ip_address("10.99.0.1"), probe_port=80)
    Protection.objects.filter(pk=protection.pk).update(own=[ip_network("10.99.0.0/16")])
    assert change(network, probe_target4=ip_address("10.99.0.1"), probe_port=80).probe_port == 80


def test_a_second_change_of_the_same_version_is_a_conflict(network: factories.Network) -> None:
    facts, version = GroupFacts("Lindenhof", confirm_within=60), network.group.version
    change_group(group=network.group, version=version, facts=facts, by=network.admin)
    with pytest.raises(Conflict, match="while you were editing"):
        change_group(group=network.group, version=version, facts=facts, by=network.admin)


def test_a_group_with_gateways_pools_and_a_listener_is_not_removed(network: factories.Network) -> None:
    add_listener(group=network.group, name="web", address=ip_address("192.0.2.60"), protocol="tcp", port=443, by=network.admin)
    with pytest.raises(
        Problem, match=r"Lindenhof cannot be removed\. It still has 2 gateways, 3 pools, \d+ addresses .* and 1 listener"
    ) as no:
        remove_group(group=network.group, by=network.admin)
    assert no.value.culprit == network.gateways[0]


def test_a_group_whose_gateways_had_rollouts_is_not_removed(network: factories.Network) -> None:
    group = add_group(facts=GroupFacts("Haus B"))
    revision = Revision.objects.create(group=group, cause="change", changes=[], elements=0, digests={}, delta="", snapshot="1:1:")
    Rollout.objects.create(group=group, revision=revision, state="confirmed")
    with pytest.raises(Problem, match=r"Haus B cannot be removed\. It still has 1 rollout in its history\."):
        remove_group(group=group, by=network.admin)


def test_a_group_whose_notice_page_lists_servers_is_not_removed(network: factories.Network) -> None:
    group = add_group(facts=GroupFacts("Haus B"))
    notice = Notice.objects.create(group=group)
    Reachable.objects.create(notice=notice, name="Portal", address=ip_address("192.0.2.40"), protocol="tcp", port=443)
    with pytest.raises(Problem, match="1 port that blocked members still reach"):
        remove_group(group=group, by=network.admin)


# --- Undo


def test_an_added_group_is_removed_again_and_a_removed_one_returns_with_its_settings(network: factories.Network) -> None:
    group = add_group(facts=GroupFacts("Haus B", confirm_within=60), by=network.admin)
    set_uplink(group=group, version=0, up_kbit=1000, down_kbit=2000, limits_rates=False, by=network.admin)
    remove_group(group=group, by=network.admin)
    assert not GatewayGroup.objects.filter(name="Haus B").exists()
    undo(network, group.pk)
    back = GatewayGroup.objects.get(name="Haus B")
    assert (back.pk, back.confirm_within, back.uplink.up_kbit) == (group.pk, 60, 1000)
    new = add_group(facts=GroupFacts("Haus C"), by=network.admin)
    undo(network, new.pk)
    assert not GatewayGroup.objects.filter(name="Haus C").exists()


def test_a_change_is_undone_in_one_step(network: factories.Network) -> None:
    change(network, name="Linden", confirm_within=60, **TARGETS)
    undo(network, network.group.pk)
    group = GatewayGroup.objects.get(pk=network.group.pk)
    assert (group.name, group.confirm_within, group.probe_port) == ("Lindenhof", 30, None)


def test_an_undo_does_not_loosen_the_limits_of_removals(network: factories.Network) -> None:
    change(network, removal_share=5, confirm_within=60)
    with pytest.raises(Problem, match="would loosen the limits from which a second person must agree") as refused:
        undo(network, network.group.pk)
    group = GatewayGroup.objects.get(pk=network.group.pk)
    assert (group.removal_share, group.confirm_within, refused.value.culprit) == (5, 60, group)


def test_an_undo_does_not_bring_back_a_target_that_is_banned_by_now(network: factories.Network) -> None:
    change(network, **TARGETS)
    change(network, probe_target4=None, probe_target6=None, probe_port=None)
    banlist = ban_services.create_list(name="Own", by=network.admin)
    ban_services.ban_prefix(list=banlist, prefix=ip_network("203.0.113.10/32"), author=network.admin)
    with pytest.raises(Problem, match="is banned on the list Own"):
        undo(network, network.group.pk)


def test_an_undo_says_that_the_former_name_is_taken_by_now(network: factories.Network) -> None:
    change(network, name="Linden")
    add_group(facts=GroupFacts("Lindenhof"), by=network.admin)
    with pytest.raises(Problem, match="The name Lindenhof is taken by another gateway group"):
        undo(network, network.group.pk)


# --- Pages


def test_an_empty_portal_says_to_begin_with_a_group_and_adds_it(db: None) -> None:
    mara = signed_in(factories.user())
    page = text(mara.get("/gateways/"))
    assert "Begin with a group" in page and "/gateways/groups/add/" in page and "seed" not in page
    assert "/gateways/groups/add/" in text(mara.get("/addresses/"))
    page = text(mara.post("/gateways/groups/add/", {"name": "Lindenhof"}, follow=True))
    assert "Lindenhof is added." in page and "No gateway in this group yet" in page and "seed" not in page


def test_a_page_says_at_the_field_what_is_wrong(mara: Client, network: factories.Network) -> None:
    response = mara.post("/gateways/groups/add/", {"name": "Lindenhof"})
    assert response.status_code == 422 and "The name Lindenhof is taken" in text(response) and 'id="id_name_error"' in text(response)


def test_the_page_renames_and_sets_the_probes(mara: Client, network: factories.Network) -> None:
    group = network.group
    form = {"version": group.version, "name": "Linden", "probe_target4": "203.0.113.10", "probe_port": 443, "confirm_within": 30}
    page = text(mara.post(f"/gateways/groups/{group.pk}/", form | {"removal_share": 20, "removal_least": 10}, follow=True))
    group.refresh_from_db()
    assert (group.name, str(group.probe_target4), group.probe_port, group.goes_on) == ("Linden", "203.0.113.10", 443, False)
    assert "Saved." in page and "/gateways/groups/undo/" in page


def test_the_dialog_names_what_depends_on_the_group_and_else_removes_it(mara: Client, network: factories.Network) -> None:
    page = text(mara.get(f"/gateways/groups/{network.group.pk}/remove/"))
    assert "Lindenhof cannot be removed" in page and "2 gateways" in page and f"/gateways/{network.gateways[0].pk}/" in page
    assert "It still has 2 gateways" in text(mara.post(f"/gateways/groups/{network.group.pk}/remove/", follow=True))
    group = add_group(facts=GroupFacts("Haus B"))
    assert "Remove Haus B?" in text(mara.get(f"/gateways/groups/{group.pk}/remove/"))
    assert "Haus B is removed." in text(mara.post(f"/gateways/groups/{group.pk}/remove/", follow=True))
    event = find_last_event(GatewayGroup, group.pk)
    assert f"/gateways/groups/undo/{event}/" in text(mara.get("/history/"))
    assert "Undone: Haus B." in text(mara.post(f"/gateways/groups/undo/{event}/", follow=True))
    assert GatewayGroup.objects.filter(name="Haus B").exists()


def test_only_who_operates_the_network_changes_groups(network: factories.Network) -> None:
    anna = signed_in(factories.user("anna", roles=["helpdesk"]))
    assert [anna.get(f"/gateways/groups/{name}/").status_code for name in ("add", f"{network.group.pk}/remove")] == [403, 403]
    assert anna.post("/gateways/groups/add/", {"name": "x"}).status_code == 403
    assert "Add group" not in text(anna.get("/gateways/"))


# --- API


def test_a_script_adds_changes_and_removes_a_group(api: Client, network: factories.Network) -> None:
    given = {"name": "Haus B", "confirm_within": 60, "probe_target4": "203.0.113.10", "probe_port": 80, "responder_port": 7077}
    made = api.post(PATH, given, JSON)
    assert made.json()["responder_port"] == 7077
    assert made.status_code == 201, made.content
    row = made.json()
    assert (row["confirm_within"], row["probe_target4"], row["removal_share"], row["approval"]) == (60, "203.0.113.10", 20, None)
    changed = api.patch(f"{PATH}{row['id']}/", {"name": "Haus C", "flood_mode": True, "version": row["version"]}, JSON)
    assert changed.status_code == 200, changed.content
    assert (changed.json()["name"], changed.json()["flood_mode"], changed.json()["confirm_within"]) == ("Haus C", True, 60)
    assert api.delete(f"{PATH}{row['id']}/").status_code == 204
    assert api.get(f"{PATH}{row['id']}/").status_code == 404


def test_the_api_refuses_in_the_same_sentences(api: Client, network: factories.Network) -> None:
    assert "is taken" in wrong(api.post(PATH, {"name": "Lindenhof"}, JSON))["name"][0]
    assert "Enter the TCP port" in wrong(api.patch(f"{PATH}{network.group.pk}/", {"probe_target4": "203.0.113.10"}, JSON))["probe_port"][0]
    refused = api.delete(f"{PATH}{network.group.pk}/")
    assert refused.status_code == 400 and "It still has 2 gateways" in refused.json()["detail"]
    outdated = api.patch(f"{PATH}{network.group.pk}/", {"name": "x", "version": network.group.version + 1}, JSON)
    assert outdated.status_code == 409


def test_looser_limits_by_the_api_wait_for_a_second_person(api: Client, network: factories.Network) -> None:
    path = f"{PATH}{network.group.pk}/"
    answer = api.patch(path, {"removal_share": 90}, JSON)
    assert (answer.status_code, answer.json()["removal_share"]) == (202, 20)
    held = find_waiting_limits(network.group)
    assert held and answer.json()["approval"] == held.pk and list(held.askers.all()) == [network.admin]
    withdrawn = api.patch(path, {"removal_share": 20}, JSON)
    assert (withdrawn.status_code, withdrawn.json()["approval"]) == (200, None)
    tightened = api.patch(path, {"removal_share": 5}, JSON)
    assert (tightened.status_code, tightened.json()["removal_share"]) == (200, 5)


@pytest.mark.parametrize("limit", ["group", "site", "member"])
def test_a_limited_token_adds_no_group(network: factories.Network, limit: str) -> None:
    site = Site.objects.create(code="X", name="House X")
    pk = {"group": network.group.pk, "site": site.pk, "member": network.residents["m1"].member.pk}[limit]
    answer = build_script(network, **{limit: pk}).post(PATH, {"name": "Haus B"}, JSON)
    assert answer.status_code == 403 and not GatewayGroup.objects.filter(name="Haus B").exists()


# --- Command


def test_the_command_adds_lists_changes_and_removes(network: factories.Network) -> None:
    assert "Haus B is added." in run_group(
        "add", "Haus B", "--probe-target4", "203.0.113.10", "--probe-port", "80", "--responder-port", "7077"
    )
    assert "probes 203.0.113.10, port 80, responder at port 7077" in run_group("list")
    run_group("change", "Haus B", "--responder-port", "none")
    assert "responder" not in run_group("list")
    assert "Haus B  not live  no gateway yet  probes 203.0.113.10, port 80" in run_group("list")
    run_group("change", "Haus B", "--name", "Haus C", "--probe-target4", "none", "--probe-port", "none", "--goes-on", "no")
    changed = GatewayGroup.objects.get(name="Haus C")
    assert (changed.probe_target4, changed.probe_port, changed.goes_on, changed.confirm_within) == (None, None, False, 30)
    assert "Haus C is removed." in run_group("remove", "Haus C")
    assert "Lindenhof  nat-1, nat-2  no probes" in run_group("list")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("add", "Lindenhof"), "The name Lindenhof is taken"),
        (("remove", "Lindenhof"), "It still has 2 gateways"),
        (("remove", "Elsewhere"), r"There is no group Elsewhere\. Groups: Lindenhof\."),
        (("change", "Lindenhof", "--probe-target4", "here"), "is neither an IP address nor"),
        (("change", "Lindenhof", "--goes-on", "perhaps"), "is neither yes nor no"),
        (("change", "Lindenhof", "--probe-port", "http"), "is neither a port nor"),
    ],
)
def test_the_command_refuses_in_a_sentence(network: factories.Network, arguments: tuple[str, ...], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        run_group(*arguments)


def test_looser_limits_by_the_command_wait_and_nobody_is_known_to_have_asked(network: factories.Network) -> None:
    assert "wait until a second person agrees" in run_group("change", "Lindenhof", "--removal-least", "1000")
    held = HeldBack.objects.get()
    assert held.asker_unknown and not held.askers.exists() and held.group.removal_least == 10


def test_an_empty_list_says_what_to_do(db: None) -> None:
    assert "group add" in run_group("list")


@pytest.mark.parametrize("add", [lambda: run_group("add", "Haus B")])
def test_the_command_is_named_as_the_cause(network: factories.Network, add: Callable[[], str]) -> None:
    add()
    pk = GatewayGroup.objects.get(name="Haus B").pk
    event = GatewayGroup.pgh_event_model.objects.get(pgh_obj_id=pk)  # type: ignore[attr-defined]  # made by pghistory
    assert event.pgh_context.metadata["cause"] == "group add"
