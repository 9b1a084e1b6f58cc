"""Messages by which a gateway gets another program of its agent, on trial until the portal confirms it over a new connection.

They are part of the messages of firewall/wire.py. Programs are named by their SHA-256 in hexadecimal. See docs/agent.md.
"""

from dataclasses import dataclass

LARGEST_PROGRAM = 8 << 20
"""Octets of a program. Ours has less than a tenth of that."""
TRIAL_SECONDS = range(1, 3601)


@dataclass(frozen=True, slots=True)
class ReadProgram:
    """Ask which program runs, and whether this gateway takes another one from the portal."""


@dataclass(frozen=True, slots=True)
class StoreProgram:
    """Store a program and check it. Nothing else changes. token: the caller's fencing token, as in Apply; likewise below."""

    token: int
    digest: str
    content: bytes


@dataclass(frozen=True, slots=True)
class TryProgram:
    """Restart with the stored program, on trial. within: seconds, from its start, after which the program before comes back."""

    token: int
    digest: str
    within: int


@dataclass(frozen=True, slots=True)
class KeepProgram:
    """Keep the program that is on trial. Only that program can answer, so the connection is newer than its start."""

    token: int
    digest: str


@dataclass(frozen=True, slots=True)
class DropProgram:
    """Restart with the program before the trial at once, or do not begin the trial."""

    token: int


@dataclass(frozen=True, slots=True)
class ProgramIs:
    """Answer to all of them.

    obstacle: why this gateway takes no program from the portal; "" if it does. runs: the program that answers. packaged: the one that
    the gateway's package brought. parts: digest of the package's other files, "" if it does not say. stored: a program that was checked
    and may be tried, "" if there is none. trial: the program that is on trial, or will be as soon as the agent has restarted, "" for none.
    failed: the program of the last trial that went back, and problem: why; "" if none did, or another one was kept since.
    """

    obstacle: str
    runs: str = ""
    packaged: str = ""
    parts: str = ""
    stored: str = ""
    trial: str = ""
    failed: str = ""
    problem: str = ""
