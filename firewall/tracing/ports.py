"""The source ports that source NAT may choose from.

Source: linux/net/netfilter/nf_nat_core.c, `nf_nat_l4proto_unique_tuple`.
"""

from firewall.tracing.packet import WITH_PORTS, Packet

LOW, PRIVILEGED, HIGH, IDS = range(1, 512), range(600, 1024), range(1024, 65536), range(65536)


def list_candidate_ports(packet: Packet, *, random: bool, within: range | None = None) -> range:
    """Return the ports (of an ICMP query: the ids) that the first packet of a connection may leave with.

    within: the ports that NAT allows, None for any. Without randomness the packet keeps its own port where it may; the kernel takes
    another one only if another connection has that already.
    """
    kept = packet.ends.source_port
    own = range(kept, kept + 1)
    if not (packet.icmp or packet.protocol in WITH_PORTS):
        return own
    if not random and (within is None or kept in within):
        return own
    return within if within is not None else _get_port_class(packet, kept)


def _get_port_class(packet: Packet, port: int) -> range:
    """Return the class of ports that a port is replaced from: privileged ports stay privileged."""
    if packet.icmp:
        return IDS
    if port < LOW.stop:
        return LOW
    return PRIVILEGED if port < HIGH.start else HIGH
