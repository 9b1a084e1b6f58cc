"""Heartbeats: a silent program is reported within 30 seconds, on pages in words that are true of it, and at /health for monitors."""

import os
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from apps.lib.activation import list_activations, list_wait_reasons
from apps.nat.models import PortForward
from apps.nat.services import add_forward
from apps.operations import heartbeats, jobs
from apps.operations.heartbeats import EVERY, OF_QUEUES, SILENT, HeartbeatThread, RoleFaultKind
from apps.operations.models import JobRecord, ProcessRole, RoleHeartbeat
from tests import factories
from tests.db.page_client import signed_in, text
from workers import app
from workers.monitoring import compute_periods

pytestmark = pytest.mark.django_db
LATE = timedelta(seconds=90)
ROOT = Path(__file__).parents[2]


def at() -> datetime:
    return timezone.now()


def silent(*roles: ProcessRole, since: timedelta = LATE) -> None:
    RoleHeartbeat.objects.filter(role__in=roles).update(seen=at() - since, served=at() - since)


def faults() -> dict[ProcessRole, RoleFaultKind]:
    return {each.role: each.fault for each in heartbeats.list_process_faults(at())}


def needs(client: Client) -> list[str]:
    """Return what the dashboard says about the portal's own programs and jobs."""
    return [need.what for need in client.get("/").context["board"].needs if need.state.word == "Portal"]


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def test_silence_is_said_within_30_seconds_though_some_signs_of_life_are_late() -> None:
    assert timedelta(seconds=4 * EVERY) < SILENT <= timedelta(seconds=30 - EVERY)


@pytest.mark.parametrize("role", [role for role in ProcessRole if role != ProcessRole.EVENTS])
def test_the_silence_of_one_role_is_said_of_it_alone(mara: Client, role: ProcessRole) -> None:
    silent(role)
    assert faults() == {role: RoleFaultKind.SILENT}
    assert [each for each in needs(mara) if "heartbeat" in each] == [f"The {role.label} sends no heartbeat"]


def test_live_events_are_missed_only_where_there_are_any(mara: Client, settings: LazySettings) -> None:
    silent(ProcessRole.EVENTS)
    settings.EVENTS_URL = ""
    assert faults() == {}
    settings.EVENTS_URL = "/events/"
    assert faults() == {ProcessRole.EVENTS: RoleFaultKind.SILENT}


def test_the_collector_does_not_vouch_for_the_deploy_worker(network: factories.Network) -> None:
    holding = network.residents["m1"].holding
    made = add_forward(
        holding=holding, public=factories.PUBLIC, protocol="tcp", public_port=8443, private_port=443, purpose="", by=network.admin
    )
    silent(ProcessRole.WORKER)
    [(_row, known)] = list_activations(PortForward.objects.filter(pk=made.pk))
    [waits] = list_wait_reasons(known)
    assert waits.words.startswith("waits: no deploy worker since ") and waits.url == "/system/" and waits.person


def test_a_worker_that_lives_and_takes_no_tasks_is_told_from_a_dead_one(mara: Client) -> None:
    RoleHeartbeat.objects.filter(role=ProcessRole.WORKER).update(served=at() - LATE)
    assert faults() == {ProcessRole.WORKER: RoleFaultKind.IDLE}
    assert "The deploy worker is running but finishes no tasks" in text(mara.get("/"))


def test_a_scheduler_that_is_dead_is_blamed_alone_though_nobody_gets_tasks(mara: Client) -> None:
    silent(ProcessRole.TICKER)
    RoleHeartbeat.objects.filter(role__in=OF_QUEUES).update(served=at() - LATE)
    assert faults() == {ProcessRole.TICKER: RoleFaultKind.SILENT}


def test_a_broker_that_refuses_is_named_with_what_it_says_and_nobody_else_is_blamed(mara: Client) -> None:
    error = "OOM command not allowed when used memory > 'maxmemory'."
    factories.alive(served=at() - LATE, broker_error=error, broker_failing=at() - LATE)
    assert needs(mara) == ["The broker (Redis) accepts no messages"]
    assert "OOM command not allowed" in text(mara.get("/"))


def test_when_all_workers_are_silent_that_is_one_thing_not_five(mara: Client) -> None:
    silent(*ProcessRole)
    page = text(mara.get("/"))
    assert "No worker of the portal sends a heartbeat" in page and "The deploy worker sends" not in page


def test_a_role_that_never_reported_is_missed_once_it_has_had_time(network: factories.Network) -> None:
    RoleHeartbeat.objects.filter(role=ProcessRole.FEEDS).update(seen=None, served=None, started=None, expected=at())
    assert faults() == {}
    RoleHeartbeat.objects.filter(role=ProcessRole.FEEDS).update(expected=at() - LATE)
    assert heartbeats.list_process_faults(at()) == [heartbeats.ProcessFault(ProcessRole.FEEDS, RoleFaultKind.SILENT, None)]
    RoleHeartbeat.objects.filter(role=ProcessRole.FEEDS).delete()
    assert faults() == {ProcessRole.FEEDS: RoleFaultKind.SILENT}


def test_signs_of_life_are_one_row_for_each_role_however_often_they_come() -> None:
    factories.alive()
    for error in ("", "refused", "refused", ""):
        HeartbeatThread([ProcessRole.WORKER, ProcessRole.MAILER], probe=lambda error=error: error).beat()  # type: ignore[misc]  # a default
    assert RoleHeartbeat.objects.count() == len(ProcessRole)
    assert faults() == {}


def test_since_when_the_broker_fails_stays_until_it_works_again() -> None:
    factories.alive()
    beat = HeartbeatThread([ProcessRole.WORKER], probe=lambda: "refused")
    beat.beat()
    first = RoleHeartbeat.objects.get(role=ProcessRole.WORKER).broker_failing
    beat.beat()
    assert RoleHeartbeat.objects.get(role=ProcessRole.WORKER).broker_failing == first


# --- Jobs


def test_a_job_that_fails_needs_somebody_with_its_error_until_it_succeeds(mara: Client) -> None:
    jobs.record_failure("workers.lifecycle", ValueError("no such month\nTraceback"))
    page = text(mara.get("/"))
    assert "Job fails: Departures, moves and erasures that are due" in page
    assert "ValueError: no such month. It has never succeeded." in page and "Traceback" not in page
    jobs.record_success("workers.lifecycle")
    assert "Job fails" not in text(mara.get("/"))


def test_a_job_that_has_not_run_for_several_periods_needs_somebody(mara: Client) -> None:
    jobs.set_schedule({"workers.forget": 3600.0})
    jobs.record_success("workers.forget")
    assert "Job is overdue" not in text(mara.get("/"))
    JobRecord.objects.update(ran=at() - timedelta(hours=4))
    RoleHeartbeat.objects.filter(role=ProcessRole.TICKER).update(started=at() - timedelta(minutes=2))
    assert "Job is overdue" not in text(mara.get("/")), "a scheduler that has just begun is given time"
    RoleHeartbeat.objects.filter(role=ProcessRole.TICKER).update(started=at() - timedelta(hours=2))
    assert "Job is overdue: Removing expired data" in text(mara.get("/"))
    silent(ProcessRole.TICKER)
    assert "Job is overdue" not in text(mara.get("/")), "that the scheduler is silent says it already"


def test_jobs_that_the_code_does_not_know_any_more_are_forgotten() -> None:
    jobs.set_schedule({"workers.gone": 60.0})
    jobs.set_schedule(compute_periods(app.conf.beat_schedule))
    assert set(JobRecord.objects.values_list("name", flat=True)) == set(compute_periods(app.conf.beat_schedule))


# --- /health and the page


def test_outside_monitors_are_told_without_signing_in(client: Client, db: None) -> None:
    factories.alive()
    answer = client.get("/health")
    assert (answer.status_code, answer.json()["status"], answer.json()["database"]) == (200, "ok", True)
    assert answer["Cache-Control"].startswith("max-age=0")
    silent(ProcessRole.MAILER)
    told: dict[str, Any] = client.get("/health").json()
    assert client.get("/health").status_code == 503
    assert told["roles"]["mailer"]["fault"] == "silent" and 90 <= told["roles"]["mailer"]["seconds_since_seen"] < 150
    assert told["roles"]["worker"]["fault"] is None
    assert client.post("/health").status_code in (403, 405)


def test_the_page_of_the_system_shows_roles_jobs_and_tables(mara: Client) -> None:
    jobs.record_failure("prune events.Event", ValueError("x"))
    silent(ProcessRole.MAILER)
    page = text(mara.get("/system/"))
    for shown in (
        "The mailer sends no heartbeat",
        "Removing old rows of events.Event",
        "ValueError: x",
        "members_member",
        "traffic_hour",
    ):
        assert shown in page
    assert "30 days" in page


ASK = "import django; django.setup(); from django.test import Client; a = Client(headers={'host': 'localhost'}).get('/health')"


def test_outside_monitors_are_told_when_the_database_is_away() -> None:
    """Asks in another process, whose database does not exist."""
    nowhere = {"NETZWART_DATABASE_URL": "host=/nonexistent dbname=x user=x", "DJANGO_SETTINGS_MODULE": "portal.settings"}
    command = [sys.executable, "-c", f"{ASK}; print(a.status_code, a.content.decode())"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | nowhere, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '503 {"status": "failing", "database": false, "roles": {}}'
