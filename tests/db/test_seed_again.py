"""What the demo's seed makes, a person can make again: the API takes every row of it as the API shows it."""

import json
from datetime import date
from typing import Any, Final

import pytest
from django.db import connection
from django.test import Client

from apps.accounts import tokens
from apps.desk.seeding import demo, lab_network, network_plan
from apps.desk.seeding.tickets import THREADS
from apps.members.models import Member
from apps.network.models import Gateway
from apps.tickets.services import open_ticket
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

TODAY: Final = date(2026, 11, 20)
MEMBERS: Final = 24
HOST_KEY: Final = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "A" * 43
HOST_KEYS: Final = dict.fromkeys(("nat-1", "nat-2"), HOST_KEY)

COLLECTIONS: Final[dict[str, dict[str, str]]] = {  # in the order in which people fill them; which fields name objects of others
    "gateways/groups": {},
    "gateways/gateways": {"group": "gateways/groups"},
    "network/pools": {"group": "gateways/groups"},
    "members/sites": {},
    "members/rooms": {"site": "members/sites"},
    "members/tariffs": {},
    "members/members": {"tariff": "members/tariffs", "room": "members/rooms"},
    "members/devices": {"member": "members/members"},
    "network/addresses": {"member": "members/members", "device": "members/devices", "pool": "network/pools"},
    "nat/mappings": {"holding": "network/addresses", "pool": "network/pools"},
    "nat/forwards": {"holding": "network/addresses"},
}
LATER: Final = {"id", "version", "active", "since", "until", "live_since", "state"}  # not entered: the database, or later actions, set them
SHOWN: Final = {  # not entered either: what the API derives from other objects
    "gateways/groups": {"approval"},
    "gateways/gateways": {"link", "servers", "retired"},
    "network/pools": {"size", "held", "retired"},
    "members/members": {"tariff_name", "room_name"},
    "network/addresses": {"kind", "pool_name"},
    "nat/mappings": {"member", "private_address", "sharing", "first_port", "last_port", "pool"},
    "nat/forwards": {"member", "private_address", "last_public_port"},
}
type ApiRow = dict[str, Any]


class Entering:
    """A script that enters what another portal shows, with the ids that it gets here."""

    def __init__(self) -> None:
        key = tokens.create_token(user=factories.user(), name="script")[1]
        self._client = Client(headers={"authorization": f"Bearer {key}"})
        self._ids: dict[str, dict[int, int]] = {}

    def read(self, path: str) -> list[ApiRow]:
        answer = self._client.get(f"/api/{path}/?limit=1000&ordering=id")
        assert answer.status_code == 200, answer.content
        rows: list[ApiRow] = answer.json()["results"]
        return rows

    def enter(self, path: str, rows: list[ApiRow]) -> None:
        """Add the rows, and fail unless they are then shown as they were."""
        given = [self._translate(path, row) for row in rows]
        answer = self._client.post(f"/api/{path}/", json.dumps(given), "application/json")
        assert answer.status_code == 201, (path, answer.content)
        made = answer.json()
        assert [{name: row[name] for name in sent} for row, sent in zip(made, given, strict=True)] == given, path
        self._ids[path] = {old["id"]: new["id"] for old, new in zip(rows, made, strict=True)}

    def act(self, path: str, pk: int, action: str) -> None:
        answer = self._client.post(f"/api/{path}/{self._ids[path][pk]}/{action}/")
        assert answer.status_code == 200, (path, action, answer.content)

    def _translate(self, path: str, row: ApiRow) -> ApiRow:
        left_out = (LATER | SHOWN.get(path, set())) - ({"since"} if path == "members/members" else set())
        named = {field: self._ids[of][row[field]] for field, of in COLLECTIONS[path].items() if field not in left_out and row[field]}
        return {name: value for name, value in row.items() if name not in left_out} | named


def empty() -> None:
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE members_member, members_site, members_tariff, network_gatewaygroup, accounts_user CASCADE")


def seed() -> None:
    plan = network_plan.make_plan(demo.SEED, MEMBERS, lab_network.read_lab_network(MEMBERS), TODAY, demo.RESIDENTS, demo.FORWARDS)
    network_plan.write_plan(plan, Gateway.Link.LAB, HOST_KEYS)


def test_every_seeded_row_can_be_entered_by_the_api() -> None:
    seed()
    before = Entering()
    shown = {path: before.read(path) for path in COLLECTIONS}
    assert {path for path, rows in shown.items() if not rows} == set()
    empty()
    entering = Entering()
    for path, rows in shown.items():
        entering.enter(path, rows)
        if path == "members/members":
            _reach_states(entering, rows)
    assert [each["state"] for each in entering.read("members/members")] == [each["state"] for each in shown["members/members"]]
    entering.act("gateways/groups", shown["gateways/groups"][0]["id"], "live")


def _reach_states(entering: Entering, rows: list[ApiRow]) -> None:
    """Let the members become active and leave, as they did."""
    for row in rows:
        for action in {"active": ["activate"], "left": ["activate", "leave"]}.get(row["state"], []):
            entering.act("members/members", row["id"], action)


def test_every_seeded_ticket_of_a_member_can_be_opened_by_a_person() -> None:
    seed()
    mara, members = factories.user(), list(Member.objects.order_by("number")[:4])
    for thread in (each for each in THREADS if each.member is not None):
        made = open_ticket(subject=thread.subject, text=thread.said[0].text, member=members[thread.member or 0], by=mara)
        assert (made.subject, made.messages.get().text) == (thread.subject, thread.said[0].text)
