"""A gateway's probe as columns: the database refuses incomplete ones, and the policy gets complete ones."""

from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from apps.deployments.desired_state import policy_snapshot
from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.network.models import Gateway, GatewayGroup
from firewall.compile import compile_policy
from firewall.digest import digest_ruleset
from firewall.policy import NatMappingSpec, PolicyError, ProbeSpec, ResponderSpec
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

WHOLE = {"probe_interface": "probe0", "probe_source4": "172.31.254.2", "probe_public4": "192.0.2.251", "probe_source6": "2001:db8:b1::2"}


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


def change(gateway: Gateway, **values: Any) -> None:
    Gateway.objects.filter(pk=gateway.pk).update(**values)


@pytest.mark.parametrize(
    ("given", "constraint"),
    [
        ({"probe_public4": None}, "gateway_probe_ipv4_is_whole"),
        ({"probe_source4": None}, "gateway_probe_ipv4_is_whole"),
        ({"probe_source4": "2001:db8:b1::3"}, "gateway_probe_ipv4_is_whole"),
        ({"probe_public4": "2001:db8:b1::3"}, "gateway_probe_ipv4_is_whole"),
        ({"probe_source6": "192.0.2.1"}, "gateway_probe_source6_is_ipv6"),
        ({"probe_interface": ""}, "gateway_probe_has_interface"),
        ({"probe_source4": None, "probe_public4": None, "probe_source6": None}, "gateway_probe_has_interface"),
        ({"probe_interface": "wan0"}, "gateway_probe_interface_differs"),
    ],
)
def test_half_a_probe_is_refused(network: factories.Network, given: dict[str, Any], constraint: str) -> None:
    change(network.gateways[0], **WHOLE)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        change(network.gateways[0], **given)


@pytest.mark.parametrize("field", ["probe_source4", "probe_public4", "probe_source6"])
def test_two_gateways_have_no_address_of_a_probe_in_common(network: factories.Network, field: str) -> None:
    factories.probes(network)
    with pytest.raises(IntegrityError, match=f"gateway_{field}_of_one"), transaction.atomic():
        change(network.gateways[1], **{field: getattr(network.gateways[0], field)})


@pytest.mark.parametrize(
    "given", [{"probe_source4": None, "probe_public4": None}, {"probe_source6": None}], ids=["IPv6 alone", "IPv4 alone"]
)
def test_one_family_alone_is_enough(network: factories.Network, given: dict[str, Any]) -> None:
    change(network.gateways[0], **(WHOLE | given))
    assert policy_snapshot.take_snapshot(network.group).policies[network.gateways[0].pk].gateway.probe is not None


@pytest.mark.parametrize(
    ("given", "constraint"),
    [
        ({"probe_target4": "2001:db8::1", "probe_port": 80}, "group_probe_target4_is_ipv4"),
        ({"probe_target6": "192.0.2.1", "probe_port": 80}, "group_probe_target6_is_ipv6"),
        ({"probe_target4": "192.0.2.1"}, "group_probe_target_has_port"),
        ({"probe_port": 80}, "group_probe_target_has_port"),
        ({"probe_target4": "192.0.2.1", "probe_port": 65536}, "group_probe_target_has_port"),
        ({"probe_target4": "192.0.2.1", "probe_port": 0}, "group_probe_target_has_port"),
        ({"responder_port": 7077}, "group_responder_is_a_target"),
        ({"probe_target4": "192.0.2.1", "probe_port": 80, "responder_port": 80}, "group_responder_is_a_target"),
    ],
)
def test_a_target_that_is_none_is_refused(network: factories.Network, given: dict[str, Any], constraint: str) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        GatewayGroup.objects.filter(pk=network.group.pk).update(**given)


def test_a_policy_has_its_gateways_probe_and_the_mappings_of_all(network: factories.Network) -> None:
    factories.probes(network)
    policies = policy_snapshot.take_snapshot(network.group).policies
    first, second = (policies[gateway.pk] for gateway in network.gateways)
    assert first.gateway.probe == ProbeSpec(
        "probe0", IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251"), IPv6Address("2001:db8:b1::2")
    )
    assert first.mappings == second.mappings
    assert set(first.mappings) >= {
        NatMappingSpec(IPv4Address("172.31.254.2"), IPv4Address("192.0.2.251")),
        NatMappingSpec(IPv4Address("172.31.254.6"), IPv4Address("192.0.2.252")),
    }


def test_a_policy_has_the_responder_of_its_group_and_lets_it_in(network: factories.Network) -> None:
    factories.probes(network)
    before = compute_desired_state(network.group)
    type(network.group).objects.update(responder_port=7077)
    for pk, policy in policy_snapshot.take_snapshot(network.group).policies.items():
        there = ResponderSpec(7077, IPv4Address("203.0.113.10"), IPv6Address("2001:db8:cafe::10"))
        assert policy.gateway.settings.responder == there
        assert compile_policy(policy).count_rules() == before.rulesets[pk].count_rules() + 2


def test_what_gateways_share_is_what_each_policy_compiles_to(network: factories.Network) -> None:
    factories.probes(network)
    wanted = compute_desired_state(network.group)
    for pk, policy in policy_snapshot.take_snapshot(network.group).policies.items():
        assert wanted.rulesets[pk] == compile_policy(policy)
        assert wanted.digests[pk] == digest_ruleset(compile_policy(policy))


def test_a_gateway_without_a_probe_has_the_ruleset_that_it_had(network: factories.Network) -> None:
    for policy in policy_snapshot.take_snapshot(network.group).policies.values():
        assert policy.gateway.probe is None
        assert not any(name.startswith("probe") for name in compile_policy(policy).counters)


def test_a_member_with_the_probes_address_stops_the_deploy_by_name(network: factories.Network) -> None:
    factories.probes(network)
    taken = network.residents["m1"].holding.prefix.network_address
    change(network.gateways[1], probe_source4=ip_address(taken))
    with pytest.raises(PolicyError, match=r"NAT mapping of 10\.16\.0\.10 is given twice: to 198\.51\.100\.7 and to 192\.0\.2\.252"):
        compute_desired_state(network.group)


def test_a_member_whose_prefix_the_probe_lies_in_stops_the_deploy_by_name(network: factories.Network) -> None:
    factories.probes(network)
    change(network.gateways[1], probe_source6=network.residents["m1"].prefix.prefix.network_address + 7)
    words = "probe of nat-2: its source 2001:db8:a0:10::7 is held by a member as 2001:db8:a0:10::/64"
    with pytest.raises(PolicyError, match=words):
        compute_desired_state(network.group)
