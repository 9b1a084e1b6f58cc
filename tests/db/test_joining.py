"""A machine becomes a gateway: from its name to the choice of its interfaces, on pages and in the database."""

import hashlib
from datetime import timedelta
from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from apps.gateways.agent_package.debian_package import build_agent_package
from apps.gateways.joining import services
from apps.gateways.joining.install_command import build_install_command
from apps.gateways.joining.models import JoiningMachine
from apps.gateways.joining.presentation import describe_joining
from apps.gateways.selectors import list_dependents
from apps.lib.errors import Conflict, Problem
from apps.lib.ui.states import StateKind
from apps.network.models import Gateway, GatewayGroup
from tests import factories
from tests.db.page_client import HTMX, signed_in, text
from tests.joining_machines import KEY, PORTAL_KEY, build_facts, make_machine, make_ready_machine

pytestmark = pytest.mark.django_db(transaction=True)

OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "C" * 43
CHOICE = {"lan": "eno1", "wan": "eno2", "management": "eno3", "sync": "eno4"}


@pytest.fixture(autouse=True)
def _url(settings: LazySettings) -> None:
    settings.PORTAL_URL = "http://netz.lindenhof.example"


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def begin(network: factories.Network, name: str = "nat-3", address: str = "172.31.0.13", port: int = 22) -> JoiningMachine:
    return services.begin_joining(name=name, group=network.group, address=ip_address(address), port=port, by=network.admin)


def finish(machine: JoiningMachine, **changes: Any) -> Gateway:
    given = {**CHOICE, "management_networks": [ip_network("172.31.0.0/24")], **changes}
    return services.finish_joining(machine=machine, **given)


# --- The package


def test_anybody_may_fetch_the_package_and_gets_the_bytes_of_the_digest(db: None) -> None:
    package = build_agent_package()
    response = Client().get(f"/gateways/agent/{package.filename}")
    assert response.status_code == 200
    assert hashlib.sha256(response.content).hexdigest() == package.digest


def test_another_version_of_the_package_is_not_there(db: None) -> None:
    assert Client().get("/gateways/agent/netzwart-agent_0.0.1_all.deb").status_code == 404
    assert Client().post(f"/gateways/agent/{build_agent_package().filename}").status_code == 405


# --- The command


def test_the_command_names_package_digest_name_and_key_and_nothing_secret(network: factories.Network) -> None:
    command, package = build_install_command(make_machine(network.group)), build_agent_package()
    assert command
    assert f"http://netz.lindenhof.example/gateways/agent/{package.filename}" in command.text
    assert f"echo '{package.digest}  " in command.text and "sha256sum -c" in command.text
    assert command.text.splitlines()[-1] == command.by_hand == f"netzwart-join nat-3 --from 172.31.0.1 --key '{PORTAL_KEY}'"
    assert all(line.endswith(" &&") for line in command.text.splitlines()[:-1]), "a step that fails ends the command"
    assert not command.leads_here


def test_a_hostile_url_stays_one_word_of_the_shell(network: factories.Network, settings: LazySettings) -> None:
    settings.PORTAL_URL = "http://a.example/$(reboot)'"
    command = build_install_command(make_machine(network.group))
    assert command and """'http://a.example/$(reboot)'"'"'/gateways/agent/""" in command.text


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "http://[::1]", "https://localhost"])
def test_a_portal_that_only_this_machine_reaches_is_said_to_be_one(network: factories.Network, settings: LazySettings, url: str) -> None:
    settings.PORTAL_URL = url
    machine = make_machine(network.group)
    command = build_install_command(machine)
    assert command and command.leads_here
    assert "The machine cannot fetch from" in text(signed_in(network.admin).get(f"/gateways/joining/{machine.pk}/"))


def test_without_a_worker_there_is_no_command(network: factories.Network) -> None:
    assert build_install_command(begin(network)) is None


# --- Steps


def test_a_machine_is_begun_once(network: factories.Network) -> None:
    first = begin(network)
    with pytest.raises(Problem, match="A machine is joining as nat-3 already") as refused:
        begin(network)
    assert refused.value.culprit == first


@pytest.mark.parametrize(
    ("changes", "fieldname", "words"),
    [
        ({"name": "nat-1"}, "name", "The name nat-1 is taken by a gateway"),
        ({"name": "nat 3"}, "name", "is not a valid gateway name"),
        ({"port": 0}, "management_port", "0 is not a port"),
    ],
)
def test_what_cannot_become_a_gateway_does_not_begin(
    network: factories.Network, changes: dict[str, Any], fieldname: str, words: str
) -> None:
    with pytest.raises(Problem, match=words) as refused:
        begin(network, **changes)
    assert refused.value.fieldname == fieldname
    assert not JoiningMachine.objects.exists()


def test_no_more_than_a_few_join_at_the_same_time(network: factories.Network) -> None:
    for number in range(services.MOST):
        make_machine(network.group, f"gw-{number}")
    with pytest.raises(Problem, match="20 machines are joining already"):
        begin(network)


def test_no_rollout_and_no_reading_sees_a_joining_machine(network: factories.Network) -> None:
    before = list(Gateway.objects.all())
    make_ready_machine(network.group)
    assert list(Gateway.objects.all()) == before


def test_the_host_key_that_was_compared_is_accepted(network: factories.Network) -> None:
    machine = make_machine(network.group)
    services.accept_host_key(machine=machine, fingerprint_key=KEY)
    assert (machine.host_key, machine.progress) == (KEY, "reached")


def test_a_key_that_the_machine_does_not_show_any_more_is_not_accepted(network: factories.Network) -> None:
    machine = make_machine(network.group, seen_key=OTHER_KEY)
    with pytest.raises(Conflict, match="another host key now"):
        services.accept_host_key(machine=machine, fingerprint_key=KEY)
    with pytest.raises(Problem, match="not a host key"):
        services.accept_host_key(machine=machine, fingerprint_key="ssh-rsa AAAA")
    machine.refresh_from_db()
    assert machine.host_key == ""


def test_another_address_is_another_machine_whose_key_is_compared_anew(network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    services.move_machine(machine=machine, address=machine.address, port=22)
    assert machine.is_ready, "nothing has changed"
    services.move_machine(machine=machine, address=ip_address("172.31.0.14"), port=22)
    assert (machine.host_key, machine.progress, machine.facts) == ("", "new", None)


def test_an_examination_is_requested_once_in_a_while(network: factories.Network) -> None:
    machine = make_machine(network.group)
    assert [services.request_examination(machine) for _ in range(3)] == [True, False, False]
    JoiningMachine.objects.update(requested=timezone.now() - services.PAUSE * 3, examined=None)
    assert not services.request_examination(machine), "the first request waits still, and it tells since when"
    JoiningMachine.objects.update(examined=timezone.now() - services.PAUSE * 2)
    assert services.request_examination(machine)


def test_a_ready_machine_becomes_a_gateway(network: factories.Network) -> None:
    made = finish(make_ready_machine(network.group))
    assert (made.name, made.link, str(made.address), made.host_key) == ("nat-3", "ssh", "172.31.0.13", KEY)
    assert (made.lan, made.wan, made.management, made.sync) == ("eno1", "eno2", "eno3", "eno4")
    assert not JoiningMachine.objects.exists()


def test_two_people_finish_once(network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    finish(machine)
    machine.pk = machine.pk or 1
    with pytest.raises(Problem, match="nat-3 has joined already, or was given up"):
        finish(machine)


@pytest.mark.parametrize(
    ("changes", "fieldname", "words"),
    [
        ({"lan": "eth7"}, "lan", "nat-3 has no interface “eth7”. It reported: eno1, eno2, eno3, eno4"),
        ({"sync": "eno1"}, "sync", "eno1 is already another interface"),
        ({"management_networks": []}, "management_networks", "Without a management network"),
        ({"carries": [4]}, "carries4", "nat-1 is the IPv4 primary"),
    ],
)
def test_a_wrong_choice_makes_no_gateway_and_the_machine_keeps_joining(
    network: factories.Network, changes: dict[str, Any], fieldname: str, words: str
) -> None:
    machine = make_ready_machine(network.group)
    with pytest.raises(Problem, match=words) as refused:
        finish(machine, **changes)
    assert refused.value.fieldname == fieldname
    assert JoiningMachine.objects.get() == machine and not Gateway.objects.filter(name="nat-3").exists()


def test_a_machine_that_is_not_ready_makes_no_gateway(network: factories.Network) -> None:
    with pytest.raises(Problem, match="nat-3 is not ready: no route to host"):
        finish(make_machine(network.group, progress="unreached", problem="no route to host"))


def test_a_name_that_was_taken_meanwhile_is_refused_at_the_end(network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    factories.gateway(network.group, "nat-3")
    with pytest.raises(Problem, match="The name nat-3 is taken"):
        finish(machine)


def test_a_group_with_a_joining_machine_is_not_removed(db: None) -> None:
    group = GatewayGroup.objects.create(name="Haus B")
    make_machine(group)
    assert [each.words for each in list_dependents(group)] == ["1 joining machine"]


@pytest.mark.parametrize(
    ("changes", "constraint"),
    [
        ({"name": "Nat 3"}, "joiningmachine_name"),
        ({"port": 0}, "joiningmachine_port"),
        ({"host_key": "ssh-rsa AAAA"}, "joiningmachine_host_key"),
        ({"seen_key": "x"}, "joiningmachine_seen_key"),
        ({"progress": "ready"}, "joiningmachine_ready"),
        ({"progress": "ready", "host_key": KEY}, "joiningmachine_ready"),
    ],
)
def test_the_database_refuses_what_is_no_joining_machine(network: factories.Network, changes: dict[str, Any], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        make_machine(network.group, **changes)


# --- What the page says


@pytest.mark.parametrize(
    ("changes", "kind", "sentence", "polls"),
    [
        ({"progress": "new"}, StateKind.MOVING, "A worker looks at nat-3.", True),
        ({"progress": "unreached", "problem": "refused"}, StateKind.MOVING, "nat-3 is not reached yet.", True),
        ({}, StateKind.WAIT, "nat-3 shows a host key. Compare it.", False),
        ({"host_key": KEY}, StateKind.MOVING, "The host key is accepted. The portal signs in.", True),
        ({"host_key": KEY, "progress": "changed"}, StateKind.BAD, "nat-3 shows another host key than the one that was accepted.", False),
        ({"host_key": KEY, "progress": "refused"}, StateKind.MOVING, "nat-3 does not accept the portal’s key yet.", True),
        ({"host_key": KEY, "progress": "silent"}, StateKind.BAD, "The agent on nat-3 does not answer.", True),
        ({"host_key": KEY, "progress": "foreign"}, StateKind.BAD, "The agent on nat-3 does not fit this portal.", True),
    ],
)
def test_each_stage_has_a_sentence_and_ends_when_a_person_is_needed(
    network: factories.Network, changes: dict[str, Any], kind: StateKind, sentence: str, polls: bool
) -> None:
    shown = describe_joining(make_machine(network.group, **changes), timezone.now())
    assert (shown.kind, shown.sentence, shown.polls) == (kind, sentence, polls)


def test_a_machine_that_no_worker_looks_at_says_so(network: factories.Network) -> None:
    ago = timezone.now() - timedelta(minutes=5)
    machine = make_machine(network.group, progress="unreached", examined=ago - timedelta(minutes=1), requested=ago)
    assert describe_joining(machine, timezone.now()).sentence == "No worker has looked at this machine lately."


def test_a_page_that_is_opened_after_a_while_does_not_blame_the_workers(network: factories.Network) -> None:
    ago = timezone.now() - timedelta(minutes=5)
    machine = make_machine(network.group, progress="unreached", examined=ago + timedelta(seconds=1), requested=ago)
    assert describe_joining(machine, timezone.now()).sentence == "nat-3 is not reached yet."


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "clock right"),
        ({"clock_offset": 41_200}, "clock 41 s ahead"),
        ({"clock_offset": -7_000_000}, "clock 7,000 s behind"),
        ({"facts": build_facts(forwards6=False)}, "does not forward IPv6"),
        ({"facts": build_facts(agent="0.0.1+00000000")}, "agent 0.0.1+00000000, this portal’s is"),
    ],
)
def test_what_the_machine_reports_is_judged(mara: Client, network: factories.Network, changes: dict[str, Any], words: str) -> None:
    machine = make_ready_machine(network.group, **changes)
    assert words in text(mara.get(f"/gateways/joining/{machine.pk}/"))


# --- Pages, from empty to a gateway


def test_a_person_makes_a_gateway_without_typing_what_the_machine_knows(mara: Client, network: factories.Network) -> None:
    form = {"name": "nat-3", "group": network.group.pk, "address": "172.31.0.13", "port": 22}
    response = mara.post("/gateways/join/", form)
    machine = JoiningMachine.objects.get()
    page = f"/gateways/joining/{machine.pk}/"
    assert response.headers["Location"] == page
    assert "A worker looks at nat-3." in text(mara.get(page))
    reached = {"progress": "reached", "seen_key": KEY, "portal_key": PORTAL_KEY, "portal_address": "172.31.0.1", "connect_ms": 1.1}
    JoiningMachine.objects.update(**reached, examined=timezone.now())
    shown = text(mara.get(page))
    assert "netzwart-join nat-3" in shown and "SHA256:" in shown and "It is the same" in shown
    assert "The host key is accepted." in text(mara.post(f"{page}trust/", {"host_key": KEY}, follow=True))
    JoiningMachine.objects.update(progress="ready", facts=build_facts(), clock_offset=0, clock_doubt=5)
    response = mara.get(page)
    assert "Debian GNU/Linux 13 (trixie) · kernel 6.12.1 · nft 1.1.3" in text(response)
    assert "eno2 · 192.0.2.4/29 · up · default route IPv4" in text(response)
    offered = response.context["form"].initial
    assert [offered[name] for name in ("lan", "wan", "management")] == ["eno1", "eno2", "eno3"]
    choice = {**CHOICE, "management_networks": "172.31.0.0/24"}
    assert "nat-3 is a gateway now." in text(mara.post(page, choice, follow=True))
    assert Gateway.objects.get(name="nat-3").wan == "eno2"


def test_a_gateway_of_a_group_that_is_not_live_waits_for_that(mara: Client, network: factories.Network) -> None:
    type(network.group).objects.update(live_since=None)
    machine = make_ready_machine(network.group)
    page = f"/gateways/joining/{machine.pk}/"
    assert "Its first ruleset goes to it when Lindenhof goes live." in text(mara.get(page))
    joined = text(mara.post(page, {**CHOICE, "management_networks": "172.31.0.0/24"}, follow=True))
    assert "It gets its first rules when Lindenhof goes live." in joined


def test_the_page_says_at_the_field_what_is_wrong(mara: Client, network: factories.Network) -> None:
    machine = make_ready_machine(network.group)
    response = mara.post(f"/gateways/joining/{machine.pk}/", {**CHOICE, "lan": "eno2", "management_networks": "172.31.0.0/24"})
    assert response.status_code == 422 and "eno2 is already another interface" in text(response)
    response = mara.post("/gateways/join/", {"name": "nat-1", "group": network.group.pk, "address": "172.31.0.13", "port": 22})
    assert response.status_code == 422 and 'id="id_name_error"' in text(response)


def test_a_choice_for_a_machine_that_is_not_ready_any_more_leads_back(mara: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, progress="unreached")
    assert "is not ready any more" in text(mara.post(f"/gateways/joining/{machine.pk}/", CHOICE, follow=True))


def test_another_key_than_the_compared_one_is_said_on_the_page(mara: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, seen_key=OTHER_KEY)
    assert "another host key now" in text(mara.post(f"/gateways/joining/{machine.pk}/trust/", {"host_key": KEY}, follow=True))


def test_a_poll_gets_the_changing_part_and_loads_the_page_anew_for_the_command(mara: Client, network: factories.Network) -> None:
    machine = make_machine(network.group, progress="unreached")
    page, poll = f"/gateways/joining/{machine.pk}/", {**HTMX, "HX-Target": "progress"}
    part = text(mara.get(page, headers=poll))
    assert part.startswith('<div id="progress"') and "netzwart-join" not in part
    assert mara.get(f"{page}?waits", headers=poll).headers["HX-Refresh"] == "true"
    JoiningMachine.objects.update(portal_key="")
    assert "HX-Refresh" not in mara.get(f"{page}?waits", headers=poll).headers
    assert "?waits" in text(mara.get(page))


def test_a_machine_is_moved_or_given_up(mara: Client, network: factories.Network) -> None:
    machine = make_machine(network.group)
    page = f"/gateways/joining/{machine.pk}/"
    assert "172.31.0.14" in text(mara.post(f"{page}move/", {"address": "172.31.0.14", "port": 2222}, follow=True))
    assert "nat-3 is joining Lindenhof:" in text(mara.get("/gateways/"))
    assert "Give up nat-3?" in text(mara.get(f"{page}give-up/"))
    assert "nat-3 does not join any more." in text(mara.post(f"{page}give-up/", follow=True))
    assert mara.get(page).status_code == 404


def test_without_a_group_the_page_says_to_add_one(db: None) -> None:
    assert "/gateways/groups/add/" in text(signed_in(factories.user()).get("/gateways/join/"))


def test_the_trust_needs_a_recent_sign_in(network: factories.Network) -> None:
    machine = make_machine(network.group)
    late = signed_in(network.admin, seconds_ago=86_400)
    late.post(f"/gateways/joining/{machine.pk}/trust/", {"host_key": KEY})
    machine.refresh_from_db()
    assert machine.host_key == ""
