"""Refuses a read of the database that saw less than one that has been rolled out: it would undo newer changes.

A read is PostgreSQL's text of a snapshot, "xmin:xmax:running": transactions up to `xmin` had ended, those from `xmax` on had not begun, and
of those between, the ones listed were under way (PostgreSQL, "System Information Functions", pg_snapshot).
"""

from dataclasses import dataclass

from django.db import connection


class OutdatedRevision(Exception):  # noqa: N818 - a state of the world
    """A newer read of the database has been rolled out meanwhile, or a person has held the group or released it."""


class TransactionsOfAnotherServerError(Exception):
    """The database was copied from another PostgreSQL server, whose transactions it names; this one has not got so far."""


@dataclass(frozen=True, slots=True)
class _Read:
    xmin: int
    xmax: int
    running: frozenset[int]

    def sees(self, transaction: int) -> bool:
        return transaction < self.xmin or (transaction < self.xmax and transaction not in self.running)


def refuse_outdated_read(read: str, rolled_out: str) -> None:
    """Raise OutdatedRevision if the read saw less than the one that was rolled out.

    Raises TransactionsOfAnotherServerError if no read of this server can be as new as that.
    """
    if not is_older_read(read, rolled_out):
        return
    if _parse_read(rolled_out).xmax > _find_current_xmax():
        raise TransactionsOfAnotherServerError(
            "The database was copied from another PostgreSQL server. Stop the programs and run “manage.py restore --hold” with the time of "
            "the copy (docs/backup.md); until then nothing can be deployed."
        )
    raise OutdatedRevision(f"{read} saw less than {rolled_out}")


def is_older_read(read: str, other: str) -> bool:
    """True if the other read is newer: it began later, or saw a transaction that was under way for this one."""
    mine, newer = _parse_read(read), _parse_read(other)
    return newer.xmax > mine.xmax or any(newer.sees(transaction) for transaction in mine.running)


def _parse_read(text: str) -> _Read:
    xmin, xmax, running = text.split(":")
    return _Read(int(xmin), int(xmax), frozenset(map(int, filter(None, running.split(",")))))


def _find_current_xmax() -> int:
    """Return the xmax of a read now. The own transaction's id may be lower: others can have ended since it got that."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")
        (xmax,) = cursor.fetchone()
    return int(xmax)
