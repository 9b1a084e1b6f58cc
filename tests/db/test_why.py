"""The packet trace, which says why a packet gets through or not: page and command, on members, forwards and bans as database rows."""

import json
from io import StringIO
from ipaddress import IPv6Address, ip_address
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from apps.bans import services as bans
from apps.bans.allow_list import allow_prefix
from apps.bans.blocks.services import block_member
from apps.bans.listeners.services import add_listener
from apps.deployments.services import reconcile
from apps.desk.packet_trace.answer import answer_question
from apps.desk.packet_trace.question import TraceQuestion
from apps.members.models import Member
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from tests import factories
from tests.db.page_client import queries, signed_in, text
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)

FOREIGN = "203.0.113.9"


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


def ask(client: Client, source: object, destination: object, port: int = 443, **more: object) -> str:
    given = {"gateway": "nat-1", "protocol": "tcp", "source": source, "destination": destination, "port": port}
    return text(client.get(f"/why/?{urlencode(given | more)}"))


def ban(network: factories.Network, prefix: str) -> None:
    bans.ban_prefix(list=bans.create_list(name="Own", by=network.admin), prefix=prefix, comment="ssh <b>", author=network.admin)


def run_trace_command(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("trace", *arguments, stdout=out, **options)
    return out.getvalue()


def count_trace_queries(network: factories.Network) -> int:
    """Return how many queries a trace takes in the process that computes it, after the first one."""
    answer_question(build_question(network))
    with CaptureQueriesContext(connection) as captured:
        answer_question(build_question(network))
    return len(captured)


def build_question(network: factories.Network) -> TraceQuestion:
    return TraceQuestion(network.gateways[0], ip_address("10.16.0.10"), ip_address(FOREIGN))


def test_only_staff_may_ask(network: factories.Network, client: Client) -> None:
    assert client.get("/why/").status_code == 302
    client.force_login(factories.user("guest", staff=False))
    assert client.get("/why/").status_code == 403


def test_the_page_begins_with_an_empty_question_and_is_in_the_navigation(staff: Client) -> None:
    page = text(staff.get("/why/"))
    assert "Trace a packet" in page and 'href="/why/" title="Why?" aria-current="page"' in page


def test_without_a_gateway_there_is_nothing_to_ask(transactional_db: None) -> None:
    assert "No gateway yet" in text(signed_in(factories.user()).get("/why/"))


def test_a_members_page_begins_a_question_about_him(staff: Client, network: factories.Network) -> None:
    who = network.residents["m1"].member
    link = f"/why/?source=M-{who.number}"
    assert link in text(staff.get(f"/members/{who.pk}/"))
    assert f'value="M-{who.number}"' in text(staff.get(link))


def test_a_member_goes_through_as_his_public_address(staff: Client, network: factories.Network) -> None:
    resident = network.residents["m1"]
    page = ask(staff, f"M-{resident.member.number}", FOREIGN)
    assert "Goes through." in page and "198.51.100.7:1024–32767 → 203.0.113.9:443" in page
    assert f"{resident.holding.address} leaves as 198.51.100.7" in page and f'href="/members/{resident.member.pk}/"' in page
    assert "nat-2: the same" in page


def test_an_allow_entry_is_named_where_it_lets_something_through(staff: Client, network: factories.Network) -> None:
    ban(network, "203.0.113.0/24")
    allow_prefix(prefix="203.0.113.9", comment="mirror", author=network.admin)
    assert "allow entry of 203.0.113.9" in ask(staff, f"M-{network.residents['m1'].member.number}", FOREIGN)


def test_a_ban_is_named_with_its_author_and_linked(staff: Client, network: factories.Network) -> None:
    ban(network, "203.0.113.0/24")
    page = ask(staff, FOREIGN, network.residents["m1"].holding.address)
    assert "Dropped." in page and "<b>ban of 203.0.113.0/24</b>" in page
    assert "“ssh &lt;b&gt;”, by Mara Lindqvist, permanent" in page
    assert "drop</code>" in page and "not reached" in page


def test_a_block_is_named_and_linked(staff: Client, network: factories.Network) -> None:
    made = block_member(member=network.residents["m1"].member, reason="infected", by=network.admin)
    page = ask(staff, "10.16.0.10", FOREIGN)
    assert "Refused." in page and "block of Resident of m1" in page and f'href="/bans/blocks/{made.pk}/"' in page


def test_a_listener_is_named_and_linked(staff: Client, network: factories.Network) -> None:
    factories.servers(network)
    made = add_listener(group=network.group, name="Web", address=ip_address("192.0.2.40"), protocol="tcp", port=443, by=network.admin)
    page = ask(staff, "10.16.0.10", "192.0.2.40")
    assert "Goes through." in page and f'href="/bans/listeners/{made.pk}/"' in page


def test_a_server_that_does_not_listen_is_one_where_whoever_asks_says_so(staff: Client, network: factories.Network) -> None:
    assert "has no such interface" in ask(staff, "192.0.2.45", FOREIGN, interface="servers")
    factories.servers(network)
    assert "Goes through." not in ask(staff, "192.0.2.45", FOREIGN), "it is nobody’s address that is known here"
    assert "Goes through." in ask(staff, "192.0.2.45", FOREIGN, interface="servers")
    assert "Goes through." in ask(staff, "192.0.2.45", FOREIGN, interface="servers", way="answer")
    assert "Goes through" in run_trace_command("192.0.2.45", FOREIGN, "--in", "servers")


def test_an_answer_says_that_it_guessed_where_the_packet_comes_in(staff: Client, network: factories.Network) -> None:
    note = "Traced as coming from outside. If 192.0.2.45 is one of your servers, choose “servers”."
    assert note not in ask(staff, "192.0.2.45", FOREIGN), "a gateway without servers"
    factories.servers(network)
    page = ask(staff, "192.0.2.45", FOREIGN)
    assert note in page and "interface=servers" in page
    assert note in run_trace_command("192.0.2.45", FOREIGN)
    assert json.loads(run_trace_command("192.0.2.45", FOREIGN, "--json"))["guessed"] == note
    for side in ("servers", "wan"):
        assert note not in ask(staff, "192.0.2.45", FOREIGN, interface=side)
        assert note not in run_trace_command("192.0.2.45", FOREIGN, "--in", side)
    for known in ("10.16.0.10", "192.0.2.50"):  # addresses of a member and of the notice page
        assert "Traced as coming from outside" not in ask(staff, known, FOREIGN)
        assert json.loads(run_trace_command(known, FOREIGN, "--json"))["guessed"] is None


def test_a_forward_is_named_with_its_member(staff: Client, network: factories.Network) -> None:
    there = forward(network, 8443)
    page = ask(staff, FOREIGN, "198.51.100.7", 8443)
    assert "Goes through." in page and f"port forward {there}" in page and "10.16.0.10:443" in page
    assert "<mark>TCP 203.0.113.9:50000 → 10.16.0.10:443</mark>" in page
    assert "No route." in ask(staff, FOREIGN, "198.51.100.7", 8444)


def test_a_forward_that_is_switched_off_leads_nowhere(staff: Client, network: factories.Network) -> None:
    there = forward(network, 8443)
    type(there).objects.update(enabled=False)
    assert "No route." in ask(staff, FOREIGN, "198.51.100.7", 8443)


def test_who_has_left_is_not_let_out_and_the_reason_is_said(staff: Client, network: factories.Network) -> None:
    who = network.residents["m1"]
    Member.objects.filter(pk=who.member.pk).update(state=Member.State.LEFT)
    page = ask(staff, who.holding.address, FOREIGN)
    assert "Dropped." in page and "Its source address belongs to no active member" in page


def test_an_ipv6_member_is_refused_from_outside_but_answers_come_back(staff: Client, network: factories.Network) -> None:
    who = f"M-{network.residents['m1'].member.number}"
    refused = ask(staff, "2001:db8:cafe::10", who, 22)
    assert "Refused." in refused and "Opening this connection is not allowed." in refused and "with a TCP reset" in refused
    answer = ask(staff, who, "2001:db8:cafe::10", 22, way="answer")
    assert "Goes through." in answer and "· established" in answer and "Trace the first packet" in answer


@pytest.mark.parametrize(
    ("source", "destination", "says"),
    [
        ("nobody at all", FOREIGN, "is neither an address nor a known member"),
        ("Resident", FOREIGN, "matches several members"),
        ("2001:db8::1", FOREIGN, "are not of the same IP version"),
        ("", FOREIGN, "This field is required"),
        ("x" * 81, FOREIGN, "at most 80 characters"),
        ("fe80::1%eth0", FOREIGN, "is neither an address"),
        ("\x00", FOREIGN, "This contains a control character (U+0000)"),
    ],
)
def test_what_cannot_be_asked_is_said_under_its_field(staff: Client, source: str, destination: str, says: str) -> None:
    page = ask(staff, source, destination)
    assert says in page and "The packet" not in page


def test_a_gateway_without_a_probe_gets_no_packet_from_one(staff: Client) -> None:
    assert "has no such interface" in ask(staff, "10.16.0.10", FOREIGN, interface="probe")


def test_a_ruleset_that_is_not_known_cannot_be_asked(staff: Client) -> None:
    assert "runs is not known" in ask(staff, "10.16.0.10", FOREIGN, ruleset="runs")


def test_an_answer_costs_the_same_however_many_members_there_are(staff: Client, network: factories.Network) -> None:
    path = f"/why/?{urlencode({'gateway': 'nat-1', 'protocol': 'tcp', 'source': '10.16.0.10', 'destination': FOREIGN, 'port': 443})}"
    few, few_of_trace = queries(staff, path), count_trace_queries(network)
    for number in range(20):
        factories.make_holding(factories.member(f"Another {number}"), network.private, f"10.16.9.{number}")
    assert (queries(staff, path), count_trace_queries(network)) == (few, few_of_trace)


def test_what_runs_is_offered_where_it_differs(served_network: factories.Network) -> None:
    staff = signed_in(served_network.admin)
    assert reconcile(served_network.group, by=served_network.admin.pk)
    forward(served_network, 8443)
    page = ask(staff, FOREIGN, "198.51.100.7", 8443)
    assert "Goes through." in page and "nat-1 still runs r" in page and "ruleset=runs" in page
    page = ask(staff, FOREIGN, "198.51.100.7", 8443, ruleset="runs")
    assert "No route." in page and "With the desired state the result would differ." in page


def test_the_command_says_it_in_a_line_and_shows_every_rule(network: factories.Network) -> None:
    ban(network, "203.0.113.0/24")
    said = run_trace_command(FOREIGN, "10.16.0.10", "22", interface="wan")
    assert "Dropped. The reason: [ban of 203.0.113.0/24" in said
    assert "* ip saddr & 255.255.255.0 @bans4_24 drop" in said and "203.0.113.0 is in bans4_24; dropped" in said


def test_the_command_gives_data_for_scripts(network: factories.Network) -> None:
    said = json.loads(run_trace_command("10.16.0.10", FOREIGN, json=True))
    assert (said["outcome"], said["leaves_by"], said["leaves_as"]) == ("forwarded", "wan0", "198.51.100.7:1024–32767 → 203.0.113.9:443")
    assert said["elements_counted"] == [{"set": "up4", "key": "10.16.0.10", "packets": 1}]
    assert [each["kind"] for each in said["because_of"]] == ["mapping", "member"]
    assert said["path"][0]["rules"][0]["text"] == 'iifname "wan0" accept'


def test_the_command_asks_as_if_it_were_then(network: factories.Network) -> None:
    before = "2001-01-01T00:00"
    assert "Dropped. Its source address belongs to no active member" in run_trace_command("10.16.0.10", FOREIGN, "--at", before)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("10.16.0.10", "nobody"), "is neither an address nor a known member"),
        (("10.16.0.10", FOREIGN, "70000"), "between 1 and 65535"),
        (("10.16.0.10", FOREIGN, "--gateway", "nat-9"), "Known: nat-1, nat-2"),
        (("10.16.0.10", FOREIGN, "--in", "probe"), "has no such interface"),
        (("10.16.0.10", FOREIGN, "--runs"), "runs is not known"),
    ],
)
def test_the_command_refuses_what_makes_no_sense(network: factories.Network, arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        run_trace_command(*arguments)


def test_a_range_of_ports_and_a_pinhole_are_named(staff: Client, network: factories.Network) -> None:
    resident, by = network.residents["m1"], network.admin
    add_forward(holding=resident.holding, public=factories.PUBLIC, protocol="udp", public_port=6000, private_port=6000, ports=10, by=by)
    add_pinhole(holding=resident.prefix, address=IPv6Address("2001:db8:a0:10::10"), protocol="tcp", port=443, ports=1, by=by)
    assert "port forward UDP 6000–6009 on 198.51.100.7" in ask(staff, FOREIGN, factories.PUBLIC, 6004, protocol="udp")
    assert "pinhole TCP 443" in ask(staff, "2001:db8:cafe::10", "2001:db8:a0:10::10")
