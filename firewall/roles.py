"""Messages about failover: which address families a gateway carries, and giving them up.

They are part of the messages of firewall/wire.py. Roles are facts that keepalived and the kernel report; no rule is touched.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

SINCE = range(1 << 34)  # Unix seconds
AGES = range(-1, 1 << 31)  # seconds
FAMILIES = range(4, 7, 2)


class FailoverRole(StrEnum):
    """What keepalived made of the gateway for a family. FAULT: it does not forward, has no link, or is drained."""

    PRIMARY = "primary"
    STANDBY = "standby"
    FAULT = "fault"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Roles:
    """Ask which families the gateway carries."""


@dataclass(frozen=True, slots=True)
class Drain:
    """Give up these families (4, 6), or, not drained, be ready to carry them again.

    The gateway takes a family back by itself when no other carries it (docs/failover.md).
    """

    families: tuple[Annotated[int, FAMILIES], ...]
    drained: bool


@dataclass(frozen=True, slots=True)
class FamilyRole:
    """A gateway's role for one family, as keepalived said last. since: Unix seconds, 0 if unknown.

    carries: the kernel has the family's virtual address at this moment. is_drained: it was told to give the family up.
    """

    family: Annotated[int, FAMILIES]
    role: FailoverRole
    since: Annotated[int, SINCE]
    carries: bool
    is_drained: bool


@dataclass(frozen=True, slots=True)
class RolesAre:
    """Answer to Roles and Drain: a role for each family that is elected.

    running: digest of the files with which keepalived started (firewall/failover/files.py), "" if it is not known. edited: paths of
    files whose text is not the one that the portal rendered.

    elected_age, synchronised_age: seconds since keepalived last asked whether the gateway forwards, which it does each second, and
    since conntrackd last answered, which is asked twice a minute; -1: never. tracked: connections in the kernel's table.
    """

    families: tuple[FamilyRole, ...]
    elected_age: Annotated[int, AGES]
    synchronised_age: Annotated[int, AGES]
    tracked: Annotated[int, range(1 << 31)]
    running: str = ""
    edited: tuple[str, ...] = ()
