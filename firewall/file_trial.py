"""Messages by which a gateway installs the files of failover, on trial until the portal confirms them.

They are part of the messages of firewall/wire.py. The portal sends values and never a file: the gateway renders them itself.
"""

from dataclasses import dataclass
from enum import StrEnum

from firewall.failover.spec import FailoverGateway


class FileTrialPhase(StrEnum):
    """How far the last installation got. REFUSED: the files before are in place."""

    NONE = "none"
    ASKED = "asked"
    TRIAL = "trial"
    KEPT = "kept"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class InstallFiles:
    """Install the files of these values, on trial. digest: that the files must have (firewall/failover/files.py)."""

    values: FailoverGateway
    digest: str


@dataclass(frozen=True, slots=True)
class KeepFiles:
    """Keep the files with this digest. Without this message, the files before the trial come back (docs/failover.md)."""

    digest: str


@dataclass(frozen=True, slots=True)
class RevertFiles:
    """Put the files before the trial back at once, or do not begin with the installation."""


@dataclass(frozen=True, slots=True)
class FileTrial:
    """Ask how far the last installation got."""


@dataclass(frozen=True, slots=True)
class FileTrialIs:
    """Answer to InstallFiles, KeepFiles, RevertFiles and FileTrial.

    digest: of the files on trial or kept, otherwise "". problem: why they were refused, as netzwart-failover says it, otherwise "".
    """

    phase: FileTrialPhase
    digest: str = ""
    problem: str = ""
