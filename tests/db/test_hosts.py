"""Several hosts of one portal: each is known by name, and one that fails is told while the others do its work."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from django.utils import timezone

from apps.operations import heartbeats, host_heartbeats
from apps.operations.heartbeats import HeartbeatThread, RoleFaultKind
from apps.operations.models import HostHeartbeat, ProcessRole, RoleHeartbeat
from tests import factories
from tests.db.page_client import signed_in, text

pytestmark = pytest.mark.django_db
WORKERS = (ProcessRole.WORKER, ProcessRole.COLLECTOR)


@contextmanager
def on(host: str) -> Iterator[None]:
    with override_settings(HOST_NAME=host):
        yield


def report(host: str, error: str = "", roles: tuple[ProcessRole, ...] = WORKERS, started: datetime | None = None) -> None:
    """Let a host's programs report."""
    with on(host):
        for role in roles:
            heartbeats.record_alive(role, started or timezone.now(), error)


def silence(host: str) -> None:
    HostHeartbeat.objects.filter(host=host).update(seen=timezone.now() - timedelta(seconds=90))


def needs(client: Client) -> dict[str, str]:
    """Return what the dashboard says about the portal's own programs: the words, and what follows."""
    return {need.what: need.evidence for need in client.get("/").context["board"].needs if need.state.word == "Portal"}


@pytest.fixture
def mara(network: factories.Network) -> Client:
    return signed_in(network.admin)


def test_a_host_that_is_silent_is_named_while_another_one_does_the_work(mara: Client) -> None:
    report("a")
    report("b")
    assert needs(mara) == {}
    silence("b")
    [(words, follows)] = needs(mara).items()
    assert words == "Programs on b send no heartbeat: collector, deploy worker"
    assert "other hosts do the work" in follows and "manage.py forget_host b" in follows


def test_when_no_host_does_a_role_that_is_said_of_the_role_alone(mara: Client) -> None:
    report("a", roles=(ProcessRole.WORKER,))
    silence("a")
    RoleHeartbeat.objects.filter(role=ProcessRole.WORKER).update(seen=timezone.now() - timedelta(seconds=90))
    assert list(needs(mara)) == ["The deploy worker sends no heartbeat"]


def test_one_host_that_does_not_reach_the_broker_is_no_broker_that_is_away(mara: Client) -> None:
    for _round in range(2):
        report("a")
        report("b", "No route to host")
        assert heartbeats.list_process_faults(timezone.now()) == [], "whoever reported last"
    assert needs(mara) == {"b does not reach the broker": "No route to host. The programs of other hosts reach it, and do the work."}


def test_a_broker_that_no_host_reaches_is_away_whichever_host_reports(mara: Client) -> None:
    report("a", "Connection refused", tuple(ProcessRole))
    report("b", "Connection refused", tuple(ProcessRole))
    assert {fault.fault for fault in heartbeats.list_process_faults(timezone.now())} == {RoleFaultKind.BROKER}
    assert [words for words in needs(mara) if " reach the broker" in words] == []


def test_a_dead_host_that_reached_the_broker_does_not_vouch_for_it(mara: Client) -> None:
    report("a")
    silence("a")
    report("b", "Connection refused")
    assert {fault.fault for fault in heartbeats.list_process_faults(timezone.now())} == {RoleFaultKind.BROKER}


def test_a_program_that_is_stopped_on_purpose_is_not_missed(mara: Client) -> None:
    report("a")
    with on("b"):
        process = HeartbeatThread(WORKERS, probe=lambda: "")
        process.beat()
        assert HostHeartbeat.objects.filter(host="b").count() == len(WORKERS)
        process.leave()
    assert {row.host for row in HostHeartbeat.objects.all()} == {"a"} and needs(mara) == {}


def test_a_program_that_ends_late_leaves_the_row_of_the_one_that_took_its_place() -> None:
    with on("a"):
        former = HeartbeatThread(WORKERS, probe=lambda: "")
        former.beat()
        report("a", started=timezone.now() + timedelta(seconds=1))
        former.leave()
    assert HostHeartbeat.objects.count() == len(WORKERS)


def test_hosts_with_different_secret_keys_are_named(mara: Client, settings: LazySettings) -> None:
    report("a")
    settings.SECRET_KEY = "another"
    report("b")
    settings.SECRET_KEY = "a third, on a host that is silent"
    report("c")
    silence("c")
    HostHeartbeat.objects.filter(host="c").update(seen=timezone.now() - timedelta(seconds=90))
    differing = host_heartbeats.list_key_differences(timezone.now(), heartbeats.SILENT)
    assert [(each.is_ssh, each.hosts) for each in differing] == [(False, ("a", "b"))]


def test_a_host_without_the_portals_ssh_key_is_named_with_what_to_do(mara: Client, settings: LazySettings, tmp_path: Path) -> None:
    settings.SSH_KEY = tmp_path / "key"
    settings.SSH_KEY.write_text("the portal's")
    report("a")
    settings.SSH_KEY = tmp_path / "nothing"
    report("b")
    report("c", roles=(ProcessRole.MAILER,))
    found = needs(mara)
    assert "copy the file NETZWART_SSH_KEY" in found.pop("The portal has no ssh key on b") and not found
    settings.SSH_KEY.write_text("another one")
    report("b")
    assert list(needs(mara)) == ["The hosts a, b have different ssh keys"]


def test_the_page_of_the_system_says_where_a_program_runs_if_that_is_on_several_hosts(mara: Client) -> None:
    report("portal-a")
    assert "on portal-a" not in text(mara.get("/system/"))
    report("portal-b", roles=(ProcessRole.WORKER,))
    assert text(mara.get("/system/")).count("on portal-a, portal-b") == 1
    silence("portal-b")
    page = text(mara.get("/system/"))
    assert "Programs on portal-b send no heartbeat: deploy worker" in page and "All programs of the portal have reported" not in page


def test_a_machine_that_is_gone_for_good_is_forgotten_by_command() -> None:
    report("a")
    report("b")
    said = StringIO()
    call_command("forget_host", "b", stdout=said)
    assert said.getvalue() == "b is forgotten.\n" and {row.host for row in HostHeartbeat.objects.all()} == {"a"}
    with pytest.raises(CommandError, match=r"No host “b” has reported\. Known hosts: a\."):
        call_command("forget_host", "b")
