"""Changes as the web server makes them: by the real services, each in a transaction of its own, with the time of its commit."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_network
from random import Random
from typing import Any

from django.db import connection, transaction

from apps.accounts.models import User
from apps.bans.models import Ban, BanList
from apps.bans.services import ban_prefix, lift_ban
from apps.lib.database.validity import is_valid_now
from apps.members.models import Member
from apps.nat.models import NatMapping, PortForward
from apps.nat.selectors import find_free_port
from apps.nat.services import add_forward, change_forward, map_address, remove_forward

SAMPLE = 2000  # mappings to choose from
BANNED = int(IPv4Address("45.0.0.0"))  # far from all addresses of the network


@dataclass(frozen=True, slots=True)
class CommittedChange:
    """xid: the transaction's id; at: Unix time right after its commit returned, before a task was sent to the worker."""

    xid: str
    at: float


def commit_change(change: Callable[[], object]) -> CommittedChange:
    """Make the change in one transaction."""
    at: list[float] = []
    with transaction.atomic():
        transaction.on_commit(lambda: at.append(time.time()))  # functions are called in the order in which they were registered
        change()
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_current_xact_id()::text")
            (xid,) = cursor.fetchone()
    return CommittedChange(xid, at[0])


class ChangeStream:
    """A stream of changes, the same for the same random numbers. Touches no member with an id in `spared`."""

    def __init__(self, random: Random, *, spared: frozenset[int] = frozenset()) -> None:
        self.random = random
        self.by = User.objects.order_by("pk")[0]
        self._list = BanList.objects.order_by("pk")[0]
        found = NatMapping.objects.filter(is_valid_now(), holding__member__state=Member.State.ACTIVE).exclude(holding__member__in=spared)
        self._mappings = list(found.order_by("pk").values_list("holding", "public")[:SAMPLE])
        self._publics = sorted({public for _holding, public in self._mappings}, key=int)
        self._forwards: list[PortForward] = []
        self._bans: list[Ban] = []
        self.made: list[str] = []  # ids of the committed transactions
        self._prefixes = iter(random.sample(range(1 << 22), 1 << 16))

    def make_single(self) -> CommittedChange:
        """Change one element or two: add, switch or remove a forward, add or lift a ban, or give a member another public address."""
        kinds: list[Callable[[], object]] = [self.create_forward, self.ban, self.remap]
        kinds += [self.switch, self.remove] if self._forwards else []
        kinds += [self.lift] if self._bans else []
        return self._commit(self.random.choice(kinds))

    def make_any(self) -> None:
        """Make any change: also by raw SQL, which sends no task to the worker, and changes of rules."""
        kinds: list[Callable[[], object]] = [self.switch_by_sql, self.ban_by_sql, self.toggle_member_by_sql, self.ban_wide]
        if self.random.random() < 0.3:
            self._commit(self.random.choice(kinds))
        else:
            self.make_single()

    def _commit(self, change: Callable[[], object]) -> CommittedChange:
        forwards, bans = list(self._forwards), list(self._bans)
        try:
            commit = commit_change(change)
        except Exception:  # the outcome is unknown: the objects of this change are no longer used
            self._forwards = [each for each in self._forwards if each in forwards]
            self._bans = [each for each in self._bans if each in bans]
            raise
        self.made.append(commit.xid)
        return commit

    def list_banned(self) -> list[str]:
        """Return the single addresses that this stream has banned now."""
        return [str(ban.prefix.network_address) for ban in list(self._bans) if ban.prefix.prefixlen == 32]

    def switch_by_sql(self) -> None:
        """Switch some forward of the network on or off."""
        _run_sql(
            "UPDATE nat_portforward SET enabled = NOT enabled WHERE id = (SELECT id FROM nat_portforward WHERE holding_id = ANY(%s)"
            " AND upper_inf(valid) ORDER BY random() LIMIT 1)",
            [[holding for holding, _public in self._mappings]],
        )

    def ban_by_sql(self) -> None:
        """Insert two bans in one transaction."""
        for _row in range(2):
            prefix = f"{IPv4Address(BANNED + next(self._prefixes) * 4)}/32"
            _run_sql(
                "INSERT INTO bans_ban (version, list_id, prefix, comment, created) VALUES (1, %s, %s::inet, 'by hand', now())",
                [self._list.pk, prefix],
            )

    def toggle_member_by_sql(self) -> None:
        """Let a member leave, or come back."""
        holding, _public = self.random.choice(self._mappings)
        _run_sql(
            "UPDATE members_member SET state = CASE state WHEN 'left' THEN 'active' ELSE 'left' END"
            " WHERE id = (SELECT member_id FROM network_holding WHERE id = %s)",
            [holding],
        )

    def ban_wide(self) -> None:
        """Ban a prefix of some length; the first one of a length brings a set and rules."""
        self._bans.append(self._ban(self.random.randrange(12, 31)))

    def create_forward(self) -> PortForward:
        """Add a forward from a port of a public address to a member."""
        holding, public = self._choose_mapping()
        port = find_free_port(public, "tcp", self.random.randrange(1024, 60000))
        if port is None:
            raise SystemExit(f"{public} has no free port")
        made = add_forward(holding=holding.holding, public=public, protocol="tcp", public_port=port, private_port=443, by=self.by)
        self._forwards.append(made)
        return made

    def switch(self) -> None:
        """Switch a forward of this stream on or off."""
        forward = self.random.choice(self._forwards)
        forward.refresh_from_db()
        change_forward(
            forward=forward, version=forward.version, private_port=forward.private_port, purpose="", enabled=not forward.enabled, by=self.by
        )

    def remove(self) -> None:
        """Remove a forward of this stream.

        If it is off, there would be nothing to deploy: it is switched on instead.
        """
        forward = self._forwards.pop(self.random.randrange(len(self._forwards)))
        forward.refresh_from_db()
        if not forward.enabled:
            change_forward(forward=forward, version=forward.version, private_port=444, purpose="", enabled=True, by=self.by)
            self._forwards.append(forward)
            return
        remove_forward(forward=forward, by=self.by)

    def ban(self) -> None:
        """Ban one address."""
        self._bans.append(self._ban(32))

    def _ban(self, length: int) -> Ban:
        mask = (1 << 32) - (1 << (32 - length))
        prefix = ip_network(f"{IPv4Address((BANNED + next(self._prefixes) * 4) & mask)}/{length}")
        return ban_prefix(list=self._list, prefix=prefix, comment="seen by the benchmark", author=self.by)

    def lift(self) -> None:
        """Lift a ban of this stream."""
        lift_ban(ban=self._bans.pop(self.random.randrange(len(self._bans))), by=self.by)

    def remap(self) -> None:
        """Give a member another public address."""
        mapping, public = self._choose_mapping()
        other = self.random.choice([each for each in self._publics if each != public])
        map_address(holding=mapping.holding, public=other, by=self.by)

    def make_rules(self, length: int) -> tuple[CommittedChange, Callable[[], CommittedChange]]:
        """Ban with a new prefix length, which brings a set and rules; return this commit, and a function that lifts the ban and
        removes them.
        """
        made: list[Ban] = []
        first = commit_change(lambda: made.append(self._ban(length)))
        return first, lambda: commit_change(lambda: lift_ban(ban=made[0], by=self.by))

    def _choose_mapping(self) -> tuple[NatMapping, IPv4Address]:
        holding, _public = self.random.choice(self._mappings)
        mapping = NatMapping.objects.filter(is_valid_now()).select_related("holding").get(holding=holding)
        return mapping, IPv4Address(str(mapping.public))


def _run_sql(query: str, parameters: list[Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
