"""Runs each scheduled task once, on a database with data."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings, settings
from django.core.management import call_command

from apps.desk.portal_health.program_texts import CONSEQUENCES, JOBS
from apps.lib import enqueue
from apps.operations import pruning
from apps.operations.heartbeats import OF_QUEUES
from apps.operations.models import JobRecord, ProcessRole
from apps.webhooks import delivery_sender
from workers import app
from workers.monitoring import RECORDED_BY_ROLE
from workers.queues import ROLES

ROOT = Path(__file__).parents[2]
RECORDED_BY_COMMAND = {"backup"}  # by a timer of the machine, not by the schedule
ENTRIES = list(app.conf.beat_schedule.items())
ASKED_FOR = {
    "workers.reconcile_group": "workers.reconcile",
    "workers.collect_one": "workers.collect",
    "workers.refresh_feed": "workers.refresh_feeds",
    "workers.import_people": "workers.offer_tables",
    "workers.switch_roles": "workers.watch_roles",
    "workers.collect_evidence": "workers.tend_evidence",
    "workers.read_timeouts": "workers.read_health",
    "workers.send_alarm_messages": "workers.watch_alarms",
    "workers.mail_status_updates": "workers.watch_status",
}  # enqueued by a scheduled task
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def _at_once() -> Iterator[None]:
    """Run enqueued tasks at once, because there is no broker."""
    for module in app.conf.include:
        import_module(module)
    app.conf.task_always_eager, app.conf.task_eager_propagates = True, True
    yield
    app.conf.task_always_eager, app.conf.task_eager_propagates = False, False


@pytest.fixture
def demo(settings: LazySettings, tmp_path: Path) -> None:
    """Add the demo's rows."""
    settings.VAR, settings.LAB_NAME, settings.GATEWAY_SOCKETS = tmp_path, "demo", tmp_path
    call_command("seed", "--demo", "--url", "http://127.0.0.1:8000/", verbosity=0)


def run_entry(entry: dict[str, Any]) -> str:
    """Run the entry's task and return its error, or "" if it succeeded."""
    try:
        app.tasks[entry["task"]].apply(args=entry.get("args", ()), throw=True)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.usefixtures("_at_once", "demo")
def test_every_task_of_the_schedule_works_on_a_database_with_data() -> None:
    assert {name: error for name, entry in ENTRIES if (error := run_entry(entry))} == {}
    assert list(JobRecord.objects.exclude(failing=None)) == [], "also no part of a task that lets the others go on"


@pytest.mark.usefixtures("_at_once")
def test_every_task_is_asked_for_again_by_the_schedule_so_that_a_lost_message_loses_nothing() -> None:
    scheduled = {entry["task"] for _name, entry in ENTRIES}
    every = {name for name in app.tasks if name.startswith("workers.")}
    assert every == scheduled | ASKED_FOR.keys()
    assert set(ASKED_FOR.values()) <= scheduled


def test_no_task_is_handed_out_again_while_it_runs() -> None:
    """The broker redelivers a message after its visibility timeout, even if its task still runs. The schedule repeats lost tasks much
    sooner.
    """
    again = app.conf.broker_transport_options["visibility_timeout"]
    assert all(float(entry["schedule"]) <= again for _name, entry in ENTRIES)
    assert again >= 3600 > 10 * max(delivery_sender.SECONDS, pruning.SECONDS, settings.FEED_SECONDS)


def test_every_task_and_every_program_has_words_for_the_dashboard() -> None:
    recorded = {entry["task"] for _name, entry in ENTRIES} | ASKED_FOR.keys()
    assert recorded - RECORDED_BY_ROLE | RECORDED_BY_COMMAND == JOBS.keys()
    assert set(CONSEQUENCES) == set(ProcessRole)
    assert {ProcessRole(role) for role in ROLES.values()} == set(OF_QUEUES)


def test_what_apps_enqueue_goes_to_the_queue_that_workers_have_for_it() -> None:
    sources = [path.read_text() for path in (ROOT / "apps").rglob("*.py")]
    enqueued = {name for source in sources if "from apps.lib.enqueue import" in source for name in re.findall(r'"(workers\.\w+)"', source)}
    routes = app.conf.task_routes
    assert len(enqueued) > 10
    assert {name: routes[name] for name in enqueued if name in routes} == enqueue.QUEUES
