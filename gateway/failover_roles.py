"""Roles of this gateway in failover: reads what netzwart-failover leaves in its runtime directory, and drains (docs/failover.md).

keepalived decides who carries a family; it watches one file for each, by which a gateway gives the family up.
"""

import os
import shlex
import time
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path

from firewall.file_digest import digest_text
from firewall.roles import AGES, FAMILIES, SINCE, Drain, FailoverRole, FamilyRole, Roles, RolesAre
from gateway.table import NftTable, TableError

SETTINGS = Path("/etc/netzwart/failover.conf")
_MARKS = ("role4", "role6", "exchanged", "committed")  # written at each change of roles, and when states were exchanged
_CHECKED, _SYNCHRONISED = "checked", "synchronised"  # touched when keepalived asks, and when conntrackd answers
_RUNNING = "running"  # digest of the files, written when keepalived starts


class FailoverRoles:
    """The roles of one gateway. settings: its failover.conf, which may be missing. Raises TableError where failover is not set up."""

    def __init__(self, table: NftTable, settings: Path = SETTINGS) -> None:
        self._table, self._path = table, settings

    def answer(self, request: Roles | Drain) -> RolesAre:
        """Return the roles, after draining if that is asked. May be called on another thread, beside everything else."""
        return self.drain(request.families, drained=request.drained) if isinstance(request, Drain) else self.read()

    def read(self) -> RolesAre:
        """Return the roles at this moment."""
        settings = self._read_settings()
        runtime = Path(settings["RUNTIME"])
        roles = tuple(self._read_role(settings, runtime, family) for family in FAMILIES if settings[f"INSIDE{family}"])
        return RolesAre(
            roles,
            elected_age=_read_age(runtime / _CHECKED),
            synchronised_age=_read_age(runtime / _SYNCHRONISED),
            tracked=self._table.count_connections(),
            running=next(iter(_read_words(runtime / _RUNNING)), ""),
            edited=tuple(_iter_edited(settings.get("SUMS", ""))),
        )

    def drain(self, families: tuple[int, ...], *, drained: bool) -> RolesAre:
        """Give up the families, or be ready to carry them again. keepalived acts upon it a moment later."""
        settings = self._read_settings()
        paths = [Path(settings["RUNTIME"]) / f"drained{family}" for family in families if settings[f"INSIDE{family}"]]
        if missing := next((path for path in paths if not path.exists()), None):
            raise TableError(f"keepalived does not run here: there is no {missing}")
        for path in paths:
            _overwrite(path, b"1\n" if drained else b"0\n")
        return self.read()

    def read_exchange_times(self) -> tuple[int, ...]:
        """Return when roles and states were last exchanged, as opaque numbers.

        () where this gateway carries nothing, or failover is not set up.
        """
        try:
            runtime = Path(self._read_settings()["RUNTIME"])
            if not any(_read_words(runtime / f"role{family}")[:1] == [FailoverRole.PRIMARY] for family in FAMILIES):
                return ()
            return tuple(_read_modified(runtime / name) for name in _MARKS)
        except (TableError, OSError, ValueError):
            return ()

    def _read_settings(self) -> dict[str, str]:
        """Return the assignments of failover.conf (firewall/failover/shell_settings.py)."""
        try:
            text = self._path.read_text()
        except FileNotFoundError as error:
            raise TableError(f"failover is not set up here: there is no {self._path}") from error
        values = dict(word.partition("=")[::2] for word in shlex.split(text, comments=True))
        if missing := {"LAN", "INSIDE4", "INSIDE6", "RUNTIME"} - values.keys():
            raise TableError(f"{self._path} lacks {', '.join(sorted(missing))}: install the files of the portal")
        return values

    def _read_role(self, settings: dict[str, str], runtime: Path, family: int) -> FamilyRole:
        said, since = (*_read_words(runtime / f"role{family}"), "", "")[:2]
        role = FailoverRole(said) if said in frozenset(FailoverRole) else FailoverRole.UNKNOWN
        moment = int(since) if since.isdecimal() and int(since) in SINCE else 0
        carries = self._table.has_address(settings["LAN"], ip_address(settings[f"INSIDE{family}"]))
        return FamilyRole(family, role, moment, carries, _read_words(runtime / f"drained{family}")[:1] not in ([], ["0"]))


def _iter_edited(sums: str) -> Iterator[str]:
    """Yield the paths of files whose text has another digest than the one beside its path."""
    for path, _colon, digest in (each.rpartition(":") for each in sums.split()):
        try:
            text = Path(path).read_text(errors="replace")
        except OSError:
            text = ""
        if digest_text(text) != digest:
            yield path


def _read_words(path: Path) -> list[str]:
    """Return the words of the file; none if it is missing."""
    try:
        return path.read_text().split()
    except FileNotFoundError:
        return []


def _read_modified(path: Path) -> int:
    """Return when the file was last written, in nanoseconds; 0 if it is missing."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _read_age(path: Path) -> int:
    """Return the seconds since the file was touched, -1 if it is missing."""
    try:
        age = int(time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return -1
    return min(max(age, 0), AGES[-1])


def _overwrite(path: Path, octets: bytes) -> None:
    """Write the octets over those of the file, which stays the same file: its directory belongs to root. It is never empty."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.pwrite(descriptor, octets, 0)
    finally:
        os.close(descriptor)
