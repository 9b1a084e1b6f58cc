"""Files of a backup: written for their owner alone, forced to the disk, and told apart by SHA-256."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from apps.operations.backup.errors import BackupError
from apps.operations.backup.manifest import NAME, BackedUpFile, BackupManifest, parse_manifest

OWNER_ONLY = 0o600


def write_private_file(path: Path, content: bytes) -> None:
    """Write a new file with mode 0600, and force it to the disk."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def replace_private_file(path: Path, content: bytes) -> None:
    """Put a file with mode 0600 in the place of whatever is there, whole or not at all."""
    fresh = path.with_name(f"{path.name}.restored")
    fresh.unlink(missing_ok=True)
    write_private_file(fresh, content)
    fresh.rename(path)
    force_to_disk(path.parent)


def force_to_disk(path: Path) -> None:
    """Force a file, or the names in a directory, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def measure_file(root: Path, path: Path) -> BackedUpFile:
    """Return a file's size and digest. path: below root."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return BackedUpFile(path.relative_to(root).as_posix(), path.stat().st_size, digest)


def list_files(root: Path) -> list[Path]:
    """Return all files below a directory in the order of their names, without the manifest."""
    return sorted(path for path in root.rglob("*") if path.is_file() and path != root / NAME)


def read_manifest(backup: Path) -> BackupManifest:
    """Return the manifest of a backup's directory. Raises BackupError."""
    try:
        return parse_manifest((backup / NAME).read_text())
    except UnicodeDecodeError as error:
        raise BackupError(f"{backup / NAME} is not text. The backup is damaged; use another one.") from error
    except OSError as error:
        raise BackupError(f"{backup} is not a whole backup: {NAME} cannot be read: {error.strerror}.") from error


def check_files(backup: Path, manifest: BackupManifest) -> None:
    """Raise BackupError, which names each file that is missing, differs from the manifest, or is not in it."""
    faults = list(_iter_faults(backup, manifest))
    if faults:
        raise BackupError(f"{backup} is damaged: {'; '.join(faults)}. Use another backup.")


def _iter_faults(backup: Path, manifest: BackupManifest) -> Iterator[str]:
    expected = {each.path: each for each in manifest.files}
    there = {path.relative_to(backup).as_posix(): path for path in list_files(backup)}
    yield from (f"{name} is missing" for name in sorted(expected.keys() - there.keys()))
    yield from (f"{name} is not in its manifest" for name in sorted(there.keys() - expected.keys()))
    for name in sorted(expected.keys() & there.keys()):
        found = measure_file(backup, there[name])
        if found.octets != expected[name].octets:
            yield f"{name} has {found.octets:,} octets instead of {expected[name].octets:,}"
        elif found != expected[name]:
            yield f"the digest of {name} differs"
