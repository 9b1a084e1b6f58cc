"""Reads and writes the sysctls of a gateway's profile, in the network namespace of the calling thread.

Opens no other file of /proc/sys, except for the number of tracked connections. A process with CAP_NET_ADMIN may write these
sysctls, root or not (net_ctl_permissions in net/sysctl_net.c). The size of the connection table belongs to the whole kernel, so a
namespace other than the first may only read it.
"""

import os
from collections.abc import Mapping
from contextlib import suppress
from errno import errorcode
from pathlib import Path

from firewall.profile import NAMES

_FILES = {name: f"/proc/sys/{name.replace('.', '/')}" for name in NAMES}
_TRACKED = Path("/proc/sys/net/netfilter/nf_conntrack_count")
_LONGEST = 256  # octets of a value
OTHER = "other"  # the kernel accepted the value and holds another one


def read_kernel_sysctls() -> dict[str, str]:
    """Return the kernel's values by name, without the sysctls that it does not have."""
    held = {}
    for name in NAMES:
        with suppress(OSError):
            held[name] = " ".join(_read(name).split())
    return held


def write_kernel_sysctls(values: Mapping[str, str]) -> dict[str, str]:
    """Set the values that differ. Return by name why some could not be set: an errno's name, or OTHER."""
    held, refused = read_kernel_sysctls(), {}
    for name in NAMES:
        if name in values and held.get(name) != values[name]:
            try:
                _write(name, values[name])
            except OSError as error:
                refused[name] = errorcode.get(error.errno or 0, str(error.errno))
    held = read_kernel_sysctls()
    return {name: refused.get(name, OTHER) for name in NAMES if name in values and held.get(name) != values[name]}


def count_connections() -> int:
    """Return the number of tracked connections; 0 if the kernel tracks none at all."""
    try:
        return int(_TRACKED.read_text())
    except (OSError, ValueError):
        return 0


def _read(name: str) -> str:
    """Read a value without a file object, which would take several times as long: all values are read at each Hello of the portal."""
    file = os.open(_FILES[name], os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _LONGEST).decode()
    finally:
        os.close(file)


def _write(name: str, value: str) -> None:
    file = os.open(_FILES[name], os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, value.encode())
    finally:
        os.close(file)
