"""Paths of everything in one state directory. Pure: creates no directory.

Unix sockets are in a short directory named after a hash of the state directory, because the kernel refuses socket paths of 108
characters and more (unix(7)).
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 107
# Does not depend on TMPDIR: a second program must find the sockets of the first.
SOCKET_PARENT = Path("/tmp")  # noqa: S108 — the directory is made with mode 0700 and refused if another account owns it
LONGEST_GATEWAY_NAME = 20


@dataclass(frozen=True)
class StatePaths:
    """The paths under one state directory; `at` makes them absolute."""

    var: Path

    @classmethod
    def from_directory(cls, var: Path) -> "StatePaths":
        return cls(var.resolve())

    @property
    def key(self) -> str:
        """Eight characters that distinguish this state directory from others on the machine."""
        return hashlib.sha256(bytes(self.var)).hexdigest()[:8]

    @property
    def lock(self) -> Path:
        return self.var / "lock"

    @property
    def secret_key(self) -> Path:
        return self.var / "secret-key"

    @property
    def postgres(self) -> Path:
        return self.var / "postgres"

    @property
    def redis(self) -> Path:
        return self.var / "redis"

    @property
    def sockets(self) -> Path:
        return SOCKET_PARENT / f"netzwart-{self.key}"

    @property
    def redis_socket(self) -> Path:
        return self.sockets / "redis.sock"

    @property
    def lab(self) -> Path:
        return self.var / "lab"

    @property
    def lab_name(self) -> str:
        """Short, because network interfaces are named after it (at most 15 characters)."""
        return f"nw{self.key[:4]}"

    @property
    def gateway_sockets(self) -> Path:
        longest = self.var / "gateways" / ("x" * LONGEST_GATEWAY_NAME + ".sock")
        return longest.parent if len(bytes(longest)) <= LONGEST_SOCKET_PATH else self.sockets / "gateways"

    @property
    def gateway_states(self) -> Path:
        return self.var / "gateways"

    @property
    def ssh_key(self) -> Path:
        """The portal's own key, where portal/settings.py expects it."""
        return self.var / "ssh" / "id_ed25519"

    @property
    def sshd(self) -> Path:
        """A directory with the host key for each of the demo's gateways. It does not exist if gateways are not reached by ssh."""
        return self.var / "sshd"

    @property
    def failover(self) -> Path:
        """A directory with the failover files and logs of each of the demo's gateways. It does not exist if they have no failover."""
        return self.var / "failover"

    @property
    def demo(self) -> Path:
        """Written by the demo seed: logins and an API token."""
        return self.var / "demo.json"

    @property
    def beat_schedule(self) -> Path:
        return self.var / "beat" / "schedule"
