"""The page of remaining times: explains itself, lets a worker ask when the button is pressed, and says why there is no answer."""

import json
from collections.abc import Iterator

import pytest
from django.test import Client

from apps.deployments.services import reconcile
from apps.deployments.transport.agent_channel import AgentChannel, get_readings_channel
from apps.deployments.transport.relay_program import RelayProgram
from apps.gateways.timeouts.models import TimeoutReading
from apps.gateways.timeouts.reading import LOST, list_waiting_readings, read_timeouts
from apps.network.models import Gateway, Profile
from firewall import wire
from firewall.codec import encode
from firewall.conntrack_timeouts import ReadTimeouts, TimeoutHistogram, TimeoutsAre
from tests import factories
from tests.db.agents import end_started
from tests.db.lying_gateway import lying
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER = TimeoutsAre(
    (TimeoutHistogram(6, "established", (60, 7_380, 400_020), (500, 1_400, 3)), TimeoutHistogram(17, "answered", (20,), (97,))),
    2_000,
    True,
    1_500,
)


@pytest.fixture
def network(served_network: factories.Network) -> Iterator[factories.Network]:
    """Gateways in memory that run a ruleset."""
    assert reconcile(served_network.group)
    yield served_network
    end_started()


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def find_path(gateway: Gateway) -> str:
    return f"/gateways/{gateway.pk}/timeouts/"


def press(client: Client, gateway: Gateway) -> str:
    """Press the button, let a worker read, and return the page."""
    assert client.post(find_path(gateway)).status_code == 302
    for pk in list_waiting_readings():
        read_timeouts(pk)
    return text(client.get(find_path(gateway)))


def press_and_answer(client: Client, gateway: Gateway, answer: object) -> str:
    """Press the button while the gateway answers this to it."""

    def say(request: wire.Request, honest: str) -> str:
        return json.dumps(answer) if isinstance(request, ReadTimeouts) else honest

    with lying(gateway, say):
        page = press(client, gateway)
    get_readings_channel(gateway).close()  # it still leads to this liar
    return page


def test_the_page_asks_nothing_until_its_button_is_pressed(mara: Client, network: factories.Network) -> None:
    page = text(mara.get(find_path(network.gateways[0])))
    assert "Read now" in page and "Only numbers leave the gateway" in page and "Remaining times" not in page


def test_a_gateway_without_connections_says_so(mara: Client, network: factories.Network) -> None:
    assert "The gateway tracks none at this moment." in press(mara, network.gateways[0])


def test_the_answer_says_what_shorter_timeouts_would_save_and_leads_to_the_profile(mara: Client, network: factories.Network) -> None:
    page = press_and_answer(mara, network.gateways[0], encode(ANSWER))
    assert "500 of 2,000 connections" in page
    assert "3 of them began under a longer timeout" in page
    assert "TCP, open" in page and "UDP, both directions" in page
    assert f'href="/gateways/groups/{network.group.pk}/profile/"' in page


def test_the_groups_profile_is_the_timeout_in_force(mara: Client, network: factories.Network) -> None:
    Profile.objects.create(group=network.group, tcp_established=1_800)
    assert "that is short already" in press_and_answer(mara, network.gateways[0], encode(ANSWER))


def test_a_table_that_was_not_read_to_its_end_is_said(mara: Client, network: factories.Network) -> None:
    assert "there was no time for all of it" in press_and_answer(mara, network.gateways[0], encode(ANSWER) | {"is_whole": False})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"is": "Refused", "reason": "malformed", "text": "request.is: 'ReadTimeouts' is no request"}, "is of an older release"),
        ({"is": "Refused", "reason": "state", "text": "netlink: <b>no</b>" + "x" * 900}, "did not tell it.</b> netlink: &lt;b&gt;no"),
        (encode(ANSWER) | {"histograms": [encode(TimeoutHistogram(6, "x", (1,), ()))]}, "it answered TimeoutsAre"),
        (encode(wire.DigestIs("0", True)), "it answered DigestIs"),
    ],
)
def test_an_answer_that_is_none_is_said_with_its_reason(mara: Client, network: factories.Network, answer: object, said: str) -> None:
    page = press_and_answer(mara, network.gateways[0], answer)
    assert said in page and "Remaining times" not in page


def test_the_last_answer_stays_when_there_is_no_new_one(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    press_and_answer(mara, gateway, encode(ANSWER))
    page = press_and_answer(mara, gateway, {"is": "Refused", "reason": "state", "text": "being read here already"})
    assert "nat-1 did not tell it." in page and "TCP, open" in page


def test_a_gateway_that_is_not_reached_is_said(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    mara.post(find_path(gateway))
    [pk] = list_waiting_readings()
    nobody = AgentChannel(gateway.name, RelayProgram(("sh", "-c", "echo no route to it >&2; exit 1")))
    read_timeouts(pk, channel_of=lambda _gateway: nobody)
    assert "nat-1 did not tell it." in text(mara.get(find_path(gateway)))
    assert TimeoutReading.objects.get().problem


def test_the_page_follows_a_reading_and_says_when_no_worker_came(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    mara.post(find_path(gateway))
    asked = TimeoutReading.objects.get().asked
    page = text(mara.get(find_path(gateway), headers={"HX-Request": "true", "HX-Target": "now"}))
    assert "The connections are being read." in page and 'hx-trigger="every 1s"' in page and "<html" not in page
    mara.post(find_path(gateway))
    assert TimeoutReading.objects.get().asked == asked, "it is under way already"
    TimeoutReading.objects.update(asked=asked - LOST, state="running")
    page = text(mara.get(find_path(gateway)))
    assert "No worker has read them." in page and "every 1s" not in page
    assert list_waiting_readings() == []
    assert "The gateway tracks none at this moment." in press(mara, gateway)


def test_a_request_is_carried_out_once(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    press(mara, gateway)
    done = TimeoutReading.objects.get()
    read_timeouts(done.pk)
    assert TimeoutReading.objects.get().read == done.read


def test_who_may_only_look_sees_the_answer_and_has_no_button(network: factories.Network) -> None:
    auditor = signed_in(factories.user("auditor", roles=["auditor"]))
    page = text(auditor.get(find_path(network.gateways[0])))
    assert '<button class="btn btn-primary">Read now' not in page
    assert auditor.post(find_path(network.gateways[0])).status_code == 403
