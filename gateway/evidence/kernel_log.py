"""Reads the kernel's last messages, as `dmesg` does: from the kernel if it lets the agent (CAP_SYSLOG), else from the journal."""

import ctypes

from firewall.evidence import LARGEST, EvidenceKind
from gateway.evidence.journal import read_kernel_journal
from gateway.evidence.part import Deadline, PartContent, build_text

_READ_ALL = 3  # SYSLOG_ACTION_READ_ALL, syslog(2)


def read_kernel_log(deadline: Deadline) -> PartContent:
    """Return the last messages. Raises PartMissingError if neither may be read."""
    lines = _read_ring() or read_kernel_journal(deadline)
    return build_text(EvidenceKind.KERNEL_LOG, lines or ["No message of the kernel."], keep_last=True)


def _read_ring() -> list[str]:
    """Return the messages in the kernel's own buffer, each with its seconds since boot; none if it refuses."""
    libc = ctypes.CDLL(None, use_errno=True)
    octets = ctypes.create_string_buffer(LARGEST[EvidenceKind.KERNEL_LOG])
    length = libc.klogctl(_READ_ALL, octets, len(octets))
    if length < 0:
        ctypes.set_errno(0)
        return []
    return octets.raw[:length].decode(errors="replace").splitlines()
