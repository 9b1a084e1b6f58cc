"""A script that opens a thousand ports in one call and waits until both gateways have them; then a packet passes."""

import json
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from apps.accounts import tokens
from lab.lab import Lab
from tests import factories
from tests.whole.system import must_reach, reaches, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]

FIRST, COUNT = 20_000, 1_000


def call(url: str, key: str, given: object = None) -> Any:
    """Return the API's answer to GET, or to POST with a body."""
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    parts = urlsplit(url)
    connection = HTTPConnection(parts.netloc, timeout=120)
    body = None if given is None else json.dumps(given)
    connection.request("POST" if body else "GET", f"{parts.path}?{parts.query}", body, headers)
    answer = connection.getresponse()
    said = json.loads(answer.read())
    connection.close()
    assert answer.status in (200, 201), said
    return said


def test_a_thousand_forwards_of_one_call_carry_packets_once_every_gateway_says_so(
    live_server: Any, lab: Lab, network: factories.Network, working: None
) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    holding, at = network.residents["m1"].holding.pk, f"{live_server.url}/api/nat/forwards/"
    given = {"holding": holding, "protocol": "udp", "public_address": str(factories.PUBLIC)}
    ports = range(FIRST, FIRST + COUNT)
    assert len(call(at, key, [given | {"public_port": port, "private_port": port} for port in ports])) == COUNT

    def confirmed() -> bool:
        found = call(f"{at}?holding={holding}&public_port__gte={FIRST}&limit=1000&fields=active", key)["results"]
        return len(found) == COUNT and all(gateway["since"] for each in found for gateway in each["active"])

    wait_for(confirmed)
    for port in (FIRST, FIRST + COUNT - 1):
        answer = must_reach(lab, "internet", str(factories.PUBLIC), port, "udp")
        assert (answer.node, answer.port) == ("m1", port)
    assert reaches(lab, "internet", str(factories.PUBLIC), FIRST + COUNT, "udp") is None
