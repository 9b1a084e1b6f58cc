"""Addresses with a zone of a host (fe80::1%eth0) have no meaning here. Forms refuse them, and nothing breaks."""

from typing import Any

import pytest
from django.test import Client

from apps.nat.pinholes.models import Pinhole
from apps.network.models import Gateway
from apps.tickets import own_tickets
from tests import factories
from tests.db.page_client import signed_in

ZONED = "fe80::1%eth0"


@pytest.fixture
def mara(network: factories.Network) -> Client:
    client = signed_in(network.admin)
    client.raise_request_exception = False
    return client


def test_a_pinhole_to_one_is_refused(mara: Client, network: factories.Network) -> None:
    who = network.residents["m1"]
    for address in (ZONED, f"{who.prefix.prefix[5]}%eth0", "::10%eth0"):
        given = {"pinhole-protocol": "tcp", "pinhole-port": "443", "pinhole-address": address}
        assert mara.post(f"/members/{who.member.pk}/pinholes/add/", given).status_code == 422
    assert not Pinhole.objects.exists()


def test_a_gateway_is_not_managed_from_one(mara: Client, network: factories.Network) -> None:
    gateway = network.gateways[0]
    page = mara.get(f"/gateways/{gateway.pk}/edit/")
    given: dict[str, Any] = {name: value for name, value in page.context["form"].initial.items() if value is not None}
    given |= {name: "\n".join(map(str, value)) for name, value in given.items() if isinstance(value, list)}
    answer = mara.post(f"/gateways/{gateway.pk}/edit/", given | {"management_networks": ZONED})
    assert answer.status_code == 422
    assert "management_networks" in answer.context["form"].errors
    assert Gateway.objects.get(pk=gateway.pk).version == gateway.version


def test_nor_is_there_a_ban_a_notice_page_or_a_token_of_one(mara: Client, network: factories.Network) -> None:
    member = network.residents["m1"].member
    ticket = own_tickets.open_own_ticket(member=member, by=network.admin, subject="A ban", text="of whom?")
    assert mara.post(f"/tickets/{ticket.pk}/link/", {"ban": ZONED}).status_code == 422
    assert mara.post(f"/bans/notice/{network.group.pk}/", {"version": 0, "ipv6": ZONED, "port": 80}).status_code == 422
    given = {"name": "x", "level": "read", "days": "30", "networks": f"{ZONED}/64", "password": "correct horse battery"}
    assert mara.post("/account/tokens/", given).status_code == 422
