"""Readers of the parts that come from this machine's kernel and journal, in the network namespace of the thread that calls them."""

import time
from collections.abc import Collection
from functools import partial

from firewall.evidence import EvidenceKind
from gateway.evidence.connections import read_connection_statistics, read_flows
from gateway.evidence.header_service import take_headers
from gateway.evidence.journal import read_units_journal
from gateway.evidence.kernel_log import read_kernel_log
from gateway.evidence.network_state import read_network
from gateway.evidence.part import PartReader
from gateway.evidence.tcp_sockets import read_tcp_sockets


def build_machine_readers(interfaces: Collection[str], seconds: int) -> dict[EvidenceKind, PartReader]:
    """Return the readers. interfaces, seconds: as in CollectEvidence."""
    return {
        EvidenceKind.CONNTRACK: read_connection_statistics,
        EvidenceKind.FLOWS: read_flows,
        EvidenceKind.SOCKETS: read_tcp_sockets,
        EvidenceKind.NETWORK: read_network,
        EvidenceKind.KERNEL_LOG: read_kernel_log,
        EvidenceKind.JOURNAL: partial(read_units_journal, time.time()),
        EvidenceKind.HEADERS: partial(take_headers, interfaces, seconds),
    }
