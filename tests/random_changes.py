"""Random changes of a network's rows, by all ways in which rows change: services, bulk ORM operations, raw SQL, deletes,
cascades.

There are few distinct objects, so that changes collide. Constraints or another transaction's lock refuse many changes; that is
intended.
"""

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from ipaddress import IPv4Address, ip_address, ip_network
from random import Random
from typing import Any

import psycopg
from django.db import DatabaseError, connection, transaction
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.utils import timezone

from apps.bans import allow_list
from apps.bans import services as bans
from apps.bans.models import AllowEntry, Ban, BanList, Block, Listener, Notice, ServerInterface
from apps.gateways import group_settings
from apps.lib.errors import Conflict, Problem
from apps.members import departures
from apps.members import services as members
from apps.members.models import Member
from apps.nat import services as nat
from apps.nat.models import NatMapping, Pinhole, PortForward
from apps.nat.pinholes import services as pinholes
from apps.nat.pool_sharing import change_sharing
from apps.network import services as addresses
from apps.network.models import Gateway, GatewayGroup, Holding, Limits, Pool, Profile
from tests import factories
from tests.random_rate_changes import rate_changes

BANNED = ["192.0.2.0/24", "192.0.2.7", "203.0.113.9", "203.0.113.0/28", "2001:db8:bad::/48", "2001:db8:bad:1::/64"]
REFUSALS = (DatabaseError, Problem, Conflict)


class Changes:
    """Makes random changes to a network. `ahead`: how far its clock is ahead of the database's."""

    def __init__(self, network: factories.Network, seed: int) -> None:
        self.dice, self.net, self.ahead = Random(seed), network, timedelta()
        self.other = GatewayGroup.objects.create(name=f"Other {seed}", live_since=timezone.now())
        self.kinds: list[Callable[[], object]] = [
            self._forward, self._forward, self._switch_forward, self._remove_forward, self._map, self._state, self._activity, self._hold,
            self._release, self._leave, self._release_held, self._raw_validity, self._raw_validity, self._raw_address, self._raw_owner,
            self._ban, self._ban,
            self._ban_again, self._ban_again, self._lift, self._raw_ban, self._end_of_ban, self._toggle_list, self._delete_list,
            self._raw_ports, self._raw_ports, self._move_bans, self._bulk_bans, self._interfaces, self._pool, self._group_of_pool,
            self._pinhole, self._pinhole, self._pinhole, self._change_pinhole, self._change_pinhole, self._remove_pinhole, self._renumber,
            self._raw_pinhole, self._raw_pinhole, self._bulk_forwards, self._delete_nat, self._nothing_that_reaches_gateways,
            self._direction, self._allow, self._allow, self._disallow, self._end_of_allowed, self._word_anew,
            self._sharing, self._sharing, self._raw_block, self._unmap, self._protection, self._limits, self._profile,
            self._block, self._block, self._raw_member_block, self._lift_block, self._listener,
            self._listener, self._raw_listener, self._delete_listener, self._servers, *rate_changes(self),
        ]  # fmt: skip

    def step(self) -> None:
        """Run one transaction or more, each with one change or more; some are rolled back, whole or in part."""
        for _ in range(self.dice.choice([1, 1, 2, 3])):
            with contextlib.suppress(DatabaseError), transaction.atomic():
                for _ in range(self.dice.choice([1, 1, 2, 4])):
                    self._one()
                transaction.set_rollback(self.dice.random() < 0.1)

    def _one(self) -> None:
        """Make one change in a savepoint; a refused change leaves nothing behind."""
        try:
            with transaction.atomic():
                self.dice.choice(self.kinds)()
                if self.dice.random() < 0.05:
                    raise Problem("changed my mind")
        except REFUSALS:
            return

    def sql(self, query: str, *parameters: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(query, parameters)

    def _any(self, found: Any) -> Any:
        there = list(found.order_by("pk"))
        if not there:
            raise Problem("there is none")
        return self.dice.choice(there)

    def _holding(self) -> Holding:
        found: Holding = self._any(Holding.objects.filter(kind="private4"))
        return found

    def _public(self) -> IPv4Address:
        return factories.PUBLIC + self.dice.randrange(3)

    def _time(self) -> datetime:
        return timezone.now() + self.ahead + timedelta(minutes=self.dice.randrange(-300, 600))

    def _range(self) -> tuple[datetime, datetime | None]:
        one, other = sorted((self._time(), self._time()))
        return one, self.dice.choice([other, None])

    def _forward(self) -> object:
        return nat.add_forward(
            holding=self._holding(),
            public=self._public(),
            protocol=self.dice.choice(["tcp", "udp"]),
            public_port=self.dice.randrange(1, 8),
            private_port=self.dice.randrange(1, 9),
            ports=self.dice.choice([1, 1, 2, 4]),
            until=self.dice.choice([None, self._time()]),
            by=self.net.admin,
        )

    def _switch_forward(self) -> object:
        of = self._any(PortForward.objects.all())
        port, enabled = self.dice.randrange(1, 9), not of.enabled
        return nat.change_forward(forward=of, version=of.version, private_port=port, purpose="", enabled=enabled, by=self.net.admin)

    def _remove_forward(self) -> None:
        nat.remove_forward(forward=self._any(PortForward.objects.all()), by=self.net.admin)

    def _raw_ports(self) -> None:
        """Change the range, the address or the protocol of a forward."""
        change = self.dice.choice(["public_port = %s", "ports = %s", "private_port = %s", "public = '198.51.100.8'::inet - 1 + (%s %% 3)"])
        self.sql(f"UPDATE nat_portforward SET {change} WHERE id = %s", self.dice.randrange(1, 5), self._any(PortForward.objects.all()).pk)

    def _hole(self, holding: Holding) -> dict[str, Any]:
        """Return a random pinhole in the prefix, at one of two addresses."""
        protocol, port = self.dice.choice(["tcp", "udp", "udp", "all"]), self.dice.choice([0, 1, 2, 3, 4, 5])
        port = 0 if protocol == "all" else port
        address = holding.prefix.network_address + self.dice.choice([1, 2])
        return {"address": address, "protocol": protocol, "port": port, "ports": self.dice.choice([1, 1, 2, 3])}

    def _pinhole(self) -> object:
        holding = self._any(Holding.objects.filter(kind="prefix6"))
        until = self.dice.choice([None, self._time()])
        return pinholes.add_pinhole(holding=holding, **self._hole(holding), until=until, by=self.net.admin)

    def _change_pinhole(self) -> object:
        of = self._any(Pinhole.objects.all())
        what = (
            self._hole(of.holding)
            if self.dice.random() < 0.6
            else {name: getattr(of, name) for name in ("address", "protocol", "port", "ports")}
        )
        return pinholes.change_pinhole(
            pinhole=of, version=of.version, **what, purpose="", enabled=self.dice.choice([True, True, False]), by=self.net.admin
        )

    def _remove_pinhole(self) -> None:
        pinholes.remove_pinhole(pinhole=self._any(Pinhole.objects.all()), by=self.net.admin)

    def _renumber(self) -> object:
        of = self._any(Holding.objects.filter(kind="prefix6"))
        return pinholes.replace_member_prefix(holding=of, follow=self.dice.choice([True, True, False]), by=self.net.admin)

    def _raw_pinhole(self) -> None:
        change = self.dice.choice(["port = %s", "ports = %s", "enabled = (%s > 2)", "address = host(network(prefix))::inet + %s"])
        self.sql(f"UPDATE nat_pinhole SET {change} WHERE id = %s", self.dice.randrange(1, 5), self._any(Pinhole.objects.all()).pk)

    def _map(self) -> object:
        return nat.map_address(holding=self._holding(), public=self.dice.choice([None, self._public()]), by=self.net.admin)

    def _sharing(self) -> object:
        sharing, size = self.dice.choice([("own", None), ("shared", None), ("blocks", 1024), ("blocks", 16384)])
        pool = Pool.objects.get(pk=self.net.public.pk)
        return change_sharing(pool=pool, sharing=sharing, block_size=size, by=self.net.admin)

    def _raw_block(self) -> None:
        first = 1024 * self.dice.randrange(1, 5)
        query = "UPDATE nat_natmapping SET sharing = 'blocks', block = int4range(%s, %s) WHERE id = %s"
        self.sql(query, first, first + self.dice.choice([64, 1024]), self._any(NatMapping.objects.all()).pk)

    def _unmap(self) -> None:
        nat.unmap_address(mapping=self._any(NatMapping.objects.all()), by=self.net.admin)

    def _state(self) -> object:
        return Member.objects.filter(pk=self._any(Member.objects.all()).pk).update(state=self.dice.choice(["active", "active", "pending"]))

    def _activity(self) -> None:
        members.activate_member(member=self._any(Member.objects.all()), by=self.net.admin)

    def _leave(self) -> object:
        return members.end_membership(member=self._any(Member.objects.all()), by=self.net.admin) if self.dice.random() < 0.3 else None

    def _release_held(self) -> None:
        """Release the addresses of members who have left, after the whole grace period or half of it."""
        for member in departures.list_releasable(timezone.now() + timedelta(days=self.dice.choice([7, 14]))):
            departures.release_departed(member)

    def _hold(self) -> object:
        pool = self.dice.choice([self.net.private, self.net.private, self.net.prefixes])
        return addresses.assign_address(member=self._any(Member.objects.filter(state="active")), pool=pool, by=self.net.admin)

    def _release(self) -> object:
        return addresses.release_holding(holding=self._any(Holding.objects.all()), by=self.net.admin)

    def _raw_validity(self) -> None:
        """Set a validity that begins or ends at any time. That of a holding cascades to its dependents."""
        tables = {"network_holding": Holding, "nat_natmapping": NatMapping, "nat_portforward": PortForward, "nat_pinhole": Pinhole}
        table = self.dice.choice(list(tables))
        of: Any = tables[table]
        (begin, end), bounds = self._range(), self.dice.choice(["[)", "[]", "(]"])
        within = "" if of is Holding else "* held"
        query = f"UPDATE {table} SET valid = tstzrange(%s, %s, %s) {within} WHERE id = %s"
        self.sql(query, begin, end, bounds, self._any(of.objects.all()).pk)

    def _raw_address(self) -> None:
        """Change the address of a holding that keeps its forwards and its mapping."""
        query = "UPDATE network_holding SET prefix = %s::cidr WHERE id = %s"
        self.sql(query, f"10.16.0.{self.dice.randrange(10, 30)}", self._holding().pk)

    def _raw_owner(self) -> None:
        query = "UPDATE network_holding SET member_id = %s, device_id = NULL WHERE id = %s"
        self.sql(query, self._any(Member.objects.all()).pk, self._any(Holding.objects.all()).pk)

    def _list(self) -> BanList:
        name = self.dice.choice(["own", "feed", "old feed"])
        found = BanList.objects.filter(name=name).first()
        return found or bans.create_list(name=name, by=self.net.admin)

    def _ban(self) -> object:
        expires = self.dice.choice([None, timezone.now() + timedelta(minutes=self.dice.randrange(1, 3000))])
        comment = self.dice.choice(["", "scans", 'says "no"'])
        direction = self.dice.choice(["in", "out", "both", "both"])
        prefix = self.dice.choice(BANNED)
        return bans.ban_prefix(list=self._list(), prefix=prefix, comment=comment, expires=expires, direction=direction, author=None)

    def _ban_again(self) -> None:
        """Ban the same prefixes on several lists, with different ends."""
        for of in BanList.objects.all():
            values = [of.pk, self.dice.choice(BANNED), of.name, self.dice.choice([None, self._time()])]
            self.sql(
                """INSERT INTO bans_ban (version, list_id, prefix, comment, created, expires) VALUES (1, %s, %s::cidr, %s, now(), %s)
                ON CONFLICT (list_id, prefix) DO UPDATE SET expires = excluded.expires""",
                *values,
            )

    def _direction(self) -> None:
        query = "UPDATE bans_ban SET direction = %s WHERE prefix = %s::cidr"
        self.sql(query, self.dice.choice(["in", "out", "both"]), self.dice.choice(BANNED))

    def _allow(self) -> object:
        expires = self.dice.choice([None, timezone.now() + timedelta(minutes=self.dice.randrange(1, 3000))])
        return allow_list.allow_prefix(prefix=self.dice.choice(BANNED), comment="ours", expires=expires, author=None)

    def _disallow(self) -> None:
        allow_list.remove_entry(entry=self._any(AllowEntry.objects.all()), by=None)

    def _end_of_allowed(self) -> object:
        return AllowEntry.objects.filter(pk=self._any(AllowEntry.objects.all()).pk).update(expires=self.dice.choice([None, self._time()]))

    def _word_anew(self) -> object:
        return Ban.objects.update(comment=f"word {self.dice.random()}")

    def _lift(self) -> None:
        bans.lift_ban(ban=self._any(Ban.objects.all()), by=None)

    def _raw_ban(self) -> None:
        self.sql("UPDATE bans_ban SET prefix = %s::cidr WHERE id = %s", self.dice.choice(BANNED), self._any(Ban.objects.all()).pk)

    def _end_of_ban(self) -> object:
        return Ban.objects.filter(prefix=ip_network(self.dice.choice(BANNED))).update(expires=self.dice.choice([None, self._time()]))

    def _toggle_list(self) -> object:
        of = self._list()
        return bans.change_list(list=of, version=of.version, name=of.name, description="", enabled=not of.enabled, by=None)

    def _delete_list(self) -> object:
        return bans.delete_list(list=self._list(), by=None)

    def _move_bans(self) -> object:
        return Ban.objects.filter(list=self._list()).update(list=self._list())

    def _bulk_bans(self) -> object:
        prefixes = [ip_network(f"198.18.{self.dice.randrange(4)}.{n}") for n in range(self.dice.randrange(1, 20))]
        return Ban.objects.bulk_create([Ban(list=self._list(), prefix=prefix) for prefix in prefixes], ignore_conflicts=True)

    def _interfaces(self) -> object:
        of = self.dice.choice(self.net.gateways)
        if self.dice.random() < 0.5:
            return Gateway.objects.filter(pk=of.pk).update(lan=self.dice.choice(["lan0", "bond0"]))
        return Gateway.objects.filter(pk=of.pk).update(management_port=self.dice.choice([22, 2222]))

    def _protection(self) -> object:
        own = self.dice.choice([[], ["203.0.113.0/24"], ["203.0.113.0/24", "2001:db8::/32"]])
        row = group_settings.get_protection(self.net.group)
        given: dict[str, Any] = {
            "bogons": self.dice.random() < 0.5,
            "own": list(map(ip_network, own)),
            "clamp_mss": self.dice.random() < 0.5,
        }
        given |= {"bgp_peers": self.dice.choice([[], [factories.PUBLIC]]), "ospf_peers": []}
        given |= {"ftp_ports": self.dice.choice([[], [21], [21, 2121]]), "sip_ports": []}
        return group_settings.change_protection(group=self.net.group, version=row.version, by=self.net.admin, **given)

    def _limits(self) -> object:
        found = Limits.objects.get_or_create(group=self.net.group)[0]
        if self.dice.random() < 0.1:
            return found.delete()
        rates = {"member_rate": self.dice.choice([0, 10, 50]), "mail_rate": self.dice.choice([0, 5])}
        return Limits.objects.update(**rates, source_open=self.dice.choice([0, 100]), exempt=[factories.PUBLIC] * self.dice.randrange(2))

    def _profile(self) -> object:
        found = Profile.objects.get_or_create(group=self.net.group)[0]
        if self.dice.random() < 0.1:
            return found.delete()
        return Profile.objects.update(udp=self.dice.choice([30, 60]), managed=self.dice.random() < 0.8, tcp_loose=self.dice.random() < 0.5)

    def _pool(self) -> None:
        prefix = self.dice.choice(["10.16.0.0/16", "10.16.0.0/15"])
        self.sql("UPDATE network_pool SET prefix = %s::cidr WHERE id = %s", prefix, self.net.private.pk)

    def _group_of_pool(self) -> object:
        """Move a pool to another group; its prefixes move with it, by a cascade."""
        return Pool.objects.filter(pk=self.net.prefixes.pk).update(group=self.dice.choice([self.net.group, self.net.group, self.other]))

    def _bulk_forwards(self) -> object:
        return PortForward.objects.filter(public_port__gt=self.dice.randrange(8)).update(enabled=self.dice.choice([True, True, False]))

    def _delete_nat(self) -> object:
        of: Any = self.dice.choice([NatMapping, PortForward, Pinhole])
        return of.objects.filter(pk=self._any(of.objects.all()).pk).delete()

    def _block(self) -> object:
        """Block any member, even one who is not active or is already blocked at that time."""
        begin, end = self._range()
        member = self._any(Member.objects.all())
        return Block.objects.create(member=member, reason="abuse", valid=DateTimeTZRange(begin, end), author=self.net.admin)

    def _raw_member_block(self) -> None:
        begin, end = self._range()
        self.sql("UPDATE bans_block SET valid = tstzrange(%s, %s) WHERE id = %s", begin, end, self._any(Block.objects.all()).pk)

    def _lift_block(self) -> object:
        return Block.objects.filter(pk=self._any(Block.objects.all()).pk).delete()

    def _listener(self) -> object:
        """Add a listener, sometimes at the address of a forward or a member."""
        address = self.dice.choice(["192.0.2.129", "192.0.2.130", "2001:db8:99::1", "198.51.100.7", "10.16.0.10"])
        return Listener.objects.create(
            group=self.dice.choice([self.net.group, self.net.group, self.other]),
            name=self.dice.choice(["web", "mail"]),
            address=ip_address(address),
            protocol=self.dice.choice(["tcp", "udp"]),
            port=self.dice.randrange(1, 4),
            enabled=self.dice.random() < 0.8,
            guarded=self.dice.random() < 0.3,
        )

    def _raw_listener(self) -> None:
        query = "UPDATE bans_listener SET port = %s, enabled = %s, group_id = %s, guarded = %s, window_scale = %s WHERE id = %s"
        group = self.dice.choice([self.net.group, self.net.group, self.other])
        guard = self.dice.random() < 0.4, self.dice.choice([7, 7, 10])
        pk = self._any(Listener.objects.all()).pk
        self.sql(query, self.dice.randrange(1, 4), self.dice.random() < 0.7, group.pk, *guard, pk)

    def _delete_listener(self) -> object:
        return Listener.objects.filter(pk=self._any(Listener.objects.all()).pk).delete()

    def _servers(self) -> object:
        """Add or remove the server interface; change the notice page."""
        of, notice = self.dice.choice(self.net.gateways), Notice.objects.get_or_create(group=self.net.group)[0]
        if self.dice.random() < 0.5:
            return ServerInterface.objects.update_or_create(gateway=of, defaults={"name": self.dice.choice(["srv0", "dmz0"])})
        if self.dice.random() < 0.5:
            return ServerInterface.objects.filter(gateway=of).delete()
        return Notice.objects.filter(pk=notice.pk).update(ipv4=self.dice.choice([None, ip_address("192.168.9.80")]))

    def _nothing_that_reaches_gateways(self) -> object:
        return Member.objects.update(note=f"note {self.dice.random()}")


class Overlapping:
    """A transaction on its own connection, which stays open while others begin and end."""

    STATEMENTS = (
        "UPDATE nat_portforward SET enabled = NOT enabled WHERE id = (SELECT id FROM nat_portforward ORDER BY random() LIMIT 1)",
        "DELETE FROM nat_portforward WHERE id = (SELECT id FROM nat_portforward ORDER BY random() LIMIT 1)",
        "UPDATE bans_ban SET expires = NULL WHERE id = (SELECT id FROM bans_ban ORDER BY random() LIMIT 1)",
        "DELETE FROM bans_ban WHERE id = (SELECT id FROM bans_ban ORDER BY random() LIMIT 1)",
        "UPDATE members_member SET state = 'pending' WHERE id = (SELECT id FROM members_member ORDER BY random() LIMIT 1)",
        "INSERT INTO bans_ban (version, list_id, prefix, comment, created) SELECT 1, id, '198.51.100.200', 'late', now() FROM bans_banlist",
    )

    def __init__(self, dice: Random) -> None:
        given: Any = connection.get_connection_params()
        names = ("dbname", "user", "password", "host", "port")
        self._connection = psycopg.connect(**{name: given[name] for name in names if given.get(name)})
        self._dice = dice
        self._connection.execute("SET lock_timeout = '20ms'")
        self._connection.execute("SELECT setseed(%s)", [dice.random()])
        self._connection.commit()

    def step(self) -> None:
        """Run one more statement, or end the transaction by commit or rollback."""
        match self._dice.randrange(6):
            case 0 | 1:
                with contextlib.suppress(psycopg.Error):  # a foreign key is checked at the end, and refused
                    self._connection.commit()
            case 2:
                self._connection.rollback()
            case _:
                self._connection.execute("SELECT 1")  # begins a transaction, so that the next one is a savepoint in it
                with contextlib.suppress(psycopg.Error), self._connection.transaction():
                    self._connection.execute(self._dice.choice(self.STATEMENTS))

    def close(self) -> None:
        self._connection.close()
