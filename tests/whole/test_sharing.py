"""A change of a public pool's sharing, from its row to the packets."""

import pytest

from apps.deployments.models import HeldBack, Rollout
from apps.deployments.services import reconcile
from apps.lib.database.validity import is_valid_now
from apps.nat.models import NatMapping
from apps.nat.pool_sharing import change_sharing
from apps.nat.services import unmap_address
from apps.network.models import GatewayGroup
from lab.answer import HostAnswer
from lab.lab import Lab
from tests import factories
from tests.whole.system import INTERNET, must_reach, reaches

pytestmark = [pytest.mark.kernel, pytest.mark.xdist_group("whole")]


def read_mappings(lab: Lab, network: factories.Network, port: int) -> dict[str, tuple[NatMapping, HostAnswer]]:
    """Return each resident's mapping, and the answer from the internet to their UDP packet from this port."""
    found = {}
    for name, resident in network.residents.items():
        answer = must_reach(lab, name, INTERNET, 80, "udp", source_port=port)
        mapping = NatMapping.objects.get(is_valid_now(), holding=resident.holding)
        assert answer.peer_address == str(mapping.public)
        found[name] = (mapping, answer)
    return found


def test_a_pool_that_is_used_otherwise_changes_all_its_members_in_one_rollout(lab: Lab, network: factories.Network) -> None:
    GatewayGroup.objects.filter(pk=network.group.pk).update(removal_least=1, removal_share=0)  # any removal would be held back
    reconcile(network.group)
    for port, (sharing, size) in enumerate([("blocks", 1024), ("own", None), ("blocks", 64), ("shared", None)], 5555):
        change_sharing(pool=network.public, sharing=sharing, block_size=size, by=network.admin)
        rollout = reconcile(network.group)
        assert rollout is not None
        assert rollout.state == Rollout.State.CONFIRMED
        assert rollout.revision.changes == [{"kind": "mappings", "added": 0, "removed": 0, "changed": 4, "of": 4}]
        for mapping, answer in read_mappings(lab, network, port).values():
            if sharing == "blocks":
                assert mapping.block.lower <= answer.peer_port < mapping.block.upper
            elif sharing == "own":
                assert answer.peer_port == port
    assert not HeldBack.objects.exists()
    assert reconcile(network.group) is None


def test_who_is_given_no_public_address_stays_inside(lab: Lab, network: factories.Network) -> None:
    unmap_address(mapping=network.residents["m2"].mapping, by=network.admin)
    reconcile(network.group)
    assert reaches(lab, "m2", INTERNET, 80) is None
    must_reach(lab, "m2", "10.16.0.10", 80)
    must_reach(lab, "m1", INTERNET, 80)
