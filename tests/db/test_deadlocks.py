"""Many users change the same few members through services at the same moment, without a deadlock.

PostgreSQL counts deadlocks itself. Each round draws an action with a seed; a refusal with a sentence counts as success.
All want the same few ports, so that claims collide.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import ip_address
from random import Random

import pytest
from django.conf import LazySettings
from django.db import DatabaseError, connection
from django.utils import timezone

from apps.accounts.models import User
from apps.bans.blocks import services as blocks
from apps.bans.models import Block
from apps.lib.database.validity import is_valid_now
from apps.lib.errors import Problem
from apps.members import services as members
from apps.members.models import Device, Member, Tariff
from apps.nat import forwards_bulk, own_forwards, pool_sharing
from apps.nat import services as nat
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.nat.moving import services as moving
from apps.nat.pinholes import services as pinholes
from apps.network import services as network
from apps.network.models import GatewayGroup, Holding, Pool
from tests import factories

HANDS, ROUNDS = 6, 60
PORTS = range(5000, 5040)


class Hand:
    """A user who changes what the seed draws from the network's current rows."""

    def __init__(self, seed: int, by: User) -> None:
        self.draw, self.by = Random(seed), by

    def member(self) -> Member:
        return self.draw.choice(list(Member.objects.order_by("pk")))

    def some(self) -> list[int]:
        pks = list(Member.objects.values_list("pk", flat=True))
        self.draw.shuffle(pks)
        return pks[:3]

    def any_of[Row: (Holding, PortForward, Pinhole, NatMapping, Block, Device)](self, model: type[Row], **where: object) -> Row:
        now = model._default_manager.all() if model is Device else model._default_manager.filter(is_valid_now())
        found = list(now.filter(**where).order_by("pk"))
        if not found:
            raise Problem("There is none at this moment.")
        return self.draw.choice(found)

    def port(self) -> int:
        return self.draw.choice(PORTS)

    def pool(self, kind: str) -> Pool:
        return self.draw.choice(list(Pool.objects.filter(kind=kind).order_by("pk")))

    def private(self) -> Holding:
        return self.any_of(Holding, kind="private4")

    def give(self) -> None:
        network.assign_address(member=self.member(), pool=self.pool("private4"), by=self.by)

    def release(self) -> None:
        network.release_holding(holding=self.any_of(Holding), by=self.by)

    def map(self) -> None:
        nat.map_address(holding=self.private(), by=self.by)

    def unmap(self) -> None:
        nat.unmap_address(mapping=self.any_of(NatMapping), by=self.by)

    def share(self) -> None:
        size = self.draw.choice([None, 1024])
        pool_sharing.change_sharing(pool=self.pool("public4"), sharing="blocks" if size else "shared", block_size=size, by=self.by)

    def forward(self) -> None:
        port = self.port()
        nat.add_forward(holding=self.private(), public=factories.PUBLIC, protocol="tcp", public_port=port, private_port=80, by=self.by)

    def open(self) -> None:
        holding, port = self.private(), self.port()
        given = {"member": holding.member, "holding": holding, "public": factories.PUBLIC, "by": self.by}
        own_forwards.open_port(**given, protocol="tcp", public_port=port, private_port=80)  # type: ignore[arg-type]  # mixed types

    def edit(self) -> None:
        row, port = self.any_of(PortForward), self.port()
        given = {"forward": row, "version": row.version, "holding": self.private(), "public": factories.PUBLIC, "by": self.by}
        nat.change_or_replace_forward(**given, protocol="tcp", public_port=port, private_port=80, ports=1, purpose="")  # type: ignore[arg-type]  # same

    def switch(self) -> None:
        row = self.any_of(PortForward)
        own_forwards.switch_forward(forward=row, version=row.version, enabled=not row.enabled, by=self.by)

    def change_many(self) -> None:
        found = list(PortForward.objects.filter(is_valid_now()).select_related("holding"))
        self.draw.shuffle(found)
        as_it_is = ("holding", "public", "protocol", "public_port", "ports", "purpose", "enabled")
        wanted = [
            forwards_bulk.ForwardChange(
                **{name: getattr(each, name) for name in as_it_is},
                private_port=self.draw.randrange(80, 90),
                until=None,
                forward=each,
                version=each.version,
            )
            for each in found
        ]
        forwards_bulk.change_forwards(wanted=wanted, by=self.by)

    def remove_many(self) -> None:
        found = list(PortForward.objects.filter(is_valid_now()))
        forwards_bulk.remove_forwards(forwards=self.draw.sample(found, len(found) // 2), by=self.by)

    def pinhole(self) -> None:
        holding = self.any_of(Holding, kind="prefix6")
        address, port = ip_address(int(holding.prefix.network_address) + 5), self.port()
        pinholes.add_pinhole(holding=holding, address=address, protocol="tcp", port=port, by=self.by)

    def close(self) -> None:
        pinholes.remove_pinhole(pinhole=self.any_of(Pinhole), by=self.by)

    def renumber_prefix(self) -> None:
        pinholes.replace_member_prefix(holding=self.any_of(Holding, kind="prefix6"), follow=self.draw.random() < 0.5, by=self.by)

    def move(self) -> None:
        given = {"member": self.member(), "on": timezone.localdate(), "room": None, "pool": self.pool("private4"), "by": self.by}
        moving.plan_or_carry_out_move(**given, follow=self.draw.random() < 0.5)  # type: ignore[arg-type]  # mixed types

    def leave(self) -> None:
        members.end_membership(member=self.member(), by=self.by)

    def come_back(self) -> None:
        members.activate_member(member=self.member(), by=self.by)

    def tariff(self) -> None:
        some, tariff = Member.objects.filter(pk__in=self.some()), self.draw.choice(list(Tariff.objects.all()))
        members.assign_tariff(members=some, tariff=tariff, by=self.by)

    def pay(self) -> None:
        until = timezone.localdate() + timedelta(days=self.draw.randrange(1, 300))
        members.extend_paid(members=Member.objects.filter(pk__in=self.some()).order_by("?"), until=until, by=self.by)

    def block(self) -> None:
        blocks.block_members(members=Member.objects.filter(pk__in=self.some()).order_by("?"), reason="abuse", by=self.by)

    def lift(self) -> None:
        blocks.lift_blocks(blocks=[self.any_of(Block).pk for _each in range(2)], by=self.by)

    def device(self) -> None:
        members.add_device(member=self.member(), name="Phone", mac=f"02:00:5e:00:53:{self.draw.randrange(8):02x}", by=self.by)

    def undevice(self) -> None:
        members.remove_device(device=self.any_of(Device), by=self.by)

    def act(self) -> str:
        """Do one drawn action. Returns PostgreSQL's error, or "" if it was done or refused with a sentence."""
        name = self.draw.choice(ACTS)
        do: Callable[[], None] = getattr(self, name)
        try:
            do()
        except Problem:
            pass
        except DatabaseError as error:
            return f"{name}: {error}"
        return ""


CHOOSING = {"member", "some", "any_of", "pool", "port", "private", "act"}
ACTS = sorted(name for name in vars(Hand) if not name.startswith("_") and name not in CHOOSING)


def work(seed: int, by: User) -> list[str]:
    """Return the errors of all rounds of one hand."""
    hand = Hand(seed, by)
    try:
        with factories.written_by(by):
            return list(filter(None, (hand.act() for _round in range(ROUNDS))))
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_stat_force_next_flush()")
        connection.close()


def deadlocks() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("days", "seed"), [(0, 0), (14, 100)])
def test_many_who_change_the_same_members_at_once_never_wait_for_each_other_in_a_ring(settings: LazySettings, days: int, seed: int) -> None:
    settings.HOLD_DAYS = days
    of = factories.network()
    factories.pool(GatewayGroup.objects.get(), "private4", "10.99.0.0/24")
    Tariff.objects.create(name="Other")
    before = deadlocks()
    with ThreadPoolExecutor(HANDS) as pool:
        wrong = [each for found in pool.map(lambda each: work(each, of.admin), range(seed, seed + HANDS)) for each in found]
    assert not wrong, "\n\n".join(wrong)
    assert deadlocks() == before
