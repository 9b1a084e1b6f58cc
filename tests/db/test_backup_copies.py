"""Copies of backups by a real restic: whole, encrypted, thinned; and what is said when one fails."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.operations.backup.errors import BackupError
from apps.operations.backup.restic import copy_to_repository, thin_repository
from apps.operations.backup.thinning import KeptBackups
from apps.operations.backup.verification import verify_backup
from apps.operations.models import JobRecord
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new repository; restic finds its password by the environment, and keeps no cache."""
    (tmp_path / "password").write_text("correct horse\n")
    monkeypatch.setenv("RESTIC_PASSWORD_FILE", str(tmp_path / "password"))
    monkeypatch.setenv("RESTIC_CACHE_DIR", str(tmp_path / "cache"))
    run_restic(tmp_path / "repository", "init")
    return tmp_path / "repository"


def run_restic(repository: Path, *arguments: str) -> str:
    done = subprocess.run(["restic", "--repo", str(repository), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def make_backup(directory: Path, *options: str) -> str:
    """Return what the command says."""
    output = StringIO()
    call_command("backup", str(directory), *options, stdout=output)
    return output.getvalue()


def test_a_copy_is_encrypted_and_what_comes_back_can_be_restored(network: factories.Network, repository: Path, tmp_path: Path) -> None:
    said = make_backup(tmp_path / "backups", "--restic", str(repository))
    assert f"Copied to {repository} as " in said
    [backup] = (tmp_path / "backups").iterdir()
    secret = (backup / "keys" / "secret_key").read_bytes().strip()
    assert not any(secret in path.read_bytes() for path in repository.rglob("*") if path.is_file())
    run_restic(repository, "restore", "latest", "--tag", "netzwart", "--target", str(tmp_path / "copy"))
    verify_backup(tmp_path / "copy" / backup.relative_to("/"), lambda _words: None)
    assert JobRecord.objects.get(name="backup").failing is None


def test_copies_are_thinned_and_others_in_the_repository_stay(network: factories.Network, repository: Path, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
        copy_to_repository(str(repository), tmp_path / name, lambda _words: None)
    run_restic(repository, "backup", "--tag", "photos", str(tmp_path / "one"))
    assert thin_repository(str(repository), KeptBackups(daily=7)) == 2, "three of one day"
    assert thin_repository(str(repository), KeptBackups()) == 0, "the newest is always kept"
    assert run_restic(repository, "snapshots", "--tag", "netzwart").count(str(tmp_path / "three")) == 1
    assert "photos" in run_restic(repository, "snapshots")


def test_a_copy_that_fails_is_the_failure_of_the_backup_which_is_whole(
    network: factories.Network, repository: Path, tmp_path: Path
) -> None:
    (tmp_path / "password").write_text("wrong\n")
    with pytest.raises(CommandError, match=r"is whole, but its copy failed: restic ended with status 1: .*wrong password"):
        make_backup(tmp_path / "backups", "--restic", str(repository))
    assert "wrong password" in JobRecord.objects.get(name="backup").error
    [backup] = (tmp_path / "backups").iterdir()
    verify_backup(backup, lambda _words: None)


def test_a_repository_that_is_not_there_is_said_so(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(BackupError, match=r"Is there a repository at the following location\?"):
        copy_to_repository(str(tmp_path / "nowhere"), repository, lambda _words: None)


def test_without_restic_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BackupError, match=r"restic is not installed\. Install the package restic\."):
        copy_to_repository("anywhere", tmp_path, lambda _words: None)
