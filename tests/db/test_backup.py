"""A backup is whole, tells what is in it, and is checked by restoring it; what is damaged is found and named."""

import json
import os
import stat
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from apps.desk.needs.collection import list_attention_items
from apps.members.models import Member
from apps.operations.backup import files
from apps.operations.backup.address import find_database
from apps.operations.backup.contents import TABLES
from apps.operations.backup.creation import FinishedBackup, create_backup
from apps.operations.backup.errors import BackupError
from apps.operations.backup.manifest import DUMP, NAME, parse_manifest
from apps.operations.backup.programs import find_program
from apps.operations.backup.verification import SUFFIX, verify_backup
from apps.operations.models import BackupNote
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def network(transactional_db: None) -> factories.Network:
    """The lab's network as database rows."""
    return factories.network()


@pytest.fixture
def keys(settings: LazySettings, tmp_path: Path) -> Path:
    """The portal's ssh key and the known hosts, in a directory of their own."""
    directory = tmp_path / "ssh"
    (directory / "known_hosts.d").mkdir(parents=True)
    (directory / "id").write_text("the portal's key\n")
    (directory / "known_hosts.d" / "nat-1").write_text("a host's key\n")
    settings.SSH_KEY, settings.SSH_KNOWN_HOSTS = directory / "id", directory / "known_hosts.d"
    return directory


@pytest.fixture
def backup(network: factories.Network, keys: Path, tmp_path: Path) -> FinishedBackup:
    """A backup of the network."""
    return create_backup(tmp_path / "backups", lambda _words: None)


def has_scratch_database() -> bool:
    """True if the database of a check is there. Other tests check beside this one, in databases of their own."""
    with find_database().connect() as server:
        name = f"{find_database().name}{SUFFIX}"
        return bool(server.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchall())


def rewrite_manifest(backup: FinishedBackup, **changes: object) -> None:
    """Change fields of the stored manifest."""
    file = backup.path / NAME
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_backup_holds_the_database_the_keys_and_a_manifest_for_their_owner_alone(backup: FinishedBackup, settings: LazySettings) -> None:
    found = {path.relative_to(backup.path).as_posix(): path for path in backup.path.rglob("*") if path.is_file()}
    assert found.keys() == {DUMP, NAME, "keys/secret_key", "keys/ssh_key", "keys/known_hosts.d/nat-1"}
    assert found["keys/secret_key"].read_text().strip() == settings.SECRET_KEY
    assert found["keys/ssh_key"].read_text() == "the portal's key\n"
    assert {stat.S_IMODE(path.stat().st_mode) for path in found.values()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (backup.path, backup.path / "keys")} == {0o700}
    assert [path.name for path in backup.path.parent.iterdir()] == [backup.path.name]


def test_the_manifest_counts_every_table_and_names_every_file(backup: FinishedBackup) -> None:
    manifest = files.read_manifest(backup.path)
    assert manifest == backup.manifest
    assert manifest.rows["members_member"] == Member.objects.count() > 0
    assert manifest.rows["django_migrations"] == sum(map(len, manifest.migrations.values()))
    with find_database().connect() as server:
        assert manifest.rows.keys() == {name for (name,) in server.execute(TABLES)}
    assert {each.path for each in manifest.files} == {
        path.relative_to(backup.path).as_posix() for path in backup.path.rglob("*") if path.is_file() and path.name != NAME
    }


def test_what_is_saved_while_the_dump_is_written_is_in_neither_the_dump_nor_the_numbers(network: factories.Network, tmp_path: Path) -> None:
    def add_member(words: str) -> None:
        if words == "Counting rows.":
            factories.member("Late Larry")

    before = Member.objects.count()
    finished = create_backup(tmp_path, add_member)
    assert Member.objects.count() == before + 1
    assert finished.manifest.rows["members_member"] == before
    assert verify_backup(finished.path, lambda _words: None) == finished.manifest


def test_a_finished_backup_is_noted_with_its_size(backup: FinishedBackup) -> None:
    note = BackupNote.objects.get()
    assert (note.place, note.octets, note.at) == (str(backup.path), backup.manifest.octets, backup.manifest.made_at)


def test_the_command_says_how_far_it_is_and_what_it_made(network: factories.Network, keys: Path, tmp_path: Path) -> None:
    said = StringIO()
    call_command("backup", str(tmp_path / "kept"), stdout=said)
    [made] = (tmp_path / "kept").iterdir()
    members = Member.objects.count()
    assert f"members_member, {members} rows." in said.getvalue()
    assert str(made) in said.getvalue()
    call_command("backup", verify=made, stdout=said)
    assert f"{made} is whole." in said.getvalue()


def test_a_backup_that_cannot_be_written_leaves_nothing_and_is_not_noted(network: factories.Network, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("backup", str(tmp_path / "file"))
    assert not BackupNote.objects.exists()


def test_a_dump_that_fails_leaves_no_directory_and_no_note(network: factories.Network, tmp_path: Path) -> None:
    def break_in(words: str) -> None:
        if words == "Counting rows.":
            [partial] = tmp_path.iterdir()
            (partial / DUMP).mkdir()

    with pytest.raises(BackupError, match="pg_dump ended with status"):
        create_backup(tmp_path, break_in)
    assert list(tmp_path.iterdir()) == []
    assert not BackupNote.objects.exists()


def test_a_check_leaves_no_database_behind(backup: FinishedBackup) -> None:
    verify_backup(backup.path, lambda _words: None)
    assert not has_scratch_database()


def test_a_check_drops_its_database_also_after_a_fault(backup: FinishedBackup) -> None:
    rewrite_manifest(backup, rows=dict(backup.manifest.rows) | {"members_member": 1_000})
    with pytest.raises(BackupError, match=r"members_member has \d+ rows instead of 1,000"):
        verify_backup(backup.path, lambda _words: None)
    assert not has_scratch_database()


def test_a_check_takes_the_place_of_one_that_was_killed(backup: FinishedBackup) -> None:
    with find_database().connect(autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{find_database().name}{SUFFIX}"')
    assert verify_backup(backup.path, lambda _words: None) == backup.manifest


def test_two_checks_at_once_do_not_disturb_each_other(backup: FinishedBackup) -> None:
    refused: list[str] = []

    def check_again(words: str) -> None:
        if words.startswith("Restoring"):
            with pytest.raises(BackupError) as told:
                verify_backup(backup.path, lambda _words: None)
            refused.append(str(told.value))

    assert verify_backup(backup.path, check_again) == backup.manifest
    assert len(refused) == 1
    assert refused[0].startswith("Another check is under way")


def test_migrations_that_differ_from_the_manifest_are_found(backup: FinishedBackup) -> None:
    rewrite_manifest(backup, migrations={"members": ["0001_initial"]})
    with pytest.raises(BackupError, match="the applied migrations differ"):
        verify_backup(backup.path, lambda _words: None)


@pytest.mark.parametrize("name", [DUMP, "keys/secret_key"])
def test_a_changed_octet_is_found_in_any_file(backup: FinishedBackup, name: str) -> None:
    file = backup.path / name
    octets = bytearray(file.read_bytes())
    octets[-1] ^= 1
    file.write_bytes(octets)
    with pytest.raises(BackupError, match=f"the digest of {name} differs"):
        verify_backup(backup.path, lambda _words: None)


def test_what_is_missing_cut_or_added_is_named(backup: FinishedBackup) -> None:
    (backup.path / "keys/ssh_key").unlink()
    (backup.path / "keys/other").write_text("")
    os.truncate(backup.path / DUMP, 100)
    with pytest.raises(BackupError) as told:
        verify_backup(backup.path, lambda _words: None)
    assert "keys/ssh_key is missing" in str(told.value)
    assert "keys/other is not in its manifest" in str(told.value)
    assert f"{DUMP} has 100 octets" in str(told.value)


def test_a_directory_without_a_manifest_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a whole backup"):
        call_command("backup", verify=tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "1"}', "[" * 100_000])
def test_a_manifest_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(BackupError, match="cannot be understood"):
        parse_manifest(text)


def test_a_manifest_of_a_newer_format_is_refused_with_the_remedy() -> None:
    with pytest.raises(BackupError, match="Use the release that made it"):
        parse_manifest('{"format": 2}')


def test_without_a_program_of_the_servers_version_the_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="postgresql-client-99"):
        find_program("pg_dump", 99)
    with find_database().connect() as server:
        program = find_program("pg_dump", server.info.server_version // 10_000)
    assert Path(program).name == "pg_dump"


def test_an_account_that_may_not_create_databases_is_told_how_to(backup: FinishedBackup, settings: LazySettings) -> None:
    with find_database().connect(autocommit=True) as server:
        server.execute("DROP ROLE IF EXISTS backup_reader")
        server.execute("CREATE ROLE backup_reader LOGIN")
        try:
            settings.DATABASES["default"] = {**settings.DATABASES["default"], "USER": "backup_reader", "NAME": find_database().name}
            with pytest.raises(BackupError, match="CREATEDB"):
                verify_backup(backup.path, lambda _words: None)
        finally:
            settings.DATABASES["default"] = {**settings.DATABASES["default"], "USER": connection.settings_dict["USER"]}
            server.execute("DROP ROLE backup_reader")


def test_a_server_that_is_away_is_named(settings: LazySettings, tmp_path: Path) -> None:
    before = settings.DATABASES["default"]
    settings.DATABASES["default"] = {**before, "HOST": str(tmp_path)}
    try:
        with pytest.raises(BackupError, match="cannot be reached"):
            create_backup(tmp_path, lambda _words: None)
    finally:
        settings.DATABASES["default"] = before
    assert psycopg.connect(find_database().build_conninfo()).info.dbname == connection.settings_dict["NAME"]


def test_a_failed_backup_is_a_need_with_its_reason_until_one_succeeds(network: factories.Network, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(CommandError):
        call_command("backup", tmp_path / "file")
    [need] = [each for each in list_attention_items(timezone.now()) if each.key == "job-backup"]
    assert "Backing up the portal" in need.what
    assert "cannot be written" in need.evidence
    call_command("backup", tmp_path / "kept", stdout=StringIO())
    assert not [each for each in list_attention_items(timezone.now()) if each.key == "job-backup"]


def test_old_backups_are_removed_after_a_new_one_if_that_is_asked_for(network: factories.Network, keys: Path, tmp_path: Path) -> None:
    made = create_backup(tmp_path / "elsewhere", lambda _words: None)
    rewrite_manifest(made, made="2026-01-01T03:00:00+00:00")
    old = made.path.rename(tmp_path / "netzwart-2026-01-01T03-00-00Z")
    said = StringIO()
    call_command("backup", tmp_path, keep_daily=2, stdout=said)
    assert old.exists()
    [newer] = set(tmp_path.glob("netzwart-*")) - {old}
    newer.rename(tmp_path / "netzwart-of-a-moment-ago")
    call_command("backup", tmp_path, keep_daily=1, stdout=said)
    assert f"not kept any longer: {old}" in said.getvalue()
    [left] = tmp_path.glob("netzwart-*")
    assert left.name != "netzwart-of-a-moment-ago"
    with pytest.raises(CommandError, match="numbers from 0"):
        call_command("backup", tmp_path, keep_daily=-1)


def test_what_a_killed_backup_left_is_removed_by_the_next_one(network: factories.Network, keys: Path, tmp_path: Path) -> None:
    (tmp_path / "netzwart-1.partial").mkdir()
    (tmp_path / "netzwart-1.partial" / DUMP).write_text("half a dump")
    made = create_backup(tmp_path, lambda _words: None)
    assert [path for path in tmp_path.iterdir() if path.name.startswith("netzwart-")] == [made.path]


def test_two_backups_into_one_directory_do_not_disturb_each_other(network: factories.Network, keys: Path, tmp_path: Path) -> None:
    refused: list[str] = []

    def begin_another(words: str) -> None:
        if words == "Counting rows.":
            with pytest.raises(BackupError) as told:
                create_backup(tmp_path, lambda _words: None)
            refused.append(str(told.value))

    made = create_backup(tmp_path, begin_another)
    assert refused == [f"Another backup into {tmp_path} is under way. Wait for its end."]
    files.check_files(made.path, made.manifest)
