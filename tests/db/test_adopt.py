"""manage.py adopt: names exactly what gateways run that the database lacks, and the requests that it shows bring it back."""

import csv
import json
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from apps.accounts import tokens
from apps.accounts.roles import Role
from apps.bans.allow_list import allow_prefix
from apps.bans.listeners.models import Listener
from apps.bans.models import AllowEntry, Ban, BanList, Block
from apps.bans.services import ban_prefix
from apps.deployments.adoption.running_elements import fetch_running_elements
from apps.deployments.models import Rollout
from apps.deployments.services import reconcile
from apps.deployments.transport import agent_channel
from apps.deployments.transport.agent_channel import AgentChannel
from apps.deployments.transport.agent_client import AgentRefused
from apps.members.models import Member, Tariff
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward, map_address
from apps.network.models import Holding
from apps.network.services import assign_address, release_holding
from apps.traffic.models import RateLimit
from firewall import wire, wire_versions
from firewall.codec import encode
from firewall.ruleset import PLAIN, Set, Type
from firewall.running_elements import ElementsAre, ReadElements
from firewall.wire_versions import SPOKEN, Additions
from tests import factories
from tests.db.agents import end_started, stop_agent
from tests.db.example_objects import one_of_each
from tests.db.lying_gateway import lying
from tests.db.page_client import signed_in

pytestmark = pytest.mark.django_db(transaction=True)
FILLED = {"reason": "other", "note": ""}  # what only a person knows


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Gateways in memory that run a forward, a pinhole, a ban, an allow entry, a block, a listener, a rate limit and a tariff's rate."""
    one_of_each(served_network)
    fast = Tariff.objects.create(name="Fast", up_kbit=5_000, down_kbit=20_000)
    Member.objects.filter(pk=served_network.residents["m3"].member.pk).update(tariff=fast)
    deploy(served_network)
    yield served_network
    end_started()


def deploy(network: factories.Network) -> None:
    rollout = reconcile(network.group, force=True)
    assert rollout is not None and rollout.state == Rollout.State.CONFIRMED


def adopt(*arguments: str) -> str:
    said = StringIO()
    call_command("adopt", *arguments, stdout=said, stderr=StringIO())
    return said.getvalue()


def read_running(network: factories.Network) -> dict[str, dict[str, set[bytes]]]:
    """Return the keys that each gateway has, by set."""
    found = {each.name: fetch_running_elements(agent_channel.get_channel(each), 0).elements for each in network.gateways}
    return {name: {of: set(elements) for of, elements in sets.items()} for name, sets in found.items()}


def list_found() -> list[dict[str, Any]]:
    [listing] = json.loads(adopt("--json"))
    assert listing["not_read"] == {}
    found: list[dict[str, Any]] = listing["objects"]
    return found


def name_found() -> list[str]:
    return [each["object"] for each in list_found()]


def check_pages(network: factories.Network) -> None:
    """Fail if a page that the list names does not open."""
    client = signed_in(network.admin)
    for page in {each["page"] for each in list_found()}:
        assert client.get(page).status_code == 200, page


def enter_all(network: factories.Network) -> None:
    """Send the requests of the list, as a person would with a token, until nothing more can be entered."""
    boss = factories.user("boss", roles=list(Role))
    _token, key = tokens.create_token(user=boss, name="adopt")
    client = Client(headers={"authorization": f"Bearer {key}"})
    while requests := [each["request"] for each in list_found() if each["request"]]:
        for request in requests:
            body = {name: FILLED[name] if value is None else value for name, value in request["body"].items()}
            answer = client.generic(request["method"], request["path"], json.dumps(body), content_type="application/json")
            assert answer.status_code in (200, 201), (request, answer.content)


def lose_objects(network: factories.Network) -> None:
    """Take the database back to before the objects were made."""
    for model in (PortForward, Pinhole, Ban, AllowEntry, Block, Listener, RateLimit):
        model._default_manager.all().delete()
    Member.objects.update(tariff=Tariff.objects.get(name="Standard"))


# --- What is named


def test_gateways_that_run_what_the_database_asks_for_have_nothing_else(network: factories.Network) -> None:
    assert list_found() == []
    assert "(nat-1, nat-2): nothing that the database lacks" in adopt()


def test_what_was_made_after_the_backup_is_named_object_by_object(network: factories.Network) -> None:
    lose_objects(network)
    m1, m2, m3 = (network.residents[name] for name in ("m1", "m2", "m3"))
    assert name_found() == [
        f"port forward TCP 198.51.100.7:8443 → {m1.holding}:443",
        f"pinhole TCP 22 · {m1.prefix.prefix[7]}",
        "ban of 203.0.113.64/26",
        "allow entry of 203.0.113.65",
        f"block of the holder of {m2.holding}; block of the holder of {m2.prefix}",
        "listener TCP 443 on 192.0.2.60, “web”",
        f"rate limit for {m3.holding}: 1.00\u202fMbit/s up; rate limit for {m3.prefix}: 1.00\u202fMbit/s up",
        "; ".join(f"rate by the tariff for {each}: 5.00\u202fMbit/s up, 20.0\u202fMbit/s down" for each in (m3.holding, m3.prefix)),
    ]


def test_each_object_comes_with_its_member_its_page_and_its_request(network: factories.Network) -> None:
    m1 = network.residents["m1"]
    lose_objects(network)
    forward, pinhole, ban, *_others = list_found()
    body = {"holding": m1.holding.pk, "public_address": "198.51.100.7", "protocol": "tcp", "public_port": 8443, "private_port": 443}
    assert forward["request"] == {"method": "POST", "path": "/api/nat/forwards/", "body": body | {"ports": 1}}
    assert (forward["member"], forward["page"]) == ("Resident of m1", f"/members/{m1.member.pk}/#forwards")
    assert (forward["gateways"], forward["in_database"], pinhole["member"]) == (["nat-1", "nat-2"], "", "Resident of m1")
    assert ban["page"] == f"/bans/{BanList.objects.get().pk}/"
    check_pages(network)


def test_the_command_says_it_in_lines(network: factories.Network) -> None:
    lose_objects(network)
    lines = adopt().splitlines()
    assert lines[0] == "Lindenhof (nat-1, nat-2): 8 objects that the database lacks"
    at = lines.index("Port forwards")
    assert lines[at + 1].endswith("(Resident of m1)") and lines[at + 2].startswith("    page /members/")
    assert lines[at + 3].startswith('    or POST /api/nat/forwards/ {"holding": ')
    assert "Fill in what is null: no gateway knows it." in lines


def test_the_requests_of_the_list_bring_everything_back(network: factories.Network) -> None:
    before = read_running(network)
    lose_objects(network)
    assert len(list_found()) == 8
    enter_all(network)
    assert list_found() == []
    deploy(network)
    assert read_running(network) == before


def test_ends_of_bans_are_named_and_come_back(network: factories.Network) -> None:
    end = (timezone.now() + timedelta(days=30)).replace(microsecond=0)
    into = BanList.objects.get()
    ban_prefix(list=into, prefix="192.0.2.200", comment="scans", expires=end, direction="in", author=network.admin)
    allow_prefix(prefix="192.0.2.201", expires=end, author=network.admin)
    deploy(network)
    Ban.objects.filter(prefix=ip_network("192.0.2.200")).delete()
    AllowEntry.objects.filter(prefix=ip_network("192.0.2.201")).delete()
    banned, allowed = name_found()
    assert banned.startswith("ban of 192.0.2.200, incoming only, “scans”, until ")
    assert allowed.startswith("allow entry of 192.0.2.201, until ")
    enter_all(network)
    made = Ban.objects.get(prefix=ip_network("192.0.2.200"))
    assert (made.direction, made.comment, made.expires) == ("in", "scans", end)
    assert AllowEntry.objects.get(prefix=ip_network("192.0.2.201")).expires == end


def test_a_range_of_ports_is_one_object_and_a_pinhole_of_everything_too(network: factories.Network) -> None:
    m2 = network.residents["m2"]
    ports = {"protocol": "udp", "public_port": 6000, "private_port": 7000, "ports": 10}
    add_forward(holding=m2.holding, public=factories.PUBLIC, by=network.admin, **ports)  # type: ignore[arg-type]
    add_pinhole(holding=m2.prefix, address=m2.prefix.prefix[9], protocol="all", port=0, by=network.admin)
    deploy(network)
    PortForward.objects.filter(public_port=6000).delete()
    Pinhole.objects.filter(protocol="all").delete()
    assert name_found() == [
        f"port forward UDP 198.51.100.7:6000–6009 → {m2.holding}:7000–7009",
        f"pinhole everything · {m2.prefix.prefix[9]}",
    ]
    enter_all(network)
    assert list_found() == [] and PortForward.objects.get(public_port=6000).ports == 10


# --- Members and addresses


def test_an_address_that_was_assigned_since_is_named_with_what_hangs_on_it_in_order(network: factories.Network) -> None:
    late = factories.member("Late Larry")
    holding = assign_address(member=late, pool=network.private, prefix=ip_network("10.16.0.77"), by=network.admin)
    mapping = map_address(holding=holding, public=factories.PUBLIC, by=network.admin)
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=9001, private_port=22, by=network.admin)
    deploy(network)
    PortForward.objects.filter(holding=holding).delete()
    mapping.delete()
    holding.delete()
    address, nat, forward = list_found()
    assert (address["object"], address["member"]) == ("address 10.16.0.77", "")
    assert address["request"]["body"] == {"member": None, "pool": network.private.pk, "address": "10.16.0.77"}
    assert "does not know its member" in address["advice"]
    assert nat["object"] == "10.16.0.77 is mapped to 198.51.100.7" and forward["request"] is None
    assert "Nobody holds 10.16.0.77 in the database: assign it first" in nat["advice"]
    assign_address(member=late, pool=network.private, prefix=ip_network("10.16.0.77"), by=network.admin)
    nat, forward = [each for each in list_found() if each["kind"] != "addresses"]
    assert nat["request"]["path"] == "/api/nat/mappings/" and forward["member"] == "Late Larry"


def test_an_assignment_that_the_database_knows_as_over_names_its_member(network: factories.Network) -> None:
    m3 = network.residents["m3"]
    release_holding(holding=m3.holding, by=network.admin)
    [address, *_rest] = list_found()
    assert (address["object"], address["member"]) == (f"address {m3.holding}", "Resident of m3")
    assert address["request"]["body"]["member"] == m3.member.pk
    check_pages(network)


def test_of_a_member_who_was_not_active_yet_the_activation_is_what_is_missing(network: factories.Network) -> None:
    m2 = network.residents["m2"]
    Member.objects.filter(pk=m2.member.pk).update(state=Member.State.PENDING)
    found = list_found()
    assert {each["kind"] for each in found} == {"addresses", "prefixes", "mappings", "blocks"}
    for each in found:
        assert each["request"] is None and each["page"].startswith(f"/members/{m2.member.pk}/"), each
        assert "activate the member" in each["advice"]
    check_pages(network)


def test_an_address_that_has_changed_hands_is_shown_beside_what_the_database_has(network: factories.Network) -> None:
    m3, late = network.residents["m3"], factories.member("Late Larry")
    public = factories.PUBLIC + 5
    NatMapping.objects.filter(holding=m3.holding).update(public=public)
    Holding.objects.filter(pk=m3.prefix.pk).delete()
    factories.make_holding(late, network.prefixes, str(m3.prefix.prefix))
    prefix, mapping = (each for each in list_found() if each["kind"] in ("prefixes", "mappings"))
    assert mapping["in_database"] == f"{m3.holding} is mapped to {public}" and mapping["request"] is None
    assert mapping["object"] == f"{m3.holding} is mapped to 198.51.100.8"
    assert prefix["in_database"] == "IPv6 prefix 2001:db8:a0:12::/64 of Late Larry"
    assert "whom the database does not know" in prefix["advice"]
    assert "the database has: " in adopt()


def test_what_was_switched_on_since_is_switched_on_again(network: factories.Network) -> None:
    for model in (PortForward, Pinhole, Listener):
        model._default_manager.update(enabled=False)
    found = list_found()
    assert [(each["kind"], each["request"]["method"]) for each in found] == [
        (kind, "PATCH") for kind in ("forwards", "pinholes", "listeners")
    ]
    assert {each["advice"] for each in found} == {"It is switched off in the database."}
    enter_all(network)
    assert list_found() == [] and PortForward.objects.get().enabled and Listener.objects.get().enabled


def test_a_tariff_that_the_database_does_not_have_is_said(network: factories.Network) -> None:
    Tariff.objects.filter(name="Fast").update(up_kbit=1_000)
    for changed in list_found():
        assert changed["in_database"].startswith("rate by the tariff for ") and "1.00\u202fMbit/s up" in changed["in_database"]
        assert (changed["request"], changed["page"]) == (None, "/tariffs/")
    Member.objects.update(tariff=Tariff.objects.get(name="Standard"))
    found = list_found()
    assert {each["advice"] for each in found} == {
        "No tariff in the database gives this rate: add the tariff, or change it, then list again."
    }


# --- Gateways


def test_the_other_way_round_is_only_counted(network: factories.Network) -> None:
    ports = {"protocol": "tcp", "public_port": 9100, "private_port": 22, "ports": 5}
    add_forward(holding=network.residents["m1"].holding, public=factories.PUBLIC, by=network.admin, **ports)  # type: ignore[arg-type]
    assert "nat-1 lacks 5 forwarded ports: “manage.py plan” shows that." in adopt()
    assert json.loads(adopt("--json"))[0]["only_in_database"] == {name: {"forwards": 5} for name in ("nat-1", "nat-2")}


def test_what_only_one_gateway_has_is_said_to_be_there(network: factories.Network) -> None:
    lose_objects(network)
    with lying(network.gateways[0], lambda _request, honest: honest):
        assert {tuple(each["gateways"]) for each in list_found()} == {("nat-2",)}
        assert "– only on nat-2" in adopt() and "The other way round, nat-1 lacks " in adopt()
        assert json.loads(adopt("--json", "--gateway", "nat-1"))[0]["objects"] == []


def test_a_gateway_that_is_away_hides_nothing_of_the_others(network: factories.Network) -> None:
    lose_objects(network)
    said, faults, data = StringIO(), StringIO(), StringIO()
    with stop_agent(network.gateways[0]):
        for output, arguments in ((said, ()), (data, ("--json",))):
            with pytest.raises(SystemExit):
                call_command("adopt", *arguments, stdout=output, stderr=faults)
    assert said.getvalue().startswith("Lindenhof (nat-2): 8 objects")
    [listing] = json.loads(data.getvalue())
    assert (listing["gateways"], list(listing["not_read"]), len(listing["objects"])) == (["nat-2"], ["nat-1"], 8)
    assert faults.getvalue().startswith("nat-1: not read: ")


def test_an_agent_that_cannot_tell_is_named_with_what_to_do(network: factories.Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AgentChannel, "_speaks", SPOKEN[0], raising=False)
    monkeypatch.setitem(wire_versions.LACKING, wire.VERSION, Additions(classes=frozenset({"ReadElements", "ElementsAre"})))
    faults = StringIO()
    with pytest.raises(SystemExit):
        call_command("adopt", stdout=StringIO(), stderr=faults)
    assert "nat-1's agent cannot do this yet" in faults.getvalue() and "docs/upgrade.md" in faults.getvalue()


def test_elements_that_are_no_objects_are_counted_and_not_guessed(network: factories.Network) -> None:
    def add_one(request: wire.Request, honest: str) -> str:
        if not isinstance(request, ReadElements):
            return honest
        mine = Set("mine", (Type.PORT,), 64)
        return json.dumps(encode(ElementsAre({"mine": mine}, {"mine": {b"\0\x16": PLAIN}}, False)))

    with lying(network.gateways[0], add_one):
        said = adopt("--gateway", "nat-1")
        assert "nat-1 has elements that are no objects of the portal, perhaps added by hand: 1 in mine." in said
        assert "nothing that the database lacks" in said


def test_an_agent_that_promises_more_for_ever_is_not_asked_for_ever(network: factories.Network) -> None:
    endless = json.dumps(encode(ElementsAre({}, {}, True)))
    with lying(network.gateways[0], lambda request, honest: endless if isinstance(request, ReadElements) else honest):
        channel = agent_channel.get_channel(network.gateways[0])
        with pytest.raises(AgentRefused, match="sends none behind the last one"):
            fetch_running_elements(channel, 0)


def test_nothing_is_changed_by_it_neither_here_nor_there(network: factories.Network) -> None:
    lose_objects(network)
    before, rollouts = read_running(network), Rollout.objects.count()
    adopt()
    assert read_running(network) == before and Rollout.objects.count() == rollouts


def test_a_gateway_that_does_not_exist_is_refused_with_those_that_do(network: factories.Network) -> None:
    with pytest.raises(CommandError, match=r"There is no gateway to ask\. Known: nat-1, nat-2\."):
        call_command("adopt", "--gateway", "nat-9")


# --- Forwards as a table


def test_the_table_of_forwards_is_read_by_the_import_of_people(network: factories.Network, tmp_path: Path) -> None:
    m1, m2 = network.residents["m1"], network.residents["m2"]
    for holding, port, count in ((m1.holding, 9001, 1), (m1.holding, 6000, 10), (m2.holding, 9002, 1)):
        ports = {"protocol": "tcp", "public_port": port, "private_port": port - 900, "ports": count}
        add_forward(holding=holding, public=factories.PUBLIC, by=network.admin, **ports)  # type: ignore[arg-type]
    deploy(network)
    PortForward.objects.all().delete()
    table = tmp_path / "forwards.csv"
    table.write_text(adopt("--csv"))
    [head, first, second] = csv.reader(table.read_text(encoding="utf-8-sig").splitlines())
    assert head == ["Member number", "Private address", "Public address", "Forwards"]
    assert first[1:] == [str(m1.holding), "198.51.100.7", "tcp 6000-6009 → 5100-5109, tcp 8443 → 443, tcp 9001 → 8101"]
    assert second[3] == "tcp 9002 → 8102"
    call_command("import_people", str(table), "--author", network.admin.username, stdout=StringIO())
    assert list_found() == []


def test_a_forward_that_the_table_cannot_say_is_named_beside_it(network: factories.Network) -> None:
    m1 = network.residents["m1"]
    NatMapping.objects.filter(holding=m1.holding).update(public=factories.PUBLIC + 5)
    PortForward.objects.all().delete()
    said, left_out = StringIO(), StringIO()
    call_command("adopt", "--csv", stdout=said, stderr=left_out)
    assert len(said.getvalue().splitlines()) == 1
    assert left_out.getvalue().startswith("Not in the table: port forward TCP 198.51.100.7:8443")
