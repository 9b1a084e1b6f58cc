"""Directory of programs in the agent's state directory, and the file that says which of them is chosen.

Every write is on the disk (fsync) before it counts. The launcher and the agent write the choice, never at the same time: the launcher
does it while no agent runs.
"""

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from gateway.programs.choice import ProgramChoice, ProgramTrial

_CHOICE = "choice"
_SUFFIX = ".pyz"


def compute_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal. Raises OSError."""
    with path.open("rb") as file:
        hasher = sha256()
        while piece := file.read(1 << 20):
            hasher.update(piece)
    return hasher.hexdigest()


class ProgramStore:
    """The directory. It is made with the first write."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def read(self) -> ProgramChoice | None:
        """Return the choice; None before the first. Raises OSError or ValueError if the file cannot be read."""
        try:
            held = json.loads((self.directory / _CHOICE).read_bytes())
        except FileNotFoundError:
            return None
        return _parse_choice(held)

    def write(self, choice: ProgramChoice) -> None:
        """Store the choice as a whole. Raises OSError, and the choice before stays."""
        self._write(_CHOICE, json.dumps(asdict(choice)).encode())

    def add(self, digest: str, content: bytes) -> Path:
        """Store a program and return its file. Raises OSError."""
        return self._write(f"{digest}{_SUFFIX}", content)

    def locate(self, digest: str) -> Path:
        """Return where a program's file is, if it is stored."""
        return self.directory / f"{digest}{_SUFFIX}"

    def find_intact(self, digests: Iterable[str]) -> frozenset[str]:
        """Return those of the programs whose files are there, with the octets that were stored."""
        return frozenset(each for each in digests if self._is_intact(each))

    def _is_intact(self, digest: str) -> bool:
        try:
            return compute_digest(self.locate(digest)) == digest
        except OSError:
            return False

    def remove_except(self, needed: Iterable[str]) -> None:
        """Remove the files of all other programs, as far as that is possible: they only take room."""
        names = {f"{each}{_SUFFIX}" for each in needed}
        with suppress(OSError):
            for path in self.directory.glob(f"*{_SUFFIX}"):
                if path.name not in names:
                    path.unlink(missing_ok=True)

    def _write(self, name: str, content: bytes) -> Path:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        path, fresh = self.directory / name, self.directory / f"{name}.new"
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
            self._sync()
        except OSError:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise
        return path

    def _sync(self) -> None:
        for each in (self.directory, self.directory.parent):
            directory = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def _parse_choice(held: object) -> ProgramChoice:
    """Return the choice in this JSON data; fields of other releases are ignored. Raises ValueError."""
    if not isinstance(held, dict):
        raise ValueError("the choice of programs is not an object")
    trial = held.get("trial")
    texts = {name: _get_text(held, name) for name in ("packaged", "kept", "failed", "problem")}
    return ProgramChoice(**texts, trial=None if trial is None else _parse_trial(trial))


def _parse_trial(held: object) -> ProgramTrial:
    if not isinstance(held, dict) or type(held.get("within")) is not int:
        raise ValueError("the trial of a program is damaged")
    return ProgramTrial(_get_text(held, "digest"), held["within"], _get_text(held, "boot"), started=held.get("started") is not False)


def _get_text(held: dict[str, object], name: str) -> str:
    value = held.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"the choice of programs is damaged: {name}")
    return value
