"""The agent's state directory: the highest fencing token, the last confirmed ruleset, the sysctls its profile replaced, and notes to
the next agent.

It survives a reboot. The ruleset is a checkpoint (`confirmed`) and a journal of confirmed changes, one line each with a checksum.
A journal line belongs to the checkpoint with its number. An incomplete last line was never answered, so it is ignored. Everything
is on the disk (fsync) before it is acknowledged.
"""

import errno
import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from zlib import crc32

from firewall import digest as digests
from firewall.codec import Json, TooNewError, WireError, decode, encode
from firewall.diff import Delta
from firewall.profile import NAMES
from firewall.ruleset import Ruleset, drop_expired
from firewall.wire_versions import LACKING, SPOKEN
from gateway.counter_ledger import DeletedCountsLedger
from gateway.durable_files import replace_durably, sync_directory, write_at, write_new
from gateway.running_ruleset import RunningRuleset

_TOKEN, _CHECKPOINT, _JOURNAL, _LOCK, _SYSCTLS = "token", "confirmed", "journal", "lock", "sysctls"
_TOKEN_DIGITS = 20
_ROOM = "room"
_JOURNAL_LIMIT = 4 << 20  # octets, about 7,000 changes of one member: replaying them takes a second


class Note(StrEnum):
    """Notes to the next agent, by the names of their files."""

    HANDOVER = "handover"  # what the table holds (gateway/handover.py)
    TRIAL = "trial"  # what ran before the first trial (gateway/restore.py)
    CUT = "cut"  # connections that the last confirmation ends (gateway/pending_cut.py)


class StateError(Exception):
    """The directory cannot be used, or its content is damaged. The message says what to do."""


@dataclass(frozen=True, slots=True)
class ConfirmedRuleset:
    """A confirmed ruleset, and its digest as of `at` (Unix seconds).

    deltas: the journal's changes that led to it, the oldest first; they do not tell one ruleset from another.
    """

    ruleset: Ruleset
    digest: int
    at: int
    deltas: tuple[Delta, ...] = field(default=(), compare=False)


class StateDirectory:
    """The directory, locked by one process at a time."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = _open_writable_if_possible(directory / _LOCK)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._token_file = _open_writable_if_possible(directory / _TOKEN)
        except BlockingIOError as error:
            raise StateError(f"{directory}: another agent is using this state directory") from error
        except OSError as error:
            raise StateError(f"{directory}: {error.strerror}") from error
        self.unwritable = ""  # why the last write failed; "" if writing is thought to work
        try:
            self._fill_token()
            self.token = self._read_token()
        except StateError:
            self.close()
            raise
        self.try_disk()
        self.ledger = DeletedCountsLedger(directory)
        self._number: str | None = None  # of the checkpoint that the journal continues; random, so that no old line fits
        self._journal_end = 0
        self._is_of_another_release = False  # its digests cannot be compared with ours

    def close(self) -> None:
        """Release the lock."""
        os.close(self._token_file)
        os.close(self._lock)

    def _fill_token(self) -> None:
        """Allocate a new token file's space on the disk now: later tokens are written in place, which works on a full disk."""
        if not os.fstat(self._token_file).st_size:
            self._write_token(0, b"")

    def _write_token(self, token: int, before: bytes) -> None:
        """Write the token. On failure restore the octets before and raise StateError."""
        try:
            self._make_token_writable()
            write_at(self._token_file, f"{token:0{_TOKEN_DIGITS}d}\n".encode(), 0)
            os.fdatasync(self._token_file)
        except OSError as error:
            with suppress(OSError):
                os.pwrite(self._token_file, before, 0)
                os.ftruncate(self._token_file, len(before))
            raise self._record_write_error(_TOKEN, error) from error

    def _make_token_writable(self) -> None:
        """Open the token's file anew if it could only be read when it was opened. Raises OSError if that is still so."""
        if fcntl.fcntl(self._token_file, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            file = os.open(self.directory / _TOKEN, os.O_RDWR | os.O_CLOEXEC)
            os.close(self._token_file)
            self._token_file = file

    def _read_token(self) -> int:
        octets = os.pread(self._token_file, _TOKEN_DIGITS + 1, 0)
        if octets and not (len(octets) == _TOKEN_DIGITS + 1 and octets[:-1].isdigit()):
            way = f"write the portal's latest token into it, as {_TOKEN_DIGITS} digits and a newline, or remove it"
            raise StateError(f"{self.directory / _TOKEN} is damaged: {way}")
        return int(octets or b"0")

    def raise_token(self, token: int) -> None:
        """Store the token. It is overwritten in place, well within one sector, so that it takes one write to the disk.

        Raises StateError, and the token before stays.
        """
        self._write_token(token, f"{self.token:0{_TOKEN_DIGITS}d}\n".encode())
        self.token = token

    def try_disk(self) -> None:
        """Test if a disk that could not be written, or became read-only, is writable: write the token in place, and a small new file."""
        if not self.unwritable and not self._is_read_only():
            return
        token, room = f"{self.token:0{_TOKEN_DIGITS}d}\n".encode(), self.directory / _ROOM
        with suppress(StateError):
            self._write_token(self.token, token)
            try:
                write_new(room, bytes(4096))
                room.unlink()
            except OSError as error:
                with suppress(OSError):
                    room.unlink(missing_ok=True)
                raise self._record_write_error(_ROOM, error) from error
            self.unwritable = ""

    def _is_read_only(self) -> bool:
        """True if the disk cannot be written now: the kernel mounts it read-only after an error of it, long before the next change."""
        try:
            return bool(os.statvfs(self.directory).f_flag & os.ST_RDONLY)
        except OSError:
            return True

    def _record_write_error(self, name: str, error: OSError) -> StateError:
        self.unwritable = f"{self.directory / name} cannot be written: {error.strerror}"
        return StateError(f"{self.unwritable}; nothing was confirmed. Make room on the disk, or make it writable")

    @property
    def has_confirmed(self) -> bool:
        """True if a ruleset was ever confirmed, readable or not."""
        return (self.directory / _CHECKPOINT).exists()

    def load(self) -> ConfirmedRuleset | None:
        """Return the last confirmed ruleset, with elements that may have expired since; None before the first. Raises StateError."""
        path, deltas = self.directory / _CHECKPOINT, list[Delta]()
        try:
            start = json.loads(path.read_bytes())
            running = RunningRuleset(decode(Ruleset, start["ruleset"], "ruleset"), 0)
            self._number, digest, at, way = start["number"], start["digest"], start["at"], start.get("way")
            for record in self._iter_records():
                for each in record["deltas"]:
                    deltas.append(delta := decode(Delta, each, "delta"))
                    running.change(delta)
                digest, at, way = record["digest"], record["at"], record.get("way")
        except FileNotFoundError:
            self._number = None
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            self._number = None
            raise StateError(f"{path}: the last confirmed ruleset cannot be read ({error}); deploy from the portal") from error
        found = digests.digest_ruleset(drop_expired(running.ruleset, at))
        self._is_of_another_release = way != digests.DIGEST_VERSION
        if digests.format_digest(found) != digest and not self._is_of_another_release:
            self._number = None
            raise StateError(f"{path}: the last confirmed ruleset does not match its digest; deploy from the portal")
        return ConfirmedRuleset(running.ruleset, found, at, tuple(deltas))

    def _iter_records(self) -> Iterator[Json]:
        """Return the journal's lines that belong to the checkpoint. Raises WireError if a line before the last is damaged."""
        self._journal_end = 0
        path = self.directory / _JOURNAL
        lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
        for at, line in enumerate(lines):
            record = _decode_line(line)
            if record is None:
                if at + 1 < len(lines):
                    raise WireError(f"line {at + 1} of the journal is damaged")
                return
            self._journal_end += len(line)
            if record["of"] == self._number:
                yield record

    @property
    def has_checkpoint(self) -> bool:
        """True if `append` can be used."""
        return self._number is not None

    @property
    def wants_checkpoint(self) -> bool:
        """True if the journal has grown long, or was written by a release that computed digests differently."""
        return self._journal_end > _JOURNAL_LIMIT or self._is_of_another_release

    def append(self, deltas: list[Delta], digest: int, at: int) -> None:
        """Confirm these changes on top of what was confirmed before. Raises StateError, and nothing of them is stored then."""
        record = {
            "of": self._number,
            "at": at,
            "way": digests.DIGEST_VERSION,
            "digest": digests.format_digest(digest),
            "deltas": [_encode_for_neighbours(delta) for delta in deltas],
        }
        line = _encode_line(record)
        try:
            self._append(line)
        except OSError as error:
            raise self._record_write_error(_JOURNAL, error) from error
        self._journal_end += len(line)

    def _append(self, line: bytes) -> None:
        file = os.open(self.directory / _JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(file, self._journal_end)
            write_at(file, line, self._journal_end)
            os.fdatasync(file)
            if not self._journal_end:
                sync_directory(self.directory)
        except OSError:
            with suppress(OSError):  # a complete line would count as confirmed, although the portal got no reply
                os.ftruncate(file, self._journal_end)
            raise
        finally:
            os.close(file)

    def write_checkpoint(self, ruleset: Ruleset, digest: int, at: int, encoded: bytes | None = None) -> None:
        """Confirm this ruleset, whatever was confirmed before. Needs disk space for both checkpoints.

        encoded: the ruleset as `encode_ruleset` returns it, if that was called before. Raises StateError, and the checkpoint before stays.
        """
        number = os.urandom(8).hex()
        head = {"number": number, "at": at, "way": digests.DIGEST_VERSION, "digest": digests.format_digest(digest)}
        whole = b'%b,"ruleset":%b}' % (_encode_json(head)[:-1], encoded or encode_ruleset(ruleset))
        new = self.directory / f"{_CHECKPOINT}.new"
        try:
            write_new(new, whole)
            replace_durably(new, self.directory / _CHECKPOINT)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise self._record_write_error(_CHECKPOINT, error) from error
        self._number, self._journal_end, self._is_of_another_release = number, 0, False

    @property
    def found_sysctls(self) -> dict[str, str] | None:
        """The kernel's values from before a profile was set; None while no profile is set. A damaged file counts as empty."""
        try:
            held = json.loads((self.directory / _SYSCTLS).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError):
            return {}
        return {name: value for name, value in held.items() if name in NAMES and type(value) is str} if type(held) is dict else {}

    def keep_sysctls(self, held: dict[str, str]) -> None:
        """Store the kernel's values. Raises StateError, and nothing is stored then."""
        self._replace(_SYSCTLS, held)

    def forget_sysctls(self) -> None:
        """Delete the stored values: the kernel has them again. Never fails: values that stay do no harm, because they are the kernel's."""
        with suppress(OSError):
            (self.directory / _SYSCTLS).unlink(missing_ok=True)

    def read_note(self, note: Note) -> Json:
        """Return what `write_note` has stored last; None if there is nothing, or it is damaged."""
        try:
            return json.loads((self.directory / note).read_bytes())
        except (OSError, ValueError):
            return None

    def write_note(self, note: Note, value: Json, *, synced: bool = True) -> None:
        """Store a note to the next agent. synced: it outlives the machine. Raises StateError, and the note before stays."""
        self._replace(note, value, synced=synced)

    def drop_note(self, note: Note) -> None:
        """Delete the note. Never fails: one that is out of date does no harm."""
        with suppress(OSError):
            (self.directory / note).unlink(missing_ok=True)

    def _replace(self, name: str, value: Json, *, synced: bool = True) -> None:
        """Write a small file as a whole. Raises StateError, and the file before stays."""
        new = self.directory / f"{name}.new"
        try:
            write_new(new, json.dumps(value).encode(), synced=synced)
            if synced:
                replace_durably(new, self.directory / name)
            else:
                new.replace(self.directory / name)
        except OSError as error:
            with suppress(OSError):
                new.unlink(missing_ok=True)
            raise self._record_write_error(name, error) from error


def _open_writable_if_possible(path: Path) -> int:
    """Open a file, which is made if it is missing; on a read-only disk one that is there, for reading. Raises OSError."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        if error.errno == errno.EROFS:
            with suppress(FileNotFoundError):
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        raise


def encode_ruleset(ruleset: Ruleset) -> bytes:
    """Return the ruleset as it stands in a checkpoint."""
    return _encode_json(_encode_for_neighbours(ruleset))


def _encode_json(value: Json) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _encode_for_neighbours(value: Ruleset | Delta) -> Json:
    """Return the value as the release before reads it too, so that it can be installed again, unless it uses what came later."""
    try:
        return encode(value, LACKING[SPOKEN[0]])
    except TooNewError:
        return encode(value)


def _encode_line(record: Json) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _decode_line(line: bytes) -> Json | None:
    """Return the record of a complete line, None for anything else."""
    checksum, _, text = line.removesuffix(b"\n").partition(b" ")
    if not line.endswith(b"\n") or checksum != b"%08x" % crc32(text):
        return None
    return json.loads(text)
