"""Writes files that are whole on the disk, or are not there at all. Every function raises OSError."""

import os
from contextlib import suppress
from pathlib import Path


def write_at(file: int, octets: bytes, at: int) -> None:
    """Write all octets to the open file, from this place on."""
    rest = memoryview(octets)
    while rest:
        written = os.pwrite(file, rest, at)
        rest, at = rest[written:], at + written


def write_new(path: Path, octets: bytes, *, synced: bool = True) -> None:
    """Write a file that nobody else can read. synced: its content is on the disk afterwards."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        write_at(file, octets, 0)
        if synced:
            os.fsync(file)
    finally:
        os.close(file)


def sync_directory(path: Path) -> None:
    """Bring the directory's names to the disk."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def replace_durably(new: Path, path: Path) -> None:
    """Put the new file in the place of the other, on the disk too. On an error the one before is in its place again.

    A link keeps the one before meanwhile. A process that is killed may leave it; it is not used again.
    """
    before = path.with_name(f"{path.name}.before")
    before.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        before.hardlink_to(path)
    try:
        new.replace(path)
        sync_directory(path.parent)
    except OSError:
        with suppress(OSError):
            _put_back(before, path)
        raise
    finally:
        with suppress(OSError):
            before.unlink(missing_ok=True)


def _put_back(before: Path, path: Path) -> None:
    """Put back what was there. If it is there still, renaming a link to the same file does nothing."""
    if before.exists():
        before.replace(path)
    else:
        path.unlink(missing_ok=True)
    sync_directory(path.parent)
