"""Network cards in the current namespace: link state and offload settings.

With offloads on, up to 64 KiB of TCP cross a veth as a single "packet" and are counted with one header; with offloads off, byte
counts are exact. The ioctl is the one that `ethtool -K` uses (linux/ethtool.h, ETHTOOL_STXCSUM and its neighbours), without the
program.
"""

import array
import fcntl
import socket
import struct

SIOCGIFFLAGS = 0x8913
SIOCETHTOOL = 0x8946
IFF_RUNNING = 0x40
OFFLOADS = {"tx-checksum": 0x17, "tso": 0x1F, "gso": 0x24, "gro": 0x2C}


def is_running(device: str) -> bool:
    """True if the card and its other end are up and the kernel's work queue has noticed; until then IPv6 and bridges stay silent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        request = fcntl.ioctl(handle, SIOCGIFFLAGS, struct.pack("16s24x", device.encode()))
    flags: int = struct.unpack_from("16xH", request)[0]
    return bool(flags & IFF_RUNNING)


def switch_offloads_off(device: str) -> list[str]:
    """Switch all offloads off; return the names of those that the kernel left on."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        return [name for name, command in OFFLOADS.items() if not _switch(handle, device, command, on=False)]


def switch_checksum_offload_on(device: str) -> bool:
    """Switch on checksum offload, so that the next receiver takes this card's packets for already checked. True if the kernel
    allowed it.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        return _switch(handle, device, OFFLOADS["tx-checksum"], on=True)


def _switch(handle: socket.socket, device: str, command: int, *, on: bool) -> bool:
    value = array.array("I", [command, on])  # struct ethtool_value
    request = struct.pack("16sP16x", device.encode(), value.buffer_info()[0])  # struct ifreq
    try:
        fcntl.ioctl(handle, SIOCETHTOOL, request)
    except OSError:
        return False
    return True
