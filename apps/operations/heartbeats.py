"""Heartbeats of the portal's processes: each process records every few seconds that it is alive, and any error of the broker.

The dashboard, the API's `waits` and `/health` read them. A role counts as silent when its last sign of life is older than SILENT,
from whichever host it came; `host_heartbeats` tells hosts apart.
"""

import atexit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from threading import Event, Lock, Thread
from typing import Final

import structlog
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, transaction
from django.db.models import QuerySet
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError

from apps.lib import message_broker
from apps.lib.web.frame_reads import read_with_frame
from apps.operations import host_heartbeats, rabbitmq
from apps.operations.models import ProcessRole, RoleHeartbeat

EVERY: Final = settings.HEARTBEAT_SECONDS  # seconds between two signs of life
SILENT: Final = timedelta(seconds=5 * EVERY)  # after which a role counts as silent; a few signs may be late on a busy machine
SERVED_EVERY: Final = 3 * EVERY  # seconds between two tasks that show that a queue is served
IDLE_AFTER: Final = timedelta(seconds=5 * SERVED_EVERY)  # longer than SILENT: those tasks wait behind others
BROKER_TIMEOUT: Final = 5.0  # seconds
PROBE_KEY: Final = "netzwart:heartbeat"
OF_QUEUES: Final = (ProcessRole.WORKER, ProcessRole.COLLECTOR, ProcessRole.FEEDS, ProcessRole.MAILER)
# A role fails to reach the broker if none of its hosts that are alive reaches it.
ALIVE = """
    INSERT INTO operations_roleheartbeat AS beat (role, started, seen, broker_error, broker_failing)
    SELECT role, %(started)s, now(), broker_error, broker_failing FROM operations_hostheartbeat
    WHERE role = %(role)s AND seen >= now() - make_interval(secs => %(silent)s) ORDER BY broker_failing DESC NULLS FIRST LIMIT 1
    ON CONFLICT (role) DO UPDATE SET started = excluded.started, seen = now(), broker_error = excluded.broker_error,
        broker_failing = CASE WHEN excluded.broker_error <> '' THEN coalesce(beat.broker_failing, excluded.broker_failing) END
"""
SERVED = """
    INSERT INTO operations_roleheartbeat AS beat (role, seen, served) VALUES (%(role)s, now(), now())
    ON CONFLICT (role) DO UPDATE SET seen = now(), served = now()
"""
log = structlog.get_logger()


class RoleFaultKind(StrEnum):
    """Kind of a role's fault."""

    SILENT = "silent"  # its process gives no sign of life
    BROKER = "broker"  # it is alive but cannot write to the broker
    IDLE = "idle"  # it is alive and the broker works, but it finishes no task


@dataclass(frozen=True)
class ProcessFault:
    """A role that does not do its work.

    since: its last sign of life or finished task, or the time since which the broker fails; None if there was none. error: the
    broker's error.
    """

    role: ProcessRole
    fault: RoleFaultKind
    since: datetime | None
    error: str = ""


def record_alive(role: ProcessRole, started: datetime, broker_error: str = "") -> None:
    """Record a sign of life, of the role and of its host."""
    with transaction.atomic(), connection.cursor() as cursor:
        host_heartbeats.record_host_alive(role, started, broker_error[:300].replace("\0", ""))
        cursor.execute(ALIVE, {"role": role.value, "started": started, "silent": SILENT.total_seconds()})


def record_served(role: ProcessRole) -> None:
    """Record that a task came through the broker and was carried out."""
    with connection.cursor() as cursor:
        cursor.execute(SERVED, {"role": role.value})


def list_expected_roles() -> list[ProcessRole]:
    """Return the roles that must report. Live events are expected only if they are set up."""
    return [role for role in ProcessRole if role != ProcessRole.EVENTS or settings.EVENTS_URL]


@read_with_frame
def _list_rows() -> QuerySet[RoleHeartbeat]:
    return RoleHeartbeat.objects.all()


def list_heartbeats() -> Mapping[str, RoleHeartbeat]:
    """Return the last signs of life by role. Read once for a page."""
    return {row.role: row for row in _list_rows()}


def list_process_faults(now: datetime) -> list[ProcessFault]:
    """Return the roles that do not do their work, most important first, without faults that only follow from another."""
    rows = list_heartbeats()
    silent = [fault for role in list_expected_roles() if (fault := _find_silent_fault(role, rows.get(role), now))]
    dead = {fault.role for fault in silent}
    broker = [fault for role in list_expected_roles() if role not in dead and (fault := _find_broker_fault(role, rows.get(role)))]
    ticking = not broker and ProcessRole.TICKER not in dead
    idle = [fault for role in OF_QUEUES if ticking and role not in dead and (fault := _find_idle_fault(role, rows, now))]
    return [*silent, *broker, *idle]


def _find_silent_fault(role: ProcessRole, row: RoleHeartbeat | None, now: datetime) -> ProcessFault | None:
    last = (row.seen or row.expected) if row else None
    return None if last and now - last <= SILENT else ProcessFault(role, RoleFaultKind.SILENT, row.seen if row else None)


def _find_broker_fault(role: ProcessRole, row: RoleHeartbeat | None) -> ProcessFault | None:
    return ProcessFault(role, RoleFaultKind.BROKER, row.broker_failing, row.broker_error) if row and row.broker_failing else None


def _find_idle_fault(role: ProcessRole, rows: Mapping[str, RoleHeartbeat], now: datetime) -> ProcessFault | None:
    """Return a fault if role and scheduler have lived longer than IDLE_AFTER, and the role finished no task in that time."""
    row, ticker = rows.get(role), rows.get(ProcessRole.TICKER)
    if row is None or row.seen is None or ticker is None:
        return None
    begun = [each for each in (row.started, ticker.started, row.served) if each]
    return ProcessFault(role, RoleFaultKind.IDLE, row.served) if begun and now - max(begun) > IDLE_AFTER else None


def get_role_outage(role: ProcessRole, now: datetime) -> tuple[bool, datetime | None]:
    """Return whether the role does not do its work now, and since when; None if that is not known or it never did."""
    found = next((fault for fault in list_process_faults(now) if fault.role == role), None)
    return found is not None, found.since if found else None


def probe_broker() -> str:
    """Write to the broker: a message to RabbitMQ, a key to Redis. Returns the error, or "" if it worked."""
    try:
        if message_broker.is_rabbitmq():
            rabbitmq.probe_rabbitmq(PROBE_KEY, BROKER_TIMEOUT)
        else:
            _write_redis_key()
    except (RedisError, *rabbitmq.FAULTS) as error:
        return str(error) or type(error).__name__
    return ""


def _write_redis_key() -> None:
    url = settings.BROKER_URL or settings.REDIS_URL
    with Redis.from_url(url, socket_timeout=BROKER_TIMEOUT, socket_connect_timeout=BROKER_TIMEOUT) as client:
        client.set(PROBE_KEY, "1", ex=60)


class HeartbeatThread:
    """Thread that records the signs of life of a process, as long as the process lives."""

    def __init__(self, roles: Sequence[ProcessRole], *, probe: Callable[[], str] = probe_broker, every: float = EVERY) -> None:
        self._roles, self._probe, self._every = roles, probe, every
        self._started, self._stop, self._writing = timezone.now(), Event(), Lock()

    def start(self) -> None:
        """Begin; at the end of the process its host stops being expected to report."""
        atexit.register(self.leave)
        Thread(target=self._run, name="heartbeat", daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def leave(self) -> None:
        """Stop, and remove the rows of this host, because the process ends on purpose. One that is killed leaves them."""
        self.stop()
        try:
            with self._writing:  # a sign of life that is under way would bring the rows back
                host_heartbeats.forget_process(self._roles, self._started)
        except DatabaseError as away:
            log.warning("end of a program not recorded", roles=list(self._roles), error=str(away).strip())

    def beat(self) -> None:
        """Record one sign of life for each role, unless stopped. If the database fails, the next beat tries again."""
        error = self._probe()
        try:
            with self._writing:
                for role in self._roles if not self._stop.is_set() else ():
                    record_alive(role, self._started, error)
        except DatabaseError as away:
            log.warning("heartbeat not recorded", roles=list(self._roles), error=str(away).strip())

    def _run(self) -> None:
        while True:
            try:
                self.beat()
            except Exception:  # whatever it is, the next beat tries again
                log.exception("heartbeat not recorded", roles=list(self._roles))
            finally:
                connection.close()
            if self._stop.wait(self._every):
                return
