"""change: one change in a database of many members and 120,000 bans, until ruleset, delta and digest are known; and the full way.

Needs a database server (NETZWART_DATABASE_URL), where it creates a database of its own and drops it again. No gateway takes part:
the figures depend only on the network's size and on the machine.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import ip_network
from statistics import median, quantiles
from typing import Any

from benchmarks.baselines import COPY, PYTHON, measure_copy_seconds, measure_insert_ms
from benchmarks.disturbance import measure_python_seconds
from benchmarks.figures import Figure

CHANGES = 200
IMPORTS = 5
BANS = 120_000
NAME = "netzwart_bench"
QUERIES = 8  # of one change, all short
BARE = f"{QUERIES} bare transactions and a tenth of the fixed Python"

POOLS = (
    (1, "private4", "private", "10.0.0.0/8", 32),
    (2, "public4", "public", "198.18.0.0/15", 32),
    (3, "prefix6", "prefixes", "2001:db8::/32", 64),
)
FILL = """
SET session_replication_role = replica;
INSERT INTO members_member (id, version, number, name, email, language, state, tariff_id, since, note)
    SELECT n, 1, n, 'Member ' || n, '', 'en', 'active', 1, '2025-10-01', '' FROM generate_series(1, {members}) n;
INSERT INTO network_holding (id, member_id, pool_id, group_id, kind, pool_prefix, prefix, valid)
    SELECT n, n, 1, 1, 'private4', '10.0.0.0/8', ('10.0.0.0'::inet + n)::cidr, tstzrange(now() - n * interval '1 s', NULL)
    FROM generate_series(1, {members}) n;
INSERT INTO network_holding (id, member_id, pool_id, group_id, kind, pool_prefix, prefix, valid)
    SELECT {members} + n, n, 3, 1, 'prefix6', '2001:db8::/32',
        ('2001:db8:' || to_hex(n / 65536) || ':' || to_hex(n % 65536) || '::/64')::cidr,
        tstzrange(now() - n * interval '1 s', NULL)
    FROM generate_series(1, {members}) n;
INSERT INTO nat_natmapping (version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid)
    SELECT 1, id, 1, 'private4', valid, 2, 'public4', '198.18.0.0/15', '198.18.0.0'::inet + id % 256, valid
    FROM network_holding WHERE kind = 'private4';
INSERT INTO nat_portforward (version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid,
        protocol, public_port, private_port, purpose, enabled)
    SELECT 1, h.id, 1, 'private4', h.valid, 2, 'public4', '198.18.0.0/15', '198.18.0.0'::inet + h.id % 256, h.valid,
        'tcp', 1024 + h.id / 256 * 3 + n, 443, '', true
    FROM network_holding h, generate_series(0, 2) n WHERE h.kind = 'private4' AND h.id <= {members} * 15 / 100;
SET session_replication_role = origin;
"""
FEED = """
INSERT INTO bans_ban (version, list_id, prefix, comment, created, expires)
    SELECT 1, 1, ('203.0.0.0'::inet + n)::cidr, 'seen ' || n % 9 || ' times', now(), now() + interval '7 days'
    FROM generate_series(1, {bans}) n
"""
FORWARD = """
INSERT INTO nat_portforward (version, holding_id, group_id, kind, held, pool_id, pool_kind, pool_prefix, public, valid,
        protocol, public_port, private_port, purpose, enabled)
    SELECT 1, id, 1, 'private4', valid, 2, 'public4', '198.18.0.0/15', '198.19.0.1', tstzrange(now(), NULL), 'udp', %(n)s + 1, 53, '', true
    FROM network_holding WHERE id = %(n)s %% {members} + 1
"""
BAN = "INSERT INTO bans_ban (version, list_id, prefix, comment, created) VALUES (1, 2, ('192.0.0.0'::inet + %(n)s)::cidr, 'scans', now())"
LEAVE = "UPDATE members_member SET state = 'left' WHERE id = {members} - %(n)s"


@dataclass
class ChangeTiming:
    """Milliseconds of one change: in all, until it is read, and the part of the whole that waits for the database."""

    total: float
    read: float
    database: float


def run(members: int) -> Iterator[Figure]:
    """Measure CHANGES of each kind; each is committed and processed alone."""
    with use_own_database():
        yield from _measure_changes(members)


@contextmanager
def use_own_database() -> Iterator[None]:
    """Create an empty database beside the server's others for the block, and drop it at its end."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    django.setup()
    from django.db import connection

    connection.settings_dict["TEST"]["NAME"] = NAME
    old = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(old, verbosity=0)


def build_database_url(name: str = NAME) -> str:
    """Return the address of a database on the same server, as programs that are started get it."""
    from django.conf import settings
    from psycopg.conninfo import make_conninfo

    known: dict[str, Any] = settings.DATABASES["default"]
    return make_conninfo(dbname=name, user=known["USER"], password=known["PASSWORD"], host=known["HOST"], port=known["PORT"] or None)


def _measure_changes(members: int) -> Iterator[Figure]:
    from apps.deployments.desired_state.desired_rulesets import compute_desired_state
    from apps.network.models import GatewayGroup

    fill(members)
    plain, noted = _measure_imports()
    copy = median(measure_copy_seconds(BANS) for _ in range(IMPORTS))
    yield Figure("import_120000_seconds", noted, "s", None, copy, COPY)
    yield Figure("import_without_touched_seconds", plain, "s", None, copy, COPY)
    run_sql("ANALYZE")
    group = GatewayGroup.objects.get()
    full, known = _time_call(lambda: compute_desired_state(group))
    python = median(measure_python_seconds() for _ in range(CHANGES // 10))
    yield Figure("full_way_seconds", full / 1000, "s", None, python, PYTHON)
    for name, query in (("forward", FORWARD), ("ban", BAN), ("member_leaves", LEAVE)):
        each, known = time_changes(group, known, query.format(members=members))
        single = name != "member_leaves"  # a member who leaves changes seven sets
        bare = QUERIES * median(measure_insert_ms() for _ in range(CHANGES)) + python * 1000 / 10
        goals = ("<= 15", bare, BARE, "<= 2") if single else (None, bare, BARE, None)
        yield Figure(f"{name}_ms_p50", median(one.total for one in each), "ms", *goals)
        yield Figure(f"{name}_ms_p99", quantiles([one.total for one in each], n=100)[98], "ms")
        yield Figure(f"{name}_changed_since_ms", median(one.read for one in each), "ms")
        yield Figure(f"{name}_compile_and_digest_ms", median(one.total - one.read for one in each), "ms")
        goals = ("<= 5", python * 1000, PYTHON, "<= 0.2") if single else (None, python * 1000, PYTHON, None)
        yield Figure(f"{name}_python_ms_p50", median(one.total - one.database for one in each), "ms", *goals)


def fill(members: int) -> None:
    """Write a network of this many members into an empty database."""
    create_network()
    run_sql(FILL.format(members=members))


def create_network() -> None:
    """Write a network without members into an empty database: a group of two gateways, three pools, a tariff, two ban lists."""
    from django.utils import timezone

    from apps.bans.models import BanList
    from apps.members.models import Tariff
    from apps.network.models import Gateway, GatewayGroup, Pool

    group = GatewayGroup.objects.create(pk=1, name="Bench", live_since=timezone.now())
    for number in (1, 2):
        interfaces = {"lan": "lan0", "wan": "wan0", "management": "mgmt0", "sync": "sync0"}
        carries = {"carries4": number == 1, "carries6": number == 2, "management_networks": [ip_network("172.31.0.0/24")]}
        Gateway.objects.create(group=group, name=f"nat-{number}", link="local", **interfaces, **carries)
    for pk, kind, name, prefix, length in POOLS:
        Pool.objects.create(pk=pk, group=group, kind=kind, name=name, prefix=ip_network(prefix), member_length=length)
    Tariff.objects.create(pk=1, name="Standard")
    for pk, name in ((1, "feed"), (2, "own")):
        BanList.objects.create(pk=pk, name=name)


def _measure_imports() -> tuple[float, float]:
    """Import the feed with one INSERT into an empty table, in turn without and with the trigger that records touched rows; return
    medians.
    """
    rounds = [(_import("DISABLE"), _import("ENABLE")) for _ in range(IMPORTS)]
    return median(plain for plain, _ in rounds), median(noted for _, noted in rounds)


def _import(trigger: str) -> float:
    run_sql("TRUNCATE bans_ban")
    run_sql(f"ALTER TABLE bans_ban {trigger} TRIGGER touched_insert")
    took, _ = _time_call(lambda: run_sql(FEED.format(bans=BANS)))
    return took / 1000


def time_changes(group: Any, known: Any, query: str) -> tuple[list[ChangeTiming], Any]:
    """Commit CHANGES by this query, each processed alone, and return their times and the last desired state. known: the one before."""
    each = []
    for n in range(CHANGES):
        run_sql(query, {"n": n})
        one, known = _time_change(group, known)
        each.append(one)
    return each, known


def _time_change(group: Any, known: Any) -> tuple[ChangeTiming, Any]:
    from django.db import connection

    from apps.deployments.desired_state.desired_rulesets import update_desired_state
    from apps.deployments.desired_state.policy_snapshot import take_changes

    waited = [0.0]

    def waiting(execute: Callable[..., Any], *arguments: Any) -> Any:
        took, answer = _time_call(lambda: execute(*arguments))
        waited[0] += took
        return answer

    with connection.execute_wrapper(waiting):
        read, change = _time_call(lambda: take_changes(group, known.snapshot))
    compiling, wanted = _time_call(lambda: update_desired_state(known, change) if change else None)
    if wanted is None or wanted.targets == known.targets:
        raise SystemExit("the short way did not see the change")
    return ChangeTiming(read + compiling, read, waited[0]), wanted


def run_sql(query: str, parameters: dict[str, Any] | None = None) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(query, parameters)


def _time_call[Result](work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the milliseconds of a call, and its result."""
    start = time.perf_counter()
    result = work()
    return (time.perf_counter() - start) * 1000, result
