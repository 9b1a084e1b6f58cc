"""The page of remaining times: explains itself, asks the gateway when the button is pressed, and says why there is no answer."""

import json
from collections.abc import Iterator

import pytest
from django.test import Client

from apps.deployments.services import reconcile
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


def press(client: Client, gateway: Gateway, answer: object) -> str:
    """Press the button while the gateway answers this to it."""

    def say(request: wire.Request, honest: str) -> str:
        return json.dumps(answer) if isinstance(request, ReadTimeouts) else honest

    with lying(gateway, say):
        return text(client.post(find_path(gateway)))


def test_the_page_asks_nothing_until_its_button_is_pressed(mara: Client, network: factories.Network) -> None:
    page = text(mara.get(find_path(network.gateways[0])))
    assert "Read now" in page and "Only numbers leave the gateway" in page and "Remaining times" not in page


def test_a_gateway_without_connections_says_so(mara: Client, network: factories.Network) -> None:
    assert "The gateway tracks none at this moment." in text(mara.post(find_path(network.gateways[0])))


def test_the_answer_says_what_shorter_timeouts_would_save_and_leads_to_the_profile(mara: Client, network: factories.Network) -> None:
    page = press(mara, network.gateways[0], encode(ANSWER))
    assert "500 of 2,000 connections" in page
    assert "3 of them began under a longer timeout" in page
    assert "TCP, open" in page and "UDP, both directions" in page
    assert f'href="/gateways/groups/{network.group.pk}/profile/"' in page


def test_the_groups_profile_is_the_timeout_in_force(mara: Client, network: factories.Network) -> None:
    Profile.objects.create(group=network.group, tcp_established=1_800)
    assert "that is short already" in press(mara, network.gateways[0], encode(ANSWER))


def test_a_table_that_was_not_read_to_its_end_is_said(mara: Client, network: factories.Network) -> None:
    assert "there was no time for all of it" in press(mara, network.gateways[0], encode(ANSWER) | {"is_whole": False})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"is": "Refused", "reason": "malformed", "text": "request.is: 'ReadTimeouts' is no request"}, "is of an older release"),
        ({"is": "Refused", "reason": "state", "text": "netlink: <b>no</b>"}, "refused: netlink: &lt;b&gt;no"),
        (encode(ANSWER) | {"histograms": [encode(TimeoutHistogram(6, "x", (1,), ()))]}, "does not fit the question"),
        (encode(wire.DigestIs("0", True)), "does not fit the question"),
    ],
)
def test_an_answer_that_is_none_is_said_with_its_reason(mara: Client, network: factories.Network, answer: object, said: str) -> None:
    page = press(mara, network.gateways[0], answer)
    assert said in page and "Remaining times" not in page


def test_who_may_only_look_has_neither_page_nor_button(network: factories.Network) -> None:
    auditor = signed_in(factories.user("auditor", roles=["auditor"]))
    assert auditor.get(find_path(network.gateways[0])).status_code == 403
    assert "/timeouts/" not in text(auditor.get(f"/gateways/{network.gateways[0].pk}/health/"))
