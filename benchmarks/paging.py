"""pages: pages of a real server process in a database of many members and a fifth more bans, each requested again and again.

Needs a database server (NETZWART_DATABASE_URL), where it creates a database of its own and drops it again. The time is that of
the web server's whole answer, without the browser's work.
"""

import http.client
import os
import sys
import time
from collections.abc import Iterator, Mapping
from statistics import median, quantiles

from benchmarks.baselines import VIEW
from benchmarks.changes import FEED, fill, run_sql, use_own_database
from benchmarks.figures import Figure
from benchmarks.serving import EMPTY, EMPTY_P95_MS, read_children, read_rss, serve_application

EACH = 20
WITH_GOAL = 5
"""How many times as many requests are made for a page whose 95th percentile has a goal: of twenty, it would be the slowest one."""
GOAL = 60  # ms
WORKER_MIB = 150
NAMED = 5  # of the slowest pages, on standard error
EMPTY_P50_MS = 1.7  # of a view that does nothing, on the machine of docs/benchmarks.md
MORE = """
INSERT INTO members_device (member_id, name, mac)
    SELECT id, 'Laptop', ('02' || lpad(to_hex(id), 10, '0'))::macaddr FROM members_member;
UPDATE members_member SET email = 'm' || id || '@example.org';
"""
MILLION = """
SET session_replication_role = replica;
INSERT INTO bans_ban (version, list_id, prefix, comment, created)
    SELECT 1, %(list)s, ('100.0.0.0'::inet + n)::cidr, 'seen ' || n %% 9 || ' times', now() FROM generate_series(1, 1000000) n;
SET session_replication_role = origin;
"""
MILLION_PAGE, MILLION_MS = 2000, 60
NO_MORE: Mapping[str, str] = {}
# Addresses of pages by the name of their figure. {last}: the highest number of a member; {late}: a page far behind in a list.
PAGES = {
    "dashboard": "/",
    "members": "/members/",
    "members_by_number": "/members/?sort=-number&page={late[0]}",
    "members_found": "/members/?q=member+{last}",
    "member": "/members/{last}/",
    "member_check": "/members/{last}/check/",
    "search_name": "/search?q=member+{last}",
    "search_address": "/search?q=10.0.15.160",
    "search_port": "/search?q=198.18.0.9:1027",
    "search_mac": "/search?q=02:00:00:00:00:2a",
    "forwards": "/forwards/",
    "forwards_late": "/forwards/?page={late[1]}",
    "addresses": "/addresses/",
    "pool": "/addresses/1/",
    "bans": "/bans/1/",
    "bans_late": "/bans/1/?page={late[2]}",
    "covering": "/bans/covering/?address=203.0.1.1",
    "blocks": "/bans/blocks/",
    "rollouts": "/rollouts/",
    "gateways": "/gateways/",
    "history": "/history/",
    "traffic": "/traffic/",
    "top_talkers": "/traffic/talkers/",
    "rates": "/limited/",
    "tickets": "/tickets/",
    "inbox": "/mail/in/",
    "outbox": "/mail/",
    "people": "/account/people/",
    "exports": "/exports/",
    "why": "/why/?gateway=nat-1&protocol=tcp&source=10.0.0.5&source_port=5000&destination=203.0.113.9&port=443",
    "own": "/me/",
    "own_check": "/me/check/",
}


def run(members: int) -> Iterator[Figure]:
    """Fill a database, serve it, request each page in turn. Prints the slowest on standard error."""
    os.environ["NETZWART_REQUIRE_SECOND_FACTOR"] = "0"
    with use_own_database():
        from django.db import connection

        fill(members)
        run_sql(FEED.format(bans=members * 6 // 5))
        run_sql(MORE)
        archive = add_million_bans()
        run_sql("VACUUM ANALYZE")
        cookies = {True: create_session("bench", member=None), False: create_session("resident", member=members)}
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL
        with serve_application() as (process, port), serve_application(EMPTY) as (_empty, empty_port):
            pages = {"million_bans": f"/bans/{archive}/", "million_bans_late": f"/bans/{archive}/?page={MILLION_PAGE}"}
            yield from measure_pages(port, empty_port, members, cookies, more=pages)
            yield Figure("worker_rss_mib", read_rss(process.pid), "MiB", f"<= {WORKER_MIB}")
            yield Figure("tracer_rss_mib", max(map(read_rss, read_children(process.pid))), "MiB")


def add_million_bans() -> int:
    """Add a list of a million bans that is off, so that no ruleset has them; without their history, which no page shows. Return its id."""
    from django.utils import timezone

    from apps.bans.models import BanList
    from apps.bans.retention import sum_up_counts

    archive = BanList.objects.create(pk=3, name="archive", enabled=False)
    run_sql(MILLION, {"list": archive.pk})
    sum_up_counts(timezone.now(), 1)
    return archive.pk


def create_session(username: str, *, member: int | None) -> str:
    """Return the cookie of a signed-in account: an administrator's, or this member's."""
    from django.conf import settings
    from django.test import Client

    from apps.accounts.models import User
    from apps.members.models import Member

    make = User.objects.create_user if member else User.objects.create_superuser
    user = make(username, f"{username}@example.org", None)
    if member:
        Member.objects.filter(pk=member).update(user=user)
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def measure_pages(
    port: int, empty_port: int, members: int, cookies: dict[bool, str], *, last: int | None = None, more: Mapping[str, str] = NO_MORE
) -> Iterator[Figure]:
    """Request each page in turn, and yield the figures.

    cookies: by whether the page is one of an administrator. last: number of the member who is asked for, by default the highest one.
    more: addresses of other pages, with a goal for their 95th percentile.
    """
    connection, empty = (http.client.HTTPConnection("127.0.0.1", each, timeout=600) for each in (port, empty_port))
    late = [max(members * share // 1000, 1) for share in (10, 8, 20)]
    first: dict[str, float] = {}
    took: dict[str, list[float]] = {}
    nothing: list[float] = []
    for round_ in range(EACH + 1):
        for name, path in [*PAGES.items(), *[*more.items()] * WITH_GOAL]:
            milliseconds = _measure_request(connection, path.format(last=last or members, late=late), cookies[not name.startswith("own")])
            nothing.append(_measure_request(empty, "/", ""))
            if round_:
                took.setdefault(name, []).append(milliseconds)
            else:  # the first one warms up
                first[name] = milliseconds
    view = median(nothing)
    yield Figure("why_first_ms", first["why"], "ms")
    for name, each in took.items():
        yield Figure(f"{name}_p50_ms", median(each), "ms", None, view, VIEW)
    for name in more:
        yield Figure(f"{name}_p95_ms", quantiles(took[name], n=20)[18], "ms", f"<= {MILLION_MS}", quantiles(nothing, n=20)[18], VIEW)
    slowest = sorted(took, key=lambda name: median(took[name]), reverse=True)[:NAMED]
    print("slowest: " + ", ".join(f"{name} {median(took[name]):.1f} ms" for name in slowest), file=sys.stderr)
    everything = [each for name, times in took.items() for each in (times[::WITH_GOAL] if name in more else times)]
    yield Figure("pages_p50_ms", median(everything), "ms", None, view, VIEW)
    ratio = f"<= {GOAL / EMPTY_P95_MS:g}"
    yield Figure("pages_p95_ms", quantiles(everything, n=20)[18], "ms", f"<= {GOAL}", quantiles(nothing, n=20)[18], VIEW, ratio)
    yield Figure("slowest_page_p50_ms", median(took[slowest[0]]), "ms", f"<= {GOAL}", view, VIEW, f"<= {GOAL / EMPTY_P50_MS:g}")


def _measure_request(connection: http.client.HTTPConnection, path: str, cookie: str) -> float:
    """Return the milliseconds until the whole page has arrived; for a search that redirects, until the redirect has."""
    start = time.perf_counter()
    connection.request("GET", path, headers={"Cookie": cookie, "Host": "localhost"})
    answer = connection.getresponse()
    answer.read()
    took = (time.perf_counter() - start) * 1000
    if answer.status not in (200, 302):
        raise SystemExit(f"{path}: {answer.status}")
    return took
