"""Changes to random groups at a steady rate, and the time from each commit until both gateways of its group have confirmed it."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from random import Random
from threading import Event, Thread

import psycopg
from django.db import connection

from apps.accounts.models import User
from apps.lib.database.validity import is_valid_now
from apps.nat.models import NatMapping, PortForward
from apps.nat.services import add_forward, change_forward, map_address
from benchmarks.scale.many_groups import PAIR
from benchmarks.whole.changes import CommittedChange, commit_change
from benchmarks.whole.stack import wait_until
from benchmarks.whole.watch import CHANNEL, TRIGGER

PUBLICS = 200  # of a group, as many_groups.FILL gives them
SAW = """
    SELECT r.id FROM deployments_rollout r JOIN deployments_revision v ON v.id = r.revision_id
    WHERE r.group_id = %s AND pg_visible_in_snapshot(%s::xid8, v.snapshot)
"""


@dataclass(frozen=True, slots=True)
class GroupChange:
    """A committed change, and the group that it belongs to."""

    group: int
    commit: CommittedChange


class GroupChanges:
    """A stream of changes, each to a random group: a new forward, a forward's new private port, a member's new public address.

    No change undoes an earlier one, because nothing would have to be deployed for the two.
    """

    def __init__(self, random: Random, by: User) -> None:
        self._random, self._by = random, by
        self._mappings: dict[int, list[NatMapping]] = defaultdict(list)
        for mapping in NatMapping.objects.filter(is_valid_now()).select_related("holding__member").order_by("pk"):
            self._mappings[mapping.group_id].append(mapping)
        self._forwards: dict[int, list[PortForward]] = defaultdict(list)
        self._ports = iter(range(20_000, 60_000))

    def make_one(self) -> GroupChange:
        """Commit one change by the real services."""
        group = self._random.choice(list(self._mappings))
        kinds = [self._add, self._remap] + ([self._redirect] if self._forwards[group] else [])
        change = self._random.choice(kinds)
        return GroupChange(group, commit_change(lambda: change(group)))

    def _add(self, group: int) -> None:
        mapping, port = self._random.choice(self._mappings[group]), next(self._ports)
        public = IPv4Address(str(mapping.public))
        made = add_forward(holding=mapping.holding, public=public, protocol="tcp", public_port=port, private_port=443, by=self._by)
        self._forwards[group].append(made)

    def _redirect(self, group: int) -> None:
        forward = self._random.choice(self._forwards[group])
        forward.refresh_from_db()
        change_forward(
            forward=forward,
            version=forward.version,
            private_port=forward.private_port + 1,
            purpose="",
            enabled=True,
            by=self._by,
        )

    def _remap(self, group: int) -> None:
        at = self._random.randrange(len(self._mappings[group]))
        mapping = self._mappings[group][at]
        first = int(IPv4Address(str(mapping.pool_prefix.network_address))) + 1
        public = IPv4Address(first + (int(IPv4Address(str(mapping.public))) - first + 1) % PUBLICS)
        self._mappings[group][at] = map_address(holding=mapping.holding, public=public, by=self._by)


class ConfirmationLog:
    """Unix times at which steps of rollouts were heard to be confirmed, by rollout and gateway; the first of each counts."""

    def __init__(self) -> None:
        self._heard: dict[int, dict[int, float]] = defaultdict(dict)

    def take_down(self, listening: psycopg.Connection, ended: Event) -> None:
        """Take down what the database says on this connection until `ended`."""
        while not ended.is_set():
            for told in listening.notifies(timeout=0.2):
                rollout, gateway = map(int, told.payload.split())
                self._heard[rollout].setdefault(gateway, time.time())

    def find_confirmation(self, change: GroupChange) -> float | None:
        """Return when the second gateway of the group had confirmed a revision that saw the change; None if that is not heard yet."""
        with connection.cursor() as cursor:
            cursor.execute(SAW, [change.group, change.commit.xid])
            rollouts = [rollout for (rollout,) in cursor.fetchall()]
        first: dict[int, float] = {}
        for rollout in rollouts:
            for gateway, at in list(self._heard.get(rollout, {}).items()):
                first[gateway] = min(at, first.get(gateway, at))
        return max(first.values()) if len(first) == PAIR else None


@contextmanager
def hear_confirmations(url: str) -> Iterator[ConfirmationLog]:
    """Listen for the block: from its beginning, so that no confirmation is missed."""
    log, ended = ConfirmationLog(), Event()
    with psycopg.connect(url, autocommit=True) as listening:
        listening.execute(TRIGGER)
        listening.execute(f"LISTEN {CHANNEL}")
        listener = Thread(target=log.take_down, args=(listening, ended))
        listener.start()
        try:
            yield log
        finally:
            ended.set()
            listener.join()


def make_changes(changes: GroupChanges, *, a_second: float, seconds: float) -> list[GroupChange]:
    """Commit changes at a steady rate. The rate does not wait for confirmations; a commit that is late is not followed by a pause."""
    begun, made = time.monotonic(), list[GroupChange]()
    for number in range(round(a_second * seconds)):
        time.sleep(max(0.0, begun + number / a_second - time.monotonic()))
        made.append(changes.make_one())
    return made


def wait_for_confirmations(log: ConfirmationLog, made: Iterable[GroupChange]) -> list[float]:
    """Return the seconds of each change from its commit until both gateways had it. Raises SystemExit if one is not confirmed for long."""
    return [_wait_for_confirmation(log, change) - change.commit.at for change in made]


def _wait_for_confirmation(log: ConfirmationLog, change: GroupChange) -> float:
    found: list[float] = []

    def is_heard() -> bool:
        at = log.find_confirmation(change)
        found.extend([] if at is None else [at])
        return at is not None

    wait_until(is_heard, f"The confirmation of transaction {change.commit.xid}")
    return found[0]
