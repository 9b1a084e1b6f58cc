"""Blocks of members: constraints, services, and what reaches the gateways."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from apps.bans.blocks import selectors, services
from apps.bans.models import Block, Notice, Reachable
from apps.deployments.desired_state import policy_snapshot
from apps.lib.errors import Conflict, Problem
from apps.network.services import assign_address
from firewall.policy import Policy
from tests import factories


def block_resident(network: factories.Network, host: str = "m1", **given: object) -> Block:
    values = {"reason": "abuse", "message": " Your laptop sends spam. ", "note": "see mail of Monday"}
    return services.block_member(member=network.residents[host].member, by=network.admin, **(values | given))  # type: ignore[arg-type]


def policy(network: factories.Network) -> Policy:
    """Return the policy as a transaction of its own reads it."""
    group = network.group
    return next(iter(policy_snapshot.take_snapshot(group).policies.values()))


def test_a_block_holds_from_now_on_with_its_words(network: factories.Network) -> None:
    made = block_resident(network)
    assert selectors.find_current_block(made.member) == made
    assert (made.message, made.author, made.valid.upper) == ("Your laptop sends spam.", network.admin, None)


def test_a_second_block_of_a_member_is_refused_and_names_the_first(network: factories.Network) -> None:
    block_resident(network)
    with pytest.raises(Problem, match=r"Resident of m1 is blocked already, since .* \(complaint about abuse\)"):
        block_resident(network)


def test_the_database_itself_refuses_blocks_that_overlap(network: factories.Network) -> None:
    block_resident(network)
    with pytest.raises(IntegrityError, match="block_one_at_a_time"), connection.cursor() as cursor:
        columns = "version, member_id, reason, message, note, valid"
        cursor.execute(f"INSERT INTO bans_block ({columns}) SELECT {columns} FROM bans_block")


def test_an_end_that_has_passed_is_refused(network: factories.Network) -> None:
    with pytest.raises(Problem, match="is in the past"):
        block_resident(network, until=timezone.now() - timedelta(seconds=1))


def test_a_lifted_block_says_by_whom_and_comes_back_with_its_end(network: factories.Network) -> None:
    until = timezone.now() + timedelta(days=3)
    made = block_resident(network, until=until)
    services.lift_block(block=made, by=network.admin)
    made.refresh_from_db()
    assert made.lifted_by == network.admin
    assert selectors.find_current_block(made.member) is None
    again = services.restore_block(lifted=made, by=network.admin)
    assert (again.pk != made.pk, again.valid.upper, again.message, again.note) == (True, until, made.message, made.note)


def test_two_admins_cannot_change_a_block_at_once(network: factories.Network) -> None:
    made = block_resident(network)
    given: Any = {"reason": "rules", "message": "", "note": "", "until": timezone.now() + timedelta(hours=1), "by": network.admin}
    services.change_block(block=made, version=1, **given)
    assert made.reason == "rules"
    with pytest.raises(Conflict, match="while you were editing"):
        services.change_block(block=made, version=1, **given)


def test_bulk_lifting_says_how_many_held(network: factories.Network) -> None:
    one, other = block_resident(network, "m1"), block_resident(network, "m2")
    services.lift_block(block=one, by=network.admin)
    assert services.lift_blocks(blocks=[one.pk, other.pk], by=network.admin) == 1
    assert selectors.count_blocked_members() == 0


def test_a_block_says_what_it_cuts_off(network: factories.Network) -> None:
    cut = selectors.get_block_impact(network.residents["m1"].member)
    assert cut.addresses == ["2001:db8:a0:10::/64", "10.16.0.10"] or cut.addresses == ["10.16.0.10", "2001:db8:a0:10::/64"]
    assert [each.words for each in cut.hanging] == ["1 NAT mapping"]


@pytest.mark.django_db(transaction=True)
def test_all_that_a_blocked_member_holds_reaches_the_gateways_also_what_he_gets_later(transactional_db: None) -> None:
    network = factories.network()
    until = timezone.now() + timedelta(hours=1)
    made = block_resident(network, until=until)
    end = -(-int(until.timestamp() * 1_000_000) // 1_000_000)
    assert {(each.id, str(each.prefix), each.expires) for each in policy(network).blocks} == {
        (made.pk, "10.16.0.10/32", end),
        (made.pk, "2001:db8:a0:10::/64", end),
    }
    later = assign_address(member=made.member, pool=network.private, by=network.admin)
    assert later.prefix in {each.prefix for each in policy(network).blocks}
    services.lift_block(block=made, by=network.admin)
    assert policy(network).blocks == ()


@pytest.mark.django_db(transaction=True)
def test_what_stays_reachable_is_a_setting_of_the_gateways(transactional_db: None) -> None:
    network = factories.network()
    notice = Notice.objects.create(group=network.group)
    services.set_notice(notice=notice, version=1, ipv4="192.168.9.80", ipv6=None, port=8080, contact="netzwart@…", by=network.admin)  # type: ignore[arg-type]
    services.add_reachable(notice=notice, name="DNS", address="192.168.9.53", protocol="udp", port=53, by=network.admin)  # type: ignore[arg-type]
    settings = policy(network).gateway.settings.notice
    assert (str(settings.ipv4), settings.ipv6, settings.port) == ("192.168.9.80", None, 8080)
    assert [(str(each.address), each.protocol, each.port) for each in settings.reachable] == [("192.168.9.53", "udp", 53)]
    with pytest.raises(Problem, match=r"UDP 53 on 192\.168\.9\.53 already stays reachable"):
        services.add_reachable(notice=notice, name="x", address="192.168.9.53", protocol="udp", port=53, by=network.admin)  # type: ignore[arg-type]
    services.remove_reachable(reachable=Reachable.objects.get(), by=network.admin)
    assert policy(network).gateway.settings.notice.reachable == ()
