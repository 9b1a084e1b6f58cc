"""A backup is restored whole or not at all, only into an empty installation that can read it; and nothing that was sent is sent again."""

import json
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from io import StringIO
from pathlib import Path
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.urls import reverse
from django.utils import timezone

from apps.alarms.channels.models import AlarmChannel, ChannelMessage
from apps.alarms.channels.services import ChannelFacts, add_channel
from apps.deployments.models import DatabaseRestore, GatewayState, Rollout, RolloutStep
from apps.deployments.restored_database import restore_hold
from apps.deployments.rollouts.outdated_reads import TransactionsOfAnotherServerError
from apps.deployments.selectors import list_activations
from apps.gateways.agent_upgrade.models import AgentUpgrade, AgentUpgradeStep
from apps.gateways.roles.models import RoleSwitch
from apps.mail.models import Message
from apps.mail.services import put_in_outbox
from apps.members.models import Member
from apps.nat.models import PortForward
from apps.operations.backup import files, restoration
from apps.operations.backup.address import find_database
from apps.operations.backup.creation import FinishedBackup, create_backup
from apps.operations.backup.errors import BackupError
from apps.operations.backup.manifest import DUMP, NAME
from apps.operations.backup.restoration import restore_backup
from apps.operations.backup.verification import compare_with_manifest
from apps.status.incidents.models import Incident, IncidentUpdate
from apps.tickets.after_restore import MAY_BE_ANSWERED
from apps.tickets.bulk import send_pending_answers
from apps.tickets.models import Bulk, BulkItem, Ticket
from apps.webhooks.models import Delivery, Endpoint, Position
from firewall.codec import encode
from tests import factories
from tests.db.page_client import signed_in, text
from tests.db.rollout_rows import forward, keep_content, roll_out
from tests.lost_database import database_afterwards, lose_database
from workers import deploy

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None, settings: LazySettings, tmp_path: Path) -> Iterator[factories.Network]:
    """The lab's network as database rows, and the portal's keys in a directory of their own."""
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = tmp_path / "ssh" / "id", tmp_path / "ssh" / "known_hosts.d"
    files.write_private_file(tmp_path / "ssh" / "id", b"the portal's key\n")
    files.write_private_file(tmp_path / "ssh" / "known_hosts.d" / "nat-1", b"a host's key\n")
    with database_afterwards():
        yield factories.network()


def back_up(tmp_path: Path) -> FinishedBackup:
    return create_backup(tmp_path / "backups", lambda _words: None)


def restore(backup: FinishedBackup) -> None:
    restore_backup(backup.path, lambda _words: None)


def rewrite(backup: FinishedBackup, **changes: object) -> None:
    """Change fields of the stored manifest."""
    file = backup.path / NAME
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def count_tables() -> int:
    with find_database().connect() as server:
        [(tables,)] = server.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'")
    return int(tables)


@dataclass(frozen=True)
class WaitingRows:
    """What waits to be sent, and one session."""

    mail: Message
    delivery: Delivery
    message: ChannelMessage
    answer: BulkItem
    update: IncidentUpdate


def make_waiting_rows(network: factories.Network) -> WaitingRows:
    given = {"to": "selin@lindenhof.example", "language": "de", "subject": "Hello", "text": "Hello\n", "sender": "portal@lindenhof.example"}
    mail = put_in_outbox(Message(**given))
    assert mail
    endpoint = Endpoint.objects.create(name="chat", url="https://hooks.example.org/", owner=network.admin, salt=b"s" * 32)
    Position.objects.create(table="members_memberevent", done=1, settled=1)
    delivery = Delivery.objects.create(endpoint=endpoint, uid=uuid4(), event="member.changed", body="{}")
    channel = add_channel(facts=ChannelFacts("night", "json://127.0.0.1/x"), by=network.admin)
    assert isinstance(channel, AlarmChannel)
    message = ChannelMessage.objects.create(channel=channel, event="test", title="Test", text="Test")
    signed_in(network.admin)
    bulk = Bulk.objects.create(key=uuid4(), text_en="All is well again.", by=network.admin)
    answer = BulkItem.objects.create(bulk=bulk, ticket=Ticket.objects.create(subject="Slow", address="eve@example.org"))
    incident = Incident.objects.create(title_en="Slow", services=["ipv4"], began=timezone.now())
    update = IncidentUpdate.objects.create(incident=incident, stage="looking", text_en="We are looking.")
    return WaitingRows(mail, delivery, message, answer, update)


def test_what_was_backed_up_is_there_again_and_what_came_later_is_not(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    factories.member("Late Larry")
    lose_database()
    said = StringIO()
    call_command("restore", backup.path, stdout=said)
    assert sorted(Member.objects.values_list("name", flat=True)) == sorted(each.member.name for each in network.residents.values())
    assert "Restored the backup of" in said.getvalue()
    assert "Nothing is sent to the gateways until somebody continues" in said.getvalue()
    call_command("migrate", check_unapplied=True, verbosity=0)


def test_every_row_is_there_again_but_those_of_the_restore_itself(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    lose_database()
    restore(backup)
    DatabaseRestore.objects.all().delete()
    with find_database().connect() as server:
        server.execute("DELETE FROM deployments_databaserestoreevent")
        compare_with_manifest(server, backup.manifest)


AGE = """
DO $$
DECLARE
    place record;
BEGIN
    SET LOCAL session_replication_role = replica;
    FOR place IN
        SELECT attrelid::regclass AS relation, quote_ident(attname) AS name, atttypid = 'xid8'::regtype AS is_id
        FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
        WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND atttypid IN ('xid8'::regtype, 'pg_snapshot'::regtype)
    LOOP
        EXECUTE format('UPDATE %s SET %s = %L WHERE %2$s IS NOT NULL', place.relation, place.name,
            CASE WHEN place.is_id THEN '9000000000' ELSE '9000000001:9000000001:' END);
    END LOOP;
END $$
"""  # as on a server that has carried out nine thousand million transactions


def test_a_backup_of_a_server_with_more_transactions_is_rolled_out_and_active_on_another(
    network: factories.Network, tmp_path: Path
) -> None:
    forward(network, 8443)
    keep_content(roll_out(network))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(AGE)
    with pytest.raises(TransactionsOfAnotherServerError, match="restore --hold"):
        roll_out(network)
    forward(network, 8444)
    deploy.reconcile(network.admin.pk)
    errors = list(GatewayState.objects.values_list("error", flat=True))
    assert errors and all("restore --hold" in error for error in errors), errors
    before = {row.pk: row.changed_at for row in PortForward.objects.all()}
    backup = back_up(tmp_path)
    lose_database()
    restore(backup)
    assert {row.pk: row.changed_at for row in PortForward.objects.all()} == before != {}
    assert roll_out(network).state == Rollout.State.CONFIRMED, "its read of the database counts as newer than the last one"
    rows = list(PortForward.objects.all())
    assert all(each.since for found in list_activations(rows) for each in found)


def test_a_database_that_was_only_migrated_counts_as_empty(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    lose_database()
    call_command("migrate", verbosity=0)
    restore(backup)
    assert Member.objects.count() == backup.manifest.rows["members_member"]


def test_a_database_with_rows_is_refused_by_their_tables_and_stays_as_it_is(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    factories.member("Late Larry")
    with pytest.raises(CommandError, match=r"is not empty: there are rows in .*accounts_user.* Nothing was changed"):
        call_command("restore", backup.path)
    assert Member.objects.filter(name="Late Larry").exists()
    assert not DatabaseRestore.objects.exists()


def test_a_connection_that_is_about_to_end_is_waited_for(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    lose_database()
    late, told = find_database().connect(), []

    def note(words: str) -> None:
        told.append(words)
        if words.startswith("Waiting"):
            late.close()

    restore_backup(backup.path, note)
    assert "Waiting until other connections to the database have ended." in told
    assert Member.objects.count() == backup.manifest.rows["members_member"]


def test_while_programs_are_connected_nothing_is_restored(
    network: factories.Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoration, "LEAVING", 0.3)
    backup = back_up(tmp_path)
    lose_database()
    with find_database().connect(), pytest.raises(BackupError, match="Stop all programs of the portal first"):
        restore(backup)
    assert count_tables() == 0


def test_a_damaged_backup_is_refused_before_anything_happens(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    dump = backup.path / DUMP
    dump.write_bytes(dump.read_bytes()[:-1] + b"?")
    lose_database()
    with pytest.raises(BackupError, match="is damaged"):
        restore(backup)
    assert count_tables() == 0


def test_a_dump_that_breaks_half_way_leaves_nothing_behind(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    dump = backup.path / DUMP
    octets = dump.read_bytes()
    dump.write_bytes(octets[: len(octets) * 2 // 3])
    rewrite(backup, files=[encode(files.measure_file(backup.path, path)) for path in files.list_files(backup.path)])
    lose_database()
    with pytest.raises(BackupError, match=r"pg_restore ended with status .* Nothing was changed"):
        restore(backup)
    assert count_tables() == 0


def test_a_database_that_refuses_the_script_is_left_as_it_was(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    lose_database()
    with find_database().connect(autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{find_database().name}" SET default_transaction_read_only = on')
    with pytest.raises(BackupError, match=r"psql ended with status .*read-only.* Nothing was changed"):
        restore(backup)
    assert count_tables() == 0
    with find_database().find_sibling("postgres").connect(autocommit=True) as server:
        server.execute(f'ALTER DATABASE "{find_database().name}" RESET default_transaction_read_only')


def test_a_backup_of_a_newer_release_is_refused_with_its_number(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    later = dict(backup.manifest.migrations) | {"members": [*backup.manifest.migrations["members"], "9999_from_the_future"]}
    rewrite(backup, migrations=later, release="7.0")
    lose_database()
    with pytest.raises(BackupError, match=r"newer release \(7.0\).*members.9999_from_the_future"):
        restore(backup)


def test_an_older_backup_says_that_migrations_are_to_be_run(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    older = dict(backup.manifest.migrations) | {"deployments": backup.manifest.migrations["deployments"][:-1]}
    rewrite(backup, migrations=older)
    lose_database()
    said = StringIO()
    call_command("restore", backup.path, stdout=said)
    assert "This release has 1 migrations more than the backup. Run “manage.py migrate” first." in said.getvalue()


def test_a_backup_of_a_newer_server_is_refused(network: factories.Network, tmp_path: Path) -> None:
    backup = back_up(tmp_path)
    rewrite(backup, server=990_001)
    lose_database()
    with pytest.raises(BackupError, match="The backup is of PostgreSQL 99"):
        restore(backup)


def test_without_the_backups_secret_key_nothing_is_restored(network: factories.Network, tmp_path: Path, settings: LazySettings) -> None:
    backup = back_up(tmp_path)
    lose_database()
    key = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    with pytest.raises(BackupError, match="NETZWART_SECRET_KEY_FALLBACKS"):
        restore(backup)
    assert count_tables() == 0
    settings.SECRET_KEY_FALLBACKS = [key]
    restore(backup)
    assert Member.objects.exists()


def test_keys_are_put_back_for_their_owner_alone_and_another_key_is_kept_aside(
    network: factories.Network, tmp_path: Path, settings: LazySettings
) -> None:
    backup = back_up(tmp_path)
    shutil.rmtree(tmp_path / "ssh")
    files.write_private_file(settings.SSH_KEY, b"a key of the new machine\n")
    lose_database()
    restore(backup)
    placed = [settings.SSH_KEY, settings.SSH_KNOWN_HOSTS / "nat-1"]
    assert [path.read_text() for path in placed] == ["the portal's key\n", "a host's key\n"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in placed} == {0o600}
    assert (tmp_path / "ssh" / "id.before-restore").read_text() == "a key of the new machine\n"


def test_what_waited_is_not_sent_by_itself_but_can_be_by_a_person(network: factories.Network, tmp_path: Path) -> None:
    rows = make_waiting_rows(network)
    backup = back_up(tmp_path)
    lose_database()
    restore(backup)
    for row in (rows.mail, rows.delivery, rows.message):
        row.refresh_from_db()
        assert row.state == "failed"
        assert row.ended
        assert row.error.startswith("Not sent: the database was restored from a backup")
    assert not Position.objects.exists()
    assert not Session.objects.exists()
    assert not send_pending_answers() and Message.objects.count() == 1
    rows.answer.refresh_from_db()
    rows.update.refresh_from_db()
    assert (rows.answer.message, rows.answer.why, rows.update.notify) == (None, MAY_BE_ANSWERED, False)
    assert MAY_BE_ANSWERED in text(signed_in(network.admin).get(reverse("tickets:sent", args=[rows.answer.bulk_id])))
    answer = signed_in(network.admin).post(reverse("mail:again", args=[rows.mail.pk]))
    assert answer.status_code == 302
    rows.mail.refresh_from_db()
    assert rows.mail.state == Message.State.WAITING


def test_rollouts_and_switches_that_were_under_way_are_over(network: factories.Network, tmp_path: Path) -> None:
    rollout = roll_out(network, leave_open=True)
    switch = RoleSwitch.objects.create(group=network.group, gateway=network.gateways[0], kind="drain", families=[4], by=network.admin)
    upgrade = AgentUpgrade.objects.create(group=network.group, agent="0.1.0+1", digest="0" * 64)
    AgentUpgradeStep.objects.create(upgrade=upgrade, gateway=network.gateways[0], position=0, state=AgentUpgradeStep.State.TRIAL)
    GatewayState.objects.update_or_create(gateway=network.gateways[0], defaults={"digest": "d", "seen": timezone.now()})
    backup = back_up(tmp_path)
    lose_database()
    restore(backup)
    rollout.refresh_from_db()
    switch.refresh_from_db()
    assert (rollout.state, rollout.lease_until) == (Rollout.State.FAILED, None)
    assert list(rollout.steps.values_list("state", flat=True)) == [RolloutStep.State.LOST, RolloutStep.State.SKIPPED]
    assert switch.state == RoleSwitch.State.FAILED
    upgrade.refresh_from_db()
    assert upgrade.state == AgentUpgrade.State.STOPPED and upgrade.ended is not None
    assert upgrade.steps.get().state == AgentUpgradeStep.State.SKIPPED
    state = GatewayState.objects.get(gateway=network.gateways[0])
    assert (state.digest, state.seen is not None) == ("", True)


def test_a_database_that_postgresql_restored_itself_is_held_by_a_command(network: factories.Network) -> None:
    rows = make_waiting_rows(network)
    call_command("restore", hold=(timezone.now() - timedelta(hours=1)).isoformat(), stdout=StringIO())
    rows.mail.refresh_from_db()
    assert rows.mail.state == Message.State.FAILED
    assert DatabaseRestore.objects.get().agreed is None
    with pytest.raises(CommandError, match="is not a past time with its zone"):
        call_command("restore", hold="yesterday")


def test_somebody_agrees_to_a_restore_from_while_the_clock_was_ahead(network: factories.Network) -> None:
    ahead = timezone.now() + timedelta(hours=2)
    restore = DatabaseRestore.objects.create(backup_made=timezone.now(), restored=ahead)
    restore_hold.agree(restore, by=network.admin, seen=None)
    restore.refresh_from_db()
    assert restore.agreed and restore.restored <= restore.agreed <= timezone.now()


def test_only_one_restore_waits_and_a_second_one_takes_its_place(network: factories.Network) -> None:
    made = timezone.now()
    DatabaseRestore.objects.create(backup_made=made)
    with pytest.raises(IntegrityError), transaction.atomic():
        DatabaseRestore.objects.create(backup_made=made)
    with pytest.raises(IntegrityError), transaction.atomic():
        DatabaseRestore.objects.update(agreed=made - timedelta(days=1))
    call_command("restore", hold=(made - timedelta(hours=1)).isoformat(), stdout=StringIO())
    assert DatabaseRestore.objects.get().backup_made == made - timedelta(hours=1)
    assert connection.in_atomic_block is False
