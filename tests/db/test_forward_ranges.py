"""Port forwards of a range of ports, from the form to the policy."""

from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.test import Client

from apps.accounts import tokens
from apps.deployments.desired_state import policy_snapshot
from apps.desk.selectors.search import search_everything
from apps.lib.errors import Problem
from apps.lib.port_ranges import parse_port_range
from apps.nat import services
from apps.nat.models import PortForward
from apps.nat.selectors import find_free_port
from tests import factories
from tests.db.page_client import HTMX, signed_in, text


def add(network: factories.Network, host: str = "m1", first: int = 6000, ports: int = 10, **changes: Any) -> PortForward:
    given: dict[str, Any] = {
        "public": factories.PUBLIC,
        "protocol": "udp",
        "public_port": first,
        "private_port": 16000,
        "ports": ports,
        "by": network.admin,
    }
    return services.add_forward(holding=network.residents[host].holding, **(given | changes))


def test_a_range_that_shares_a_port_names_the_holder_and_a_free_range(network: factories.Network) -> None:
    held = add(network)
    with pytest.raises(Problem) as caught:
        add(network, "m2", 6005, 20)
    said = f"UDP 6005–6009 on 198.51.100.7 is held by forward {held.pk} of Resident of m1. 6010–6029 are free."
    assert str(caught.value) == said
    assert (caught.value.fieldname, caught.value.offer, caught.value.culprit) == ("public_port", "6010", held)


@pytest.mark.parametrize(("first", "ports"), [(5995, 5), (6010, 10), (5999, 1), (6010, 1)])
def test_ranges_beside_each_other_do_not_disturb(network: factories.Network, first: int, ports: int) -> None:
    add(network)
    assert add(network, "m2", first, ports).ports == ports


@pytest.mark.parametrize(("first", "ports"), [(6009, 1), (6000, 1), (5995, 6), (5000, 1001 - 1), (6003, 2)])
def test_the_database_itself_refuses_ranges_that_overlap(network: factories.Network, first: int, ports: int) -> None:
    held, other = add(network), add(network, "m2", 100, 1)
    query = "UPDATE nat_portforward SET public_port = %s, ports = %s WHERE id = %s"
    overlap = first < held.public_port + held.ports and held.public_port < first + ports
    with connection.cursor() as cursor:
        if overlap:
            with pytest.raises(IntegrityError, match="portforward_port_taken"):
                cursor.execute(query, [first, ports, other.pk])
        else:
            cursor.execute(query, [first, ports, other.pk])


@pytest.mark.parametrize("change", ["ports = 0", "ports = 1001", "public_port = 65530", "private_port = 65530"])
def test_the_database_itself_refuses_a_nonsense_range(network: factories.Network, change: str) -> None:
    forward = add(network)
    with pytest.raises(IntegrityError, match=r"portforward_(ports|range_of_ports)"), connection.cursor() as cursor:
        cursor.execute(f"UPDATE nat_portforward SET {change} WHERE id = %s", [forward.pk])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ports": 1001}, "1001 ports are too many for one forward. Choose 1 to 1000"),
        ({"public_port": 65530}, "10 ports from 65530 on go beyond 65535. Begin at 65526 or lower."),
        ({"private_port": 65530}, "10 ports from 65530 on go beyond 65535."),
    ],
)
def test_a_range_that_cannot_be_says_why(network: factories.Network, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Problem, match=said):
        add(network, **changes)


def test_a_free_range_is_long_enough_and_begins_anew_below(network: factories.Network) -> None:
    add(network, first=6000, ports=10)
    add(network, first=6012, ports=10)
    assert find_free_port(factories.PUBLIC, "udp", 6000, 2) == 6010
    assert find_free_port(factories.PUBLIC, "udp", 6000, 3) == 6022
    assert find_free_port(factories.PUBLIC, "udp", 65530, 10) == 1024


@pytest.mark.parametrize(
    ("written", "found"),
    [("8443", (8443, 1)), ("6000-6009", (6000, 10)), (" 6000 – 6009 ", (6000, 10)), ("6000:6001", (6000, 2)), ("80-80", (80, 1))],
)
def test_ranges_are_read_as_people_write_them(written: str, found: tuple[int, int]) -> None:
    assert parse_port_range(written) == found


@pytest.mark.parametrize("written", ["", "0", "65536", "6009-6000", "1-65536", "1-2-3", "a", "-5", "1,2"])
def test_a_text_that_is_not_a_port_range_is_not_parsed(written: str) -> None:
    assert parse_port_range(written) is None


def form(network: factories.Network, **changes: str) -> dict[str, str]:
    holding = str(network.residents["m1"].holding.pk)
    given = {"protocol": "udp", "public_port": "6000-6009", "private_port": "16000", "public": "198.51.100.7", "holding": holding}
    return {f"forward-{name}": value for name, value in (given | changes).items()}


def test_a_range_typed_into_the_form_is_opened_and_listed(network: factories.Network) -> None:
    admin, member = signed_in(network.admin), network.residents["m1"].member
    page = text(admin.post(f"/members/{member.pk}/forwards/add/", form(network), headers=HTMX))
    made = PortForward.objects.get()
    assert (made.public_port, made.private_port, made.ports) == (6000, 16000, 10)
    assert "<code>6000–6009</code>" in page and "10.16.0.10:16000–16009" in page


def test_without_a_port_of_its_own_a_range_leads_to_the_same_ports(network: factories.Network) -> None:
    admin, member = signed_in(network.admin), network.residents["m1"].member
    admin.post(f"/members/{member.pk}/forwards/add/", form(network, private_port=""), headers=HTMX)
    assert PortForward.objects.get().private_port == 6000


def test_a_taken_range_keeps_the_form_and_offers_another(network: factories.Network) -> None:
    add(network, "m2")
    admin, member = signed_in(network.admin), network.residents["m1"].member
    answer = admin.post(f"/members/{member.pk}/forwards/add/", form(network), headers=HTMX)
    assert answer.status_code == 422
    assert 'value="6010–6019"' in text(answer) and 'value="6000-6009"' in text(answer)


def test_a_range_that_leads_to_a_shorter_one_is_refused_at_its_field(network: factories.Network) -> None:
    admin, member = signed_in(network.admin), network.residents["m1"].member
    answer = admin.post(f"/members/{member.pk}/forwards/add/", form(network, private_port="16000-16003"), headers=HTMX)
    assert answer.status_code == 422
    assert "10 public ports do not fit 4 private ones" in text(answer)


def test_a_port_inside_the_range_finds_it(network: factories.Network) -> None:
    add(network)
    hits = [hit.name for group in search_everything("198.51.100.7:6005") for hit in group.hits]
    assert "UDP 6000–6009 on 198.51.100.7" in hits
    assert not [hit for group in search_everything("6010") for hit in group.hits]


def test_a_script_gives_the_first_ports_and_how_many(network: factories.Network) -> None:
    _token, key = tokens.create_token(user=network.admin, name="script")
    api = Client(headers={"authorization": f"Bearer {key}"})
    body = {"holding": network.residents["m1"].holding.pk, "public_address": "198.51.100.7", "protocol": "udp"}
    body |= {"public_port": 6000, "private_port": 16000, "ports": 10}
    made = api.post("/api/nat/forwards/", body, content_type="application/json").json()
    assert (made["public_port"], made["last_public_port"], made["ports"], made["private_port"]) == (6000, 6009, 10, 16000)
    assert api.get("/api/nat/forwards/?public_port=6004").json()["count"] == 1
    assert api.get("/api/nat/forwards/?public_port=6010").json()["count"] == 0
    refused = api.post("/api/nat/forwards/", body, content_type="application/json")
    assert (refused.status_code, refused.json()["offer"]) == (400, "6010")


@pytest.mark.django_db(transaction=True)
def test_a_change_touches_every_port_before_and_after(transactional_db: None) -> None:
    network = factories.network()
    forward = add(network, ports=3)
    before = policy_snapshot.take_snapshot(network.group).moment
    PortForward.objects.filter(pk=forward.pk).update(public_port=6001, ports=4)
    change = policy_snapshot.take_changes(network.group, before)
    assert change is not None
    assert {port for _protocol, _public, port in change.touched.ports} == {6000, 6001, 6002, 6003, 6004}
    [policy] = {each.forwards for each in change.policies.values()}
    assert [(each.public_port, each.ports) for each in policy] == [(6001, 4)]
