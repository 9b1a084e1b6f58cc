from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv4Network

import pytest
from django.db import connection, transaction
from django.utils import timezone

from apps.bans.models import AllowEntry, Ban, BanList
from apps.deployments.desired_state import changed_objects
from apps.deployments.desired_state.desired_rulesets import compute_desired_state, update_desired_state
from apps.deployments.desired_state.policy_snapshot import IncrementalSnapshot, ReadMoment, take_changes, take_snapshot
from apps.members.models import Member
from apps.nat.services import add_forward
from apps.network.models import Gateway
from firewall.policy import TouchedKeys, TransportProtocol
from firewall.ruleset import Ruleset, drop_expired
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)
HOST = IPv4Address("10.16.0.10")


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    return factories.network()


def sql(query: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query)


def after(network: factories.Network, work: Callable[[], object], at: datetime | None = None) -> IncrementalSnapshot | None:
    earlier = take_snapshot(network.group).moment
    work()
    return take_changes(network.group, earlier, at)


def keys(changed: IncrementalSnapshot | None) -> TouchedKeys:
    assert changed is not None
    return changed.touched


def many_bans(number: int) -> str:
    made = BanList.objects.create(name="feed")
    return f"""INSERT INTO bans_ban (version, list_id, prefix, comment, created)
        SELECT 1, {made.pk}, ('203.0.0.0'::inet + n)::cidr, '', now() FROM generate_series(1, {number}) n"""


def test_nothing_happened_touches_nothing(network: factories.Network) -> None:
    assert not keys(after(network, lambda: None))


def test_a_member_who_is_switched_off_touches_addresses_and_forwards(network: factories.Network) -> None:
    resident = network.residents["m1"]
    add_forward(holding=resident.holding, public=factories.PUBLIC, protocol="udp", public_port=53, private_port=53, by=network.admin)
    found = after(network, lambda: Member.objects.filter(pk=resident.member.pk).update(state="left"))
    assert keys(found).addresses == {HOST}
    assert {str(prefix) for prefix in keys(found).prefixes} == {"2001:db8:a0:10::/64"}
    assert keys(found).ports == {(TransportProtocol.UDP, factories.PUBLIC, 53)}
    assert found
    assert all(not policy.addresses + policy.prefixes + policy.forwards for policy in found.policies.values())


def test_changes_that_reach_no_gateway_touch_no_objects(network: factories.Network) -> None:
    def rename() -> None:
        Member.objects.update(name="Somebody else", version=9)
        Gateway.objects.update(carries4=False)
        BanList.objects.create(name="empty")

    assert not keys(after(network, rename))


def test_a_copy_is_seen(network: factories.Network) -> None:
    made = BanList.objects.create(name="feed")

    def copy() -> None:
        with connection.cursor() as cursor, cursor.copy("COPY bans_ban (version, list_id, prefix, comment, created) FROM STDIN") as into:
            into.write_row((1, made.pk, "203.0.113.9/32", "", timezone.now()))

    assert keys(after(network, copy)).bans == {IPv4Network("203.0.113.9")}


def test_what_is_rolled_back_touches_nothing(network: factories.Network) -> None:
    def change_my_mind() -> None:
        with transaction.atomic():
            Member.objects.update(state="left")
            transaction.set_rollback(True)

    assert not keys(after(network, change_my_mind))


def test_two_thousand_bans_are_read_alone_and_more_with_everything(network: factories.Network) -> None:
    few = after(network, lambda: sql(many_bans(2000)))
    assert len(keys(few).bans) == 2000
    BanList.objects.all().delete()
    assert after(network, lambda: sql(many_bans(2001))) is None


def test_switching_a_large_list_off_means_reading_everything(network: factories.Network) -> None:
    sql(many_bans(5000))
    assert after(network, lambda: BanList.objects.update(enabled=False)) is None


def test_emptying_a_table_means_reading_everything(network: factories.Network) -> None:
    assert after(network, lambda: sql("TRUNCATE bans_ban")) is None


def test_a_time_that_ends_a_ban_touches_it(network: factories.Network) -> None:
    made = BanList.objects.create(name="own")
    Ban.objects.create(list=made, prefix="203.0.113.9", expires=timezone.now() + timedelta(hours=1))
    assert not keys(after(network, lambda: None))
    found = after(network, lambda: None, at=timezone.now() + timedelta(hours=2))
    assert keys(found).bans == {IPv4Network("203.0.113.9")}
    assert found
    assert [policy.bans for policy in found.policies.values()] == [(), ()]


def list_elements(ruleset: Ruleset) -> set[tuple[str, bytes]]:
    return {(name, key) for name, elements in ruleset.elements.items() for key in elements}


@pytest.mark.parametrize(("earlier", "later"), [(0.1, 0.7), (0.1, 1), (0.5, 0.7), (0.5, 1), (0.5, 2.2), (1, 2)])
def test_a_row_ends_with_its_element_whenever_it_is_read(network: factories.Network, earlier: float, later: float) -> None:
    """Bans and allow entries end 0.3 s after a full second, their elements in the kernel when that second is over."""
    second = timezone.now().replace(microsecond=0) + timedelta(hours=1)
    end = second + timedelta(seconds=0.3)
    own = BanList.objects.create(name="own")
    for number, direction in enumerate(("both", "in", "out")):
        Ban.objects.create(list=own, prefix=f"203.0.113.{number}", direction=direction, expires=end)
    AllowEntry.objects.create(prefix="198.51.100.99", expires=end)
    first, then = second + timedelta(seconds=earlier), second + timedelta(seconds=later)
    before, after_it = compute_desired_state(network.group, first), compute_desired_state(network.group, then)
    for pk, ruleset in before.rulesets.items():
        assert list_elements(drop_expired(ruleset, after_it.snapshot.now)) == list_elements(after_it.rulesets[pk])
    change = take_changes(network.group, before.snapshot, then)
    assert change
    updated = update_desired_state(before, change)
    assert updated and updated.targets == after_it.targets
    assert any(policy.bans for policy in change.policies.values()) == (later < 1)


def test_a_reader_from_before_the_notes_were_pruned_reads_everything(network: factories.Network) -> None:
    def prune_all() -> None:
        Member.objects.update(state="left")
        sql("UPDATE deployments_touched SET at = at - interval '2 hours'")
        changed_objects.prune_change_notes()

    sql("DELETE FROM deployments_touched")  # notes of other tests, because one call prunes only so many
    assert after(network, prune_all) is None
    assert not keys(after(network, changed_objects.prune_change_notes))


def test_who_saw_all_that_was_pruned_goes_on(network: factories.Network) -> None:
    def prune_what_was_seen() -> None:
        sql("UPDATE deployments_touched SET at = at - interval '2 hours'")
        changed_objects.prune_change_notes()

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text")
        [(last,)] = cursor.fetchall()
    saw_all = replace(take_snapshot(network.group).moment, seen=f"{last}:{last}:")
    prune_what_was_seen()
    assert not keys(take_changes(network.group, saw_all))
    Member.objects.update(state="left")
    prune_what_was_seen()
    assert take_changes(network.group, saw_all) is None


@pytest.mark.parametrize("past", [{"origin": "another cluster"}, {"seen": "999999999:999999999:"}])
def test_a_database_that_was_restored_is_read_whole(network: factories.Network, past: dict[str, str]) -> None:
    earlier: ReadMoment = replace(take_snapshot(network.group).moment, **past)  # type: ignore[arg-type]  # both fields are strings
    assert take_changes(network.group, earlier) is None


def test_a_table_that_was_made_anew_is_another_origin(network: factories.Network) -> None:
    earlier = take_snapshot(network.group).moment
    with transaction.atomic():
        sql("CREATE TABLE copied (LIKE deployments_touched INCLUDING ALL)")
        sql("ALTER TABLE deployments_touched RENAME TO before; ALTER TABLE copied RENAME TO deployments_touched")
    try:
        assert take_changes(network.group, earlier) is None
    finally:
        sql("DROP TABLE deployments_touched; ALTER TABLE before RENAME TO deployments_touched")


def test_an_ordinary_database_user_may_ask_for_the_origin(network: factories.Network) -> None:
    sql("CREATE ROLE plain; GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain; SET ROLE plain")
    try:
        assert len(take_snapshot(network.group).moment.origin.split()) == 4
    finally:
        sql("RESET ROLE; DROP OWNED BY plain; DROP ROLE plain")
