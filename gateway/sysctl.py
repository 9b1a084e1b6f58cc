"""The sysctls of a gateway's profile, in the network namespace of the calling thread. No other file of /proc/sys is ever opened.

Whoever has CAP_NET_ADMIN may write them, root or not (net_ctl_permissions in net/sysctl_net.c); the size of the connection table
belongs to the whole kernel, so a namespace other than the first may only read it.
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
OTHER = "other"  # the kernel took the value and holds another one


def read() -> dict[str, str]:
    """What the kernel holds, by name; without those that it does not have."""
    held = {}
    for name in NAMES:
        with suppress(OSError):
            held[name] = " ".join(_read(name).split())
    return held


def write(values: Mapping[str, str]) -> dict[str, str]:
    """Set what differs. By name why some could not be set: an errno's name, or OTHER."""
    held, refused = read(), {}
    for name in NAMES:
        if name in values and held.get(name) != values[name]:
            try:
                _write(name, values[name])
            except OSError as error:
                refused[name] = errorcode.get(error.errno or 0, str(error.errno))
    held = read()
    return {name: refused.get(name, OTHER) for name in NAMES if name in values and held.get(name) != values[name]}


def count_connections() -> int:
    """How many connections are tracked now; 0 while the kernel tracks none at all."""
    try:
        return int(_TRACKED.read_text())
    except (OSError, ValueError):
        return 0


def _read(name: str) -> str:
    """Without a file object, which takes several times as long: they are read whenever the portal says hello."""
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
