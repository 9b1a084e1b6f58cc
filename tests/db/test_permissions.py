"""Every route as every role: access is exactly what docs/permissions.md says, and members see nothing of other members."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.cookies import SimpleCookie
from ipaddress import ip_address
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.db import transaction
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from apps.accounts import permission_matrix, tokens
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.accounts.route_rights import API, DEVELOPMENT, PAGES, PageRights
from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.alarms.duty.calendar_services import CalendarFacts, add_calendar
from apps.alarms.duty.services import add_shift
from apps.bans.blocks.services import block_member
from apps.members.models import Device, Member, Tariff
from apps.nat.pinholes.services import add_pinhole
from apps.nat.services import add_forward
from apps.status.incidents.services import IncidentFacts, UpdateFacts, open_incident
from apps.tickets.bulk import answer_tickets
from apps.tickets.merging import merge_tickets
from apps.tickets.models import Attachment, Canned, Content, Link, Move
from apps.tickets.services import write_to
from apps.webhooks import services as webhooks
from apps.webhooks.models import Delivery
from tests import announcement_factories, factories
from tests.db.page_client import signed_in

DOCUMENT = configured.ROOT / "docs" / "permissions.md"
ABSENT = 999_999_999


@dataclass(frozen=True)
class RightsWorld:
    """A network with one account for each role, and another member, whose data only staff may see."""

    people: dict[str, User]
    scripts: dict[str, Client]
    other: factories.Resident
    ids: dict[str, int]
    marks: tuple[str, ...]

    def client(self, column: str) -> Client:
        return Client() if column == permission_matrix.ANONYMOUS else signed_in(self.people[column])

    def path(self, route: permission_matrix.PermissionRow) -> str:
        """Return the route's path, with ids of the other member's objects."""
        subject = f"{route.basename}:{route.action}" if route.basename else route.name
        return "/" + re.sub(
            r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>(?:[^()]|\([^()]*\))*\)", lambda found: self._value(subject, found[1] or found[2]), route.path
        ).replace("^", "").replace("$", "").replace("\\", "").replace("/?", "/")

    def _value(self, subject: str, name: str) -> str:
        if name in WORDS:
            return WORDS[name]
        return str(next((found for start, found in self.ids.items() if subject.startswith(start)), ABSENT))


WORDS = {
    "history": "00000000-0000-4000-8000-000000000000",
    "form": "txt",
    "gateway": "nat-1",
    "number": "1",
    "name": "parts",
    "format": "json",
    "key": "a-b",
    "uidb36": "1",
    "provider_id": "nobody",
    "token": "forged",
}


@pytest.fixture
def world(network: factories.Network) -> RightsWorld:
    people = {role.value: factories.user(f"{role.value}s", roles=[role.value]) for role in Role}
    scripts = {
        name: Client(headers={"authorization": f"Bearer {tokens.create_token(user=user, name='s')[1]}"}) for name, user in people.items()
    }
    scripts[permission_matrix.ANONYMOUS] = Client()
    mine, other = network.residents["m1"], network.residents["m2"]
    Member.objects.filter(pk=mine.member.pk).update(user=people["member"])
    Member.objects.filter(pk=other.member.pk).update(name="Xaver Verborgen", email="xaver.verborgen@lindenhof.example")
    secret = Tariff.objects.create(name="Of one")
    Member.objects.filter(pk=other.member.pk).update(tariff=secret)
    other.member.refresh_from_db()
    forward = add_forward(
        holding=other.holding,
        public=other.mapping.public,
        protocol="tcp",
        public_port=44321,
        private_port=22,
        purpose="Xaver's secret server",
        by=network.admin,
    )
    inside = ip_address(int(other.prefix.prefix.network_address) + 0x51)
    pinhole = add_pinhole(holding=other.prefix, address=inside, protocol="tcp", port=44322, purpose="Xaver's pinhole", by=network.admin)
    held = block_member(member=other.member, reason="abuse", by=network.admin)
    device = Device.objects.get(member=other.member)
    ticket = write_to(member=other.member, subject="Xaver's question", text="What Xaver asked", by=network.admin)
    attachment = Attachment.objects.create(message=ticket.messages.get(), name="xaver.txt", size=1)
    Content.objects.create(attachment=attachment, octets=b"Xaver")
    about = Link.objects.create(ticket=ticket, kind="members.device", object_id=device.pk, by=network.admin)
    canned = Canned.objects.create(name="Hello", text_de="Hallo", text_en="Hello")
    sent = answer_tickets(key=uuid4(), tickets=[ticket], text_de="Hallo Xaver", text_en="", by=network.admin)
    double = write_to(member=other.member, subject="Xaver's other question", text="Twice", by=network.admin)
    merge_tickets(into=ticket, tickets=[double], by=network.admin)
    move = Move.objects.get()
    webhook, _secret = webhooks.add_webhook(
        facts=webhooks.EndpointFacts(name="Xaver's", url="https://hooks.lindenhof.example/"), by=people["network_admin"]
    )
    facts = ChannelFacts(name="Verborgen", target="json://127.0.0.1:9/x")
    channel = add_channel(facts=facts, by=people["network_admin"])
    times = {"begins": timezone.now(), "ends": timezone.now() + timedelta(hours=1)}
    shift = add_shift(person=people["network_admin"], by=people["network_admin"], **times)
    of_duty = add_calendar(facts=CalendarFacts("Verborgen", address="https://cal.lindenhof.example/x"), by=people["network_admin"])
    first = UpdateFacts("looking", text_en="Xaver's words")
    facts_of_incident = IncidentFacts(kind="fault", services=["ipv4"], began=timezone.now(), title_en="Xaver's fault", public=False)
    incident = open_incident(facts=facts_of_incident, first=first, by=network.admin)
    announcement = announcement_factories.publish(network.admin, title_en="To Xaver Verborgen", text_en="Xaver", tariffs=[secret])
    told = webhooks.ping_webhook(endpoint=webhook, by=people["network_admin"])
    Delivery.objects.filter(pk=told.pk).update(state="sent", ended=Now())
    ids = {
        "desk:member": other.member.pk,
        "desk:member-history": other.member.pk,
        "desk:check": other.member.pk,
        "desk:invitation-withdraw": other.member.pk,
        "desk:holdings": other.member.pk,
        "desk:holding-add": other.member.pk,
        "desk:holding": other.holding.pk,
        "desk:device-add": other.member.pk,
        "desk:device": device.pk,
        "nat:forwards-of": other.member.pk,
        "nat:forward-add": other.member.pk,
        "nat:forward": forward.pk,
        "nat:pinholes-of": other.member.pk,
        "nat:pinhole-add": other.member.pk,
        "nat:pinhole": pinhole.pk,
        "nat:renumber": other.prefix.pk,
        "bans:block-member": other.member.pk,
        "bans:block": held.pk,
        "network:pool": network.private.pk,
        "traffic:of": other.member.pk,
        "traffic:quota": other.member.tariff_id,
        "gateways:gateway": network.gateways[0].pk,
        "gateways:health": network.gateways[0].pk,
        "gateways:timeouts": network.gateways[0].pk,
        "gateways:edit": network.gateways[0].pk,
        "gateways:": network.group.pk,
        "tickets:attachment": attachment.pk,
        "tickets:canned": canned.pk,
        "tickets:sent": sent.pk,
        "tickets:unmerge": move.pk,
        "tickets:unlink": about.pk,
        "webhooks:delivery": told.pk,
        "webhooks:again": told.pk,
        "webhooks:": webhook.pk,
        "alarms:channel": channel.pk,
        "alarms:shift": shift.pk,
        "alarms:calendar": of_duty.pk,
        "status:incident": incident.pk,
        "status:ticket": incident.pk,
        "announcements:": announcement.pk,
        "own:announcement-seen": announcement.pk,
        "announcement": announcement.pk,
        "tickets:": ticket.pk,
        "own:ticket-attachment": attachment.pk,
        "own:ticket": ticket.pk,
        "member": other.member.pk,
        "address": other.holding.pk,
        "mapping": other.mapping.pk,
        "forward": forward.pk,
        "pinhole": pinhole.pk,
        "block": held.pk,
        "device": device.pk,
        "tariff": other.member.tariff_id,
        "pool": network.private.pk,
        "gateway": network.gateways[0].pk,
        "uplink": network.group.pk,
        "group:plan": ABSENT,  # reads the database in a transaction of its own, which cannot be nested
        "group": network.group.pk,
        "webhook": webhook.pk,
        "channel": channel.pk,
        "shift": shift.pk,
        "calendar": of_duty.pk,
        "incident": incident.pk,
        "delivery": told.pk,
    }
    marks = ("Verborgen", "verborgen", str(other.holding.prefix.network_address), str(inside), "44321", device.mac, "Xaver")
    return RightsWorld(people, scripts, other, ids, marks)


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what a request changed."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def send_request(client: Client, method: str, path: str) -> Any:
    cookies = client.cookies.output(header="", sep=";")
    with undone():
        answer = client.generic(method, path, b"{}" if path.startswith("/api/") else b"", content_type="application/json")
    client.cookies = SimpleCookie(cookies)  # a client that the request signed out is signed in again, as in the database
    return answer


def let_through(answer: Any) -> bool:
    """True if the request reached the view. Server errors fail the test."""
    path = answer.request["PATH_INFO"]
    assert answer.status_code < 500 or path == "/health", (path, answer.status_code)  # its 503 says that no worker runs here
    away = answer.status_code == 302 and (answer["Location"] == "/me/" or answer["Location"].startswith("/account/login/?next="))
    return not away and answer.status_code not in ((401, 403, 405) if path.startswith("/api/") or path == "/metrics" else (403, 405))


def describe_access(world: RightsWorld, column: str, clients: dict[str, Client], route: permission_matrix.PermissionRow) -> str:
    """Return what the role of this column can do at the route, in the words of the document."""
    path, words = world.path(route), []
    for word, method in (("see", "GET"), ("send", "POST")) if not route.method else ((_word(route.method), route.method),):
        client = world.scripts[column] if route.method else clients[column]
        if let_through(send_request(client, method, path)):
            words.append(word)
    return ", ".join(words) or permission_matrix.NOTHING


def _word(method: str) -> str:
    return "see" if method == "GET" else "send"


def read_documented() -> dict[str, list[str]]:
    """Return the tables of the document, as the cells of each route."""
    lines = [line.strip("| ").split(" | ") for line in DOCUMENT.read_text().splitlines() if line.startswith("| `")]
    return {line[0].strip("`"): line[2:] for line in lines}


def test_each_role_can_do_on_each_route_what_the_table_says_and_nothing_else(world: RightsWorld) -> None:
    clients = {column: world.client(column) for column in permission_matrix.COLUMNS}
    table, wrong = read_documented(), []
    for route in permission_matrix.list_routes():
        cells = [describe_access(world, column, clients, route) for column in permission_matrix.COLUMNS]
        if cells != table.get(route.key):
            wrong.append((route.key, cells, table.get(route.key)))
    assert wrong == []


def test_the_table_is_the_one_that_the_code_gives() -> None:
    assert DOCUMENT.read_text() == permission_matrix.render_document(), "Write it anew: manage.py permissions"


def test_every_route_has_a_line_and_every_line_a_route() -> None:
    assert permission_matrix.list_unknown_routes() == []
    names = {name for name, _path, _pattern in permission_matrix.list_url_patterns()}
    assert sorted(set(PAGES) - DEVELOPMENT - names) == []
    assert set(API) <= {permission_matrix._get_basename(pattern) for _name, _path, pattern in permission_matrix.list_url_patterns()}


def test_a_route_without_a_line_is_closed_to_everybody(world: RightsWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PAGES, "desk:members")
    monkeypatch.delitem(API, "member")
    assert permission_matrix.list_unknown_routes() == [
        "api:member-activate",
        "api:member-check",
        "api:member-detail",
        "api:member-leave",
        "api:member-list",
        "desk:members",
    ]
    assert world.client("network_admin").get("/members/").status_code == 403
    assert world.scripts["network_admin"].get("/api/members/members/").status_code == 403


def test_a_member_finds_nothing_of_another_member_anywhere(world: RightsWorld) -> None:
    """Sends another member's ids in paths, queries and forms, to pages, fragments, files and the API, with a session and a token."""
    browser, script = world.client("member"), world.scripts["member"]
    ids: dict[str, str | int] = {
        **dict.fromkeys(("member", "pk", "id", "user", "ids", "members"), world.other.member.pk),
        "holding": world.other.holding.pk,
        "q": "VERBORGEN",
        "search": "VERBORGEN",
    }
    told = []
    for route in permission_matrix.list_routes():
        path = world.path(route)
        for client in (browser, script):
            for headers in ({}, {"HX-Request": "true"}):
                with undone():
                    told.append((path, client.get(path, ids, headers=headers)))
                    told.append((path, client.post(path, ids, headers=headers)))
    texts = [(path, answer.content.decode(errors="replace")) for path, answer in told if not answer.streaming]
    assert [path for path, text in texts if any(mark in text for mark in world.marks)] == []
    changed = Member.objects.get(pk=world.other.member.pk)
    assert (changed.name, changed.version) == ("Xaver Verborgen", world.other.member.version)


def test_somebody_with_several_roles_may_do_what_any_of_them_allows(world: RightsWorld) -> None:
    both = signed_in(factories.user("both", roles=["auditor", "helpdesk"]))
    assert both.get("/rollouts/").status_code == 200
    assert both.get("/members/add/").status_code == 200
    assert both.post("/rollouts/deploy/").status_code == 403


def test_automation_counts_with_a_token_only(world: RightsWorld) -> None:
    assert world.scripts["automation"].get("/api/members/members/").status_code == 200
    assert world.client("automation").get("/api/members/members/").status_code == 403
    assert world.client("automation").get("/members/").status_code == 403


def test_who_is_not_active_any_more_is_asked_to_sign_in(world: RightsWorld) -> None:
    client = world.client("network_admin")
    User.objects.filter(pk=world.people["network_admin"].pk).update(is_active=False)
    assert client.get("/members/").status_code == 302
    assert world.scripts["network_admin"].get("/api/members/members/").status_code == 401


def test_the_history_knows_who_got_which_role(world: RightsWorld) -> None:
    User.objects.filter(pk=world.people["member"].pk).update(roles=["auditor"])
    events = User.pgh_event_model.objects.filter(pgh_obj_id=world.people["member"].pk).order_by("pgh_id")  # type: ignore[attr-defined]
    assert list(events.values_list("pgh_label", "roles")) == [("insert", ["member"]), ("update", ["auditor"])]
    assert "password" not in {field.name for field in events.model._meta.fields}


def test_the_table_is_written_by_the_command(tmp_path: Any, world: RightsWorld) -> None:
    call_command("permissions", output=tmp_path / "permissions.md", stdout=(tmp_path / "said").open("w"))
    assert (tmp_path / "permissions.md").read_text() == DOCUMENT.read_text()


def test_a_page_that_takes_nothing_has_no_right_to_send() -> None:
    assert PageRights(Right.OWN).find_right("POST") is None
