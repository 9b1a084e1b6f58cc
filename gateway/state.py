"""What survives a reboot: the highest fencing token and the last confirmed ruleset, in one directory.

The ruleset is a checkpoint (`confirmed`) and a journal of confirmed changes beside it, one line each with a checksum. A
journal line belongs to the checkpoint whose number it carries; a torn last line was never answered, so it counts for
nothing. Everything is on the disk (fsync) before it is promised.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from firewall import digest as digests
from firewall.codec import Json, WireError, decode, encode
from firewall.diff import Delta
from firewall.ruleset import Ruleset, without_expired
from gateway.running import Running

_TOKEN, _CHECKPOINT, _JOURNAL, _LOCK = "token", "confirmed", "journal", "lock"
_TOKEN_DIGITS = 20
_JOURNAL_LIMIT = 4 << 20  # octets, about 7,000 changes of one member: replaying them takes a second


class StateError(Exception):
    """The directory cannot be used, or what lies in it is damaged. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A confirmed ruleset, and its digest as of `at` (Unix seconds)."""

    ruleset: Ruleset
    digest: int
    at: int


class State:
    """The directory, held by one process at a time."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(directory / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._token_file = os.open(directory / _TOKEN, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except BlockingIOError as error:
            raise StateError(f"{directory}: another agent is using this state directory") from error
        except OSError as error:
            raise StateError(f"{directory}: {error.strerror}") from error
        self.token = self._read_token()
        self._number: str | None = None  # of the checkpoint that the journal goes on from; drawn by lot, so that no old line fits
        self._journal_end = 0

    def close(self) -> None:
        """Let another process have the directory."""
        os.close(self._token_file)
        os.close(self._lock)

    def _read_token(self) -> int:
        octets = os.pread(self._token_file, _TOKEN_DIGITS + 1, 0)
        if octets and not (len(octets) == _TOKEN_DIGITS + 1 and octets[:-1].isdigit()):
            raise StateError(f"{self._directory / _TOKEN} is damaged: write the portal's latest token into it, or remove it")
        return int(octets or b"0")

    def raise_token(self, token: int) -> None:
        """Remember the token. It is overwritten in place, well within one sector, so that it takes one write of the disk."""
        os.pwrite(self._token_file, f"{token:0{_TOKEN_DIGITS}d}\n".encode(), 0)
        os.fdatasync(self._token_file)
        self.token = token

    def load(self) -> Confirmed | None:
        """The last confirmed ruleset, with elements that may have expired since; None before the first. Raises StateError."""
        path = self._directory / _CHECKPOINT
        try:
            start = json.loads(path.read_bytes())
            running = Running(decode(Ruleset, start["ruleset"], "ruleset"), 0)
            self._number, digest, at = start["number"], start["digest"], start["at"]
            for record in self._records():
                for delta in record["deltas"]:
                    running.change(decode(Delta, delta, "delta"))
                digest, at = record["digest"], record["at"]
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise StateError(f"{path}: the last confirmed ruleset cannot be read ({error}); deploy from the portal") from error
        if digests.text(digests.digest(without_expired(running.ruleset, at))) != digest:
            raise StateError(f"{path}: the last confirmed ruleset is not what was confirmed; deploy from the portal")
        return Confirmed(running.ruleset, int(digest, 16), at)

    def _records(self) -> Iterator[Json]:
        """The journal's lines that belong to the checkpoint. Raises WireError when one before the last is damaged."""
        self._journal_end = 0
        path = self._directory / _JOURNAL
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for at, line in enumerate(lines):
            record = _record(line)
            if record is None:
                if at + 1 < len(lines):
                    raise WireError(f"line {at + 1} of the journal is damaged")
                return
            self._journal_end += len(line)
            if record["of"] == self._number:
                yield record

    @property
    def has_checkpoint(self) -> bool:
        """Can `append` be used?"""
        return self._number is not None

    @property
    def journal_is_long(self) -> bool:
        """Is it time for a checkpoint?"""
        return self._journal_end > _JOURNAL_LIMIT

    def append(self, deltas: list[Delta], digest: int, at: int) -> None:
        """Confirm these changes on top of what was confirmed before."""
        record = {"of": self._number, "at": at, "digest": digests.text(digest), "deltas": [encode(delta) for delta in deltas]}
        line = _line(record)
        file = os.open(self._directory / _JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(file, self._journal_end)
            _write(file, line, self._journal_end)
            os.fdatasync(file)
        finally:
            os.close(file)
        if not self._journal_end:
            self._sync_directory()
        self._journal_end += len(line)

    def checkpoint(self, ruleset: Ruleset, digest: int, at: int) -> None:
        """Confirm this ruleset, whatever was confirmed before."""
        number = os.urandom(8).hex()
        whole = {"number": number, "at": at, "digest": digests.text(digest), "ruleset": encode(ruleset)}
        new = self._directory / f"{_CHECKPOINT}.new"
        file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write(file, json.dumps(whole, separators=(",", ":")).encode(), 0)
            os.fsync(file)
        finally:
            os.close(file)
        new.replace(self._directory / _CHECKPOINT)
        self._sync_directory()
        self._number, self._journal_end = number, 0

    def _sync_directory(self) -> None:
        directory = os.open(self._directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _write(file: int, octets: bytes, at: int) -> None:
    rest = memoryview(octets)
    while rest:
        written = os.pwrite(file, rest, at)
        rest, at = rest[written:], at + written


def _line(record: Json) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _record(line: bytes) -> Json | None:
    """The record in a whole line, None for anything else."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
        return None
    return json.loads(text)
