"""Writes files into a directory so that a reader, or a program that copies them, never sees half of one."""

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_files(directory: Path, files: Mapping[str, bytes], *, private: bool = False) -> int:
    """Write those files that differ from what is there; return their number. Others in the directory stay. Raises OSError.

    private: nobody but the account itself may read them.
    """
    directory.mkdir(mode=0o700 if private else 0o755, parents=True, exist_ok=True)
    if private:
        directory.chmod(0o700)
    changed = {name: content for name, content in files.items() if _read(directory / name) != content}
    for name, content in changed.items():
        _replace(directory / name, content, 0o600 if private else 0o644)
    return len(changed)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _replace(path: Path, content: bytes, mode: int) -> None:
    """Write a new file beside the old one, then put it in its place in one step (rename(2))."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        made = Path(file.name)
        try:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            made.chmod(mode)
            made.replace(path)
        except OSError:
            made.unlink()
            raise
