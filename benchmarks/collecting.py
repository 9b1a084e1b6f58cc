"""collect: a gateway's counters from the kernel into the database, and charts of two years of usage out of it.

Every member has IPv4 and IPv6 usage. Needs root, for a network namespace of its own. --days limits the years.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from statistics import median, quantiles
from struct import pack
from tempfile import TemporaryDirectory

from benchmarks.baselines import ARITHMETIC, COPY, measure_arithmetic_ms, measure_copy_seconds
from benchmarks.counting import AgentConnection, let_all_count, list_with_nft
from benchmarks.figures import Figure
from benchmarks.peak_memory import read_peak_mib
from firewall.wire import Counts, Reading

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ASKED = NOW + timedelta(minutes=13)  # when charts and lists are requested, after three readings
CHARTS = 60
COUNTERS_A_MEMBER = 4
GOALS = {"db_seconds": "<= 5", "db_peak_mib": "<= 300", "year_chart_p95_ms": "<= 100", "top_talkers_ms": "<= 500"}
RATIO_GOALS = {"db_seconds": "<= 15", "year_chart_p95_ms": "<= 1", "top_talkers_ms": "<= 6"}
UNITS = {"seconds": "s", "mib": "MiB", "ms": "ms"}


def run(members: int, days: int) -> Iterator[Figure]:
    """Run each part in a process of its own: one namespace for the kernel, one database that is dropped."""
    kernel = _run_part(["unshare", "-n"], "kernel", members)
    yield Figure("agent_seconds", kernel["agent"], "s", "<= 1.5", kernel["nft"], "nft -j list", "<= 0.5")
    yield Figure("nft_json_seconds", kernel["nft"], "s")
    yield Figure("ratio_to_nft_json", kernel["dump"] / kernel["nft"], "", "<= 0.4")
    stored = _run_part([], "database", members, days)
    copy, arithmetic = stored.pop("copy"), stored.pop("arithmetic")
    for name, value in stored.items():
        unit = UNITS.get(name.rpartition("_")[2], "")
        baseline, beside = {"s": (copy, COPY), "ms": (arithmetic, ARITHMETIC)}.get(unit, (None, ""))
        yield Figure(name, value, unit, GOALS.get(name), baseline, beside, RATIO_GOALS.get(name))


def _run_part(before: list[str], *arguments: object) -> dict[str, float]:
    command = [*before, sys.executable, "-m", "benchmarks.collecting", *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the benchmark's part {arguments[0]} failed")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure_kernel_reading(members: int) -> dict[str, float]:
    """Return the seconds of a reading over the socket, of the raw dump alone, and of nft's list of the same table."""
    from contextlib import closing

    from benchmarks.counting import _run_client
    from benchmarks.networks import build_policy
    from firewall import digest, wire
    from firewall.compile import compile_policy
    from firewall.ruleset import Ruleset
    from gateway.kernel import KernelTable
    from gateway.operations import Agent
    from gateway.persistent_state import StateDirectory

    whole = build_policy(members)
    ruleset: Ruleset = compile_policy(type(whole)(whole.gateway, addresses=whole.addresses, prefixes=whole.prefixes))
    with TemporaryDirectory() as directory, closing(KernelTable()) as table, closing(StateDirectory(Path(directory) / "state")) as state:
        agent = Agent(table, state, name="bench", boot="bench", clock=time.time)
        target = digest.format_digest(digest.digest_ruleset(ruleset))
        if not isinstance(answer := agent.answer(wire.Apply(1, int(time.time()), "", target, None, ruleset, 600)), wire.Applied):
            raise SystemExit(f"{answer}")
        agent.answer(wire.Confirm(1, target))
        let_all_count(ruleset)

        def ask(path: Path) -> dict[str, float]:
            with closing(AgentConnection(path)) as client:
                return {"agent": median(client.ask(wire.Reading, wire.Counters("", 0)) for _ in range(3))}

        found = _run_client(agent, Path(directory) / "socket", ask)
        names = [name for name, each in ruleset.sets.items() if each.counter]
        found["dump"] = median(_measure_seconds(lambda: [list(table.read_counts(name, (), {})) for name in names]) for _ in range(3))
        found["nft"] = median(_measure_seconds(lambda: list_with_nft(ruleset)) for _ in range(3))
    return found


def _measure_seconds(what: Callable[[], object]) -> float:
    start = time.perf_counter()
    what()
    return time.perf_counter() - start


def measure_database(members: int, days: int) -> dict[str, float]:
    """Measure in a database of its own: record readings, then write `days` of usage of every member by SQL, and query it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    import django

    django.setup()
    from django.db import connection

    name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
    try:
        return _measure_all(members, days)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def _measure_all(members: int, days: int) -> dict[str, float]:
    from django.db import connection

    _fill_network(members)
    found = _run_part([], "worker", str(connection.settings_dict["NAME"]))
    _fill_years(days)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
        cursor.execute("SELECT count(*) FROM traffic_day")
        [found["day_rows"]] = cursor.fetchone()
    found["bytes_per_day_row"] = _get_table_size() / found["day_rows"]
    found["copy"] = median(measure_copy_seconds(COUNTERS_A_MEMBER * members) for _ in range(3))
    found["arithmetic"] = median(measure_arithmetic_ms() for _ in range(9))
    return found | _measure_queries(days)


def _get_table_size() -> float:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'traffic_day'::regclass")
        return float(cursor.fetchone()[0] or 0)


def _fill_network(members: int) -> None:
    """Write members who each hold an address and a prefix."""
    from ipaddress import IPv4Network, IPv6Network

    from apps.members.models import Member, Tariff
    from apps.network.models import Gateway, GatewayGroup, Holding, Pool
    from benchmarks.networks import PREFIXES, PRIVATE

    tariff, group = Tariff.objects.create(name="Bench"), GatewayGroup.objects.create(name="Bench")
    Gateway.objects.create(
        group=group, name="bench", link="local", lan="lan0", wan="wan0", management="mgmt0", management_networks=[IPv4Network("10.0.0.0/8")]
    )
    four = Pool.objects.create(group=group, kind="private4", name="four", prefix=IPv4Network("10.0.0.0/8"))
    six = Pool.objects.create(group=group, kind="prefix6", name="six", prefix=IPv6Network("2001:db8::/32"), member_length=64)
    given = {"tariff": tariff, "state": "active", "since": NOW.date()}
    people = Member.objects.bulk_create((Member(number=at + 1, name=f"Member {at}", **given) for at in range(members)), batch_size=5000)

    def held(pool: Pool, prefix: IPv4Network | IPv6Network, member: Member) -> Holding:
        given = {"group": group, "kind": pool.kind, "pool_prefix": pool.prefix, "valid": (NOW - timedelta(days=800), None)}
        return Holding(member=member, pool=pool, prefix=prefix, **given)

    fours = [held(four, IPv4Network((PRIVATE + at, 32)), each) for at, each in enumerate(people)]
    sixes = [held(six, IPv6Network((PREFIXES + (at << 64), 64)), each) for at, each in enumerate(people)]
    Holding.objects.bulk_create(fours + sixes, batch_size=5000)


def measure_worker(database: str) -> dict[str, float]:
    """Measure a first reading, one in which every counter is higher, and one more into the same five minutes; and this process's memory."""
    import django

    django.setup()
    from django.db import connection

    from apps.network.models import Gateway
    from apps.traffic.counter_collection import draw_ticket, record_reading

    connection.settings_dict["NAME"] = database
    gateway = Gateway.objects.get()
    columns = {names: _read_columns(kind) for names, kind in ((("up4", "down4"), "private4"), (("up6_64", "down6_64"), "prefix6"))}
    seconds = []
    for sequence in (1, 2, 3):
        made, at = _build_reading(columns, sequence), NOW + timedelta(minutes=sequence * 3)
        seconds.append(_measure_seconds(partial(record_reading, gateway=gateway, ticket=draw_ticket(gateway), reading=made, at=at)))
    return {"db_seconds": median(seconds), "db_again_seconds": seconds[-1], "db_peak_mib": read_peak_mib()}


COLUMNS = """
    SELECT string_agg(substring(inet_send(prefix) FROM 5), ''::bytea ORDER BY id), string_agg(int8send(id), ''::bytea ORDER BY id)
    FROM network_holding WHERE kind = %s
"""


def _read_columns(kind: str) -> tuple[bytes, bytes]:
    """Return keys and owners of all holdings of this kind, as they come over the wire: no object for each."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(COLUMNS, [kind])
        keys, owners = cursor.fetchone()
    return bytes(keys), bytes(owners)


def _build_reading(columns: dict[tuple[str, str], tuple[bytes, bytes]], sequence: int) -> Reading:
    sets = dict[str, Counts]()
    for names, (keys, owners) in columns.items():
        number = len(owners) // 8
        packets, octets = pack(">Q", sequence * 9) * number, pack(">Q", sequence * 9000) * number
        sets |= {name: Counts(number, keys, packets, octets, owners) for name in names}
    return Reading("boot", 1, "log", sequence, 0, sets, (), {})


YEARS = """
    INSERT INTO traffic_day
    SELECT h.id, %(day)s, (random() * 1e9)::bigint, (random() * 1e6)::bigint, (random() * 1e10)::bigint, (random() * 1e7)::bigint
    FROM network_holding h WHERE h.kind = 'private4' ORDER BY h.id
"""


HOURS = """
    INSERT INTO traffic_hour
    SELECT h.id, b, (random() * 1e8)::bigint, (random() * 1e5)::bigint, (random() * 1e9)::bigint, (random() * 1e6)::bigint
    FROM generate_series(%(day)s, %(now)s - interval '1 hour', interval '1 hour') b, network_holding h
    WHERE h.kind = 'private4' ORDER BY b, h.id
"""
TODAY = """
    INSERT INTO traffic_today SELECT holding_id, %(day)s, sum(up_octets), sum(up_packets), sum(down_octets), sum(down_packets)
    FROM traffic_hour GROUP BY 1 ORDER BY 1
"""


def _fill_years(days: int) -> None:
    """Write a row for each member and day, up to yesterday, and for each hour of today; then roll them up."""
    from django.db import connection

    from apps.traffic import partitions, precomputed_totals, rollup
    from apps.traffic.models import Level

    rollup.ensure_levels(NOW)
    today, given = rollup.compute_bucket_start("day", NOW), {"day": rollup.compute_bucket_start("day", NOW), "now": NOW}
    for ago in range(days, 0, -1):
        partitions.ensure_partition("day", today - timedelta(days=ago))
        with connection.cursor() as cursor:
            cursor.execute(YEARS, {"day": today - timedelta(days=ago)})
    partitions.ensure_future_partitions(today)
    with connection.cursor() as cursor:
        cursor.execute(HOURS, given)
        cursor.execute(TODAY, given)
    for level, complete in (("day", today), ("hour", NOW), ("today", NOW)):
        Level.objects.filter(name=level).update(complete_until=complete)
    for level in (Level.Name.WEEK, Level.Name.FOUR_WEEKS):
        Level.objects.filter(name=level).update(complete_until=rollup.compute_bucket_start(level, today - timedelta(days=days)))
    for level in (Level.Name.TODAY, Level.Name.WEEK, Level.Name.FOUR_WEEKS):
        rollup.roll_up(level, ASKED)
    precomputed_totals.refresh_totals(ASKED)


def _measure_queries(days: int) -> dict[str, float]:
    """Return the milliseconds of a member's chart of a year, and of lists of all members."""
    from apps.members.models import Member
    from apps.traffic.selectors import UsageGrouping, build_member_series, list_grouped_usage, list_top_talkers
    from apps.traffic.windows import DAY, LISTS, WindowPreset, build_recent_window

    random, year = Random(1), timedelta(days=min(days, 365))
    people = list(Member.objects.order_by("pk").values_list("pk", flat=True))
    members = Member.objects.filter(pk__in=random.sample(people, min(CHARTS, len(people))))
    charts = [_measure_seconds(partial(build_member_series, member, ASKED - year, ASKED, DAY, now=ASKED)) for member in members]
    found = {"year_chart_p95_ms": 1000 * quantiles(charts, n=20)[-1]}
    for name, preset in (("", WindowPreset.WEEK), ("_month", WindowPreset.MONTH), ("_year", WindowPreset.YEAR)):
        window = build_recent_window(ASKED, preset, LISTS)
        ask = partial(list_top_talkers, window.since, window.until, now=ASKED)
        found[f"top_talkers{name}_ms"] = 1000 * median(_measure_seconds(ask) for _ in range(5))
    found["sums_year_ms"] = 1000 * _measure_seconds(
        partial(list_grouped_usage, UsageGrouping.TARIFF, window.since, window.until, now=ASKED)
    )
    return found


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kernel", members]:
            print(json.dumps(measure_kernel_reading(int(members))))
        case ["worker", name]:
            print(json.dumps(measure_worker(name)))
        case ["database", members, days]:
            print(json.dumps(measure_database(int(members), int(days))))
