"""Ledger of deleted elements' counts that the portal has not acknowledged, and the number of readings. Survives the end of the agent.

A file in the state directory: a first line with the ledger's name, then a line for each transaction that deleted elements with
counts. Also kept in memory. Nothing is synced to the disk: a power cut loses what was counted since the last reading anyway.
Numbers of lines that were cut off, or could not be written, are not used again: the portal may have stored them. Nor are those of
readings: each start goes on at the time of day if that is later, which holds also if the disk could not be written for a while.
"""

import json
import logging
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO
from zlib import crc32

from firewall.codec import WireError, decode, encode
from firewall.wire import Counts, Gone
from gateway.counter_reading import pack_counts
from gateway.table import DeletedCounts

_FILE, _SEQUENCE = "gone", "readings"
_MOST_OCTETS = 64 << 20  # of the file; reached only if the portal is unreachable for years
_LEAP = 1 << 20  # numbers skipped at each start: more than any file has lines, or than are used while the clock shows the same

log = logging.getLogger("gateway")


class DeletedCountsLedger:
    """The ledger's files, in a directory that no other process uses.

    What cannot be written is kept in memory only, and an error is logged.
    """

    def __init__(self, directory: Path) -> None:
        self._path, self._sequence_path = directory / _FILE, directory / _SEQUENCE
        self.name, self._number, self._gone = "", 0, dict[int, Gone]()
        self._torn = False  # the file ends, or may end, in the middle of a line
        self._read()
        self.sequence = _read_number(self._sequence_path) if self.name else 0
        if self.name:
            by_time = int(time.time() * _LEAP)
            self._number, self.sequence = max(self._number + _LEAP, by_time), max(self.sequence, by_time)
        else:
            self.name = os.urandom(8).hex()
        self._write_anew()

    @property
    def pending_entries(self) -> tuple[Gone, ...]:
        """All entries that are not acknowledged, in order."""
        return tuple(self._gone.values())

    @property
    def last_entry_number(self) -> int:
        """The highest number that was ever used."""
        return self._number

    def list_since(self, number: int) -> tuple[Gone, ...]:
        """Return the entries with a higher number."""
        return tuple(each for at, each in self._gone.items() if at > number)

    def keep(self, ended: Mapping[str, DeletedCounts], *, boot: str, table: int) -> None:
        """Remember the final counts of deleted elements."""
        sets = {name: pack_deleted_counts(each) for name, each in ended.items() if each}
        if not sets:
            return
        self._number += 1
        kept = self._gone[self._number] = Gone(self._number, boot, table, sets)
        if self._path.exists() and self._path.stat().st_size > _MOST_OCTETS:
            log.error("%s is full: the final counts of deleted elements are kept in memory only, until the agent stops", self._path)
            return
        if self._torn:
            self._write_anew()
        else:
            self._append(_encode_line(encode(kept)))

    def acknowledge(self, name: str, number: int) -> None:
        """Forget all entries up to this number: the portal has stored them. Does nothing if `name` is another ledger's."""
        known = [at for at in self._gone if at <= number] if name == self.name else []
        for at in known:
            del self._gone[at]
        if known and not self._gone:
            self._write_anew()

    def allocate_reading_number(self) -> int:
        """Return the number of one more reading.

        The file is overwritten in place: if a write is cut off, it holds the number before, or a higher one.
        """
        self.sequence += 1
        try:
            with _open(self._sequence_path, "r+b" if self._sequence_path.exists() else "wb") as file:
                file.write(b"%020d" % self.sequence)
        except OSError as error:
            log.error("%s cannot be written: %s", self._sequence_path, error.strerror)
        return self.sequence

    def _append(self, line: bytes) -> None:
        try:
            with _open(self._path, "ab") as file:
                file.write(line)
        except OSError as error:
            self._torn = True
            log.error("%s cannot be written: %s; final counts are kept in memory only, until the agent stops", self._path, error.strerror)

    def _write_anew(self) -> None:
        new = self._path.with_suffix(".new")
        try:
            with _open(new, "wb") as file:
                file.write(
                    b"".join(
                        [
                            _encode_line({"name": self.name, "number": self._number}),
                            *(_encode_line(encode(each)) for each in self.pending_entries),
                        ]
                    )
                )
            new.replace(self._path)
            self._torn = False
        except OSError as error:
            self._torn = True
            with suppress(OSError):  # a read-only disk refuses even if there is nothing to delete
                new.unlink(missing_ok=True)
            log.error("%s cannot be written: %s", self._path, error.strerror)

    def _read(self) -> None:
        """Read the file. Damaged lines are skipped; without a valid first line it is not this ledger's file."""
        lines = self._path.read_bytes().splitlines() if self._path.exists() else []
        head = _decode_line(lines[0]) if lines else None
        if not isinstance(head, dict) or not isinstance(head.get("name"), str) or not isinstance(head.get("number"), int):
            return
        self.name, self._number = head["name"], head["number"]
        for line in lines[1:]:
            try:
                found = decode(Gone, _decode_line(line), "gone")
            except WireError as error:
                log.error("%s: a damaged line is skipped: %s", self._path, error)
                continue
            self._gone[found.number] = found
            self._number = max(self._number, found.number)


def pack_deleted_counts(ended: DeletedCounts) -> Counts:
    """Pack the counts for the wire."""
    rows = [(key, packets, octets, owner) for (key, owner), (packets, octets) in ended.items()]
    return pack_counts(len(rows), rows, owned=any(owner for _, owner in ended))


def _open(path: Path, mode: str) -> IO[bytes]:
    """Open a file and set its mode to 0600, because it says what members have counted.

    The mode does not depend on the umask, or on what an older agent left.
    """
    file = open(path, mode, opener=lambda name, flags: os.open(name, flags | os.O_CLOEXEC, 0o600))  # noqa: SIM115 - callers close it
    os.fchmod(file.fileno(), 0o600)
    return file


def _read_number(path: Path) -> int:
    text = path.read_bytes() if path.exists() else b""
    return int(text) if text.isdigit() else 0


def _encode_line(record: object) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _decode_line(line: bytes) -> object:
    checksum, _, text = line.partition(b" ")
    return json.loads(text) if checksum == b"%08x" % crc32(text) else None
