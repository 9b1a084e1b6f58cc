"""commit: from a commit in the database to both gateways confirmed, by real agents, sshd, PostgreSQL, Redis and a real worker.

Single changes one after the other, each after the worker has come to rest; changes of rules, which are probed over a new ssh
session; and a burst of a thousand changes from several processes, each in a transaction that sends a task of its own.
"""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from ipaddress import IPv4Address
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from random import Random
from statistics import median

import psycopg
from django.db import connection
from django.utils import timezone

from apps.bans import feed_import, feed_parser
from apps.bans.models import BanList
from apps.bans.services import create_list
from apps.deployments.models import Rollout, RolloutStep
from apps.deployments.transport import ssh
from apps.lib import enqueue
from apps.network.models import Gateway, GatewayGroup
from benchmarks.baselines import measure_insert_ms, measure_nft_ms
from benchmarks.figures import Figure
from benchmarks.whole import explain, verify
from benchmarks.whole.changes import ChangeStream, CommittedChange
from benchmarks.whole.first_rollout import bring_first_rollout, is_at_rest
from benchmarks.whole.stack import Stack, run_stack, say, wait_until
from benchmarks.whole.watch import Confirmations
from portal.stack import commands, postgres
from portal.stack.state_paths import StatePaths
from tests.whole.system import inside

LENGTHS = (10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21)
BURST, WRITERS = 1000, 4
FEED = 120_000
UNREACHABLE = 1_000_000  # removals
WRITING = "writing the thousand transactions"
BARE = "a bare transaction and two new nft processes"
BARE_VERIFIED = f"{BARE}, and a session of ssh alone with each gateway"
PAUSE = (0.02, 0.1)  # seconds, at random, between a rollout's end and the next change
BURST_BASE = int(IPv4Address("46.0.0.0"))
INSERT = """
    INSERT INTO bans_ban (version, list_id, prefix, comment, author_id, created) VALUES (1, %s, %s::inet, 'burst', %s, now())
    RETURNING pg_current_xact_id()::text
"""


def measure(places: StatePaths, *, members: int, bans: bool, explain: bool, singles: int, seed: int) -> list[Figure]:
    """Measure everything once; `singles` is the number of changes of elements.

    The removals of an hour add up, and above a limit they wait for an approval. The benchmark has no second person, so it sets
    the limit out of reach.
    """
    say(f"Seed {seed}")
    with run_stack(places, members=members) as stack, closing(Confirmations(postgres.build_url(places), len(commands.GATEWAYS))) as heard:
        GatewayGroup.objects.update(removal_least=UNREACHABLE)
        changes = ChangeStream(Random(seed))
        if bans:
            import_feed(changes)
        bring_first_rollout(changes.by)
        return list(_iter_figures(stack, heard, changes, singles, explaining=explain))


def import_feed(changes: ChangeStream) -> None:
    """Import a ban list as large as published ones."""
    lines = "\n".join(str(IPv4Address((60 << 24) + at * 7)) for at in range(FEED))
    feed_import.import_feed(list=create_list(name="Feed", by=changes.by), feed=feed_parser.parse_feed(lines), by=changes.by)


def _iter_figures(stack: Stack, heard: Confirmations, changes: ChangeStream, singles: int, *, explaining: bool) -> Iterator[Figure]:
    say(f"{singles} single changes …")
    moments = explain.MomentLog(stack.worker.log)
    each = [_time_change(heard, changes, changes.make_single) for _ in range(singles)]
    bare = median(measure_insert_ms() for _ in range(LENGTHS[0])) + len(commands.GATEWAYS) * measure_nft_ms()
    yield Figure("n", len(each), "")
    yield Figure("p50_ms", _compute_percentile(each, 0.5), "ms", "<= 400", bare, BARE, "<= 20")
    yield Figure("p99_ms", _compute_percentile(each, 0.99), "ms", "<= 1000", bare, BARE, "<= 100")
    if explaining:
        say(moments.render_moments(each))
    say("Changes of rules …")
    rules, sessions = list[tuple[float, float]](), list[float]()
    for length in LENGTHS:
        rules += _iter_rule_times(heard, changes, length)
        sessions.append(_measure_sessions_ms(stack))
    yield Figure("rules_n", len(rules), "")
    yield Figure("rules_p50_ms", _compute_percentile(rules, 0.5), "ms", "<= 1500", bare + median(sessions), BARE_VERIFIED, "<= 2")
    if explaining:
        say(moments.render_moments(rules))
    say("A burst …")
    yield from _measure_burst(stack, changes)


def _time_change(heard: Confirmations, changes: ChangeStream, change: Callable[[], CommittedChange]) -> tuple[float, float]:
    """Return the Unix time of the commit, and the milliseconds from then until both gateways had confirmed it."""
    wait_until(is_at_rest, "The worker's rest")
    time.sleep(changes.random.uniform(*PAUSE))
    commit = change()
    confirmed, _rollout = heard.wait(commit.xid)
    return commit.at, (confirmed - commit.at) * 1000


def _iter_rule_times(heard: Confirmations, changes: ChangeStream, length: int) -> Iterator[tuple[float, float]]:
    later: list[Callable[[], CommittedChange]] = []

    def come() -> CommittedChange:
        commit, go = changes.make_rules(length)
        later.append(go)
        return commit

    yield _time_change(heard, changes, come)
    yield _time_change(heard, changes, later[0])
    if Rollout.objects.filter(state=Rollout.State.CONFIRMED).order_by("-pk")[0].harmless:
        raise SystemExit("a change of rules was taken for one of elements")


def _measure_sessions_ms(stack: Stack) -> float:
    """Return the milliseconds of a session with each gateway, by ssh alone: a change of rules is verified over such sessions."""
    gateways = list(Gateway.objects.order_by("name"))
    for gateway in gateways:
        ssh.write_known_hosts(gateway.host_key)
    with inside(stack.lab, "portal"):
        start = time.perf_counter()
        for gateway in gateways:
            subprocess.run(
                ssh.build_arguments(gateway, gateway.management_port), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True
            )
        return (time.perf_counter() - start) * 1000


def _compute_percentile(each: list[tuple[float, float]], share: float) -> float:
    """Return the percentile of the times: the smallest that this share of them does not exceed."""
    ordered = sorted(ms for _when, ms in each)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


# --- The burst


def _measure_burst(stack: Stack, changes: ChangeStream) -> Iterator[Figure]:
    wait_until(is_at_rest, "The worker's rest")
    before = Rollout.objects.count()
    own, author = BanList.objects.order_by("pk")[0].pk, changes.by.pk
    wanted = {f"{IPv4Address(BURST_BASE + at)}/32" for at in range(BURST)}
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL's backend
    enqueue._get_publisher.cache_clear()
    start = time.time()
    writers = [_start_writer(postgres.build_url(stack.places), own, author, at) for at in range(WRITERS)]
    for writer in writers:
        writer.join()
    written = time.time()
    wait_until(lambda: _is_active(wanted), "The burst")
    rows = RolloutStep.objects.filter(rollout__pk__gt=0, confirmed__isnull=False).order_by("-confirmed")
    active = rows[0].confirmed or timezone.now()
    kernels = [verify.list_banned(stack, name) for name in commands.GATEWAYS]
    if lost := [wanted - kernel for kernel in kernels if not wanted <= kernel]:
        raise SystemExit(f"confirmed, but not in the kernel: {sorted(lost[0])[:5]} and {sum(map(len, lost)) - 5} more")
    if wrong := verify.list_mismatches(stack):
        say(f"! The agents read something else from their kernels: {wrong}\n{verify.render_complaints(stack)}")
    wait_until(is_at_rest, "The worker's rest")
    yield Figure("burst_written_seconds", written - start, "s")
    yield Figure("burst_seconds", active.timestamp() - start, "s", "<= 5", written - start, WRITING, "<= 2.4")
    yield Figure("burst_rollouts", Rollout.objects.count() - before, "", "<= 10")
    yield Figure("burst_digest_mismatches", len(wrong), "", "== 0")


def _start_writer(url: str, own: int, author: int, share: int) -> ForkProcess:
    process = get_context("fork").Process(target=_write, args=(url, own, author, share))
    process.start()
    return process


def _write(url: str, own: int, author: int, share: int) -> None:
    with psycopg.connect(url, autocommit=True) as writing:
        for at in range(share, BURST, WRITERS):
            writing.execute(INSERT, (own, f"{IPv4Address(BURST_BASE + at)}/32", author))
            enqueue.send_task("workers.reconcile", author)


def _is_active(wanted: set[str]) -> bool:
    """Whether all gateways have confirmed a revision that saw every row of the burst."""
    time.sleep(0.01)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM bans_ban b WHERE b.comment = 'burst' AND NOT EXISTS (SELECT FROM deployments_gatewaystate g"
            " WHERE NOT pg_visible_in_snapshot(b.changed_in, g.snapshot))"
        )
        (active,) = cursor.fetchone()
    return bool(active == len(wanted))
