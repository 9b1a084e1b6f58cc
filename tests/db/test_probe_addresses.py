"""Addresses of gateways' probes: no pool gives one to members, and no member leaves as one or is reached at it, however it is entered."""

from dataclasses import fields, replace
from ipaddress import IPv4Address, ip_address, ip_network
from typing import Any

import pytest
from django.test import Client

from apps.accounts import tokens
from apps.audit.undo import find_last_event, undo_event
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.desk.people_import import services as people_import
from apps.desk.people_import.services import PeopleFile
from apps.gateways.services import configure_gateway, get_facts
from apps.lib.errors import Problem
from apps.lib.fields import Prefix
from apps.nat import mappings_bulk
from apps.nat.forwards_bulk import ForwardChange, ForwardDraft, add_forwards, change_forwards
from apps.nat.models import NatMapping, PortForward
from apps.network.holdings_bulk import HoldingDraft, assign_addresses
from apps.network.models import Gateway, Pool
from apps.network.pool_lifecycle import enlarge_pool
from apps.network.services import add_pool, change_pool
from tests import factories
from tests.api_responses import wrong
from tests.db.rollout_rows import forward

pytestmark = pytest.mark.django_db(transaction=True)

PUBLIC = IPv4Address("198.51.100.9")
SOURCE4, SOURCE6 = ip_network("172.31.254.2"), ip_network("2001:db8:b1::2")
WORDS = "198.51.100.9 is the address of the probe of nat-1."


def configure(network: factories.Network, **changes: Any) -> Gateway:
    gateway = Gateway.objects.get(pk=network.gateways[0].pk)
    return configure_gateway(gateway=gateway, version=gateway.version, facts=replace(get_facts(gateway), **changes), by=network.admin)


@pytest.fixture
def probed_network(network: factories.Network) -> factories.Network:
    """A network whose first gateway has a probe, which leaves as an address of the shared public pool."""
    configure(network, probe_interface="probe0", probe_source4=SOURCE4[0], probe_public4=PUBLIC, probe_source6=SOURCE6[0])
    return network


# --- The public address


@pytest.fixture
def api(probed_network: factories.Network) -> Client:
    key = tokens.create_token(user=probed_network.admin, name="script")[1]
    return Client(headers={"authorization": f"Bearer {key}"})


def build_draft(network: factories.Network, public: IPv4Address) -> ForwardDraft:
    holding = network.residents["m1"].holding
    return ForwardDraft(holding=holding, public=public, protocol="tcp", public_port=8443, private_port=443)


def test_a_script_maps_no_member_to_the_address_of_a_probe_and_opens_no_port_of_it(api: Client, probed_network: factories.Network) -> None:
    where = {"holding": probed_network.residents["m1"].holding.pk, "public_address": str(PUBLIC)}
    ports = {"protocol": "tcp", "public_port": 8443, "private_port": 443}
    for path, body in (("forwards", where | ports), ("mappings", where)):
        refused = api.post(f"/api/nat/{path}/", body, "application/json")
        assert (refused.status_code, wrong(refused)["public_address"]) == (400, [WORDS])
    refused = api.post("/api/nat/forwards/", [where | ports], "application/json")
    assert refused.status_code == 400 and WORDS in refused.content.decode()
    assert not PortForward.objects.exists() and not NatMapping.objects.filter(public=PUBLIC).exists()
    assert compute_desired_state(probed_network.group).rulesets


def test_many_forwards_at_once_get_no_address_of_a_probe(probed_network: factories.Network) -> None:
    other, probes = (build_draft(probed_network, public) for public in (factories.PUBLIC, PUBLIC))
    with pytest.raises(Problem, match=WORDS) as refused:
        add_forwards(wanted=[other, probes], by=probed_network.admin)
    assert refused.value.fieldname == "public" and not PortForward.objects.exists()
    before = forward(probed_network, 8443)
    values = {each.name: getattr(probes, each.name) for each in fields(probes)}
    with pytest.raises(Problem, match=WORDS):
        change_forwards(wanted=[ForwardChange(**values, forward=before, version=1)], by=probed_network.admin)


def test_many_addresses_at_once_leave_as_no_address_of_a_probe(probed_network: factories.Network) -> None:
    draft = HoldingDraft(factories.member().pk, probed_network.private.pk, ip_network("10.16.9.9"))
    made = assign_addresses(wanted=[draft], by=probed_network.admin)
    with pytest.raises(Problem, match=WORDS) as refused:
        mappings_bulk.map_addresses(wanted=[(made[0], PUBLIC)], by=probed_network.admin)
    assert refused.value.fieldname == "public"


def test_an_import_names_the_cell_with_the_address_of_a_probe(probed_network: factories.Network) -> None:
    table = f"Number;Name;Address;Public address\n30000;Ada;10.16.9.9;{PUBLIC}\n".encode()
    report = people_import.check_people(PeopleFile(table))
    assert [(each["line"], each["column"], each["text"]) for each in report["problems"]] == [(2, "Public address", WORDS)]


# --- Its own addresses


@pytest.mark.parametrize(("kind", "prefix", "larger", "source"), [
    ("private4", "172.31.254.128/25", "172.31.254.0/24", SOURCE4),
    ("prefix6", "2001:db8:b2::/48", "2001:db8:b0::/44", SOURCE6),
])  # fmt: skip
def test_no_pool_gives_members_the_address_of_a_probe(
    probed_network: factories.Network, kind: str, prefix: str, larger: str, source: Prefix
) -> None:
    new: dict[str, Any] = {"kind": kind, "group": probed_network.group, "member_length": 64, "kept_first": 0, "by": None}
    words = rf"\A{source[0]} is the address of the probe of nat-1\. Keep it free here\.\Z"
    with pytest.raises(Problem, match=words) as refused:
        add_pool(name="Large", prefix=ip_network(larger), **new)
    assert (refused.value.fieldname, refused.value.offer, refused.value.culprit) == ("kept", str(source[0]), probed_network.gateways[0])
    pool = add_pool(name="Small", prefix=ip_network(prefix), **new)
    with pytest.raises(Problem, match=words):
        enlarge_pool(pool=pool, version=1, prefix=ip_network(larger), by=None)
    pool = change_pool(pool=pool, version=1, name="Kept", prefix=ip_network(larger), kept=[source], by=None)
    assert configure(probed_network, ssh_user="nw").ssh_user == "nw", "the gateway can be changed"
    with pytest.raises(Problem, match=words):
        change_pool(pool=pool, version=2, name="Given", prefix=pool.prefix, kept=[], by=None)


def test_an_undo_of_a_pool_gives_members_no_address_of_a_probe(network: factories.Network) -> None:
    pool = add_pool(name="Inside", kind="private4", prefix=ip_network("172.31.254.0/24"), group=network.group, kept_first=0, by=None)
    change_pool(pool=pool, version=1, name="Inside", prefix=pool.prefix, kept=[SOURCE4], by=None)
    configure(network, probe_interface="probe0", probe_source4=SOURCE4[0], probe_public4=PUBLIC)
    event = find_last_event(Pool, pool.pk)
    assert event
    with pytest.raises(Problem, match=f"{SOURCE4[0]} is the address of the probe of nat-1"):
        undo_event(model=Pool, event=event, by=network.admin)


def test_a_probe_gets_no_address_that_a_member_held_before_it_was_kept_free(network: factories.Network) -> None:
    held = network.residents["m1"].holding.prefix
    change_pool(pool=network.private, version=1, name="Inside", prefix=network.private.prefix, kept=[held], by=None)
    with pytest.raises(Problem, match="A probe has an address that no member can get"):
        configure(network, probe_interface="probe0", probe_source4=held[0], probe_public4=ip_address("192.0.2.251"))
