"""Figures of one reading of the portal's health. All are integers or texts, so that they are stored as JSON (firewall.codec)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DatabaseLevels:
    """The whole database.

    octets: its size. connections, most_connections: of the whole server; those reserved for superusers do not count. ids_used: age of the
    oldest transaction id or multixact that is not frozen; the server stops at 2^31. horizon: transactions since the oldest snapshot that
    somebody holds, behind which nothing can be vacuumed. version: of the server.
    """

    octets: int
    connections: int
    most_connections: int
    ids_used: int
    horizon: int
    version: str


@dataclass(frozen=True)
class DiskSpace:
    """The disk of the database, in octets."""

    octets: int
    free: int


@dataclass(frozen=True)
class TableActivity:
    """One table or partition. vacuumed: seconds since the last vacuum, by hand or by itself; None for never."""

    name: str
    octets: int
    live: int
    dead: int
    vacuumed: int | None


@dataclass(frozen=True)
class OpenTransaction:
    """A transaction that is open.

    seconds: its age. program: its application_name. state: as in pg_stat_activity, or “prepared”. statement: its last one, without values.
    """

    program: str
    state: str
    seconds: int
    statement: str


@dataclass(frozen=True)
class RunningStatement:
    """The statement that runs longest now. waits: it waits for a lock of another connection."""

    program: str
    seconds: int
    waits: bool
    statement: str


@dataclass(frozen=True)
class SlowStatement:
    """A kind of statement, as pg_stat_statements counts it. total, mean: microseconds."""

    calls: int
    total: int
    mean: int
    statement: str


@dataclass(frozen=True)
class PartitionCover:
    """A partitioned table. seconds: for how long from now on there are partitions without a gap; 0 if that of now is missing."""

    table: str
    seconds: int


@dataclass(frozen=True)
class QueueBacklog:
    """A queue of the broker. role: who serves it; is_served: that role works. oldest: age of its oldest message in seconds; None if it is
    empty, or was written by a release that did not tell, or if the broker does not tell.
    """

    queue: str
    role: str
    is_served: bool
    messages: int
    oldest: int | None


@dataclass(frozen=True)
class BrokerLevels:
    """The broker, and its queues. memory: octets used; most_memory: its limit, 0 for none. error: why it did not answer, "" if it did."""

    memory: int
    most_memory: int
    queues: tuple[QueueBacklog, ...]
    error: str


@dataclass(frozen=True)
class PortalFigures:
    """One reading. disk: None if the database is on another machine, or may not tell where it is.

    statements: None if pg_stat_statements cannot be asked, why_no_statements says why not.
    """

    database: DatabaseLevels
    disk: DiskSpace | None
    tables: tuple[TableActivity, ...]
    transaction: OpenTransaction | None
    running: RunningStatement | None
    statements: tuple[SlowStatement, ...] | None
    why_no_statements: str
    partitions: tuple[PartitionCover, ...]
    broker: BrokerLevels
