"""Real workers, scheduler and broker are stopped one after the other. Each outage is reported in true words, and no other program is
blamed.
"""

import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from subprocess import Popen
from tempfile import TemporaryDirectory

import pytest
from django.utils import timezone
from redis import Redis

from apps.operations import heartbeats
from apps.operations.heartbeats import ProcessFault, RoleFaultKind
from apps.operations.models import JobRecord, ProcessRole, RoleHeartbeat
from tests.frozen_process import frozen
from tests.whole.system import wait_for
from tests.whole.worker import ROOT, broker, environment
from workers import memory_limit

pytestmark = pytest.mark.django_db(transaction=True)
STARTED = (ProcessRole.WORKER, ProcessRole.COLLECTOR, ProcessRole.FEEDS, ProcessRole.TICKER)  # the mailer is missing all the time
QUEUES = {ProcessRole.WORKER: "celery", ProcessRole.COLLECTOR: "readings", ProcessRole.FEEDS: "feeds"}
PATIENCE = 120.0  # seconds
Programs = dict[ProcessRole, Popen[bytes]]


@pytest.fixture
def redis() -> Iterator[str]:
    """The address of a broker of this test."""
    with TemporaryDirectory(prefix="nw-") as directory, broker(Path(directory)) as url:
        yield url


@pytest.fixture
def programs(redis: str, tmp_path: Path) -> Iterator[Programs]:
    """Real workers and a real scheduler, with a heartbeat every two seconds."""
    given = environment(redis) | {"NETZWART_HEARTBEAT_SECONDS": "2"}
    with ExitStack() as stack:
        made: Programs = {}
        for role in STARTED:
            log = stack.enter_context((tmp_path / f"{role}.log").open("wb"))
            process = stack.enter_context(Popen(_command(role, tmp_path), cwd=ROOT, env=given, stdout=log, stderr=log))
            stack.callback(process.kill)
            made[role] = process
        yield made


def _command(role: ProcessRole, directory: Path) -> list[str]:
    celery = [sys.executable, "-m", "celery", "-A", "workers"]
    if role is ProcessRole.TICKER:
        return [*celery, "beat", "--schedule", str(directory / "schedule")]
    return [*celery, "worker", "--pool", "threads", "--concurrency", "2", "--queues", QUEUES[role], "--hostname", f"{role}@x"]


def faults() -> dict[ProcessRole, ProcessFault]:
    """Return the reported faults of the programs that were started."""
    return {each.role: each for each in heartbeats.list_process_faults(timezone.now()) if each.role in STARTED}


def list_kinds(found: dict[ProcessRole, ProcessFault]) -> dict[ProcessRole, RoleFaultKind]:
    """Return what is wrong with each program that has a fault, without its details."""
    return {role: each.fault for role, each in found.items()}


def until(condition: Callable[[dict[ProcessRole, ProcessFault]], bool]) -> None:
    try:
        wait_for(lambda: condition(faults()), seconds=PATIENCE)
    except AssertionError as error:
        pytest.fail(f"{error}: {list(faults().values())}")


def test_whatever_stops_is_said_in_words_that_are_true_of_it(redis: str, programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "SILENT", timedelta(seconds=10))
    wait_for(lambda: RoleHeartbeat.objects.filter(served__isnull=False).count() == len(QUEUES), seconds=PATIENCE)
    wait_for(lambda: RoleHeartbeat.objects.filter(started__isnull=False).count() == len(STARTED), seconds=PATIENCE)
    until(lambda found: not found)
    assert JobRecord.objects.filter(name="workers.reconcile", period__gt=0).exists(), "the scheduler says what is awaited"
    limits = Path(f"/proc/{programs[ProcessRole.FEEDS].pid}/limits").read_text()
    assert re.search(rf"^Max data size +{memory_limit.FEEDS} ", limits, re.MULTILINE), "what imports from strangers is bounded"

    with frozen(programs[ProcessRole.WORKER].pid):
        until(lambda found: list_kinds(found) == {ProcessRole.WORKER: RoleFaultKind.SILENT})  # the collector lives
    until(lambda found: not found)

    with frozen(programs[ProcessRole.TICKER].pid):
        until(lambda found: list_kinds(found) == {ProcessRole.TICKER: RoleFaultKind.SILENT})  # the workers are not to blame
    until(lambda found: not found)

    with Redis.from_url(redis) as client:
        pid = int(client.info("server")["process_id"])
        client.config_set("maxmemory-policy", "noeviction")
        client.config_set("maxmemory", "1")
        until(lambda found: ProcessRole.WORKER in found)
        assert faults()[ProcessRole.WORKER].fault is RoleFaultKind.BROKER and "maxmemory" in faults()[ProcessRole.WORKER].error
        client.config_set("maxmemory", "0")
    until(lambda found: not found)

    with frozen(pid):
        until(lambda found: ProcessRole.WORKER in found and found[ProcessRole.WORKER].fault is RoleFaultKind.BROKER)
        assert "time" in faults()[ProcessRole.WORKER].error.lower()
    until(lambda found: not found)

    os.kill(pid, signal.SIGTERM)
    until(lambda found: ProcessRole.COLLECTOR in found and found[ProcessRole.COLLECTOR].fault is RoleFaultKind.BROKER)
