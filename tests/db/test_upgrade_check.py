"""manage.py upgrade_check: a sentence for each thing that an upgrade needs, with what to do."""

import io
import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from apps.deployments.models import GatewayState
from apps.gateways.agent_texts import get_own_release
from apps.gateways.upgrade_check import judge_disk, list_findings
from apps.operations.models import BackupNote
from apps.operations.portal_health.figures import DiskSpace
from tests import factories

HOUR = timedelta(hours=1)


def find(words: str) -> list[tuple[bool, str]]:
    """Return the findings with these words."""
    return [(each.is_open, each.text) for each in list_findings(timezone.now()) if words in each.text]


def test_a_backup_is_wanted_unless_one_is_of_today(network: factories.Network) -> None:
    assert [is_open for is_open, _ in find("No backup was noted")] == [True]
    BackupNote.objects.create(place="nas", octets=1, at=timezone.now() - 25 * HOUR)
    [(is_open, text)] = find("The last backup")
    assert is_open and text.endswith("Make another one first.")
    BackupNote.objects.create(place="nas", octets=1, at=timezone.now() - HOUR)
    assert [is_open for is_open, _ in find("The last backup")] == [False]


def test_migrations_that_are_to_come_are_named_with_their_locks(network: factories.Network) -> None:
    assert find("all migrations") == [(False, "The database has all migrations of this release.")]
    MigrationRecorder(connection).migration_qs.filter(app="deployments", name__gte="0003").delete()
    [(is_open, text)] = find("deployments.0003_protocol_of_agents")
    assert is_open and text == "deployments.0003_protocol_of_agents is to come; it locks no table for long. Run “manage.py migrate”."


def test_the_database_of_a_later_release_is_neither_called_ready_nor_migrated(network: factories.Network) -> None:
    MigrationRecorder(connection).record_applied("network", "9999_later")
    [(is_open, text)] = find("later release")
    assert is_open and "network.9999_later. Install that release again, or restore a backup" in text
    assert not find("all migrations")
    for options in ({}, {"check_unapplied": True}):
        with pytest.raises(CommandError, match=re.escape(text)):
            call_command("migrate", verbosity=0, **options)


def test_it_runs_on_a_database_that_lacks_what_the_release_adds(network: factories.Network) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE deployments_gatewaystate DROP COLUMN protocol")
    assert find("nat-1") and find("nat-2")


def test_a_migration_with_a_long_lock_is_one_for_the_night(network: factories.Network) -> None:
    MigrationRecorder(connection).migration_qs.filter(app="mail", name__gte="0002").delete()
    [(_, text)] = find("mail.0002_bulk_mail")
    assert "under a lock (AddIndex on mail.message; AddConstraint on mail.message)" in text and text.endswith("Run it at night.")


def test_each_agent_has_a_sentence(network: factories.Network) -> None:
    first, second = network.gateways
    GatewayState.objects.create(gateway=first, agent=get_own_release())
    assert find("nat-1") == [(False, f"nat-1 has this release's agent, {get_own_release()}.")]
    assert [is_open for is_open, _ in find("nat-2 has not told its agent's version yet")] == [True]
    GatewayState.objects.create(gateway=second, agent="0.0.9+12345678", unreachable_since=timezone.now())
    [(is_open, text)] = find("nat-2")
    assert is_open and "nat-2 has agent 0.0.9+12345678" in text and text.endswith("It does not answer at present.")


def test_the_disk_must_have_room_for_the_database_once_more() -> None:
    roomy, tight, unseen = judge_disk(DiskSpace(1000, 500), 500), judge_disk(DiskSpace(1000, 499), 500), judge_disk(None, 500)
    assert not roomy.is_open and roomy.text.endswith("of its disk are free.")
    assert tight.is_open and tight.text.endswith("Make room for once its size before you migrate.")
    assert unseen.is_open and "cannot be seen from here" in unseen.text


def test_the_command_prints_a_line_for_each(network: factories.Network) -> None:
    output = io.StringIO()
    call_command("upgrade_check", stdout=output)
    lines = output.getvalue().splitlines()
    assert len(lines) == len(list_findings(timezone.now())) >= 5
    assert {line[0] for line in lines} == {"→", "✓"}
