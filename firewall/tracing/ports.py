"""Which source ports source NAT may choose from.

Source: linux/net/netfilter/nf_nat_core.c, `nf_nat_l4proto_unique_tuple`.
"""

from firewall.tracing.packet import WITH_PORTS, Packet

LOW, PRIVILEGED, HIGH, IDS = range(1, 512), range(600, 1024), range(1024, 65536), range(65536)


def chosen_from(packet: Packet, *, random: bool) -> range:
    """The ports (of an ICMP query: the ids) that the first packet of a connection may leave with.

    Without randomness it keeps its own; only if another connection has that already, one of its class is taken.
    """
    kept = packet.ends.source_port
    if not random or not (packet.icmp or packet.protocol in WITH_PORTS):
        return range(kept, kept + 1)
    if packet.icmp:
        return IDS
    if kept < LOW.stop:
        return LOW
    return PRIVILEGED if kept < HIGH.start else HIGH
