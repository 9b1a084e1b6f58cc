import pytest

from apps.bans.models import Ban, BanList
from apps.deployments.desired_state.desired_state_cache import DesiredStateCache
from apps.members.models import Member
from apps.nat.services import add_forward
from apps.network.models import Gateway
from firewall.diff import apply
from firewall.policy import PolicyError
from tests import factories
from tests.db.test_touched import sql

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


def forward(network: factories.Network, port: int) -> None:
    holding = network.residents["m1"].holding
    add_forward(holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=80, by=network.admin)


def unseen_ban(of: BanList) -> None:
    """Add a ban while triggers are disabled, so that no change is noted."""
    sql("ALTER TABLE bans_ban DISABLE TRIGGER USER")
    Ban.objects.create(list=of, prefix="203.0.113.9")
    sql("ALTER TABLE bans_ban ENABLE TRIGGER USER")


def test_a_change_is_a_delta_from_the_ruleset_that_was_known(network: factories.Network) -> None:
    watch = DesiredStateCache()
    first = watch.get_current(network.group)
    forward(network, 80)
    second = watch.get_current(network.group)
    for pk, change in second.deltas.items():
        assert change.base is first.rulesets[pk]
        assert list(change.delta.elements) == ["forward4"]
        assert apply(change.base, change.delta) == second.rulesets[pk]


def test_gateways_share_their_elements_also_after_a_change(network: factories.Network) -> None:
    watch = DesiredStateCache()
    before = next(iter(watch.get_current(network.group).rulesets.values()))
    forward(network, 80)
    one, other = watch.get_current(network.group).rulesets.values()
    assert all(one.elements[name] is other.elements[name] for name in one.sets)
    assert one.elements["up4"] is before.elements["up4"]


def test_when_nothing_changed_the_last_change_stays_the_way_to_it(network: factories.Network) -> None:
    watch = DesiredStateCache()
    watch.get_current(network.group)
    forward(network, 80)
    changed, again = watch.get_current(network.group), watch.get_current(network.group)
    for pk, ruleset in changed.rulesets.items():
        assert again.rulesets[pk] is ruleset
        assert again.deltas[pk] is changed.deltas[pk]
    assert again.snapshot.at > changed.snapshot.at


def test_a_full_look_that_finds_no_difference_keeps_what_is_known(network: factories.Network) -> None:
    watch = DesiredStateCache()
    known = watch.get_current(network.group)
    forward(network, 80)
    afresh = watch.recompute(network.group)
    assert not afresh.amends
    assert all(afresh.deltas[pk].base is ruleset for pk, ruleset in known.rulesets.items())


def test_what_the_short_way_missed_is_found_shown_and_put_right(network: factories.Network) -> None:
    watch, of = DesiredStateCache(), BanList.objects.create(name="own")
    watch.get_current(network.group)
    unseen_ban(of)
    assert "bans4_32" not in watch.get_current(network.group).rulesets[network.gateways[0].pk].elements
    afresh = watch.recompute(network.group)
    assert afresh.amends.keys() == afresh.rulesets.keys()
    assert all(len(delta.elements["bans4_32"].added) == 1 for delta in afresh.amends.values())
    assert not afresh.deltas
    assert not watch.recompute(network.group).amends
    assert "bans4_32" in watch.get_current(network.group).rulesets[network.gateways[0].pk].elements


class SlowClock:
    """Each look at the clock is this many seconds after the one before, so a comparison takes as long."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.parametrize(("seconds", "rests"), [(0.9, False), (30.0, True)])
def test_a_comparison_that_takes_long_rests_twenty_times_as_long(network: factories.Network, seconds: float, rests: bool) -> None:
    clock = SlowClock(seconds)
    watch, of = DesiredStateCache(clock), BanList.objects.create(name="own")
    watch.get_current(network.group)
    watch.recompute(network.group)
    unseen_ban(of)
    forward(network, 80)
    assert bool(watch.recompute(network.group).amends) is not rests
    assert "forward4" in watch.get_current(network.group).rulesets[network.gateways[0].pk].elements, "a change that is noted goes out"
    clock.now += 19 * seconds
    assert bool(watch.recompute(network.group).amends) is rests
    assert "bans4_32" in watch.get_current(network.group).rulesets[network.gateways[0].pk].elements


def test_a_comparison_that_ends_with_a_refusal_rests_too(network: factories.Network) -> None:
    clock = SlowClock(30.0)
    watch, of = DesiredStateCache(clock), BanList.objects.create(name="own")
    watch.get_current(network.group)
    Gateway.objects.filter(pk=network.gateways[0].pk).update(lan='lan"')
    with pytest.raises(PolicyError):
        watch.recompute(network.group)
    Gateway.objects.filter(pk=network.gateways[0].pk).update(lan="lan0")
    watch.get_current(network.group)
    unseen_ban(of)
    assert not watch.recompute(network.group).amends
    clock.now += 19 * 30
    assert watch.recompute(network.group).amends


def test_a_gateway_more_or_less_is_seen_at_once(network: factories.Network) -> None:
    watch = DesiredStateCache()
    watch.get_current(network.group)
    added = factories.gateway(network.group, "nat-3")
    assert added.pk in watch.get_current(network.group).rulesets
    added.delete()
    assert added.pk not in watch.get_current(network.group).rulesets


def test_what_must_not_be_deployed_is_refused_until_it_is_mended(network: factories.Network) -> None:
    watch = DesiredStateCache()
    known = watch.get_current(network.group)
    Gateway.objects.filter(pk=network.gateways[0].pk).update(lan='lan"')
    for look in (watch.get_current, watch.get_current, watch.recompute):
        with pytest.raises(PolicyError, match="interface 'lan\"'"):
            look(network.group)
    Gateway.objects.filter(pk=network.gateways[0].pk).update(lan="lan0")
    assert watch.get_current(network.group).targets == known.targets


def test_more_than_the_short_way_takes_goes_the_full_way(network: factories.Network) -> None:
    watch = DesiredStateCache()
    watch.get_current(network.group)
    sql("TRUNCATE bans_ban")
    Member.objects.update(state="left")
    wanted = watch.get_current(network.group)
    assert not wanted.deltas
    assert wanted.rulesets[network.gateways[0].pk].elements["up4"] == {}
