"""Requests for a live trace: rights, what can be asked, and the answer of a gateway without packets."""

from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client

from apps.deployments.transport import agent_channel
from apps.desk.live_trace.live_trace_session import LiveTraceRequest, build_watch
from apps.desk.packet_trace.question import InvalidQuestion
from apps.network.models import Gateway
from firewall.live_trace import Watch
from tests import factories
from tests.agent.gateways import Served
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


@pytest.fixture
def staff(network: factories.Network) -> Client:
    return signed_in(network.admin)


@pytest.fixture
def in_memory(network: factories.Network, settings: LazySettings, tmp_path: Path) -> object:
    """Serve a real agent, whose table is in memory, as nat-1."""
    served = Served(tmp_path / "state", on_kernel=False)
    settings.GATEWAY_SOCKETS = served.socket.parent
    (served.socket.parent / "nat-1.sock").symlink_to(served.socket)
    yield served
    agent_channel.close_all_channels()
    served.close()


def test_only_staff_may_watch(network: factories.Network, client: Client) -> None:
    for path in ("/why/live/", "/why/live/nat-1/1/"):
        assert client.get(path).status_code == 302
    client.force_login(factories.user("guest", staff=False))
    for path in ("/why/live/", "/why/live/nat-1/1/"):
        assert client.get(path).status_code == 403
    assert client.post("/why/live/", {"gateway": "nat-1", "source": "10.16.0.0/16"}).status_code == 403
    assert client.post("/why/live/nat-1/1/end/").status_code == 403


def test_the_page_begins_with_an_empty_question_and_is_reached_from_why(staff: Client) -> None:
    assert 'href="/why/live/"' in text(staff.get("/why/"))
    assert "Watch packets as they pass" in text(staff.get("/why/live/"))


def test_an_answer_can_be_watched_live_with_the_same_question(staff: Client) -> None:
    asked = {"gateway": "nat-2", "protocol": "tcp", "source": "10.16.0.10", "destination": "203.0.113.9", "port": 443}
    page = text(staff.get(f"/why/?{urlencode(asked)}"))
    form = page[page.index('action="/why/live/"') :]
    for name, value in (("source", "10.16.0.10"), ("destination", "203.0.113.9"), ("protocol", "tcp"), ("port", "443")):
        assert f'name="{name}" value="{value}"' in form
    assert '<option value="nat-2" selected>' in form


def test_without_a_gateway_there_is_nothing_to_watch(transactional_db: None) -> None:
    assert "No gateway yet" in text(signed_in(factories.user()).get("/why/live/"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "Enter a source or a destination"),
        ({"source": "nobody at all"}, "is neither an address nor a known member"),
        ({"source": "10.16.0.10", "destination": "2001:db8::1"}, "not of the same IP version"),
        ({"source": "10.16.0.10", "port": "443"}, "Only TCP and UDP have ports"),
        ({"source": "10.16.0.10", "seconds": "31"}, "less than or equal to 30"),
        ({"source": "10.16.0.10", "most": "101"}, "less than or equal to 100"),
        ({"source": "10.16.0.10", "gateway": "nat-9"}, "Select a valid choice"),
    ],
)
def test_what_cannot_be_asked_is_said_at_its_field(staff: Client, asked: dict[str, str], said: str) -> None:
    answer = staff.post("/why/live/", {"gateway": "nat-1"} | asked)
    assert answer.status_code == 422
    assert said in text(answer)


def test_a_member_stands_for_what_he_holds_and_a_side_for_its_interface(network: factories.Network) -> None:
    resident, gateway = network.residents["m1"], network.gateways[0]
    number = f"M-{resident.member.number}"
    address = ip_network(resident.holding.address)
    assert build_watch(LiveTraceRequest(gateway, source=number)) == Watch(address, None, 0, 0, "", 15, 20)
    wish = LiveTraceRequest(gateway, number, "203.0.113.0/24", "icmp", interface="lan", seconds=5, most=7)
    assert build_watch(wish) == Watch(address, ip_network("203.0.113.0/24"), 1, 0, gateway.lan, 5, 7)
    assert build_watch(LiveTraceRequest(gateway, "any", "2001:db8:ff::1", "icmp")).protocol == 58


@pytest.mark.parametrize(("field", "value"), [("seconds", 0), ("seconds", 31), ("most", 0), ("most", 101), ("port", -1)])
def test_more_than_the_gateway_allows_is_not_asked_for(network: factories.Network, field: str, value: int) -> None:
    wish = {"source": "10.16.0.10", "protocol": "tcp", field: value}
    with pytest.raises(InvalidQuestion, match="At least"):
        build_watch(LiveTraceRequest(network.gateways[0], **wish))  # type: ignore[arg-type]  # mixed types


def test_a_table_in_memory_is_refused_with_the_reason(staff: Client, in_memory: Served) -> None:
    answer = staff.post("/why/live/", {"gateway": "nat-1", "source": "10.16.0.0/16"})
    assert answer.status_code == 422
    assert "nat-1 refuses: this gateway&#x27;s table is in memory" in text(answer)
    with pytest.raises(CommandError, match="in memory"):
        call_command("trace", "10.16.0.0/16", "any", live=True, gateway="nat-1", stdout=StringIO())


def test_a_forgotten_live_trace_is_reported_and_not_polled_again(staff: Client, in_memory: Served) -> None:
    page = text(staff.get("/why/live/nat-1/7/"))
    assert "this live trace is no longer available" in page and 'hx-trigger="every' not in page


def test_a_gateway_that_does_not_exist_has_no_page(staff: Client) -> None:
    assert not Gateway.objects.filter(name="nat-9").exists()
    assert staff.get("/why/live/nat-9/1/").status_code == 404


def test_the_command_says_what_it_cannot_ask(network: factories.Network) -> None:
    with pytest.raises(CommandError, match="source: Enter a source or a destination"):
        call_command("trace", "any", "any", live=True, stdout=StringIO())
