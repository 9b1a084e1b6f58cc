"""Reads messages of the systemd journal through its library, because the agent starts no programs. See sd-journal(3).

The account needs the group systemd-journal. Reading stops at a limit of octets, so it takes the newest messages.
"""

import ctypes
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from datetime import UTC, datetime
from functools import cache

from firewall.evidence import LARGEST, EvidenceKind
from gateway.evidence.part import Deadline, PartContent, PartMissingError, build_text

UNITS = ("netzwart-agent.service", "netzwart-failover.service", "keepalived.service", "conntrackd.service")
HOUR = 3600
_LIBRARY = "libsystemd.so.0"
_LOCAL_ONLY = 1
_FOLDERS = ("/var/log/journal", "/run/log/journal")
_FIELDS = ("_SYSTEMD_UNIT", "MESSAGE")


def read_units_journal(now: float, deadline: Deadline) -> PartContent:
    """Return the messages of our units since an hour before `now` (Unix seconds). Raises PartMissingError."""
    lines = _read_newest([f"_SYSTEMD_UNIT={unit}" for unit in UNITS], EvidenceKind.JOURNAL, deadline, since=now - HOUR)
    return build_text(EvidenceKind.JOURNAL, lines or [f"No message of {', '.join(UNITS)} since an hour."], keep_last=True)


def read_kernel_journal(deadline: Deadline) -> list[str]:
    """Return the newest kernel messages. Raises PartMissingError."""
    return _read_newest(["_TRANSPORT=kernel"], EvidenceKind.KERNEL_LOG, deadline)


def _read_newest(matches: Sequence[str], kind: EvidenceKind, deadline: Deadline, since: float = 0) -> list[str]:
    """Return the newest messages that match, oldest first, a little more of them than the kind may have octets."""
    lines, octets = list[str](), 0
    with _open_journal() as (library, journal):
        for match in matches:
            library.sd_journal_add_match(journal, match.encode(), 0)
        library.sd_journal_seek_tail(journal)
        while octets <= LARGEST[kind] and not deadline.is_over and library.sd_journal_previous(journal) > 0:
            at = _read_time(library, journal)
            if at < since:
                break
            lines.append(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S.%f} {_read_message(library, journal)}")
            octets += len(lines[-1])
    return lines[::-1]


@contextmanager
def _open_journal() -> Iterator[tuple[ctypes.CDLL, c_void_p]]:
    if not any(os.access(folder, os.R_OK | os.X_OK) for folder in _FOLDERS):
        raise PartMissingError("The agent may not read the journal, or there is none: its account needs the group systemd-journal.")
    library, journal = _load(), c_void_p()
    if (code := library.sd_journal_open(byref(journal), _LOCAL_ONLY)) < 0:
        raise PartMissingError(f"The journal cannot be opened: {os.strerror(-code)}.")
    try:
        yield library, journal
    finally:
        library.sd_journal_close(journal)


@cache
def _load() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        raise PartMissingError(f"There is no {_LIBRARY} on this machine, so its journal cannot be read.") from error
    library.sd_journal_add_match.argtypes = [c_void_p, c_char_p, c_size_t]
    library.sd_journal_get_data.argtypes = [c_void_p, c_char_p, c_void_p, c_void_p]
    library.sd_journal_get_realtime_usec.argtypes = [c_void_p, c_void_p]
    for name in ("seek_tail", "previous"):
        function = getattr(library, f"sd_journal_{name}")
        function.argtypes, function.restype = [c_void_p], c_int
    library.sd_journal_close.argtypes, library.sd_journal_close.restype = [c_void_p], None
    return library


def _read_time(library: ctypes.CDLL, journal: c_void_p) -> float:
    """Return when the message was written, in Unix seconds; 0 if that is not known."""
    microseconds = c_uint64()
    library.sd_journal_get_realtime_usec(journal, byref(microseconds))
    return microseconds.value / 1_000_000


def _read_message(library: ctypes.CDLL, journal: c_void_p) -> str:
    return " ".join(filter(None, (_read_field(library, journal, name) for name in _FIELDS)))


def _read_field(library: ctypes.CDLL, journal: c_void_p, name: str) -> str:
    """Return the field on one line, "" if the message has none."""
    data, length = c_void_p(), c_size_t()
    if library.sd_journal_get_data(journal, name.encode(), byref(data), byref(length)) < 0 or not data.value:
        return ""
    text = ctypes.string_at(data.value, length.value)[len(name) + 1 :].decode(errors="replace")
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())
