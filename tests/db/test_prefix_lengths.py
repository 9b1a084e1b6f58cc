"""Members of a group hold IPv6 prefixes of at most four different lengths, whoever assigns them and however many at once."""

import pytest

from apps.deployments.desired_state.desired_rulesets import compute_desired_state
from apps.desk.people_import import services as people_import
from apps.desk.people_import.services import PeopleFile
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.nat.moving.services import plan_or_carry_out_move
from apps.network import services
from apps.network.holdings_bulk import HoldingDraft, assign_addresses
from apps.network.models import GatewayGroup, Holding, Pool
from tests import factories
from tests.db.locks import run_after_waiting

pytestmark = pytest.mark.django_db(transaction=True)

WORDS = r"Members hold IPv6 prefixes of /56, /60, /62, /64; no further length is possible\. Number 48 .* gives /48: choose another pool\."


@pytest.fixture
def pools(network: factories.Network) -> dict[int, Pool]:
    """Five pools of the group, by the length of the prefixes that they give. The residents hold prefixes of the longest."""
    prefixes = {48: "2001:db8:100::/44", 56: "2001:db8:200::/44", 60: "2001:db8:300::/44", 62: "2001:db8:400::/44"}
    made = {length: factories.pool(network.group, "prefix6", prefix, member_length=length) for length, prefix in prefixes.items()}
    Pool.objects.filter(pk=made[48].pk).update(name="Number 48")
    return made | {64: network.prefixes}


def give(network: factories.Network, pool: Pool) -> Holding:
    return services.assign_address(member=factories.member(), pool=pool, by=network.admin)


def build_draft(pool: Pool) -> HoldingDraft:
    """Return the draft of the first prefix of a pool, for a new member."""
    return HoldingDraft(factories.member().pk, pool.pk, next(pool.prefix.subnets(new_prefix=pool.member_length)))


def test_the_fifth_length_is_refused_with_those_in_use_until_one_of_them_ends(network: factories.Network, pools: dict[int, Pool]) -> None:
    held = {length: give(network, pools[length]) for length in (56, 60, 62)}
    with pytest.raises(Problem, match=WORDS) as refused:
        give(network, pools[48])
    assert (refused.value.fieldname, refused.value.culprit) == ("pool", pools[48])
    give(network, pools[56])
    assert compute_desired_state(network.group).rulesets
    services.release_holding(holding=held[60], by=network.admin)
    give(network, pools[48])
    assert compute_desired_state(network.group).rulesets
    with pytest.raises(Problem, match="Members hold IPv6 prefixes of /48, /56, /62, /64; "):
        give(network, pools[60])


def test_each_group_has_its_own_lengths(network: factories.Network, pools: dict[int, Pool]) -> None:
    for length in (56, 60, 62):
        give(network, pools[length])
    other = factories.pool(GatewayGroup.objects.create(name="Haus B"), "prefix6", "2001:db8:500::/44", member_length=48)
    assert give(network, other).prefix.prefixlen == 48


def test_many_prefixes_at_once_bring_no_fifth_length(network: factories.Network, pools: dict[int, Pool]) -> None:
    with pytest.raises(Problem, match="no further length is possible") as refused:
        assign_addresses(wanted=[build_draft(pool) for pool in pools.values()], by=network.admin)
    assert refused.value.fieldname == "pool"
    assert len(assign_addresses(wanted=[build_draft(pools[length]) for length in (48, 56, 62)], by=network.admin)) == 3


def test_of_two_who_bring_the_last_possible_length_one_waits_and_is_refused(network: factories.Network, pools: dict[int, Pool]) -> None:
    give(network, pools[56]), give(network, pools[60])
    with pytest.raises(Problem, match=WORDS):
        run_after_waiting(lambda: give(network, pools[48]), lambda: give(network, pools[62]))


def test_a_move_brings_no_fifth_length(network: factories.Network, pools: dict[int, Pool]) -> None:
    for length in (56, 60, 62):
        give(network, pools[length])
    resident = network.residents["m1"]
    with pytest.raises(Problem, match=WORDS):
        plan_or_carry_out_move(member=resident.member, on=None, room=None, pool=pools[48], follow=False, by=network.admin)
    assert Holding.objects.filter(is_valid_now(), pk=resident.prefix.pk).exists()


def test_an_import_names_the_line_that_would_bring_the_fifth_length(network: factories.Network, pools: dict[int, Pool]) -> None:
    give(network, pools[56]), give(network, pools[60])
    table = "Number;Name;IPv6\n30000;Ada;2001:db8:400::/62\n30001;Bo;2001:db8:100::/48\n"
    [problem] = people_import.check_people(PeopleFile(table.encode()))["problems"]
    assert (problem["line"], problem["column"]) == (3, "IPv6") and "prefixes of /56, /60, /62, /64; no further length" in problem["text"]
